"""The layout of packed contacts: integers and numbers, written by contact_tables.py.

`codes` holds a header and one record per contact point; `numbers` the sizes of shapes and the laws.
Offsets into `numbers` are from where it begins. A point belongs to a *feeler* on body a and a
*surface* on body b; which of the two the person called a is the sign.
"""

from __future__ import annotations

from typing import Any, NamedTuple

# header of `codes`
POINTS, BRISTLES = range(2)
CONTACT_HEADER = 2

# a record of `codes`
FEELER, SURFACE = 0, 1  # what touches what: below
BODY_A, BODY_B = 2, 3  # −1 is the world
FEELER_AT, SURFACE_AT, LAW_AT = 4, 5, 6  # where their numbers begin
HERTZ = 7  # 1: exponent 1.5
BRISTLE = 8  # which number of the bristles is this point's first; −1 without friction
SIGN = 9  # −1 if the feeler is on what the person called b
ROWS, COLUMNS = 10, 11  # of a height field
TURNS = 12  # 1: torsional or rolling friction, with three more numbers of bristle
CONTACT_RECORD = 13

# feelers, and their numbers
BALL, ELLIPSOID, RIM, STRAIGHT = range(4)
# BALL      centre, radius
# ELLIPSOID centre, axes (9), radii
# RIM       centre, axis, radius, edge, a direction across the axis
# STRAIGHT  centre, axis, half length, radius; against another one only

# surfaces, and their numbers
FLOOR, PLANE, BOX, FIELD, BALL_SURFACE, STRAIGHT_SURFACE = range(6)
# FLOOR     of the world: normal, height along it
# PLANE     point, normal
# BOX       centre, axes (9), half edges
# FIELD     centre, axes (9), smallest x and y, points per metre in x and y, heights
# BALL_SURFACE, STRAIGHT_SURFACE as the feelers

# a law: numbers as they were given, so that a sweep can write its values in their places
STIFFNESS, DISSIPATION, FRICTION, STATIC, SLIP_SPEED = range(5)
TANGENTIAL, DAMPING, DAMPING_TIME, TORSIONAL, ROLLING = range(5, 10)
LAW_NUMBERS = 10
# the damping of bristles is DAMPING + DAMPING_TIME · TANGENTIAL; one of the two is zero


class PackedContacts(NamedTuple):
    """Contacts as kernels see them."""

    codes: Any
    numbers: Any


class Touch(NamedTuple):
    """Where two shapes are nearest, or deepest in each other."""

    gap: Any  # negative inside
    normal: Any  # from b to a
    point: Any  # in the middle of the overlap
    turn: Any  # ωc, how the contact turns
