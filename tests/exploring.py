"""How many cases a property or a random system is tried on: a fixed list, or ever new ones.

By default every run looks at the same cases, so that a failure is the change's. To explore:

    python tests/exploring.py             # ten times as many new cases, in all property tests
    python tests/exploring.py 50 -k tree  # fifty times as many; the rest goes to pytest

It sets SKODYN_EXPLORE, the factor. hypothesis keeps what it finds in .hypothesis/ and tries it
first the next time. A random system that fails bears its seed in the test's name:
`SKODYN_SEEDS=123456 pytest tests/test_dynamics_twin.py` runs it again.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

FACTOR = float(os.environ.get("SKODYN_EXPLORE", "0"))
CHOSEN = os.environ.get("SKODYN_SEEDS", "")
HERE = Path(__file__).parent


def examples(count, **more):
    """Settings of hypothesis for a property that is tried on `count` examples by default."""
    from hypothesis import settings  # `python tests/exploring.py` needs none of it

    if FACTOR:
        return settings(max_examples=max(1, int(FACTOR * count)), deadline=None, **more)
    return settings(max_examples=count, deadline=None, derandomize=True, database=None, **more)


def seeds(count, slow=0):
    """The seeds 0 … count − 1 of random systems, and `slow` further ones behind the marker slow."""
    import pytest

    if CHOSEN:
        return [int(seed) for seed in CHOSEN.split(",")]
    if FACTOR:
        return random.SystemRandom().sample(range(2**31), max(1, int(FACTOR * count)))
    rest = range(count, count + slow)
    return [*range(count), *(pytest.param(seed, marks=pytest.mark.slow) for seed in rest)]


def files_that_explore():
    """The test files that take their cases from here."""
    return sorted(
        str(path) for path in HERE.glob("test_*.py") if "from exploring import" in path.read_text()
    )


def main(arguments):
    factor, rest = (arguments[0], arguments[1:]) if arguments else ("10", [])
    command = [sys.executable, "-m", "pytest", *files_that_explore(), *rest]
    environment = os.environ | {"SKODYN_EXPLORE": factor}
    return subprocess.run(command, cwd=HERE.parent, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
