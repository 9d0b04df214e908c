"""What logs hold of contacts: forces, points, gaps and slip speeds of every row."""

from __future__ import annotations

import h5py
import numpy as np
import pytest

import skodyn as sk
from skodyn.io import log_layout
from skodyn.scenario import parse_scenario
from skodyn.scenario.running import run_scenario
from skodyn.simulation.session import resume, run
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
    with pytest.raises(sk.StateError, match="needs contacts, and this run has none"):
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


# ---- events -------------------------------------------------------------------------------------


def bouncing(**changes):
    """A ball without loss: it falls from h, touches every 2·√(2h/g) + the time of contact."""
    b = sk.ModelBuilder(gravity=(0, 0, -10.0))
    b.add_body("ball", joint=sk.Free(), mass=1.0, inertia=(0.01, 0.01, 0.01))
    b.add_collision("ball", sk.Sphere(0.1))
    given = {"every": 20, "dt": 1e-4, "duration": 1.6, **changes}
    return sk.simulate(b.build(), [1, 0, 0, 0, 0, 0, 0.3], np.zeros(6), ground=[sk.HalfSpace()],
                       contacts=[sk.Contact("ball", "floor", stiffness=1e6)],
                       channels=["contacts"], **given)  # fmt: skip


def test_events_of_a_bouncing_ball_are_where_the_parabola_says():
    events = bouncing(dt=1e-5).trajectory.contact_events
    fall, speed = np.sqrt(2 * 0.2 / 10.0), np.sqrt(2 * 10.0 * 0.2)
    # m·x″ = −k·x − m·g from v downward, until x = 0 again
    omega, sink = 1e3, 10.0 / 1e6
    contact = 2.0 / omega * (np.pi - np.arctan(speed / (omega * sink)))
    period = contact + 2 * fall
    expected = [fall + (k // 2) * period + (k % 2) * contact for k in range(len(events))]
    assert len(events) == 8
    assert abs(events["t"][0] - fall) < 1e-12
    # a step over the touch is of second order in dt·ω = 0.01, whatever is looked for
    np.testing.assert_allclose(events["t"], expected, atol=1e-2**2 * period / 10)
    assert events["made"].tolist() == [True, False] * 4
    np.testing.assert_allclose(events["normal_speed"], [-speed, speed] * 4, rtol=1e-5)
    assert set(events["contact"]) == {"ball/floor"}


def test_events_do_not_depend_on_rows_and_rows_not_on_events(tmp_path):
    often, rarely = bouncing(every=1), bouncing(log=tmp_path / "run.h5")
    assert (often.trajectory.contact_events == rarely.trajectory.contact_events).all()
    assert (often.q[::20] == rarely.q).all()
    assert (rarely.trajectory["contact_gap"] == often.trajectory["contact_gap"][::20]).all()
    xarray = pytest.importorskip("xarray")
    with xarray.open_dataset(tmp_path / "run.h5", engine="h5netcdf") as ds:
        assert ds.contact_events.dims == ("event_t", "event_part")
        made = ds.contact_events.sel(event_part="made").values
        assert made.tolist() == [1.0, 0.0] * 4


@pytest.mark.parametrize("method", METHODS)
def test_a_resumed_log_has_the_events_of_one_that_was_never_stopped(method, tmp_path):
    """What came behind the checkpoint is cut back, rows and events."""
    whole = run(logged(method), tmp_path / "whole.h5")
    seen = []

    def stop(engine, _wall):
        seen.append(engine.t)
        if engine.t > 0.06:
            raise KeyError("stop")

    with pytest.raises(KeyError):
        run(logged(method), tmp_path / "cut.h5", progress=stop, chunk=60)
    kept = len(sk.open(tmp_path / "cut.h5").contact_events)
    rest = resume(logged(method), tmp_path / "cut.h5")
    events = whole.trajectory.contact_events
    assert 0 < kept < len(events)
    assert (rest.trajectory.contact_events == events).all()
    assert (np.diff(events["t"]) >= 0.0).all()
    for name in NAMES:
        assert (rest.trajectory[name] == whole.trajectory[name]).all()


def test_a_table_that_is_full_grows(tmp_path, monkeypatch):
    monkeypatch.setattr(log_layout.Content, "__new__", _small(log_layout.Content.__new__))
    done = bouncing(log=tmp_path / "run.h5")
    monkeypatch.undo()
    assert (done.trajectory.contact_events == bouncing().trajectory.contact_events).all()
    assert (done.trajectory["contact_gap"] == bouncing().trajectory["contact_gap"]).all()


def _small(make):
    def made(cls, names, channels, description, scenario, record, events=1):
        return make(cls, names, channels, description, scenario, record, events)

    return made


def test_a_damaged_table_of_events_is_named(tmp_path):
    bouncing(log=tmp_path / "run.h5")
    with h5py.File(tmp_path / "run.h5") as file:
        at = file["contact_events"].id.get_offset()
        assert file.attrs["schema_version"] == 3
    data = bytearray((tmp_path / "run.h5").read_bytes())
    data[at + 5] ^= 1
    (tmp_path / "run.h5").write_bytes(data)
    damaged = sk.open(tmp_path / "run.h5")
    assert len(damaged.q) == len(damaged)
    with pytest.raises(sk.LogError, match="'contact_events' is not as skodyn wrote it"):
        _ = damaged.contact_events


def test_logs_without_contacts_are_of_schema_2_and_say_so_of_events(tmp_path):
    sk.simulate(sk.examples.pendulum(1), [1.0], [0.0], duration=0.1, log=tmp_path / "run.h5")
    with h5py.File(tmp_path / "run.h5") as file:
        assert file.attrs["schema_version"] == 2
        assert "contact_events" not in file
    with pytest.raises(sk.LogError, match="add contacts to the log's channels"):
        _ = sk.open(tmp_path / "run.h5").contact_events


@pytest.mark.parametrize("every", [1, 4])
def test_a_run_that_blows_up_ends_in_its_own_sentence(every, tmp_path):
    """Coordinates overflow a step before velocities do: NaN in rows breaks nothing."""
    text = (FOLDER / "quadruped_slope.toml").read_text()
    text = text.replace('"implicit_contact"', '"rk4"').replace("every = 4", f"every = {every}")
    scenario = parse_scenario(text, FOLDER)
    done = run_scenario(scenario, tmp_path / "run.h5")
    assert done.status == "failed"
    assert "became NaN or infinite at t = 0.13 s, step 27; use a smaller dt" in done.message
    log = done.trajectory
    finite = np.isfinite(log["q"]).all(axis=1)
    assert finite.all() == (every == 4)  # the last step of all has no row then
    assert np.isfinite(log["contact_gap"][finite]).all()
    assert np.isfinite(log["contact_force"][finite][:-1]).all()
    assert np.isnan(log["energy"][~finite]).all()
    events = log.contact_events
    assert len(events) > 0
    assert np.isfinite(events["t"]).all()
    assert np.isfinite(events["normal_speed"]).all()
    assert any("impacts are not resolved" in warning for warning in done.summary["warnings"])
