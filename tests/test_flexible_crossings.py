"""Flexible bodies crossed with everything public: a right result, or the sentence that says no.

docs/flexible.md has the table.
"""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import flexible_models
import skodyn as sk
from skodyn.model.layout import N_BODIES
from skodyn.simulation.elements import Forces
from skodyn.simulation.plan import Plan
from skodyn.simulation.settings import IntegratorSettings

REFUSAL = "does not take models with flexible bodies, and 'boom' is one; describe it by rigid seg"


@pytest.fixture(scope="module")
def machine():
    builder = sk.ModelBuilder()
    builder.add_body("hub", joint=sk.Revolute(axis=(0, 0, 1)), mass=2.0, inertia=(1, 1, 1))
    boom = sk.Beam(
        2.0, mass_per_length=0.5, bending_stiffness=30.0, rotary_inertia=1e-3,
        modes={"y": 2, "z": 2},
    )  # fmt: skip
    hinge = sk.Revolute(axis=(0, 1, 0))
    builder.add_body("boom", "hub", hinge, flexible=boom)
    builder.add_body(
        "load", "boom", hinge, at="tip", mass=0.3, com=(0.1, 0, 0), inertia=(0.01,) * 3
    )
    builder.add_frame("eye", "boom", at="tip")
    return builder.build()


@pytest.fixture(scope="module")
def twins():
    model, twin = flexible_models.random_system(0)
    return model, twin, *model.random_state(np.random.default_rng(0))


def public_functions():
    """Every public function whose first argument is a model."""
    for name in sk.__all__:
        thing = getattr(sk, name)
        if callable(thing) and not inspect.isclass(thing):
            parameters = list(inspect.signature(thing).parameters.values())
            if parameters and parameters[0].name == "model":
                yield name, parameters[1:]


def solved(twin, q, v, x):
    return np.linalg.solve(twin.mass_matrix(q), x - twin.bias(q, v))


# each against the twin of particles, at q, v and a further vector x
RIGHT = {
    "forward_dynamics": (lambda m, q, v, x: sk.forward_dynamics(m, q, v, x), solved),
    "inverse_dynamics": (
        lambda m, q, v, x: sk.inverse_dynamics(m, q, v, x),
        lambda t, q, v, x: t.mass_matrix(q) @ x + t.bias(q, v),
    ),
    "bias_force": (lambda m, q, v, x: sk.bias_force(m, q, v), lambda t, q, v, x: t.bias(q, v)),
    "gravity_force": (
        lambda m, q, v, x: sk.gravity_force(m, q), lambda t, q, v, x: t.bias(q, 0 * v),
    ),
    "mass_matrix": (lambda m, q, v, x: sk.mass_matrix(m, q), lambda t, q, v, x: t.mass_matrix(q)),
    "mass_matrix_solve": (
        lambda m, q, v, x: sk.mass_matrix_solve(m, q, x),
        lambda t, q, v, x: np.linalg.solve(t.mass_matrix(q), x),
    ),
    "forward_kinematics": (
        lambda m, q, v, x: sk.forward_kinematics(m, q)[1],
        lambda t, q, v, x: np.array([place for _, place, _ in t.poses(q, 0 * v)]),
    ),
    "velocities": (
        lambda m, q, v, x: sk.velocities(m, q, v)[0], lambda t, q, v, x: t.velocities(q, v),
    ),
    "jacobian": (
        lambda m, q, v, x: [sk.jacobian(m, q, k) @ v for k in range(m.n_bodies)],
        lambda t, q, v, x: t.velocities(q, v),
    ),
    "energy": (lambda m, q, v, x: sk.energy(m, q, v), lambda t, q, v, x: t.energy(q, v)),
    "momentum": (lambda m, q, v, x: sk.momentum(m, q, v), lambda t, q, v, x: t.momentum(q, v)),
    "center_of_mass": (
        lambda m, q, v, x: sk.center_of_mass(m, q), lambda t, q, v, x: t.center_of_mass(q),
    ),
    "sko_model": (
        lambda m, q, v, x: sk.sko.forward_dynamics(sk.sko_model(m, q, v), x), solved,
    ),
}  # fmt: skip
# tested below, or where they are named
ELSEWHERE = {
    "simulate": "test_flexible_motion.py",
    "node_poses": "test_flexible_motion.py::test_frames_at_nodes_have_jacobians",
    "deflections": "test_deflection_channel.py",
    "sparsity": "test_sparsity_counts_modes",
    "contact_gaps": "test_contacts_are_refused",
    "contact_forces": "test_contacts_are_refused",
}
LOOPS = (
    "assemble", "loop_basis", "loop_error", "loop_forces", "loop_jacobian", "loop_rate",
    "loop_rows", "project_velocity",
)  # fmt: skip
"""With loops: test_flexible_loops.py."""


@pytest.mark.parametrize("name", RIGHT)
def test_a_function_has_the_result_of_the_particles(name, twins):
    model, twin, q, v = twins
    x = np.random.default_rng(1).normal(size=model.nv)
    ours, theirs = RIGHT[name]
    found, expected = np.asarray(ours(model, q, v, x)), np.asarray(theirs(twin, q, v, x))
    condition = np.linalg.cond(twin.mass_matrix(q))
    bound = 1e-12 * condition * max(1.0, np.abs(expected).max())
    assert np.abs(found - expected).max() < bound


FUNCTIONS = dict(public_functions())
OTHERS = sorted(set(FUNCTIONS) - {*RIGHT, *ELSEWHERE, *LOOPS})


def test_all_functions_are_walked():
    assert {*RIGHT, *ELSEWHERE, *LOOPS} <= set(FUNCTIONS)
    assert len(OTHERS) > 20


@pytest.mark.parametrize("name", OTHERS)
def test_every_other_function_refuses_by_name(name, machine):
    parameters = FUNCTIONS[name]
    rng = np.random.default_rng(0)
    q, v = machine.random_state(rng)
    x = rng.normal(size=machine.nv)
    given = {
        "q": q, "v": v, "body": "boom", "kT": 1.0, "rng": rng, "frames": ["eye"],
        "nodes": ["load"], "joints": ["load"], "targets": {"eye": np.eye(4)},
        **dict.fromkeys(("tau", "vdot", "rhs", "nu", "e"), x),
    }  # fmt: skip
    needed = [p.name for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
    arguments = {key: given[key] for key in needed}
    if name.startswith("hybrid"):
        arguments |= {"tau": x, "vdot": x, "prescribed": ["load"]}
    if name == "operators":
        arguments = {"q": q, "v": v}
    with pytest.raises(sk.ModelError, match=REFUSAL):
        getattr(sk, name)(machine, **arguments)


@pytest.mark.parametrize("name", LOOPS)
def test_functions_of_loops_find_none(name, machine):
    given = {"q": machine.neutral(), "v": np.zeros(machine.nv), "tau": np.zeros(machine.nv)}
    wanted = inspect.signature(getattr(sk, name)).parameters
    arguments = {key: value for key, value in given.items() if key in wanted}
    if name == "assemble":
        assert np.array_equal(sk.assemble(machine, **arguments).q, machine.neutral())
    elif name == "loop_rows":
        assert sk.loop_rows(machine) == {}
    else:
        with pytest.raises(sk.ModelError, match=f"has no loops, which {name} is about"):
            getattr(sk, name)(machine, **arguments)


def test_sparsity_counts_modes(machine):
    patterns = sk.sparsity(machine)
    general = sk.sko_model(machine, machine.neutral())
    assert np.array_equal(patterns.dofs, general.dofs)
    assert np.array_equal(patterns.sizes, general.sizes)
    assert patterns.dofs.sum() == machine.nv


def test_mimics_and_what_is_fixed_to_a_body_that_bends_are_refused():
    def described():
        builder = sk.ModelBuilder()
        beam = sk.Beam(1.0, 1.0, 1.0, rotary_inertia=1e-3, modes={"y": 1})
        hinge = sk.Revolute(axis=(0, 0, 1))
        builder.add_body("rod", joint=hinge, flexible=beam)
        for name in ("arm", "hand"):
            builder.add_body(name, joint=hinge, mass=1.0, inertia=(1, 1, 1))
        return builder

    def with_mimic(b):
        b.add_mimic("hand", "arm")

    for add, words in (
        (
            lambda b: b.add_loop("pin", "rod", "hand", sk.Revolute(axis=(0, 0, 1))),
            "Loop 'pin': body 'rod' is flexible; fix it to a rigid body at one of its nodes",
        ),
        (with_mimic, "with mimic joints"),
        (lambda b: b.add_collision("rod", sk.Sphere(0.1)), "body 'rod' is flexible; fix it to a"),
    ):
        builder = described()
        add(builder)
        with pytest.raises(sk.ModelError, match=words):
            builder.build()


def test_contacts_are_refused():
    builder = sk.ModelBuilder()
    beam = sk.Beam(1.0, 1.0, 1.0, rotary_inertia=1e-3, modes={"y": 1})
    builder.add_body("boom", joint=sk.Revolute(axis=(0, 0, 1)), flexible=beam)
    builder.add_body("ball", "boom", at="tip", mass=1.0, inertia=(1, 1, 1))
    builder.add_collision("ball", sk.Sphere(0.1))
    model = builder.build()
    law = [sk.Contact("ball", "floor", stiffness=1e4)]
    given = {"ground": [sk.HalfSpace()], "contacts": law}
    q, v = model.neutral(), np.zeros(model.nv)
    for call in (
        lambda: sk.contact_gaps(model, q=q, **given),
        lambda: sk.contact_forces(model, q=q, v=v, **given),
        lambda: sk.simulate(model, q, v, duration=0.01, **given),
    ):
        with pytest.raises((sk.ModelError, sk.StateError), match="flexible bodies"):
            call()


@pytest.mark.parametrize(
    "acting",
    [
        {"thermostat": sk.AndersenThermostat(kT=1.0, rate=1.0)},
        {"motions": [sk.SteadyMotion("load", speed=1.0)]},
        {"elements": [sk.FixmanForce(kT=1.0)]},
        {"integrator": "implicit_contact"},
    ],
    ids=lambda given: next(iter(given)),
)
def test_what_a_run_does_not_take_is_refused_by_name(acting, machine):
    with pytest.raises((sk.ModelError, sk.StateError), match="flexible bodies"):
        sk.simulate(machine, machine.neutral(), np.zeros(machine.nv), duration=0.01, **acting)


def test_forces_on_flexible_bodies_stay_in_their_rows():
    """Behind them lay whatever the heap had there: a model with modes is packed as more bodies."""
    model = sk.load("scenarios/models/satellite_flexible.toml")
    push = sk.Wrench("left", force=(0.1, 0.2, 0.3))
    q, v = model.neutral(), np.zeros(model.nv)
    settings = IntegratorSettings("rk4", dt=1e-4)
    engine = Plan(model, q, v, 1e-3, settings, Forces(elements=(push,))).engine()
    f_ext = engine.rates_and_forces(engine.advance(10))[2]
    assert f_ext.shape == (10, model.n_bodies, 6)
    expected = np.zeros((model.n_bodies, 6))
    expected[model.body_names.index("left"), 3:] = push.force
    np.testing.assert_array_equal(f_ext, np.broadcast_to(expected, f_ext.shape))
    assert f_ext.base.size == 10 * 6 * int(engine._system.tree[N_BODIES])
