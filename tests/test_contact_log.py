"""What logs hold of contacts: forces, points, gaps and slip speeds of every row."""

from __future__ import annotations

import numpy as np
import pytest

import skodyn as sk
from skodyn.scenario import parse_scenario
from skodyn.simulation.session import run
from test_contact_bits import METHODS, hopper, plan
from test_contact_scenarios import BALL, FOLDER

NAMES = ("contact_force", "contact_point", "contact_gap", "contact_slip")


def logged(method="rk4", **changes):
    one = plan(method)
    given = {"channels": ("contacts",), **changes}
    return type(one)(
        one.model, one.q0, one.v0, one.duration, one.settings, one.forces, one.every, **given
    )


@pytest.mark.parametrize("method", METHODS)
def test_rows_of_contacts_are_those_of_their_states(method):
    """Bristles are taken along: forces are those of the law at q, v and y of each row."""
    one = logged(method)
    done = run(one)
    engine = one.engine()
    rows = 0
    while not engine.finished:
        block = engine.advance(50)
        bristles = engine.contacts.bristles(block.y)
        found = sk.contact_forces(
            one.model, one.forces.contacts, block.q, block.y[:, : one.model.nv], bristles
        )
        at = slice(1 + rows, 1 + rows + len(block.t))
        assert (done.trajectory["contact_force"][at] == found.force).all()
        assert (done.trajectory["contact_point"][at] == found.point).all()
        assert (done.trajectory["contact_gap"][at] == found.gap).all()
        slip = np.where(found.sticks, 0.0, found.slip_speed)
        assert (done.trajectory["contact_slip"][at] == slip).all()
        rows += len(block.t)
    assert done.trajectory["contact_slip"].max() > 0.0
    assert done.trajectory.labels("contact_gap")["contact"] == found.labels


def test_a_log_names_its_contacts_and_opens_in_xarray(tmp_path):
    done = run(logged(), tmp_path / "run.h5")
    again = sk.open(tmp_path / "run.h5")
    memory = run(logged())
    for name in NAMES:
        assert (again[name] == memory.trajectory[name]).all()
    labels = again.labels("contact_force")
    assert labels["contact"] == memory.trajectory.labels("contact_force")["contact"]
    xarray = pytest.importorskip("xarray")
    with xarray.open_dataset(tmp_path / "run.h5", engine="h5netcdf") as ds:
        one = ds.contact_force.sel(contact=labels["contact"][0], axis="z")
        assert float(one.max()) == done.trajectory["contact_force"][:, 0, 2].max()
    assert again.to_xarray().contact_gap.dims == ("t", "contact")


def test_sums_of_forces_are_what_the_floor_carries():
    """A block at rest: the forces of its corners add up to its weight, to the last digits."""
    b = sk.ModelBuilder()
    b.add_body("block", joint=sk.Free(), **sk.solid(sk.Box((0.2, 0.3, 0.1)), mass=2.0))
    b.add_collision("block", sk.Box((0.2, 0.3, 0.1)))
    law = sk.Contact("block", "floor", stiffness=1e4, dissipation=20.0, friction=0.5)
    q = [1, 0, 0, 0, 0, 0, 0.05]
    done = sk.simulate(b.build(), q, np.zeros(6), duration=4.0, dt=1e-3, every=100,
                       ground=[sk.HalfSpace()], contacts=[law], channels=["contacts"])  # fmt: skip
    force = done.trajectory["contact_force"][-1]
    np.testing.assert_allclose(force.sum(axis=0), [0, 0, 2.0 * 9.81], atol=1e-6)
    labels = done.trajectory.labels("contact_force")["contact"]
    assert labels[:2] == ("block/floor", "block/floor.2")


def test_a_run_without_contacts_has_no_such_channel():
    with pytest.raises(sk.StateError, match="speaks of contacts, and this run has none"):
        sk.simulate(hopper(), hopper().neutral(), np.zeros(7), duration=0.1, channels=["contacts"])
    text = BALL.replace("[integrator]", '[output]\nchannels = ["contacts"]\n[integrator]')
    assert parse_scenario(text, FOLDER).output.channels == ("contacts",)
    start, end = text.index("[contacts.skin]"), text.index("[output]")
    with pytest.raises(sk.ScenarioError, match=r":\d+: .*this run has none"):
        parse_scenario(text[:start] + text[end:], FOLDER)


def test_smooth_shapes_slip():
    b = sk.ModelBuilder()
    b.add_body("ball", joint=sk.Free(), mass=1.0, inertia=(0.01, 0.01, 0.01))
    b.add_collision("ball", sk.Sphere(0.1))
    q, v = [1, 0, 0, 0, 0, 0, 0.099], [0, 0, 0, 1.0, 0, 0]
    for friction, sticks in ((0.0, False), (1e6, True)):
        law = sk.Contact("ball", "floor", stiffness=1e4, friction=friction)
        found = sk.contact_forces(b.build(), [law], q, v, ground=[sk.HalfSpace()])
        assert found.sticks.tolist() == [sticks]
