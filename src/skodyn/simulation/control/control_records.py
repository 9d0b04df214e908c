"""How the loop reads controllers: their records in `codes`, and what a law is called with.

    codes    … | one record per controller, from codes[CONTROLLERS_AT] on
    numbers  … | params, frames, timing of each

A controller has integrals of its own in y. One that takes samples has behind them what it holds:
the torques that act, the rates of its integrals, and torques that wait until a delay is over.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from skodyn.jit import COUNT, FLOAT_POINTER, INT_POINTER, NUMBER, Group

# a record of `codes`
(
    LAW_KIND, LAW_PART, PARAMS_AT, PARAMS_COUNT, OWN_INTEGRALS, INTEGRALS_COUNT, FRAMES_AT,
    SCRATCH_COUNT, SAMPLE_STEPS, DELAY_STEPS, WAITING, TIMING_AT,
) = range(12)  # fmt: skip
CONTROL_RECORD = 12
# of SAMPLE_STEPS, 0 stands for a law that is evaluated all the time; WAITING says how many rows of
# torques wait for their delay

FUNCTION_LAW, SERVO_LAW = range(2)

# timing in `numbers`: the unit of SAMPLE_STEPS and DELAY_STEPS, s; deviations of noise; the run's
# seed in two halves, and which stream of it
UNIT, Q_NOISE, V_NOISE, SEED_HIGH, SEED_LOW, STREAM = range(6)
TIMING = 6

# frames in `numbers`: as frame_motion.py takes one, and as jacobian.py does
FRAME_POSE, FRAME_POINT = 0, 14
FRAME_RECORD = 18

# a row of the table CONTROL: what went wrong, the numbers of an energy, torques, measured q and v,
# scratch
TROUBLE, ENERGIES, TORQUES = 0, 1, 13


class Dynamics(NamedTuple):
    """The model that is simulated, and the memory to ask it something."""

    tree: Any
    parameters: Any
    lanes: Any  # workspace
    more: Any  # rows of every joint, where some are mimics
    parts: Any  # addresses: control_dynamics.py
    frames: Any
    trouble: Any


class Law(NamedTuple):
    """What a law is called with."""

    t: float
    q: Any
    v: Any
    params: Any
    tau: Any
    integrals: Any
    rates: Any
    scratch: Any
    nq: int
    nv: int
    n_params: int
    n_integrals: int
    n_scratch: int
    dynamics: Dynamics


DYNAMICS = Group(
    Dynamics, (INT_POINTER, *[FLOAT_POINTER] * 3, INT_POINTER, FLOAT_POINTER, FLOAT_POINTER)
)
LAW = Group(Law, (NUMBER, *[FLOAT_POINTER] * 7, *[COUNT] * 5, DYNAMICS))
