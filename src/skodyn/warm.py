"""Compile every kernel once, so that nobody waits for the compiler later.

To have a kernel warmed, add a line to `STEPS`: a name, and a call that reaches the kernel on a
model with one joint of each type.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import ExitStack

import numpy as np

from skodyn import dynamics, sko
from skodyn.conventions import GROUND
from skodyn.lanes import LANES
from skodyn.model.description import ModelBuilder
from skodyn.model.joints import CATALOGUE, Revolute
from skodyn.model.model import Model
from skodyn.operators import operators
from skodyn.simulate import simulate
from skodyn.simulate.channels import CHANNELS
from skodyn.simulate.settings import METHODS
from skodyn.sweep.engines import warm as warm_sweep
from skodyn.view.drawing import Painter
from skodyn.view.recording import still

__all__ = ["STEPS", "every_joint_model", "warm"]

Step = Callable[[Model], object]

STEPS: list[tuple[str, Step]] = [
    ("integrate", lambda model: model.integrate(model.neutral(), [0.1] * model.nv)),
    ("difference", lambda model: model.difference(model.neutral(), model.neutral())),
]


def _add(
    name: str,
    function: Callable[..., object],
    vectors: int,
    *more: object,
    of: Callable[[Model], Model] = lambda model: model,
) -> None:
    """Warm a dynamics function of q and `vectors` arguments of length nv, at both lane widths.

    `of` makes another model of the one that all steps share.
    """

    def one(model: Model) -> object:
        model = of(model)
        return function(model, model.neutral(), *([np.zeros(model.nv)] * vectors), *more)

    def batch(model: Model) -> object:
        model = of(model)
        states = np.tile(model.neutral(), (LANES, 1))
        return function(model, states, *([np.zeros(model.nv)] * vectors), *more)

    STEPS.append((name, one))
    STEPS.append((f"{name}, batch", batch))


_add("forward dynamics", dynamics.forward_dynamics, 2)
_add("inverse dynamics", dynamics.inverse_dynamics, 2)
_add("mass matrix", dynamics.mass_matrix, 0)
_add("mass matrix solve", dynamics.mass_matrix_solve, 1)
_add("mass matrix inverse", dynamics.mass_matrix_inverse, 0)
_add("mass matrix logdet", dynamics.mass_matrix_logdet, 0)
_add("forward kinematics", dynamics.forward_kinematics, 0)
_add("jacobian", dynamics.jacobian, 0, 0)
_add("jacobian_dot_v", dynamics.jacobian_dot_v, 1, 0)
_add("compliance", dynamics.operational_space_compliance, 0, [(0, (0.0, 0.0, 0.0))])
_add("joint forces", dynamics.joint_forces, 2)
_add("energy", dynamics.energy, 1)


def _pushed(name: str, function: Callable[..., object]) -> None:
    """The kernel of one state with external forces."""

    def call(model: Model) -> object:
        zero = np.zeros(model.nv)
        return function(model, model.neutral(), zero, zero, np.zeros((model.n_bodies, 6)))

    STEPS.append((f"{name}, with forces", call))


_add("inverse dynamics derivatives", dynamics.inverse_dynamics_derivatives, 2)
_add("forward dynamics derivatives", dynamics.forward_dynamics_derivatives, 2)
_add("coriolis matrix", dynamics.coriolis_matrix, 1)
_add("joint columns", dynamics.joint_columns, 0)
_add("mass matrix logdet gradient", dynamics.mass_matrix_logdet_gradient, 0)
_add("velocity sample", dynamics.sample_velocity, 0, 1.0, np.random.default_rng(0))
_pushed("forward dynamics", dynamics.forward_dynamics)
_pushed("inverse dynamics", dynamics.inverse_dynamics)
_add("bias force", dynamics.bias_force, 1)
_add("gravity force", dynamics.gravity_force, 0)
_add("velocities", dynamics.velocities, 1)


def _simulate(method: str) -> None:
    def call(model: Model) -> object:
        still = np.zeros(model.nv)
        channels = CHANNELS if method == "rk4" else ()
        return simulate(
            model, model.neutral(), still, duration=1e-3, integrator=method, channels=channels
        )

    STEPS.append((f"simulation, {method}", call))


def _sweep(method: str) -> None:
    STEPS.append((f"sweep, {method}", lambda _model: warm_sweep((method,))))


for _method in METHODS:
    _simulate(_method)
    _sweep(_method)
STEPS.append(("pictures", lambda model: Painter(still(model), (32, 24)).frame(0.0)))
STEPS.append(("body inertias", lambda model: dynamics.body_inertias(model, model.neutral())))


def _general(name: str, call: Callable[[sko.SKOModel], object]) -> None:
    """Warm kernels of general SKO models."""
    STEPS.append((f"sko, {name}", lambda model: call(dynamics.sko_model(model, model.neutral()))))


def _sweep_both_ways(model: sko.SKOModel) -> None:
    x = np.zeros(model.size)
    for strict in (False, True):
        sko.gather(model.tree, model.weights, x, strict=strict)
        sko.scatter(model.tree, model.weights, x, strict=strict)
    sko.pass_inward(model.tree, model.weights, x)
    sko.pass_outward(model.tree, model.weights, x)
    model.M.apply(x)
    model.M.apply(x, transpose=True)


def _all_dynamics(model: sko.SKOModel) -> None:
    zero, solution = np.zeros(model.nv), sko.riccati(model)
    sko.inverse_dynamics(model, zero)
    sko.forward_dynamics(model, zero, solution)
    sko.mass_matrix(model)
    sko.forward_element(model.tree, model.weights, sko.composite_inertias(model), 0, 0)
    sko.mass_matrix_solve(model, zero, solution)
    sko.log_determinant(model, solution)
    sko.compliance(model, [0], solution)
    sko.innovations(model, solution, zero)
    sko.innovations(model, solution, zero, transpose=True)


_general("gather and scatter", _sweep_both_ways)
_general("riccati", lambda model: sko.riccati(model).solve_D(np.zeros(model.nv)))
_general("dynamics", _all_dynamics)


def mimic_model(_: Model) -> Model:
    """Two joints, one of which follows the other."""
    builder = ModelBuilder(name="mimic")
    for name in ("source", "follower"):
        builder.add_body(name, joint=Revolute(), mass=1.0, inertia=(0.1, 0.1, 0.1))
    builder.add_mimic("follower", "source")
    return builder.build()


for _name, _function, _vectors in (
    ("forward dynamics", dynamics.forward_dynamics, 2),
    ("inverse dynamics", dynamics.inverse_dynamics, 2),
    ("mass matrix", dynamics.mass_matrix, 0),
    ("mass matrix solve", dynamics.mass_matrix_solve, 1),
    ("mass matrix inverse", dynamics.mass_matrix_inverse, 0),
    ("mass matrix logdet", dynamics.mass_matrix_logdet, 0),
):
    _add(f"{_name}, mimic joints", _function, _vectors, of=mimic_model)


def _typed(model: Model) -> None:
    """Block products, transposes and inverses, and the sweeps of every kind of leaf."""
    ops = operators(model, model.neutral())
    (ops.Id - ops.E_phi @ (ops.Id - ops.G @ ops.H)).inverse() @ np.zeros(ops.node_space.size)
    (ops.H @ ops.P @ ops.H.T).inverse() @ np.zeros(model.nv)
    (ops.phi.T @ ops.H.T @ ops.D.inverse() @ ops.H @ ops.phi).dense()


STEPS.append(("operators", _typed))


def every_joint_model() -> Model:
    """A chain with one joint of each type of the catalogue."""
    builder = ModelBuilder(name="every joint")
    parent = GROUND
    for name, joint_type in CATALOGUE.items():
        builder.add_body(
            name, parent, joint_type(), translation=(0, 0, 1), mass=1.0, inertia=(0.1, 0.1, 0.1)
        )
        parent = name
    return builder.build()


def run_step(number: int) -> tuple[str, float]:
    """(name, seconds) of one step."""
    name, step = STEPS[number]
    model = every_joint_model()
    start = time.perf_counter()
    step(model)
    return name, time.perf_counter() - start


def warm(
    progress: Callable[[str, float], None] | None = None, workers: int = 1
) -> dict[str, float]:
    """Seconds spent on each step; `progress` is told of each as soon as it is done.

    Several workers compile in processes of their own. Where two steps share a kernel, both may
    compile it; they write the same file, each in one stroke.
    """
    spent = {}
    with ExitStack() as stack:
        if workers > 1:
            context = multiprocessing.get_context("spawn")
            pool = stack.enter_context(ProcessPoolExecutor(workers, mp_context=context))
            # the last ones, whole simulations, take longest: begin with them
            tasks = [pool.submit(run_step, k) for k in reversed(range(len(STEPS)))]
            results = (task.result() for task in as_completed(tasks))
        else:
            results = (run_step(k) for k in range(len(STEPS)))
        for name, seconds in results:
            spent[name] = seconds
            if progress is not None:
                progress(name, seconds)
    return spent
