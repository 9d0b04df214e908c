"""Forces that have a potential energy say it, and the total is kept."""

import numpy as np
import pytest

import skodyn as sk


def system():
    """Hinges with stops, a slider, a ball joint, a free body and a hinge that follows another."""
    b = sk.ModelBuilder(gravity=(0.1, -0.2, -9.81), name="sprung")
    inertia = (0.02, 0.03, 0.04)
    b.add_body("a", "world", sk.Revolute((0, 1, 0)), mass=1.0, com=(0, 0, -0.4), inertia=inertia)
    b.add_body("b", "a", sk.Universal(), translation=(0, 0, -0.8), mass=0.7, com=(0, 0, -0.2),
               inertia=inertia)  # fmt: skip
    b.add_body("c", "b", sk.Spherical(), translation=(0, 0, -0.4), mass=0.5, com=(0.05, 0, -0.2),
               inertia=inertia)  # fmt: skip
    b.add_body("d", "a", sk.Revolute((1, 0, 0)), translation=(0.2, 0, -0.3), mass=0.3,
               com=(0, 0.1, -0.1), inertia=inertia)  # fmt: skip
    b.add_body("flier", "world", sk.Free(), mass=0.8, inertia=inertia)
    b.add_mimic("d", "a", -0.6, 0.1)
    b.add_frame("tip", "c", translation=(0, 0, -0.3), rotation=(0.6, 0.8, 0, 0))
    b.add_frame("hook", "world", translation=(0.3, 0.1, 0.5))
    return b.build()


JOINTS = {
    "a": sk.JointProperties(stiffness=4.0, rest=0.2, lower=-0.1, stop_stiffness=50.0,
                            stop_damping=0.0),
    "b": sk.JointProperties(stiffness=2.0, rest=-0.1),
    "d": sk.JointProperties(stiffness=1.5),
}  # fmt: skip
ELEMENTS = (
    sk.PointSpring("tip", "hook", stiffness=8.0, length=0.4, point_a=(0.1, 0, 0)),
    sk.PointSpring("flier", "c", stiffness=5.0, length=0.7, point_b=(0, 0.1, 0)),
    sk.Wrench("b", force=(1.0, -2.0, 0.5), point=(0, 0, -0.3)),
)


def simulated(joints=JOINTS, elements=ELEMENTS, **more):
    model = system()
    q, v = model.random_state(np.random.default_rng(4))
    q[model.q_slice("flier")][4:] = 0.3
    return sk.simulate(
        model, q, 0.5 * v, duration=1.0, dt=2e-4, joints=joints, elements=elements,
        channels=["energy", "force_energy"], every=50, **more,
    )  # fmt: skip


def test_what_is_conservative_keeps_the_sum_of_all_energies():
    run = simulated()
    kept = np.asarray(run.trajectory["energy"]).sum(axis=1)
    stored = np.asarray(run.trajectory["force_energy"])
    assert stored.shape == run.t.shape
    assert np.ptp(stored) > 1.0
    total = kept + stored
    assert np.ptp(total) < 1e-7 * np.abs(kept).max()
    assert run.summary["work_of_forces"] == pytest.approx(stored[0] - stored[-1], rel=1e-6)


@pytest.mark.parametrize("which", range(3))
def test_each_element_gives_back_what_its_energy_loses(which):
    run = simulated({}, ELEMENTS[which : which + 1])
    stored = np.asarray(run.trajectory["force_energy"])
    assert np.ptp(stored) > 0.01
    assert run.summary["work_of_forces"] == pytest.approx(stored[0] - stored[-1], rel=1e-6)


def test_what_has_no_potential_has_no_energy():
    turning = sk.Wrench("b", force=(1.0, 0, 0), frame="body")
    twisting = sk.Wrench("b", moment=(1.0, 0, 0))
    pushing = sk.Sinusoid("a", 0.4, 2.0)
    run = simulated({"a": sk.JointProperties(damping=1.0)}, (turning, twisting, pushing))
    assert (np.asarray(run.trajectory["force_energy"]) == 0.0).all()


# ---- at nodes of flexible bodies ----------------------------------------------------------------


def bending():
    """Two beams on hinges that meet in springs, and a rigid body at a tip."""
    b = sk.ModelBuilder(gravity=(0.0, 0.3, -9.81), name="bending")
    own = {"mass_per_length": 0.5, "bending_stiffness": (8.0, 6.0), "rotary_inertia": (1e-3, 1e-3)}
    tied = {"nodes": {"middle": 0.5}, "loaded": ["middle"]}
    for name, y in (("left", 0.0), ("right", 0.6)):
        beam = sk.Beam(1.0, **own, modes={"y": 2, "z": 2}, **tied)
        hinge = sk.Revolute((0.6, 0.8, 0.0))
        b.add_body(name, "world", hinge, translation=(0, y, 0), flexible=beam)
    b.add_body("load", "left", sk.Revolute((0, 0, 1)), at="tip", mass=0.2, com=(0.1, 0, 0),
               inertia=(0.01,) * 3)  # fmt: skip
    return b.build()


AT_NODES = (
    sk.PointSpring("left", "right", stiffness=20.0, length=0.5, node_a="middle", node_b="tip"),
    sk.PointSpring("load", "right", stiffness=9.0, length=0.1, point_a=(0.1, 0.2, 0),
                   node_b="middle"),
    sk.PointSpring("left", "world", stiffness=7.0, node_a="tip", point_b=(0.5, 0.2, 0.7)),
    sk.Wrench("right", force=(0.2, -0.5, 0.4), node="tip"),
)  # fmt: skip


def bent_run(dt, elements=AT_NODES, **more):
    model = bending()
    q, v = model.neutral(), np.zeros(model.nv)
    q[model.mode_slice("left")] = 0.02
    q[model.mode_slice("right")] = -0.01
    return sk.simulate(
        model, q, v + 0.3, duration=0.5, dt=dt, elements=elements,
        channels=["energy", "force_energy"], every=round(0.02 / dt), **more,
    )  # fmt: skip


def change_of_all_energies(run):
    kept = np.asarray(run.trajectory["energy"]).sum(axis=1)
    stored = np.asarray(run.trajectory["force_energy"])
    assert np.ptp(stored) > 0.2
    return np.ptp(kept + stored)


@pytest.mark.parametrize(
    ("method", "dt", "least", "bound"),
    [("rk4", 5e-4, 25.0, 4e-6), ("implicit_midpoint", 5e-4, 3.7, 8e-5)],
)
def test_springs_at_nodes_keep_the_sum_to_the_order_of_the_method(method, dt, least, bound):
    coarse, fine = (
        change_of_all_energies(bent_run(step, integrator=method)) for step in (dt, dt / 2)
    )
    assert coarse < bound
    assert coarse > least * fine


@pytest.mark.parametrize("which", range(4))
def test_each_element_at_a_node_gives_back_what_its_energy_loses(which):
    run = bent_run(5e-4, AT_NODES[which : which + 1])
    stored = np.asarray(run.trajectory["force_energy"])
    assert np.ptp(stored) > 0.01
    assert run.summary["work_of_forces"] == pytest.approx(stored[0] - stored[-1], rel=1e-6)


def test_what_turns_with_a_node_has_no_energy():
    turning = sk.Wrench("left", force=(1.0, 0, 0), node="tip", frame="body")
    twisting = sk.Wrench("left", moment=(0.1, 0, 0), node="tip")
    run = bent_run(1e-3, (turning, twisting))
    assert (np.asarray(run.trajectory["force_energy"]) == 0.0).all()
