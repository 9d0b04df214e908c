"""Controllers: compiled or in Python, the same torques; what they raise reaches the person."""

from __future__ import annotations

import functools
import math
import re
import warnings

import numba
import numpy as np
import pytest

from skodyn.io.trajectory import open as open_trajectory
from skodyn.jit import JIT_DISABLED
from skodyn.simulation import simulate
from skodyn.simulation.control.control_records import Dynamics
from skodyn.simulation.control.control_records import Law as LawCall
from skodyn.simulation.control.controllers import ControllerError, PlainLaw, SlowControllerWarning
from skodyn.simulation.elements import JointProperties, Servo, Sinusoid
from skodyn.simulation.methods import METHODS
from test_steppers import flier, start

pytestmark = pytest.mark.skipif(JIT_DISABLED, reason="controllers are compiled, or called back")

MODEL = flier()
Q0, V0 = start(MODEL)
TIP_Q, TIP = MODEL.q_slice("tip").start, MODEL.v_slice("tip").start
SLIDE_Q, SLIDE = MODEL.q_slice("slide").start, MODEL.v_slice("slide").start
PARAMETERS = (3.0, 0.2, 0.5, 30.0)


def run(controller=None, duration=0.2, dt=2e-3, **more):
    return simulate(MODEL, Q0, V0, duration=duration, dt=dt, controller=controller, **more)


def law(t, q, v, p, tau):
    tau[TIP] += p[0] * (p[2] - q[TIP_Q]) - p[1] * v[TIP]
    tau[SLIDE] -= p[3] * q[SLIDE_Q]


class Law:
    """The same law as an object, which numba cannot compile."""

    def __call__(self, t, q, v, p, tau):
        law(t, q, v, p, tau)


def assert_same(a, b):
    assert np.array_equal(a.q, b.q)
    assert np.array_equal(a.v, b.v)


def in_python(controller, **more):
    with pytest.warns(SlowControllerWarning, match="called through Python"):
        return run(controller, **more)


@pytest.mark.parametrize("method", METHODS)
def test_a_compiled_controller_does_what_the_elements_do(method):
    ruled = run(law, controller_parameters=PARAMETERS, integrator=method)
    built = run(
        integrator=method,
        elements=[Servo("tip", kp=3.0, kd=0.2, target=0.5)],
        joints={"slide": JointProperties(stiffness=30.0)},
    )
    assert ruled.status == built.status == "finished"
    solved = METHODS[method].solves_contacts  # for servos and springs, not for laws
    assert ruled.q == pytest.approx(built.q, abs=1e-2 if solved else 1e-11)
    assert ruled.v == pytest.approx(built.v, abs=5e-2 if solved else 1e-10)
    free = run(integrator=method)
    assert np.abs(free.v - ruled.v).max() > 1e-2


@pytest.mark.parametrize("method", METHODS)
def test_an_object_is_called_through_python_to_the_same_bits(method):
    numbers = {"controller_parameters": PARAMETERS, "integrator": method, "channels": ("tau",)}
    compiled, called = run(law, **numbers), in_python(Law(), **numbers)
    assert_same(compiled, called)
    assert np.array_equal(compiled.trajectory["tau"], called.trajectory["tau"])


def test_a_compiled_controller_says_nothing_of_being_slow():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(law, controller_parameters=PARAMETERS, duration=0.01)


@pytest.mark.parametrize("options", [{}, {"fastmath": False}, {"boundscheck": True}])
def test_a_function_that_is_jitted_already_is_taken(options):
    jitted = numba.njit(**options)(law)
    assert_same(
        run(jitted, controller_parameters=PARAMETERS), run(law, controller_parameters=PARAMETERS)
    )


def test_a_closure_and_a_partial_are_taken():
    gain = 4.0

    def closure(t, q, v, p, tau):
        tau[TIP] -= gain * q[TIP_Q]

    def with_gain(gain, t, q, v, p, tau):
        tau[TIP] -= gain * q[TIP_Q]

    assert_same(run(closure), in_python(functools.partial(with_gain, 4.0)))


def test_time_is_passed():
    def wave(t, q, v, p, tau):
        tau[TIP] += 0.3 + 2.0 * math.sin(2.0 * math.pi * 1.5 * t + 0.7)

    ruled, built = run(wave), run(elements=[Sinusoid("tip", 2.0, 1.5, 0.7, 0.3)])
    assert ruled.v == pytest.approx(built.v, abs=1e-10)
    seen = []

    class Watch:
        def __call__(self, t, q, v, p, tau):
            seen.append((t, q.shape, v.shape, p.tolist(), tau.shape))

    in_python(Watch(), duration=2e-3, controller_parameters=(7.0, 8.0))
    assert [t for t, *_ in seen] == pytest.approx([0.0, 1e-3, 1e-3, 2e-3])
    shapes = ((MODEL.nq,), (MODEL.nv,), [7.0, 8.0], (MODEL.nv,))
    assert all(tuple(rest) == shapes for _, *rest in seen)


def test_a_controller_without_parameters_gets_none():
    sizes = set()

    class Watch:
        def __call__(self, t, q, v, p, tau):
            sizes.add(p.size)

    in_python(Watch(), duration=0.01)
    assert sizes == {0}


def test_a_controller_adds_to_what_acts_already():
    joints = {"slide": JointProperties(stiffness=30.0)}
    servo = [Servo("tip", kp=3.0, kd=0.2, target=0.5)]

    def nothing(t, q, v, p, tau):
        tau[0] += 0.0

    assert_same(run(nothing, joints=joints, elements=servo), run(joints=joints, elements=servo))


# ---- what goes wrong ----------------------------------------------------------------------------


class Breaks:
    """Raises from some time on."""

    def __init__(self, after, error):
        self.after, self.error = after, error

    def __call__(self, t, q, v, p, tau):
        if t > self.after:
            raise self.error


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("after", [-1.0, 0.1])
def test_what_a_controller_raises_reaches_the_person(method, after, tmp_path):
    error = ValueError("no such gain")
    log = tmp_path / "run.h5"
    with (
        pytest.warns(SlowControllerWarning),
        pytest.raises(ControllerError, match=r"raised ValueError .*: no such gain") as caught,
    ):
        run(Breaks(after, error), integrator=method, log=log, channels=("tau",))
    assert caught.value.__cause__ is error
    rows = open_trajectory(log)
    assert rows.status == "failed"
    assert "no such gain" in rows.message
    assert rows.t[-1] == pytest.approx(max(after, 0.0), abs=0.011)
    for name in ("q", "v"):
        assert np.isfinite(rows[name]).all()


def test_what_a_controller_raises_reaches_the_person_without_a_log():
    with pytest.warns(SlowControllerWarning), pytest.raises(ControllerError) as caught:
        run(Breaks(0.05, KeyError("gain")))
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_ctrl_c_inside_a_controller_is_what_it_is(error, tmp_path):
    with pytest.warns(SlowControllerWarning), pytest.raises(error):
        run(Breaks(0.05, error()), log=tmp_path / "run.h5")
    expected = "interrupted" if error is KeyboardInterrupt else "failed"
    assert open_trajectory(tmp_path / "run.h5").status == expected


@pytest.mark.parametrize("what", ["q", "v", "p"])
def test_a_controller_cannot_change_the_state(what):
    def careless(t, q, v, p, tau):
        {"q": q, "v": v, "p": p}[what][0] = tau[0] = 0.0

    with pytest.warns(SlowControllerWarning), pytest.raises(ControllerError, match="read-only"):
        run(careless, controller_parameters=(1.0,))


def test_a_function_that_numba_could_compile_cannot_change_the_state_either():
    def careless(t, q, v, p, tau):
        q[0] = tau[0] = 0.5

    for controller in (careless, numba.njit(careless)):
        with pytest.warns(SlowControllerWarning), pytest.raises(ControllerError, match="read-only"):
            run(controller)


def test_torques_that_are_no_numbers_end_the_run():
    def broken(t, q, v, p, tau):
        if t > 0.1:
            tau[TIP] = math.nan

    ended = run(broken)
    assert ended.status == "failed"
    assert re.search(r"joint '\w+' became NaN or infinite at t = 0\.\d+ s, step 5\d", ended.message)
    assert np.isfinite(ended.v).all()


def test_what_is_no_controller_is_refused():
    with pytest.raises(ControllerError, match=r"has the parameters \(x\); write law\(t, q, v"):
        run(lambda x: None)


# ---- results that nobody would read -------------------------------------------------------------


def returning_array(t, q, v, p, tau):
    return -0.1 * v


def returning_number(t, q, v, p, tau):
    tau[TIP] += 1.0
    return 0.5


def returning_sometimes(t, q, v, p, tau):
    if t > 0.05:
        return 0.5
    tau[TIP] += 1.0
    return None


class Returning:
    """What numba cannot compile, so it is called back."""

    __name__ = "pid"

    def __call__(self, t, q, v, p, tau):
        return -0.1 * v


@pytest.mark.parametrize("law", [returning_array, returning_number, returning_sometimes])
def test_a_compiled_controller_that_returns_something_is_refused_by_name(law):
    with pytest.raises(
        ControllerError, match=rf"{law.__name__}.* returns .*tau\[i\] \+="
    ) as caught:
        run(law)
    assert "return nothing" in str(caught.value)


def test_a_controller_in_python_that_returns_something_is_refused_by_name():
    with pytest.raises(ControllerError, match=r"'pid' returns array.*, which is not used"):
        in_python(Returning())


def test_a_controller_without_the_compiler_that_returns_something_is_refused():
    plain, none = PlainLaw(returning_array, ("t", "q", "v", "params", "tau"), ()), np.zeros(0)
    room = (none, np.zeros(MODEL.nv), none, none, none, MODEL.nq, MODEL.nv, 0, 0, 0)
    with pytest.raises(ControllerError, match="'returning_array' returns"):
        plain.address(LawCall(0.0, Q0, V0, *room, Dynamics(*[none] * 7)))


def test_a_controller_that_returns_none_is_heard():
    def silent(t, q, v, p, tau):
        tau[TIP] += 1.0
        return

    assert run(silent).q[-1, TIP_Q] != run().q[-1, TIP_Q]
