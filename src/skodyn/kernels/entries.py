"""How a sweep is called from Python: for one state, or for a batch a register full at a time.

An algorithm is a helper `sweep(work, model, given, out)` and a `shape(model, count)`, the rows and
columns of its result for one state, given how many numbers x has; −1 rows turn such an x away.
`one_state` and `batch` make kernels of it. They are made here and not written out in each file, so
what they check of their arguments is written once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from skodyn.jit import COUNT, FLOATS, INTS, RESULT, Group, Kind, brief_kernel, helper, kernel
from skodyn.kernels.packed_model import PackedModel
from skodyn.kernels.status import BAD_INPUT, OK, coordinates_fit, finite, forces_fit, velocities_fit
from skodyn.kernels.workspace import unpack
from skodyn.lanes import LANES, WIDTH_N, Rows, Work, pointer
from skodyn.model.layout import NQ, NV

__all__ = [
    "BATCH",
    "Given",
    "Tables",
    "batch",
    "is_given",
    "named_like",
    "one_state",
    "one_state_signature",
    "per_dof",
    "per_dof_of_x",
    "row_of",
    "square",
]

BLOCK = RESULT


class Tables(NamedTuple):
    """The states of a batch, as flat tables; those that are not given are empty."""

    q: Any
    v: Any
    x: Any
    f_ext: Any
    f_stride: int  # the length of a row of external forces


BATCH = (
    Group(PackedModel, (INTS, FLOATS)),
    COUNT,  # first row
    COUNT,  # behind the last
    Group(Tables, (*[FLOATS] * 4, COUNT)),
    RESULT,
    RESULT,  # workspace
)


def one_state_signature(inputs: int, dimensions: int = 1) -> tuple[Kind, ...]:
    """The block that holds model and workspace, q, so many more inputs, and the result."""
    return (BLOCK, FLOATS, *[FLOATS] * inputs, RESULT.of(dimensions))


class Given(NamedTuple):
    """What an algorithm is a function of; rows that are not given have stride 0."""

    q: Rows
    v: Rows
    x: Rows  # accelerations, forces or right-hand sides, or what all states share: a point, nodes
    f_ext: Rows


@helper
def is_given(rows):
    return rows.stride > 0


@helper
def row_of(array):
    """An array as the row of one state."""
    return Rows(pointer(array), 0, 1)


@helper
def no_row(array):
    """Nothing, where an array would be."""
    return Rows(pointer(array), 0, 0)


# ---- shapes of results that several algorithms have --------------------------------------------


@helper
def per_dof(model, count):
    """A number for each degree of freedom."""
    return model.tree[NV], 1


@helper
def per_dof_of_x(model, count):
    """The same where x must have as many."""
    return (model.tree[NV], 1) if count == model.tree[NV] else (-1, 1)


@helper
def square(model, count):
    """A matrix, nv × nv."""
    return model.tree[NV], model.tree[NV]


@helper
def fits(out, shape):
    return out.shape[0] == shape[0] and out.size == shape[0] * shape[1]


# ---- one state ---------------------------------------------------------------------------------
#
# An argument less is 5 % of a small robot's call, so a kernel takes what its algorithm does.


def _of_q(sweep: Any, shape: Any) -> Any:
    def entry(block, q, out):
        work, model = unpack(block)
        if not (coordinates_fit(model, q) and fits(out, shape(model, 0))):
            return BAD_INPUT
        none = no_row(q)
        return sweep(work, model, Given(row_of(q), none, none, none), row_of(out))

    return entry


def _of_v(sweep: Any, shape: Any) -> Any:
    def entry(block, q, v, out):
        work, model = unpack(block)
        sound = coordinates_fit(model, q) and velocities_fit(model, v)
        if not (sound and fits(out, shape(model, 0))):
            return BAD_INPUT
        none, rows = no_row(q), Rows(pointer(v), 0, v.size)  # as in batches: none if nothing moves
        return sweep(work, model, Given(row_of(q), rows, none, none), row_of(out))

    return entry


def _of_x(sweep: Any, shape: Any) -> Any:
    def entry(block, q, x, out):
        work, model = unpack(block)
        sound = coordinates_fit(model, q) and finite(x)
        if not (sound and fits(out, shape(model, x.size))):
            return BAD_INPUT
        none = no_row(q)
        rows = Rows(pointer(x), 0, x.size)
        return sweep(work, model, Given(row_of(q), none, rows, none), row_of(out))

    return entry


def _of_v_x(sweep: Any, shape: Any) -> Any:
    def entry(block, q, v, x, out):
        work, model = unpack(block)
        sound = coordinates_fit(model, q) and velocities_fit(model, v) and finite(x)
        if not (sound and fits(out, shape(model, x.size))):
            return BAD_INPUT
        return sweep(work, model, Given(row_of(q), row_of(v), row_of(x), no_row(q)), row_of(out))

    return entry


def _of_v_forces(sweep: Any, shape: Any) -> Any:
    def entry(block, q, v, f_ext, out):
        work, model = unpack(block)
        sound = coordinates_fit(model, q) and velocities_fit(model, v) and forces_fit(model, f_ext)
        if not (sound and fits(out, shape(model, 0))):
            return BAD_INPUT
        forces = Rows(pointer(f_ext), 0, f_ext.size)
        return sweep(work, model, Given(row_of(q), row_of(v), no_row(q), forces), row_of(out))

    return entry


def _of_v_x_forces(sweep: Any, shape: Any) -> Any:
    def entry(block, q, v, x, f_ext, out):
        work, model = unpack(block)
        sound = coordinates_fit(model, q) and velocities_fit(model, v) and forces_fit(model, f_ext)
        if not (sound and finite(x) and fits(out, shape(model, x.size))):
            return BAD_INPUT
        forces = Rows(pointer(f_ext), 0, f_ext.size)
        return sweep(work, model, Given(row_of(q), row_of(v), row_of(x), forces), row_of(out))

    return entry


_FORMS = {
    "q": _of_q,
    "q v": _of_v,
    "q x": _of_x,
    "q v x": _of_v_x,
    "q v f": _of_v_forces,
    "q v x f": _of_v_x_forces,
}


def one_state(name: str, sweep: Any, shape: Any, takes: str, dimensions: int = 1) -> Any:
    """The kernel of one state, called with the block, what it takes, and the result.

    takes: "q", "q v", "q x", "q v x", "q v f" or "q v x f"; f are external forces, or none.
    """
    entry = named_like(_FORMS[takes](sweep, shape), name, sweep)
    return brief_kernel(*one_state_signature(takes.count(" "), dimensions))(entry)


# ---- batches -----------------------------------------------------------------------------------


def batch(name: str, sweep: Any, shape: Any, shared_x: bool = False) -> Any:
    """The kernel of a batch: rows start … stop − 1 of flat tables, a register full at a time.

    The last register full may overlap the one before. shared_x: all states have the same x.
    """

    def entry(arrays, start, stop, tables, out, lanes):
        model = PackedModel(pointer(arrays.tree), pointer(arrays.parameters))
        work = Work(WIDTH_N, pointer(lanes))
        q, v, x, f_ext, f_stride = tables
        nq, nv = model.tree[NQ], model.tree[NV]
        v_stride, x_stride = nv * (v.size > 0), x.size if shared_x else nv * (x.size > 0)
        rows, columns = shape(model, x_stride)
        for row in range(start, stop, LANES):
            first = min(row, stop - LANES)
            given = Given(
                Rows(pointer(q), first * nq, nq),
                Rows(pointer(v), first * v_stride, v_stride),
                Rows(pointer(x), 0 if shared_x else first * x_stride, x_stride),
                Rows(pointer(f_ext), first * f_stride, f_stride),
            )
            result = Rows(pointer(out), first * rows * columns, rows * columns)
            status = sweep(work, model, given, result)
            if status != OK:
                return status, first
        return OK, 0

    return kernel(*BATCH)(named_like(entry, name, sweep))


def named_like(entry: Any, name: str, sweep: Any) -> Any:
    """As if the kernel stood in the file of its algorithm, under that name."""
    entry.__name__ = entry.__qualname__ = name
    entry.__module__ = sweep.__module__
    return entry
