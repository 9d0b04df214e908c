"""Pictures of sweeps: histograms, maps and slices of metrics over parameters, failures marked."""

import sys
from pathlib import Path
from types import SimpleNamespace

import h5py
import numpy as np
import pytest

import skodyn as sk
from skodyn.cli import main
from skodyn.sweeps.results import Sweep
from skodyn.view.plots import save, study_picture
from skodyn.view.plots.study import MOST_LEVELS


def grid_study(**changes):
    """20 × 15 × 2 runs with reach = x + y·spring, 3 failures, 5 runs without a number for it."""
    x, y, z = (g.ravel() for g in np.meshgrid(np.arange(20.0), np.arange(15.0), [0.0, 1.0]))
    reach = x + 10 * y + z
    failed = np.zeros(len(x), dtype=bool)
    failed[[3, 100, 200]] = True
    reach[10:15] = np.nan
    study = {
        "parameter_names": ("kp", "kd", "mass"),
        "metric_names": ("reach", "speed"),
        "metric_units": ("m", ""),
        "points": np.stack([x, y, z], axis=1),
        "metrics": np.stack([reach, x], axis=1),
        "finished": ~failed,
        "failed": failed,
    }
    return SimpleNamespace(**study | changes)


CART = str(Path("scenarios/cart_pole.toml").resolve())
results = sys.modules[Sweep.__module__]


def panels(figure):
    return {axes.get_title(loc="left"): axes for axes in figure.axes}


def test_every_metric_has_a_histogram_a_map_and_two_slices():
    figure = study_picture(grid_study())
    found = panels(figure)
    for name in ("reach", "speed"):
        assert {name, f"median of {name}", f"{name}, median and middle 80 %"} <= set(found)
    labels = [axes.get_xlabel() for axes in figure.axes]
    assert labels.count("kp") == 4  # a map and a slice for each metric
    assert labels.count("kd") == 2
    assert "600 runs: 597 finished, 3 failed" in figure.get_suptitle()


def test_a_map_shows_medians_and_crosses_where_runs_failed():
    study = grid_study()
    axes = panels(study_picture(study, ["reach"]))["median of reach"]
    shown = axes.collections[0].get_array()
    x, y, _ = study.points.T
    here = (x == 7) & (y == 9)
    assert shown[9, 7] == np.median(study.metrics[here & study.finished, 0])
    crosses = set(zip(*axes.lines[0].get_data(), strict=True))
    assert crosses == {(x[r], y[r]) for r in np.flatnonzero(study.failed)}


def test_metrics_with_a_unit_have_it_on_their_axes():
    figure = study_picture(grid_study())
    over = [axes.get_xlabel() for axes in figure.axes]
    up = [axes.get_ylabel() for axes in figure.axes]
    assert [label for label in over if label.startswith("reach")] == [
        "reach in m (no number in 5 runs)"
    ]
    assert up.count("reach in m") == 2  # of slices
    assert up.count("m") == 1  # of colours
    assert up.count("speed") == 2
    assert "speed" in over


METRICS = {
    "force": ({"of": "contact.ball/slope.force", "kind": "max"}, "N"),
    "lost": ({"of": "contact_loss", "kind": "final"}, "J"),
    "drift": ({"kind": "energy_drift"}, ""),
    "when": ({"of": "q.ball.pz", "kind": "crossing", "level": 0.3}, "s"),
    "high": ({"of": "q.ball.pz", "kind": "max"}, "m"),
    "turn": ({"of": "q.ball.w", "kind": "final"}, ""),
    "spin": ({"of": "v.ball.wx", "kind": "rms"}, "rad/s"),
    "push": ({"of": "momentum.linear.x", "kind": "mean"}, "N·s"),
    "whirl": ({"of": "momentum.angular.x", "kind": "mean"}, "N·m·s"),
    "place": ({"of": "position.ball.x", "kind": "min"}, "m"),
    "own": ({"of": lambda t, q, v: q[0], "kind": "final"}, ""),
}


def test_units_of_metrics_are_those_of_their_quantities(tmp_path):
    ball = Path("scenarios/ball_on_slope.toml").resolve()
    given = {name: metric for name, (metric, _) in METRICS.items()}
    found = sk.sweep(ball, {"duration": [0.01]}, metrics=given, out=tmp_path / "study.h5")
    assert dict(zip(found.metric_names, found.metric_units, strict=True)) == {
        name: unit for name, (_, unit) in METRICS.items()
    }


def test_runs_without_a_number_are_counted():
    figure = study_picture(grid_study(), ["reach"])
    assert "no number in 5 runs" in figure.axes[0].get_xlabel()
    heights = [bar.get_height() for bar in figure.axes[0].patches]
    assert sum(heights) == 597 - 5


def test_a_slice_is_the_median_along_one_parameter():
    study = grid_study()
    figure = study_picture(study, ["speed"])
    slices = [axes for axes in figure.axes if "middle" in axes.get_title(loc="left")]
    over_kp = next(axes for axes in slices if axes.get_xlabel() == "kp")
    levels, medians = over_kp.lines[0].get_data()
    np.testing.assert_array_equal(levels, np.arange(20.0))
    np.testing.assert_array_equal(medians, np.arange(20.0))


def test_many_values_of_a_parameter_are_put_into_bins():
    rng = np.random.default_rng(0)
    points = rng.uniform(size=(5000, 2))
    study = grid_study(
        points=points, parameter_names=("a", "b"), metrics=points.sum(axis=1)[:, None],
        metric_names=("sum",), metric_units=("",), finished=np.ones(5000, bool),
        failed=np.zeros(5000, bool),
    )  # fmt: skip
    axes = panels(study_picture(study))["median of sum"]
    assert axes.collections[0].get_array().shape == (MOST_LEVELS, MOST_LEVELS)


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(sk.LogError, match="no metric spin; the sweep has reach, speed"):
        study_picture(grid_study(), ["spin"])
    with pytest.raises(sk.LogError, match="no metrics"):
        study_picture(grid_study(metric_names=()))
    with pytest.raises(sk.LogError, match="No parameter varies"):
        study_picture(grid_study(points=np.ones((600, 3))))


def test_plot_tells_a_sweep_from_a_log(tmp_path, monkeypatch, capsys):
    path = tmp_path / "study.h5"
    with h5py.File(path, "w") as file:
        file.attrs["schema"] = "skodyn-sweep"
    monkeypatch.setattr(results, "open_sweep", lambda _: grid_study())
    target = tmp_path / "study.png"
    assert main(["plot", str(path), "-o", str(target), "--channels", "reach"]) == 0
    assert target.read_bytes().startswith(b"\x89PNG")
    assert main(["plot", str(path), str(path), "-o", str(tmp_path / "b.png")]) == 2
    assert "one at a time" in capsys.readouterr().err


ODD_VALUES = {
    "all NaN": np.nan,
    "all infinite": np.inf,
    "constant": 3.0,
    "zero": 0.0,
    "as large as doubles": 1e308,
    "as small as doubles": 5e-324,
}


def odd_study(value, runs=600):
    everything = grid_study()
    cut = {
        key: getattr(everything, key)[:runs] for key in ("points", "metrics", "finished", "failed")
    }
    cut["metrics"] = np.full_like(cut["metrics"], value)
    return grid_study(**cut)


@pytest.mark.parametrize("value", ODD_VALUES.values(), ids=ODD_VALUES)
def test_a_metric_of_odd_values_is_drawn_whatever_they_are(tmp_path, value):
    target = save(study_picture(odd_study(value), ["reach"]), tmp_path / "odd.png")
    assert target.stat().st_size > 1000


@pytest.mark.parametrize("both", [(np.nan, 1.0), (-np.inf, np.inf), (-1e308, 1e308), (1.0, np.inf)])
def test_a_metric_of_two_values_is_drawn_whatever_they_are(tmp_path, both):
    study = odd_study(0.0)
    study.metrics[::2], study.metrics[1::2] = both
    save(study_picture(study, ["reach"]), tmp_path / "two.png")


def test_a_metric_without_a_number_says_so_in_its_panels():
    figure = study_picture(odd_study(np.nan), ["reach"])
    words = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert words == ["no run has a number"] * 4  # histogram, map, two slices


def test_a_sweep_of_which_nothing_is_done_or_all_has_failed_is_drawn(tmp_path):
    none, every = np.zeros(600, bool), np.ones(600, bool)
    for finished, failed in ((none, none), (none, every)):
        figure = study_picture(grid_study(finished=finished, failed=failed))
        save(figure, tmp_path / f"{failed.all()}.png")


def test_two_runs_are_enough_for_a_picture_and_one_or_none_is_refused(tmp_path):
    save(study_picture(odd_study(1.0, runs=3)), tmp_path / "few.png")
    for runs in (0, 1):
        with pytest.raises(sk.LogError, match="No parameter varies"):
            study_picture(odd_study(1.0, runs=runs))


def test_a_parameter_that_is_no_number_everywhere_is_refused_by_name():
    study = grid_study()
    study.points[3, 1] = np.nan
    with pytest.raises(sk.LogError, match="Parameter kd has values that are not finite"):
        study_picture(study)


def test_a_study_is_drawn_over_and_at_parameters_of_ones_choice():
    study = grid_study()
    figure = study_picture(study, ["speed"], over=["mass", "kp"], at={"kd": 3.0}, title="gains")
    labels = [axes.get_xlabel() for axes in figure.axes]
    assert labels.count("mass") == 2  # the map and a slice
    assert labels.count("kp") == 1
    assert "gains" in figure.get_suptitle()
    assert "40 runs" in figure.get_suptitle()
    assert "kd = 3" in figure.get_suptitle()
    refused = [
        ({"over": ["kq"]}, "no parameter kq; the sweep has kp, kd, mass"),
        ({"at": {"kd": 3.5}}, "No run has kd = 3.5; its values are 0, 1, 2"),
        ({"over": ["kd"], "at": {"kd": 3.0}}, "kd does not vary"),
        ({"over": ["kp", "kd", "mass"]}, "A map has two axes"),
    ]
    for wrong, words in refused:
        with pytest.raises(sk.LogError, match=words):
            study_picture(study, **wrong)


def test_parameters_that_are_spaced_by_a_factor_have_a_logarithmic_axis():
    study = grid_study()
    points = study.points.copy()
    points[:, 1] = 0.5 * 1.4 ** points[:, 1]
    figure = study_picture(grid_study(points=points), ["reach"])
    slices = {axes.get_xlabel(): axes for axes in figure.axes if "80 %" in axes.get_title("left")}
    assert slices["kd"].get_xscale() == "log"
    assert slices["kp"].get_xscale() == "linear"
    assert panels(figure)["median of reach"].get_yscale() == "log"


def test_the_command_line_takes_over_and_at(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out = str(tmp_path / "study.h5")
    grid = {"controllers.drive.kp": [2.0, 6.0], "controllers.drive.kd": [1.0, 4.0, 9.0]}
    metrics = {"far": {"of": "q.rail", "kind": "max"}}
    sk.sweep(CART, grid, out=out, metrics=metrics, engine="in-process")
    line = ["plot", out, "--over", "controllers.drive.kd", "--at", "controllers.drive.kp=6"]
    assert main(line) == 0
    assert main([*line, "--overwrite", "--at", "controllers.drive.kp"]) == 2
    assert "has no =" in capsys.readouterr().err
