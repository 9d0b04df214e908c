"""Everything that must pass: lint, format, types, import layers, kernels that compile, tests.

    python tests/run_checks.py            # all of it, tests in as many processes as there are cores
    python tests/run_checks.py -n 0 -x    # what follows goes to pytest

It stops at the first failure. Kernels are compiled before the tests, into one shared object:
processes that compile the same kernel at once would all do the work. For the same reason all tests
of a file run in one process. Run it with the interpreter that skodyn and its
test dependencies are installed for.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = [
    name for name in ("src", "tests", "benchmarks", "docs") if any((ROOT / name).rglob("*.py"))
]
LINT_IMPORTS = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports())"

CHECKS = [
    ("lint", ["-m", "ruff", "check", "--quiet", *SOURCES]),
    ("format", ["-m", "ruff", "format", "--check", "--quiet", *SOURCES]),
    ("types", ["-m", "mypy", "--no-error-summary"]),
    ("import layers", ["-c", LINT_IMPORTS]),
    ("kernels", ["-m", "skodyn", "cache", "warm"]),
]
PARALLEL = ["-n", "auto", "--maxprocesses", "4", "--dist", "loadfile"]


def main() -> int:
    for name, arguments in CHECKS:
        done = subprocess.run(
            [sys.executable, *arguments], cwd=ROOT, text=True, capture_output=True, check=False
        )
        if done.returncode:
            print(done.stdout + done.stderr, end="")
            print(f"{name}: failed")
            return done.returncode
        print(f"{name}: fine", flush=True)
    tests = [sys.executable, "-m", "pytest", *PARALLEL, *sys.argv[1:]]
    return subprocess.run(tests, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
