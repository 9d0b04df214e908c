"""Helpers as they are lowered here: whatever numba's way gives, to the bit.

Each function is compiled twice: as helpers inside a kernel, and by numba on its own.
"""

import re
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

from skodyn.jit import JIT_DISABLED, RESULT, Record, build, helper, kernel, routine, shared_routine
from skodyn.jit.entry import lower
from skodyn.lanes import WIDTH_1, WIDTH_4, Work, pointer, single, states
from skodyn.lanes.columns import columns_at_once
from skodyn.model.loops import loop_layout

pytestmark = pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")


class Pair(NamedTuple):
    first: tuple[float, float, float]
    second: float
    flag: bool


def split(x, y):
    return (x + y, x * y, x - y), x / y


def several_ends(x, y):
    if x > y:
        return (x, y, x * y)
    if x == y:
        return (y, y, 1.0 / y)
    return (y, x, y / x)


def nested(pair):
    a, b, c = pair.first
    if pair.flag:
        return Pair((c, b, a), pair.second + a, False)
    return Pair((a, b, c), pair.second * b, True)


def looped(x, count):
    total = 0.0
    seen = 0
    for k in range(count):
        if k % 3 == 1:
            continue
        part = x / (k + 1.0)
        while part > 0.5:
            part *= 0.5
            seen += 1
        total += part
    return total, seen


def stepped(x, by):
    total = 0.0
    for k in range(7):
        total = 3.0 * total + k * x
    for k in range(5, -1, -2):
        total = 3.0 * total + k
    for k in range(2, 12, by):
        for j in range(11, k, -by):
            total = total + 1.0 / (k + 2 * j)
            if total > 1e200:
                break
    for _ in range(3, 3):
        total = -1.0
    for _ in range(3, 4, -1):
        total = -2.0
    return total


def set_on_one_way(x, y):
    if x > y:
        more = x * 2.0
        sign = 1
    else:
        sign = -1
    for k in range(3):
        y = y + more * k if sign > 0 else y - x
    return y


def member(row, k):
    return row[k]


def scaled(x, by=3.0):
    return x * by


def squared(x):
    return x**2 - (-x)


def written(out, x):
    out[0] = x
    out[1] += x


def _together(
    split, several_ends, nested, looped, stepped, set_on_one_way, member, scaled, squared, written
):
    def run(x, y, out):
        sums, ratio = split(x, y)
        ends = several_ends(x, y)
        pair = nested(nested(Pair(ends, ratio, x > 1.0)))
        total, seen = looped(x, 20)
        for k in range(3):
            out[2 + k] = member(sums, k)
        written(out, pair.second)
        out[5] = member(pair.first, 2)
        out[6] = total + scaled(x) + scaled(y, 0.1) + squared(ratio)
        out[7] = stepped(x, 3)
        out[8] = set_on_one_way(x, y)
        return seen, pair.flag

    return run


FUNCTIONS = (
    split, several_ends, nested, looped, stepped, set_on_one_way, member, scaled, squared, written,
)  # fmt: skip
STATES = [(1.5, 0.25), (0.25, 1.5), (0.75, 0.75), (-2.0, 3.0), (1e300, 1e-300), (0.0, 2.0)]


@pytest.mark.parametrize("kind", [helper, routine, shared_routine])
def test_helpers_give_what_numba_gives(kind: Any):
    plain = _together(*map(numba.njit(error_model="numpy"), FUNCTIONS))
    theirs = numba.njit(error_model="numpy")(plain)
    ours = kernel(_together(*map(kind, FUNCTIONS)))
    for x, y in STATES:
        wanted, found = np.ones(9), np.ones(9)
        assert ours(x, y, found) == theirs(x, y, wanted)
        assert found.tobytes() == wanted.tobytes()


@helper
def of_one_state(work):
    return 1.0


@helper
def of_several_states(work):
    return 2.0


@helper
def of_one_column(work):
    return 4.0


@helper
def ways(work, x):
    if single(work):
        x[0] = of_one_state(work)
    else:
        x[0] = of_several_states(work)
    for i in range(3):
        if columns_at_once(work) == 1 or states(work) < 1:
            x[1] = of_one_column(work)
        elif x[1 + i] > 7.0:
            break


def asked(width):
    return kernel(RESULT)(lambda x: ways(Work(width, pointer(x)), pointer(x)))


@pytest.mark.parametrize(
    ("width", "written", "taken"),
    [(WIDTH_1, [1.0, 7.5], "of_one_state"), (WIDTH_4, [2.0, 4.0], "of_several_states")],
    ids=["one state", "several"],
)
def test_only_the_way_that_a_width_takes_is_lowered(width, written, taken):
    run, x = asked(width), np.full(4, 7.5)
    run(x)
    assert x[:2].tolist() == written
    text = str(lower(run).module)
    left = {"of_one_state", "of_several_states"} - {taken}
    assert taken in text
    assert left.pop() not in text
    assert ("of_one_column" in text) == (width is WIDTH_4)


@helper
def second_of(x):
    sums, _ = (x, (x + 1.0, x + 2.0)), x
    _, pair = sums
    return pair[1]


def test_a_tuple_that_is_taken_apart_again_is_not_written():
    put = helper(written)
    run, x = kernel(RESULT)(lambda x: put(pointer(x), second_of(x[0]))), np.full(4, 1.0)
    run(x)
    assert x[:2].tolist() == [3.0, 4.0]
    body = re.search(r"define [^\n]*second_of.*?\n}", str(lower(run).module), re.DOTALL)
    assert body is not None
    assert "insertvalue" not in body[0]
    assert "extractvalue" not in body[0]


def test_a_range_that_leads_nowhere_is_refused():
    nowhere = helper(lambda x: sum_of(range(0, 3, 0), x))
    with pytest.raises(ValueError, match="must not be zero"):
        kernel(lambda x: nowhere(x))(1.0)


@helper
def sum_of(counts, x):
    for k in counts:
        x += k
    return x


def test_one_helper_serves_several_types():
    add = helper(lambda a, b: a + b)
    run = kernel(lambda a, b, c, d: (add(a, b), add(c, d)))
    assert run(1, 2, 0.5, 0.25) == (3, 0.75)
    assert run(0.5, 2, 1, True) == (2.5, 2)


def test_a_helper_can_be_called_from_functions_that_others_compile():
    inner = helper(lambda a: (a, a + 1.0))
    outer = helper(several_ends)

    @numba.njit
    def theirs(x):
        low, high = inner(x)
        return outer(low, high)

    assert theirs(2.0) == (3.0, 2.0, 1.5)


def test_a_worker_that_fails_does_not_leave_the_others_waiting(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "all_kernels", dict)  # no kernel of that name
    with pytest.raises(KeyError):
        build._work(["absent"], 1, 3, str(tmp_path))
    build._emit_pile(1, 3, tmp_path)


# ---- places by name -----------------------------------------------------------------------------

LIST = Record("entry of a list", KEY=(2, "a key"), VALUE=(3, "a value"), NEXT=(1, "the next"))


@helper
def place_of_next(x):
    return x + LIST.NEXT + 100.0 * LIST.size + 1000.0 * loop_layout.MEMBER_DOF


@helper
def misspelt(x):
    return x + LIST.KEYS


def at_once(body):
    @kernel(RESULT)
    def entry(out):
        data = pointer(out)
        data[0] = body(0.0)

    return entry


def test_places_of_records_and_modules_are_numbers():
    out = np.zeros(1)
    at_once(place_of_next)(out)
    assert out[0] == 5 + 100 * 6 + 1000 * loop_layout.MEMBER_DOF
    assert loop_layout.MEMBER_DOF == 1
    assert str(LIST).splitlines()[3].split()[:2] == ["5", "next"]


def test_a_misspelt_place_is_named():
    with pytest.raises(AttributeError, match="the record 'entry of a list' has no field 'KEYS'"):
        at_once(misspelt)(np.zeros(1))
