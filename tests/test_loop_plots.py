"""Plot sheets of runs with loops: what they carry, how far they are open, what is left out."""

from __future__ import annotations

import numpy as np
import pytest

import skodyn as sk
from skodyn.cli import main
from skodyn.io.log import LogWriter
from skodyn.io.trajectory import Trajectory
from skodyn.view.plots import save, sheet
from skodyn.view.plots.run_sheet import ROUNDING

ROWS = 11
BODY = {"mass": 1.0, "com": (0, 0, 0.5), "inertia": (0.1, 0.1, 0.01)}
HINGE = sk.Revolute(axis=(0, 1, 0))


def window(*, ball=False, gears=False, loops=True):
    """A parallelogram of three links; closed where q is (a, −a, a)."""
    b = sk.ModelBuilder(name="window")
    b.add_body("crank", "world", HINGE, **BODY)
    b.add_body("coupler", "crank", HINGE, translation=(0, 0, 1), **BODY)
    b.add_body("rocker", "world", HINGE, translation=(1, 0, 0), **BODY)
    if loops:
        closing = sk.Spherical() if ball else HINGE
        b.add_loop("pin", "coupler", "rocker", closing, translation_a=(1, 0, 0),
                   translation_b=(0, 0, 1))  # fmt: skip
    if gears:
        b.add_body("wheel", "world", HINGE, **BODY)
        b.add_body("rack", "world", sk.Prismatic(axis=(1, 0, 0)), **BODY)
        b.add_coupling("gear", "wheel", "crank", (0.0, 2.0))
        b.add_coupling("teeth", terms={"rack": 1.0, "wheel": -0.1})
    return b.build()


def forces(model, pin=(np.nan, 0.0, np.nan, 3.0, np.nan, -2.0)):
    """Of the window in its plane, unless told otherwise; couplings carry 1 and 2."""
    names = model.loop_names
    table = np.full((ROWS, len(names), 6), np.nan)
    table[:, names.index("pin")] = np.asarray(pin) * np.linspace(1, 2, ROWS)[:, None]
    for i, _ in enumerate(model.couplings):
        table[:, len(model.loops) + i, 0] = i + 1.0
    return table


def run_of(model, **channels):
    t = np.linspace(0, 1, ROWS)
    q = np.outer(t, np.resize((1.0, -1.0, 1.0), model.nq))
    rows = {"t": t, "step": np.arange(ROWS), "q": q, "v": np.ones((ROWS, model.nv))}
    return Trajectory.in_memory(model, rows | channels)


def panels(figure):
    return {axes.get_title(loc="left"): axes for axes in figure.axes}


def curves(axes):
    """Labelled lines, by label."""
    lines = {line.get_label(): line.get_ydata() for line in axes.lines}
    return {label: y for label, y in lines.items() if not label.startswith("_")}


def words(axes):
    return [text.get_text() for text in axes.texts]


def test_forces_stand_under_their_names_and_undetermined_ones_are_left_out_and_named():
    model = window()
    run = run_of(model, loop_forces=forces(model))
    found = panels(sheet([run]))
    force = found["loop force"]
    assert force.get_ylabel() == "N"
    assert list(curves(force)) == ["pin.x", "pin.z"]
    np.testing.assert_array_equal(curves(force)["pin.z"], run["loop_forces"][:, 0, 5])
    assert words(force) == ["left out, undetermined (redundant rows): pin.y"]


def test_a_panel_that_has_nothing_to_show_says_why():
    model = window()
    moment = panels(sheet([run_of(model, loop_forces=forces(model))]))["loop moment"]
    assert moment.get_ylabel() == "N·m"
    assert curves(moment) == {}
    assert words(moment) == ["undetermined (redundant rows): pin.x, pin.z\nzero: pin.y"]


def test_what_is_zero_to_rounding_is_left_out_but_what_is_small_is_drawn():
    model = window()
    given = forces(model, (1e-14, 1e-9, 5.0, 3.0, 0.0, -2.0))
    found = panels(sheet([run_of(model, loop_forces=given)]))
    assert list(curves(found["loop moment"])) == ["pin.y", "pin.z"]
    assert words(found["loop moment"]) == ["left out, zero: pin.x"]
    assert words(found["loop force"]) == ["left out, zero: pin.y"]


def test_what_is_undetermined_for_a_while_is_a_gap():
    model = window()
    given = forces(model, (1.0, 1.0, 1.0, 3.0, 2.0, -2.0))
    given[3:5, 0, 4] = np.nan
    axes = panels(sheet([run_of(model, loop_forces=given)]))["loop force"]
    np.testing.assert_array_equal(np.isnan(curves(axes)["pin.y"]), np.isin(np.arange(ROWS), (3, 4)))
    assert words(axes) == []


def test_a_joint_that_carries_no_moment_has_no_panel_for_one():
    model = window(ball=True)
    run = run_of(model, loop_forces=forces(model, (0, 0, 0, 1, 2, 3)))
    assert "loop force" in panels(sheet([run]))
    assert "loop moment" not in panels(sheet([run]))


def test_couplings_have_the_unit_of_their_first_joint():
    model = window(gears=True)
    found = panels(sheet([run_of(model, loop_forces=forces(model))], channels=["loop_forces"]))
    torque, force = found["coupling torque"], found["coupling force"]
    assert (torque.get_ylabel(), force.get_ylabel()) == ("N·m", "N")
    np.testing.assert_array_equal(curves(torque)["gear"], np.full(ROWS, 1.0))
    np.testing.assert_array_equal(curves(force)["teeth"], np.full(ROWS, 2.0))


def test_errors_are_drawn_in_decades_and_never_below_rounding():
    model = window(gears=True)
    errors = np.zeros((ROWS, 3))
    errors[:, 1] = np.geomspace(1e-18, 1e-6, ROWS)
    errors[4, 2] = np.nan
    axes = panels(sheet([run_of(model, loop_error=errors)]))["loop error"]
    assert axes.get_yscale() == "log"
    assert axes.get_ylabel() == "m, rad"
    assert list(curves(axes)) == ["pin", "gear", "teeth"]
    np.testing.assert_array_equal(curves(axes)["pin"], np.full(ROWS, ROUNDING))
    np.testing.assert_array_equal(curves(axes)["gear"], np.maximum(errors[:, 1], ROUNDING))
    assert np.isnan(curves(axes)["teeth"]).sum() == 1
    low, high = axes.get_ylim()
    assert low < ROUNDING
    assert high > 1e-6
    assert "2.2e-16" in words(axes)[0]


def test_loops_can_be_chosen_by_name_or_pattern():
    model = window(gears=True)
    run = run_of(model, loop_forces=forces(model), loop_error=np.full((ROWS, 3), 1e-15))
    found = panels(sheet([run], channels=["loop_error", "loop_forces"], loops=["g*"]))
    assert set(found) == {"coupling torque", "loop error"}
    assert list(curves(found["loop error"])) == ["gear"]
    with pytest.raises(sk.LogError, match=r"no loop or coupling 'pim'; did you mean 'pin'\?"):
        sheet([run], loops=["pim"])


def test_the_head_says_what_a_run_with_loops_did_not_log():
    assert "loop_forces, loop_error" in sheet([run_of(window())]).get_suptitle()
    assert "loop" not in sheet([run_of(window(loops=False))]).get_suptitle()


@pytest.mark.parametrize("rows", [1, ROWS])
@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0, 1e308, 5e-324])
def test_odd_values_are_drawn_whatever_they_are(tmp_path, value, rows):
    model = window(gears=True)
    odd = {"loop_forces": np.full((ROWS, 3, 6), value), "loop_error": np.full((ROWS, 3), value)}
    save(sheet([run_of(model, **odd)[:rows]]), tmp_path / "odd.png")


def test_several_runs_are_laid_over_one_another():
    model = window()
    runs = [run_of(model, loop_forces=k * forces(model)) for k in (1, 2)]
    axes = panels(sheet(runs))["loop force"]
    assert len(axes.lines) == 4
    np.testing.assert_array_equal(axes.lines[2].get_ydata(), 2 * axes.lines[0].get_ydata())


def test_the_command_takes_channels_and_loops(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    model = window(gears=True)
    run = run_of(model, loop_forces=forces(model), loop_error=np.full((ROWS, 3), 1e-15))
    channels = ["loop_error", "loop_forces"]
    with LogWriter.create(tmp_path / "run.h5", channels, model, {}) as log:
        log.append({name: run[name] for name in ("t", "step", "q", "v", *channels)})
        log.finish("finished")
    assert main(["plot", "run.h5", "--channels", "loop_error,loop_forces", "--loops", "pin"]) == 0
    assert capsys.readouterr().out == "run.png\n"
    assert main(["plot", "run.h5", "-o", "b.png", "--loops", "pim"]) == 2
    assert "did you mean 'pin'" in capsys.readouterr().err
