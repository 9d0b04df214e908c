"""The hash of a controller: the same in every process, another after any change that matters."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import textwrap
import threading

import numba
import numpy as np
import pytest

from skodyn.jit import JIT_DISABLED
from skodyn.simulation.fingerprint import NO_CONTROLLER, fingerprint

SOURCE = """
import math
import numpy as np

GAIN = {gain}
TABLE = np.array([1.0, {entry}])
UNRELATED = {unrelated}

def helper(x, power={power}):
    return {helper}

def law(t, q, v, p, tau):
    tau[0] -= GAIN * helper(q[0]) + TABLE[1] * math.sin(t){more}

class Law:
    bias = {bias}

    def __init__(self, gain):
        self.gain = gain

    def __call__(self, t, q, v, p, tau):
        tau[0] -= self.gain * q[0] + self.bias

def make(gain):
    def closed(t, q, v, p, tau):
        tau[0] -= gain * q[0]
    return closed
"""
AS_IT_IS = {
    "gain": "2.0", "entry": "3.0", "unrelated": "1", "power": "1", "helper": "x**power",
    "more": "", "bias": "0.0",
}  # fmt: skip


def module(folder=None, **changes):
    """The names of a module with this text, from a file or, without one, from nowhere."""
    text = SOURCE.format(**{**AS_IT_IS, **changes})
    names = {"__name__": "user"}
    if folder is None:
        exec(compile(text, "<nowhere>", "exec"), names)
    else:
        path = folder / f"user{len(list(folder.iterdir()))}.py"
        path.write_text(text)
        exec(compile(text, str(path), "exec"), names)
    return names


@pytest.fixture(params=["from a file", "without a source"])
def make(request, tmp_path):
    return functools.partial(module, tmp_path if request.param == "from a file" else None)


def test_no_controller_has_a_name_of_its_own():
    assert fingerprint(None) == NO_CONTROLLER


def test_the_same_text_is_the_same_controller(make):
    for take in (lambda m: m["law"], lambda m: m["Law"](2.0), lambda m: m["make"](2.0)):
        assert fingerprint(take(make())) == fingerprint(take(make()))


@pytest.mark.parametrize(
    "change",
    [
        {"more": " + 1e-9"},
        {"gain": "2.0000000000000004"},
        {"entry": "3.5"},
        {"helper": "x**power + 0.0"},
        {"power": "2"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_change_of_the_function_or_of_what_it_uses_shows(make, change):
    assert fingerprint(make()["law"]) != fingerprint(make(**change)["law"])


def test_a_change_of_what_it_does_not_use_does_not_show(make):
    assert fingerprint(make()["law"]) == fingerprint(make(unrelated="2", bias="7.0")["law"])


def test_closures_attributes_and_arguments_count(make):
    names = make()
    variants = [
        names["make"](2.0),
        names["make"](2.5),
        names["Law"](2.0),
        names["Law"](2.5),
        make(bias="1.0")["Law"](2.0),
        names["Law"](2.0).__call__,
        functools.partial(names["law"], 1.0),
        functools.partial(names["law"], 2.0),
        functools.partial(names["law"], t=2.0),
    ]
    assert len({fingerprint(variant) for variant in variants}) == len(variants)


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is jitted then")
def test_a_jitted_function_counts_by_its_python_and_its_options(make):
    plain, other = make()["law"], make(gain="3.0")["law"]
    assert fingerprint(numba.njit(plain)) == fingerprint(numba.njit(plain))
    assert fingerprint(numba.njit(plain)) != fingerprint(numba.njit(other))
    assert fingerprint(numba.njit(plain)) != fingerprint(numba.njit(fastmath=True)(plain))


def test_functions_that_call_each_other_end():
    names = {"__name__": "user"}
    text = "def a(t, q, v, p, tau):\n    b(t, q, v, p, tau)\ndef b(*all):\n    a(*all){}\n"
    exec(text.format(""), names)
    first = fingerprint(names["a"])
    exec(text.format(" or 1"), names)
    assert fingerprint(names["a"]) != first


def test_objects_that_hold_themselves_or_locks_end():
    class Odd:
        def __init__(self):
            self.me, self.lock, self.file = self, threading.Lock(), sys.stderr
            self.rng, self.names = np.random.default_rng(3), {"b", "a"}

        def __call__(self, t, q, v, p, tau):
            pass

    assert fingerprint(Odd()) == fingerprint(Odd())


def test_another_process_finds_the_same_hash(tmp_path):
    file = tmp_path / "user.py"
    file.write_text(SOURCE.format(**AS_IT_IS))
    program = textwrap.dedent("""
        import sys
        sys.path.insert(0, sys.argv[1])
        import user
        from skodyn.simulation.fingerprint import fingerprint
        for controller in (user.law, user.Law(1.0), user.make([1.0, {"a", "b", "c"}])):
            print(fingerprint(controller))
    """)
    said = [
        subprocess.run(
            [sys.executable, "-c", program, str(tmp_path)],
            capture_output=True, text=True, check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    ]  # fmt: skip
    assert said[0] == said[1]
    assert len(set(said[0].split())) == 3
