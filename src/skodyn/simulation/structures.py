"""What travels together through a simulation: the nouns of its kernels.

Python passes arrays (`SystemArrays`); inside kernels they are pointers (`System`), and tables with
one row per lane are `Rows`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from skodyn.jit import COUNT, FLOAT_POINTER, FLOATS, INT_POINTER, INTS, RESULT, Group, helper
from skodyn.kernels.packed_model import PackedModel
from skodyn.lanes import Rows, Work, pointer, shift_pointer, states

ADDRESS = COUNT  # of a function; 0 for none

# which address of `parts` is whose
COUPLED, ELEMENTS_PART, GRAVITY_PART, FIXMAN_PART, LOOPED, CLOSING, MIDPOINT, SPRUNG = range(8)
DRIVEN, FOLLOWING, EXPANDING, DRIVEN_COUPLED, CONTROLLING, SAMPLING, TOUCHING = range(8, 15)
DYNAMICS_AT = 15  # what controllers can ask for: control_dynamics.py
OWN_PARTS = 22  # what elements bring along follows


class SystemArrays(NamedTuple):
    """A system as Python passes it."""

    tree: Any
    parameters: Any
    codes: Any  # of forces
    numbers: Any  # of forces
    method: Any  # numbers of the integration method: a tableau, a tolerance
    parts: Any  # addresses
    memory: Any  # tables of the system and of the method
    places: Any  # where they lie: memory.py
    lanes: Any  # workspace of the recursions
    plain_parameters: Any  # those of run after run, which controllers read
    plain_numbers: Any


class System(NamedTuple):
    """What moves, what acts on it, and the memory to find out how."""

    model: PackedModel
    codes: Any
    numbers: Any
    method: Any
    parts: Any
    memory: Any
    places: Any
    plain_parameters: Any
    plain_numbers: Any
    first_run: int  # of those side by side


class State(NamedTuple):
    """Coordinates, and velocities with the integrals behind them."""

    q: Rows
    y: Rows


class Effects(NamedTuple):
    """What forces act upon; they add to tau and f_ext, and write rates of integrals."""

    tau: Rows
    rates: Rows
    gravity: Rows  # torques that hold the system, if asked for
    f_ext: Rows


SYSTEM_ARRAYS = Group(
    SystemArrays, (INTS, FLOATS, INTS, FLOATS, FLOATS, INTS, RESULT, INTS, RESULT, FLOATS, FLOATS)
)
ROWS = Group(Rows, (FLOAT_POINTER, COUNT, COUNT))
SYSTEM = Group(
    System,
    (
        Group(PackedModel, (INT_POINTER, FLOAT_POINTER)),
        INT_POINTER,
        FLOAT_POINTER,
        FLOAT_POINTER,
        INT_POINTER,
        FLOAT_POINTER,
        INT_POINTER,
        FLOAT_POINTER,
        FLOAT_POINTER,
        COUNT,
    ),
)
STATE = Group(State, (ROWS, ROWS))
EFFECTS = Group(Effects, (ROWS, ROWS, ROWS, ROWS))


@helper
def opened(width, arrays):
    """(work, system) of the arrays that Python has passed."""
    return Work(width, pointer(arrays.lanes)), System(
        PackedModel(pointer(arrays.tree), pointer(arrays.parameters)),
        pointer(arrays.codes),
        pointer(arrays.numbers),
        pointer(arrays.method),
        pointer(arrays.parts),
        pointer(arrays.memory),
        pointer(arrays.places),
        pointer(arrays.plain_parameters),
        pointer(arrays.plain_numbers),
        0,
    )


@helper
def of_group(system, parameter_shift, number_shift, first_run):
    """The system of other lanes, whose constants lie so much further on."""
    model = PackedModel(system.model.tree, shift_pointer(system.model.parameters, parameter_shift))
    return System(
        model,
        system.codes,
        shift_pointer(system.numbers, number_shift),
        system.method,
        system.parts,
        system.memory,
        system.places,
        system.plain_parameters,
        system.plain_numbers,
        first_run,
    )


@helper
def table(system, section):
    """A table of the memory."""
    return Rows(system.memory, system.places[2 * section], system.places[2 * section + 1])


@helper
def numbered_table(work, system, section, i):
    """Table i of a section that has several."""
    one = table(system, section)
    return Rows(one.data, one.first + i * states(work) * one.stride, one.stride)


@helper
def size_of(work, rows):
    """How many numbers the rows of all lanes have."""
    return states(work) * rows.stride


@helper
def start_of(rows):
    """Pointer to the first of them; they lie one behind the other."""
    return shift_pointer(rows.data, rows.first)
