"""Metrics of rows that a run at width 1 has produced: the same reductions as in the lane loop."""

from __future__ import annotations

from skodyn.jit import FLAG, FLOATS, INTS, NUMBER, RESULT, Group, kernel
from skodyn.kernels.packed_model import PackedModel
from skodyn.lanes import WIDTH_1, Rows, Work, pointer
from skodyn.model.layout import NQ
from skodyn.simulation.evaluate_rows import StateRows
from skodyn.simulation.lane_loop import METRIC_ARRAYS
from skodyn.simulation.sampling import TOUCH_NUMBERS, Metrics, sample
from skodyn.simulation.structures import State


@kernel(
    Group(PackedModel, (INTS, FLOATS)),
    FLAG,
    NUMBER,
    Group(StateRows, (FLOATS,) * 3),
    FLOATS,
    RESULT,
    METRIC_ARRAYS,
)
def reduce_rows(arrays, first, interval, rows, touched, lanes, metrics):
    """Take in one row after another; `first` says that the first of them is the start.

    touched: what contacts do in each row, where a metric asks for it.
    """
    model = PackedModel(pointer(arrays.tree), pointer(arrays.parameters))
    work = Work(WIDTH_1, pointer(lanes))
    nq, ny, nc = arrays.tree[NQ], rows.y.size // rows.t.size, metrics.codes[TOUCH_NUMBERS]
    for row in range(rows.t.size):
        state = State(Rows(pointer(rows.q), row * nq, nq), Rows(pointer(rows.y), row * ny, ny))
        looks = Metrics(
            pointer(metrics.codes), pointer(metrics.levels), metrics.function,
            pointer(metrics.values), pointer(metrics.kept), interval,
            Rows(pointer(touched), row * nc, nc),
        )  # fmt: skip
        sample(work, model, first and row == 0, rows.t[row], state, looks)
    return rows.t.size
