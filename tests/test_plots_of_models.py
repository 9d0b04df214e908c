"""Pictures of models: zeros of their operators, and what explains the forces in their joints."""

import numpy as np
import pytest

import skodyn as sk
from skodyn.cli import main
from skodyn.io.log import LogWriter
from skodyn.view.plots import force_picture, save, sparsity_picture
from skodyn.view.plots.force_models import MODELS, explained
from skodyn.view.plots.sparsity import picture_of
from test_sko_sparsity import five_segments

PENDULUM = "scenarios/models/double_pendulum.toml"


@pytest.fixture(autouse=True)
def in_the_repository(request, monkeypatch):
    monkeypatch.chdir(request.config.rootpath)


def test_the_picture_of_figure_7_has_dense_segments_and_coloured_connectors():
    model = five_segments()
    zeros = sk.sparsity(model)
    shown = picture_of(zeros, "mass_matrix")
    segment = zeros.segments.segment_of[::-1]
    within = segment[:, None] == segment
    assert (shown[within] == 1).all(), "serial segments are dense"
    np.testing.assert_array_equal(shown[~within] == 2, zeros.mass_matrix[::-1, ::-1][~within])
    lower = picture_of(zeros, "A")
    assert not np.triu(lower, 1).any(), "tips first makes 𝔸 lower triangular"
    figure = sparsity_picture(model)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert len(titles) == 5
    assert titles[-2].endswith("100%")
    np.testing.assert_array_equal(figure.axes[2].images[0].get_array(), shown)


def test_plot_sparsity_writes_a_file_and_never_over_another(tmp_path, capsys):
    target = tmp_path / "zeros.svg"
    assert main(["plot", "sparsity", PENDULUM, "-o", str(target)]) == 0
    assert target.read_text().startswith("<?xml")
    assert main(["plot", "sparsity", PENDULUM, "-o", str(target)]) == 2
    assert "exists" in capsys.readouterr().err
    assert main(["plot", "sparsity"]) == 2
    assert "skodyn plot sparsity MODEL" in capsys.readouterr().err


def test_at_rest_with_floppy_joints_the_articulated_model_explains_everything():
    model = sk.load(PENDULUM)
    q, rest = np.array([1.0, -0.4]), np.zeros(2)
    shares = explained(model, q, rest, sk.forward_dynamics(model, q, rest, rest))
    assert shares.shape == (3, 2)
    np.testing.assert_allclose(shares[MODELS.index("articulated")], 1.0, atol=1e-7)
    np.testing.assert_allclose(shares[:, 1], 1.0, atol=1e-7)  # the last body has nothing outboard
    assert shares[MODELS.index("terminal"), 0] < 0.9
    assert shares[MODELS.index("composite"), 0] < 0.9


def test_when_nothing_turns_the_composite_model_explains_everything():
    model = sk.load(PENDULUM)
    shares = explained(model, [0.3, 0.5], np.zeros(2), np.zeros(2))
    np.testing.assert_allclose(shares[MODELS.index("composite")], 1.0, atol=1e-7)


def test_plot_forces_draws_a_panel_for_each_body(tmp_path):
    model = sk.load(PENDULUM)
    log = tmp_path / "run.h5"
    sk.simulate(model, [1.5, 0.2], [0, 0], duration=0.1, dt=1e-3, channels=["vdot"], log=log)
    figure = force_picture(sk.open(log))
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["upper", "lower"]
    assert [line.get_label() for line in figure.axes[0].lines] == list(MODELS)
    assert main(["plot", "forces", str(log), "-o", str(tmp_path / "f.png")]) == 0
    only = force_picture(sk.open(log), ["elb*"])
    assert [axes.get_title(loc="left") for axes in only.axes] == ["lower"]


def test_a_log_without_accelerations_and_an_unknown_joint_are_refused(tmp_path, capsys):
    model = sk.load(PENDULUM)
    log = tmp_path / "run.h5"
    sk.simulate(model, [1.5, 0.2], [0, 0], duration=0.01, dt=1e-3, log=log)
    assert main(["plot", "forces", str(log)]) == 2
    assert "vdot" in capsys.readouterr().err
    assert main(["plot", "forces", str(log), "--joints", "knee"]) == 2
    assert "knee" in capsys.readouterr().err


def beads():
    """Point masses on weightless rods: their composite inertia has no inverse."""
    b = sk.ModelBuilder(name="beads")
    at = {"mass": 1.0, "com": (0, 0, -1.0)}
    b.add_body("upper", "world", sk.Revolute(axis=(0, 1, 0), name="j"), **at)
    b.add_body(
        "lower", "upper", sk.Revolute(axis=(0, 1, 0), name="k"), translation=(0, 0, -1), **at
    )
    return b.build()


def log_of(path, model, rows, q=0.5):
    block = {name: np.full((rows, model.nv), q) for name in ("q", "v", "vdot")}
    with LogWriter.create(path, ["vdot"], model, {}) as log:
        if rows:
            log.append(block | {"t": 0.1 * np.arange(rows), "step": np.arange(rows)})
        log.finish("finished")
    return sk.open(path)


@pytest.mark.parametrize("rows", [1, 3])
def test_forces_of_point_masses_are_drawn_and_none_explains_more_than_all(tmp_path, rows):
    figure = force_picture(log_of(tmp_path / "a.h5", beads(), rows))
    save(figure, tmp_path / "a.png")
    curves = [line.get_ydata() for axes in figure.axes for line in axes.lines]
    assert np.isfinite(curves).all()
    assert np.max(curves) <= 1.0 + 1e-12


@pytest.mark.parametrize(("rows", "q"), [(0, 0.0), (3, np.nan), (3, np.inf)])
def test_a_log_without_a_row_that_is_finite_has_no_forces_to_draw(tmp_path, rows, q):
    with pytest.raises(sk.LogError, match="has no row that can be drawn"):
        force_picture(log_of(tmp_path / "a.h5", beads(), rows, q))
