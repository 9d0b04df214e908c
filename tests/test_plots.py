"""Plot sheets: what is in the figure, what is in the file, what is refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import skodyn as sk
from skodyn.channels.entries.energy import relative_change
from skodyn.cli import main, plots
from skodyn.io.log import LogWriter
from skodyn.view.plots import save, sheet
from skodyn.view.plots.style import COLOURS, LINES
from skodyn.view.signals import families

TURNING = "angular velocity (wrist: in body axes)"

ROWS = 21


def arm():
    b = sk.ModelBuilder(name="arm")
    body = {"mass": 1.0, "inertia": (0.1, 0.1, 0.1)}
    b.add_body("cart", "world", sk.Prismatic(axis=(1, 0, 0), name="rail"), **body)
    b.add_body("upper", "cart", sk.Revolute(axis=(0, 1, 0), name="shoulder"), **body)
    b.add_body("lower", "upper", sk.Revolute(axis=(0, 1, 0), name="elbow"), **body)
    b.add_body("hand", "lower", sk.Spherical(name="wrist"), **body)
    return b.build()


def chain(n):
    b = sk.ModelBuilder(name="chain")
    for k in range(n):
        b.add_body(f"link{k}", f"link{k - 1}" if k else "world", sk.Revolute(), mass=1.0,
                   translation=(1, 0, 0), inertia=(0.1, 0.1, 0.1))  # fmt: skip
    return b.build()


def log_of(path, model, channels=(), shift=0.0, end=2.0):
    """Column k of q is shift + k + t, of v it is 10 k; energy and momentum are simple functions."""
    t = np.linspace(0, end, ROWS)
    q = shift + np.arange(model.nq) + t[:, None]
    for name, joint in zip(model.joint_names, model.joints, strict=True):
        if joint.type_name == "spherical":
            q[:, model.q_slice(name)] = (1, 0, 0, 0)
    columns = np.broadcast_to(10.0 * np.arange(model.nv), (ROWS, model.nv))
    rows = {"t": t, "step": np.arange(ROWS), "q": q, "v": columns, "tau": columns / 10,
            "vdot": columns, "energy": np.stack((t, 5 - t + 1e-9 * t), axis=1),
            "momentum": np.tile(np.arange(6.0), (ROWS, 1))}  # fmt: skip
    with LogWriter.create(path, channels, model, {}) as log:
        log.append({name: rows[name] for name in ("t", "step", "q", "v", *channels)})
        log.finish("finished")
    return sk.open(path)


def panels(figure):
    return {axes.get_title(loc="left"): axes for axes in figure.axes if axes.get_title(loc="left")}


def labels(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_every_column_stands_under_its_name_with_its_unit(tmp_path):
    log = log_of(tmp_path / "a.h5", arm(), ["tau", "energy", "momentum"])
    found = panels(sheet([log]))
    units = {title: axes.get_ylabel() for title, axes in found.items()}
    assert units == {
        "angular position": "rad", "linear position": "m", "orientation quaternion": "",
        TURNING: "rad/s", "linear velocity": "m/s", "joint torque": "N·m",
        "joint force": "N", "energy": "J", "change of total energy, relative": "",
        "angular momentum": "N·m·s", "linear momentum": "N·s",
    }  # fmt: skip
    assert labels(found["angular position"]) == ["shoulder", "elbow"]
    assert labels(found["linear position"]) == ["rail"]
    assert labels(found["orientation quaternion"]) == [f"wrist.{c}" for c in "wxyz"]
    assert labels(found[TURNING]) == ["shoulder", "elbow", "wrist.wx", "wrist.wy",
                                                 "wrist.wz"]  # fmt: skip


def test_the_lines_are_the_data(tmp_path):
    log = log_of(tmp_path / "a.h5", arm(), ["tau", "energy"])
    found = panels(sheet([log]))
    elbow = found["angular position"].lines[1]
    np.testing.assert_array_equal(elbow.get_xdata(), log.t)
    np.testing.assert_array_equal(elbow.get_ydata(), log.joint("elbow")[:, 0])
    total = found["energy"].lines[2]
    np.testing.assert_array_equal(total.get_ydata(), log["energy"].sum(axis=1))
    change = found["change of total energy, relative"].lines[0]
    np.testing.assert_allclose(change.get_ydata(), 1e-9 * log.t / 5, rtol=1e-6, atol=1e-16)
    assert found["joint force"].lines[0].get_ydata()[0] == 0.0
    assert found["joint torque"].lines[1].get_ydata()[0] == 2.0


def test_legends_stand_beside_the_axes_not_on_them(tmp_path):
    figure = sheet([log_of(tmp_path / "a.h5", arm(), ["energy"])])
    figure.draw_without_rendering()
    boxes = [(a.get_legend().get_window_extent(), a.get_window_extent()) for a in figure.axes
             if a.get_legend()]  # fmt: skip
    assert len(boxes) == 6
    for legend, _own in boxes:
        assert legend.x1 <= figure.bbox.x1
        assert not any(legend.overlaps(axes.get_window_extent()) for axes in figure.axes)


def test_several_runs_share_colours_by_joint_and_differ_by_line(tmp_path):
    logs = [log_of(tmp_path / f"{k}.h5", arm(), shift=0.1 * k) for k in range(3)]
    figure = sheet(logs)
    lines = panels(figure)["angular position"].lines
    assert len(lines) == 6
    assert [line.get_color() for line in lines] == list(COLOURS[:2]) * 3
    assert len({str(line._unscaled_dash_pattern) for line in lines}) == 3 <= len(LINES)
    assert [t.get_text() for t in figure.legends[0].get_texts()] == ["0.h5", "1.h5", "2.h5"]


def test_of_a_thousand_joints_eight_are_drawn_all_are_mapped_and_that_is_said(tmp_path):
    figure = sheet([log_of(tmp_path / "a.h5", chain(1000))])
    found = panels(figure)
    title = "angular position: 8 of 1000 curves, grey: range of all"
    assert labels(found[title])[0] == "link0"
    assert labels(found[title])[-1] == "link999"
    assert len(found[title].lines) == 8
    (band,) = found[title].collections
    assert band.get_paths()[0].get_extents().y1 == pytest.approx(1001)
    (maps,) = [axes for name, axes in found.items() if name.startswith("angular position of all")]
    assert maps.collections[0].get_array().shape == (1000, ROWS)


def test_channels_joints_and_times_can_be_chosen(tmp_path):
    log = log_of(tmp_path / "a.h5", arm(), ["tau"])
    figure = sheet([log], channels=["q", "tau"], joints=["*l*"], start=0.55, end=1.0)
    found = panels(figure)
    assert set(found) == {"angular position", "linear position", "joint torque", "joint force"}
    assert labels(found["angular position"]) == ["shoulder", "elbow"]
    times = found["joint torque"].lines[0].get_xdata()
    assert times[0] == pytest.approx(0.6)
    assert times[-1] == pytest.approx(1.0)


def test_rows_that_are_not_finite_are_gaps_not_faults(tmp_path):
    model = chain(50)
    path = tmp_path / "a.h5"
    q = np.ones((5, 50))
    q[3:] = np.nan
    with LogWriter.create(path, (), model, {}) as log:
        log.append({"t": np.arange(5.0), "step": np.arange(5), "q": q, "v": q})
        log.finish("failed", "it blew up")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = sheet([sk.open(path)])
        save(figure, tmp_path / "a.png")
    assert "failed" in figure.get_suptitle()


ODD = {
    "all NaN": np.nan, "all infinite": np.inf, "zero": 0.0, "large": 1e308, "small": 5e-324,
}  # fmt: skip


def odd_log(path, model, value, rows):
    channels = ["tau", "vdot", "energy", "momentum"]
    widths = {"q": model.nq, "v": model.nv, "tau": model.nv, "vdot": model.nv, "energy": 2}
    block = {name: np.full((rows, widths.get(name, 6)), value) for name in ("q", "v", *channels)}
    block |= {"t": 0.1 * np.arange(rows), "step": np.arange(rows)}
    with LogWriter.create(path, channels, model, {}) as log:
        log.append(block)
        log.finish("finished")
    return sk.open(path)


@pytest.mark.parametrize("rows", [1, 5])
@pytest.mark.parametrize("value", ODD.values(), ids=ODD)
def test_a_log_of_odd_values_is_drawn_whatever_they_are(tmp_path, value, rows):
    log = odd_log(tmp_path / "a.h5", chain(45), value, rows)
    save(sheet([log]), tmp_path / "odd.png")


@pytest.mark.parametrize("both", [(np.nan, 1.0), (-np.inf, np.inf), (-1e308, 1e308)])
def test_a_log_of_two_odd_values_is_drawn(tmp_path, both):
    model = chain(45)
    q = np.where(np.arange(6)[:, None] % 2, *both) * np.ones(45)
    rows = {"t": 0.1 * np.arange(6), "step": np.arange(6), "q": q, "v": q}
    with LogWriter.create(tmp_path / "a.h5", [], model, {}) as log:
        log.append(rows)
        log.finish("finished")
    save(sheet([sk.open(tmp_path / "a.h5")]), tmp_path / "odd.png")


def test_relative_change_is_measured_by_the_largest_energy_and_zero_at_rest():
    energy = np.array([[0.0, 1.0], [4.0, -2.0]])
    np.testing.assert_allclose(relative_change(energy), [0, 1 / 4])
    np.testing.assert_array_equal(relative_change(np.zeros((3, 2))), 0)


def test_what_is_not_logged_or_not_a_curve_is_refused_by_name(tmp_path):
    log = log_of(tmp_path / "a.h5", arm())
    with pytest.raises(sk.LogError, match="'tau' was not logged"):
        sheet([log], channels=["tau"])
    with pytest.raises(sk.LogError, match="'positions' cannot be plotted; choose from q, v"):
        families(log, ["positions"])
    with pytest.raises(sk.LogError, match="did you mean 'elbow'"):
        sheet([log], joints=["elbw"])
    with pytest.raises(sk.LogError, match=r"no row between 7 and 8 s; it has 0 … 2 s"):
        sheet([log], start=7, end=8)


@pytest.mark.parametrize(
    ("name", "start"), [("a.png", b"\x89PNG"), ("b.svg", b"<?xml"), ("c.PDF", b"%PDF")]
)
def test_files_are_of_the_kind_that_their_name_says_and_the_same_each_time(tmp_path, name, start):
    log = log_of(tmp_path / "log.h5", arm(), ["energy"])
    chosen = {"channels": ["energy"]}
    first = save(sheet([log], **chosen), tmp_path / name).read_bytes()
    assert first.startswith(start)
    assert save(sheet([log], **chosen), tmp_path / name, overwrite=True).read_bytes() == first
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([name, "log.h5"])


def test_the_command_writes_here_says_where_and_never_over_a_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    log_of(tmp_path / "run.h5", arm(), ["energy"])
    assert main(["plot", "run.h5", "--channels", "q,energy", "--joints", "elbow"]) == 0
    assert capsys.readouterr().out == "run.png\n"
    before = (tmp_path / "run.png").read_bytes()
    assert main(["plot", "run.h5"]) == 2
    assert "run.png exists; choose another name, or replace it" in capsys.readouterr().err
    assert (tmp_path / "run.png").read_bytes() == before
    assert main(["plot", "run.h5", "--overwrite", "--channels", "energy"]) == 0
    assert (tmp_path / "run.png").read_bytes() != before
    assert main(["plot", "run.h5", "-o", "run.gif"]) == 2
    assert "plots are written as .png, .svg, .pdf" in capsys.readouterr().err
    assert main(["plot", "run.h5", "-o", "no/folder.png", "--channels", "energy"]) == 2
    assert "no/folder.png cannot be written: No such file" in capsys.readouterr().err
    assert main(["plot", "none.h5"]) == 2


def test_a_first_word_chooses_another_kind_of_plot(monkeypatch):
    seen = []
    monkeypatch.setitem(plots.PLOTS, "sparsity", lambda options: seen.append(options.what))
    assert main(["plot", "sparsity", "arm.toml"]) == 0
    assert seen == [["sparsity", "arm.toml"]]


@pytest.mark.parametrize("what", [(), ("sparsity",), ("forces",)])
def test_without_matplotlib_the_extra_is_named_before_any_work(what, monkeypatch, capsys):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    assert main(["plot", *what, "is not there.h5"]) == 2
    assert "pip install 'skodyn[plot]'" in capsys.readouterr().err


@pytest.mark.parametrize("draw", ["sheet", "study_picture", "sparsity_picture", "force_picture"])
def test_pictures_ask_for_matplotlib_before_they_read_anything(draw, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(sk.SkodynError, match=r"pip install 'skodyn\[plot\]'"):
        getattr(sk.view, draw)(None)


@pytest.mark.parametrize("word", ["sparsity", "forces"])
def test_a_picture_that_is_there_is_refused_before_any_work(word, tmp_path, capsys):
    there = tmp_path / "a.png"
    there.write_bytes(b"mine")
    assert main(["plot", word, "is not there.h5", "-o", str(there)]) == 2
    assert "exists; choose another name" in capsys.readouterr().err
    assert there.read_bytes() == b"mine"


# ---- places, world axes, titles, dense rows ---------------------------------------------------


def spinning(rows=50):
    b = sk.ModelBuilder(gravity=(0, 0, 0), name="top")
    b.add_body("top", joint=sk.Free(), mass=1.0, inertia=(0.02, 0.02, 0.01))
    b.add_frame("rim", "top", translation=(0.5, 0, 0))
    q, v = [1.0, 0, 0, 0, 0, 0, 0], [0, 0, 2.0, 1.0, 0, 0]
    return sk.simulate(b.build(), q, v, duration=0.01 * rows, dt=0.01).trajectory


def panel(figure, title):
    return next(axes for axes in figure.axes if axes.get_title(loc="left").startswith(title))


def test_velocities_of_a_free_root_say_their_axes_and_can_be_turned_to_the_worlds():
    run = spinning()
    assert panel(sheet([run]), "linear velocity (top: in body axes)")
    figure = sheet([run], channels=["q", "world_velocity"], title="a spinning top")
    lines = panel(figure, "linear velocity in world axes").lines
    error = 1e-8  # of Runge and Kutta with these steps; it goes straight on
    np.testing.assert_allclose(lines[0].get_ydata(), 1.0, atol=error)
    np.testing.assert_allclose(lines[1].get_ydata(), 0.0, atol=error)
    assert figure.get_suptitle() == "a spinning top"
    held = sk.simulate(sk.examples.pendulum(1), [0.1], [0.0], duration=0.1, dt=0.01).trajectory
    with pytest.raises(sk.LogError, match="has no free joint"):
        sheet([held], channels=["world_velocity"])


def test_positions_of_bodies_and_frames_are_drawn():
    run = spinning()
    axes = panel(sheet([run], channels=["q"], places=["top", "rim"]), "position in world axes")
    found = {line.get_label(): line.get_ydata() for line in axes.lines}
    np.testing.assert_allclose(found["top.x"], run.t, atol=1e-9)
    np.testing.assert_allclose(found["rim.x"], run.t + 0.5 * np.cos(2 * run.t), atol=1e-6)
    with pytest.raises(sk.ModelError, match="has no body or frame 'rum'"):
        sheet([run], places=["rum"])


def test_more_rows_than_a_page_has_room_for_are_bands_that_hide_no_swing():
    run = spinning(rows=9000)
    axes = panel(sheet([run], channels=["q"]), "orientation quaternion")
    assert not axes.lines
    band = axes.collections[0].get_paths()[0].vertices
    assert band[:, 1].max() > 0.999
    assert band[:, 1].min() < -0.999


def test_plot_forces_and_plot_sparsity_have_their_own_help(capsys):
    for word, option in (("forces", "--joints"), ("sparsity", "MODEL")):
        with pytest.raises(SystemExit) as ended:
            main(["plot", word, "--help"])
        assert ended.value.code == 0
        words = capsys.readouterr().out
        assert f"skodyn plot {word}" in words
        assert option in words
        assert "--channels" not in words


def test_the_command_line_has_places_world_axes_and_title(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    b = sk.ModelBuilder(gravity=(0, 0, 0), name="top")
    b.add_body("top", joint=sk.Free(), mass=1.0, inertia=(0.02, 0.02, 0.01))
    sk.simulate(b.build(), [1, 0, 0, 0, 0, 0, 0], np.ones(6), duration=0.1, dt=0.01, log="a.h5")
    assert main(["plot", "a.h5", "--places", "top", "--world-axes", "--title", "x"]) == 0
    assert main(["plot", "a.h5", "--places", "tip", "--overwrite"]) == 2
    assert "no body or frame 'tip'" in capsys.readouterr().err
