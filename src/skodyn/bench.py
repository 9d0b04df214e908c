"""What `skodyn bench` measures: the main algorithms on three mechanisms, on this machine.

No other library is needed. First calls, which compile a kernel or load it from the cache, are
reported apart; all other numbers are the best of many warm calls.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Sequence

import numpy as np

from skodyn import dynamics
from skodyn.conventions import GROUND
from skodyn.cores import core_count
from skodyn.jit import JIT_DISABLED, package_version
from skodyn.lanes import LANES
from skodyn.model.description import ModelBuilder
from skodyn.model.joints import Free, Joint, Revolute
from skodyn.model.model import Model
from skodyn.typing import Floats

__all__ = ["run_benchmarks"]

Call = Callable[[Model, Floats, Floats, Floats, int | None], object]

ALGORITHMS: dict[str, Call] = {
    "forward dynamics": lambda m, q, v, x, t: dynamics.forward_dynamics(m, q, v, x, threads=t),
    "inverse dynamics": lambda m, q, v, x, t: dynamics.inverse_dynamics(m, q, v, x, threads=t),
    "mass matrix": lambda m, q, v, x, t: dynamics.mass_matrix(m, q, threads=t),
    "inverse mass matrix": lambda m, q, v, x, t: dynamics.mass_matrix_inverse(m, q, threads=t),
    "mass matrix solve": lambda m, q, v, x, t: dynamics.mass_matrix_solve(m, q, x, threads=t),
    "forward kinematics": lambda m, q, v, x, t: dynamics.forward_kinematics(m, q, threads=t),
    "energy": lambda m, q, v, x, t: dynamics.energy(m, q, v, threads=t),
}
_AXES = ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))


def run_benchmarks(quick: bool = False) -> str:
    """A report: the machine, first calls, then time per state and per body. A minute, or less."""
    seconds, states = (0.02, 64) if quick else (0.25, 1024)
    models = [_chain(7), _walker(), _chain(100)]
    first = _first_calls(models[0])
    parts = [_machine(), _first_table(first)]
    parts += [_model_table(model, states, seconds) for model in models]
    return "\n\n".join(parts)


# ---- mechanisms -------------------------------------------------------------------------------


def _chain(n: int) -> Model:
    """Hinged links in a row."""
    builder = ModelBuilder(name=f"chain of {n} hinges")
    _add_limb(builder, "link", GROUND, n)
    return builder.build()


def _walker() -> Model:
    """A floating trunk with four limbs of seven hinges and a neck of four: 33 bodies, 38 dof."""
    builder = ModelBuilder(name="floating trunk, five limbs, 38 dof")
    _add_body(builder, "trunk", GROUND, Free())
    for limb in ("left arm", "right arm", "left leg", "right leg"):
        _add_limb(builder, limb, "trunk", 7)
    _add_limb(builder, "neck", "trunk", 4)
    return builder.build()


def _add_limb(builder: ModelBuilder, name: str, parent: str, count: int) -> None:
    for k in range(count):
        _add_body(builder, f"{name} {k}", parent, Revolute(axis=_AXES[k % 3]))
        parent = f"{name} {k}"


def _add_body(builder: ModelBuilder, name: str, parent: str, joint: Joint) -> None:
    builder.add_body(
        name,
        parent,
        joint,
        translation=(0.0, 0.02, -0.2),
        mass=1.5,
        com=(0.01, 0.0, -0.1),
        inertia=(0.006, 0.006, 0.001),
    )


# ---- measuring --------------------------------------------------------------------------------


def _states(model: Model, count: int) -> tuple[Floats, Floats, Floats]:
    rng = np.random.default_rng(0)
    drawn = [model.random_state(rng) for _ in range(count)]
    q, v = np.array([q for q, _ in drawn]), np.array([v for _, v in drawn])
    return q, 0.1 * v, rng.normal(size=v.shape)


def _timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _best(call: Callable[[], object], seconds: float) -> float:
    """Least seconds of a call, over so many seconds of trying, in rounds of a millisecond."""
    call()
    loops = max(1, int(1e-3 / max(_timed(call), 1e-7)))

    def round_of_calls() -> None:
        for _ in range(loops):
            call()

    best, end = float("inf"), time.perf_counter() + seconds
    while True:
        best = min(best, _timed(round_of_calls) / loops)
        if time.perf_counter() > end:
            return best


def _first_calls(model: Model) -> dict[str, tuple[float, float]]:
    """Seconds of the first call of each algorithm: one state, a register full of them."""
    q, v, x = _states(model, LANES)
    return {
        name: (
            _timed(lambda call=call: call(model, q[0], v[0], x[0], None)),  # type: ignore[misc]
            _timed(lambda call=call: call(model, q, v, x, 1)),  # type: ignore[misc]
        )
        for name, call in ALGORITHMS.items()
    }


# ---- what is printed --------------------------------------------------------------------------


def _machine() -> str:
    compiled = "switched off by NUMBA_DISABLE_JIT" if JIT_DISABLED else "on"
    return (
        f"skodyn {package_version()}, Python {platform.python_version()}, "
        f"{platform.machine()}, {core_count()} cores, compiler {compiled}"
    )


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, *rows]
    widths = [max(len(line[c]) for line in lines) for c in range(len(header))]
    return "\n".join(
        "  ".join(
            x.rjust(w) if c else x.ljust(w)
            for c, (x, w) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )


def _first_table(first: dict[str, tuple[float, float]]) -> str:
    one, four = (sum(times) for times in zip(*first.values(), strict=True))
    rows = [
        (name, f"{a:.2f}", f"{b:.2f}") for name, (a, b) in {**first, "all": (one, four)}.items()
    ]
    header = ("first call, in seconds", "one state", "batch")
    return _table(header, rows) + "\n(compiled now, or loaded from the cache)"


def _model_table(model: Model, states: int, seconds: float) -> str:
    q, v, x = _states(model, states)
    rows = []
    for name, call in ALGORITHMS.items():

        def one(call: Call = call) -> object:
            return call(model, q[0], v[0], x[0], None)

        def many(call: Call = call) -> object:
            return call(model, q, v, x, 1)

        def threaded(call: Call = call) -> object:
            return call(model, q, v, x, None)

        alone = _best(one, seconds)
        lanes, threads = _best(many, seconds) / states, _best(threaded, seconds) / states
        rows.append(
            (name, *_numbers(model, alone), *_numbers(model, lanes), f"{threads * 1e6:.3f}")
        )
    header = (
        f"{model.name}", "one state, µs", "ns per body",
        f"one of {states}, µs", "ns per body", "all cores, µs",
    )  # fmt: skip
    return _table(header, rows)


def _numbers(model: Model, seconds: float) -> tuple[str, str]:
    return f"{seconds * 1e6:.3f}", f"{seconds / model.n_bodies * 1e9:.1f}"
