"""How many rows a chunk of a run collects, and that nothing depends on it."""

import numpy as np
import pytest

import skodyn as sk
from skodyn.model.keys import ANY, POSITIVE
from skodyn.simulation import engine, session
from skodyn.simulation.plan import Plan
from skodyn.simulation.settings import IntegratorSettings


def plan(method="rk4", steps=6000, every=1):
    model = sk.examples.pendulum(2)
    settings = IntegratorSettings(method, dt=1e-3)
    return Plan(model, np.array([1.0, 0.5]), np.zeros(2), steps * 1e-3, settings, every=every)


@pytest.mark.parametrize(
    ("steps", "every", "rows"),
    [
        (6000, 1, engine.MOST_ROWS),  # short rows: as many as hide what Python does
        (6000, 10, 600),  # no more than the run has
        (100, 1, 100),
    ],
)
def test_a_chunk_collects_so_many_rows(steps, every, rows):
    block = plan("rk4", steps, every).engine().advance(10**6)
    assert len(block.t) == rows


def test_adaptive_methods_collect_the_fewest_since_a_full_chunk_would_cut_a_step():
    run = plan("dormand_prince").engine()
    assert len(run._log.q) == 2 * engine.FEWEST_ROWS


def test_long_rows_come_in_the_fewest():
    assert engine._row_count(10**6, 10**6) == engine.FEWEST_ROWS
    assert engine._row_count(engine.ROW_NUMBERS // 1000, 10**6) == 1000


def test_a_run_has_the_same_bits_in_chunks_of_any_length():
    whole, cut = session.run(plan()), session.run(plan(), chunk=97)
    assert len(whole.t) == 6001
    assert whole.q.tobytes() == cut.q.tobytes()
    assert whole.v.tobytes() == cut.v.tobytes()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 1e61, True, "1"])
def test_what_is_no_ordinary_number_is_refused_as_a_float_too(value):
    assert ANY.read(value) is None


def test_numbers_of_any_type_are_read_alike():
    assert [POSITIVE.read(x) for x in (2.0, 2, np.float64(2.0), np.int32(2))] == [2.0] * 4
    assert [type(POSITIVE.read(x)) for x in (2.0, np.float64(2.0))] == [float, float]
    assert POSITIVE.read(-2.0) is None
