"""Everything that must pass: lint, format, types, import layers, kernels that compile, tests; then
some of the tests again with guarded memory, and without the compiler.

    python tests/run_checks.py            # all of it, tests in as many processes as there are cores
    python tests/run_checks.py -n 0 -x    # what follows goes to pytest
    python tests/run_checks.py --light    # tests that need no peer, no browser and two minutes
    python tests/run_checks.py --interpreted  # only what is run without the compiler

It stops at the first failure. Kernels are compiled before the tests, into one shared object:
processes that compile the same kernel at once would all do the work. For the same reason all tests
of a file run in one process. Run it with the interpreter that skodyn and its
test dependencies are installed for.
"""

from __future__ import annotations

import os
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
# A contributor's subset, for `pip install -e '.[light]'`; conftest.py keeps peers out.
LIGHT = (
    "architecture front_page light habits lanes spatial joints naive dynamics_twin "
    "dynamics_identities dynamics_arguments dynamics_batch bits status steppers extension "
    "topology_digraph topology_tree topology_subgraph topology_segments topology_loops "
    "model_toml model_faults sko_model sko_sweeps sko_dynamics sko_products wrong_arguments "
    "loop_models loop_dynamics scenario durations log theory_map remedies"
)
PARALLEL = ["-n", "auto", "--maxprocesses", "4", "--dist", "loadfile"]

# Kernels work on pointers. These two see what the others may not: a write beside a workspace, a
# number left by an earlier call, an index that leaves its array. What plain Python is too slow for
# is run there on small models by every_kernel.py (test_without_jit.py).
GUARDED = (
    "dynamics_twin derivative_twin dynamics_batch steppers extension sweep_lanes mimic forces "
    "armature controllers checkpoint session thermostat operators loop_dynamics loop_runs "
    "contact_dynamics contact_runs flexible_crossings"
)
INTERPRETED = "extension sko_sweeps sko_dynamics loop_dynamics contact_boxes flexible_body"
SLOW, REST = "(goes_on or unit or rounding)", " or ".join(["seed5", *INTERPRETED.split()])
AGAIN = [
    (
        "guarded memory",
        {"SKODYN_CHECK": "1"},
        GUARDED.split(),
        ["-k", "not twin or seed5 or derivative or touches"],
    ),
    (
        "without the compiler",
        {"NUMBA_DISABLE_JIT": "1"},
        ["dynamics_twin", "steppers", *INTERPRETED.split()],
        ["-W", "ignore::RuntimeWarning", "-k", f"(test_steppers and not {SLOW}) or {REST}"],
    ),
]


def tests(environment: dict[str, str], arguments: list[str]) -> int:
    command = [sys.executable, "-m", "pytest", *PARALLEL, *arguments]
    return subprocess.run(command, cwd=ROOT, env=os.environ | environment, check=False).returncode


def files(names: str | list[str]) -> list[str]:
    words = names.split() if isinstance(names, str) else names
    return [f"tests/test_{name}.py" for name in words]


def part(word: str, rest: list[str]) -> int:
    """One part of the checks by its option."""
    if word == "--light":
        chosen = ["-m", "not slow and not large"]
        return tests({"SKODYN_LIGHT": "1"}, [*files(LIGHT), *chosen, *rest])
    _, environment, names, options = AGAIN[-1]
    return tests(environment, [*files([*names, "without_jit"]), *options, *rest])


def main() -> int:
    if sys.argv[1:2] in (["--light"], ["--interpreted"]):
        return part(sys.argv[1], sys.argv[2:])
    for name, arguments in CHECKS:
        done = subprocess.run(
            [sys.executable, *arguments], cwd=ROOT, text=True, capture_output=True, check=False
        )
        if done.returncode:
            print(done.stdout + done.stderr, end="")
            print(f"{name}: failed")
            return done.returncode
        print(f"{name}: fine", flush=True)
    chosen = sys.argv[1:]
    failed = tests({}, chosen)
    if failed or chosen:
        return failed
    for name, environment, names, options in AGAIN:
        print(f"again, {name}:", flush=True)
        failed = tests(environment, files(names) + options)
        if failed:
            return failed
    return 0


if __name__ == "__main__":
    sys.exit(main())
