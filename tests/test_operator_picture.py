"""Pictures of operators: the entries of the matrix, blank where it is zero, under names."""

from __future__ import annotations

import numpy as np
import pytest

import skodyn as sk


@pytest.fixture(scope="module")
def ops():
    model = sk.load("scenarios/models/humanoid.toml")
    q, v = model.random_state(np.random.default_rng(0))
    return sk.operators(model, q, v)


def image_of(picture):
    axes = picture.figure.axes[0]
    return axes, axes.images[0].get_array()


@pytest.mark.parametrize("order", ["tips first", "base first"])
@pytest.mark.parametrize("name", ["phi", "M", "H", "product"])
def test_the_picture_has_the_entries_and_blanks_zeros(ops, name, order):
    operator = ops.H @ ops.phi if name == "product" else getattr(ops, name)
    matrix = operator.dense(order)
    axes, drawn = image_of(operator.plot(order=order))
    assert drawn.shape == matrix.shape
    assert (np.ma.getmaskarray(drawn) == (matrix == 0.0)).all()
    assert (drawn.filled(0.0) == np.abs(matrix)).all()
    table = operator.table(order)
    assert [t.get_text() for t in axes.get_yticklabels()] == list(table.row_names)
    assert [t.get_text() for t in axes.get_xticklabels()] == list(table.column_names)


def test_names_stand_in_the_middle_of_their_blocks(ops):
    """One degree of freedom for most joints, six for the free one, which comes last."""
    axes, _ = image_of((ops.H @ ops.phi).plot())
    rows = axes.get_yticks()
    sizes = [int(s) for s in reversed((ops.H @ ops.phi).spaces[0].sizes) if s]
    ends = np.cumsum(sizes)
    assert rows.tolist() == [(e - s + e - 1) / 2 for e, s in zip(ends, sizes, strict=True)]


def test_it_is_written_as_a_file_and_shown_in_notebooks(ops, tmp_path):
    picture = ops.phi.plot(tmp_path / "phi.png", title="carry")
    assert (tmp_path / "phi.png").stat().st_size > 5000
    assert picture._repr_png_().startswith(b"\x89PNG")
    assert picture.figure.get_suptitle() == "carry"
    with pytest.raises(sk.LogError, match="exists"):
        ops.phi.plot(tmp_path / "phi.png")


def test_the_scale_of_sizes_has_a_pointed_end_where_entries_are_smaller(ops):
    def bar(operator):
        return operator.plot().figure.axes[0].images[0].colorbar

    tiny = ops.block_diagonal("tiny", np.diag([1.0, 1e-20, 1.0, 1.0, 1.0, 1.0]))
    assert bar(tiny).extend == "min"
    assert bar(ops.block_diagonal("one", np.eye(6))).extend == "neither"


def test_an_operator_that_is_zero_is_blank(ops):
    _, drawn = image_of((ops.phi - ops.phi).plot())
    assert np.ma.getmaskarray(drawn).all()


def test_what_cannot_be_drawn_is_refused(ops):
    with pytest.raises(sk.StateError, match="stands alone"):
        ops.Id.plot()
    with pytest.raises(sk.StateError, match="order"):
        ops.phi.plot(order="sideways")
