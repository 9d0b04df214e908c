"""`python -m skodyn` is the same as `skodyn`."""

import sys

from skodyn.cli import main

if __name__ == "__main__":
    sys.exit(main())
