"""What authors of joints, integrators, force elements and channels need, in one place.

`sk.register` takes what they make; CONTRIBUTING.md shows how. These names stay what they are from
one version to the next, wherever the things they stand for move inside the package.

| names | for |
| --- | --- |
| `Element`, `Packed`, `element_part`, `helper` | a force element and the helper that evaluates it |
| `key` and kinds such as `NOT_NEGATIVE`, `JOINT` | its keys in scenario files |
| `dof_of`, `point_of` | its `pack` |
| `Arrow` | its `drawn`: how replays and films show it |
| `FIRST`, `SECOND`, `OFFSET`, `COUNT`, `INTEGRAL`, `OK` | what its helper finds in `system.codes` |
| `load_rows`, `parameter`, `fma`, `select`, `sqrt`, `sincos`, … | its arithmetic, in lanes |
| `add_torque`, `add_force`, `numbers3`, `point_motion` | what it adds to, and where points are |
| `Channel`, `DataSet`, `Rows`, `Curves`, `Family` | a channel that is more than a function |
| `SameRule`, `OffsetRule`, `CosineSineRule` | how other libraries write a joint's coordinates |
| `ClosingFrames`, `Row`, `POINT`, `LENGTH` | its `closing`: the rows of a loop that it closes |
| `Method`, `Setting`, `explicit_method` | an integrator |
| `Importer` | a format of model files |
"""

from __future__ import annotations

from skodyn.channels.curves import Curves, Family
from skodyn.channels.entry import Channel, DataSet
from skodyn.channels.own import channel
from skodyn.channels.rows import Rows
from skodyn.io.importer import Importer
from skodyn.jit import helper
from skodyn.kernels.status import OK
from skodyn.lanes import (
    absolute,
    fma,
    load_rows,
    parameter,
    select,
    sincos,
    splat,
    sqrt,
    store_rows,
)
from skodyn.model.joints import Joint
from skodyn.model.keys import (
    ANY,
    BODY,
    BODY_OR_WORLD,
    BOOLEAN,
    JOINT,
    NOT_NEGATIVE,
    NUMBERS,
    POSITIVE,
    POSITIVE_LIMIT,
    SMALL,
    VECTOR,
    Kind,
    key,
    one_of,
)
from skodyn.model.loops.closing import LENGTH, POINT, ClosingFrames, Row
from skodyn.model.peer_rules import CosineSineRule, OffsetRule, SameRule
from skodyn.registry import register
from skodyn.simulation.arrow import Arrow
from skodyn.simulation.element import Element, Packed, dof_of, point_of
from skodyn.simulation.element_tools import add_force, add_torque, numbers3, point_motion
from skodyn.simulation.forces import COUNT, FIRST, INTEGRAL, OFFSET, SECOND
from skodyn.simulation.parts import element_part
from skodyn.simulation.steppers.method import Method, Setting
from skodyn.simulation.steppers.tableaux import explicit_method

__all__ = [
    "ANY",
    "BODY",
    "BODY_OR_WORLD",
    "BOOLEAN",
    "COUNT",
    "FIRST",
    "INTEGRAL",
    "JOINT",
    "LENGTH",
    "NOT_NEGATIVE",
    "NUMBERS",
    "OFFSET",
    "OK",
    "POINT",
    "POSITIVE",
    "POSITIVE_LIMIT",
    "SECOND",
    "SMALL",
    "VECTOR",
    "Arrow",
    "Channel",
    "ClosingFrames",
    "CosineSineRule",
    "Curves",
    "DataSet",
    "Element",
    "Family",
    "Importer",
    "Joint",
    "Kind",
    "Method",
    "OffsetRule",
    "Packed",
    "Row",
    "Rows",
    "SameRule",
    "Setting",
    "absolute",
    "add_force",
    "add_torque",
    "channel",
    "dof_of",
    "element_part",
    "explicit_method",
    "fma",
    "helper",
    "key",
    "load_rows",
    "numbers3",
    "one_of",
    "parameter",
    "point_motion",
    "point_of",
    "register",
    "select",
    "sincos",
    "splat",
    "sqrt",
    "store_rows",
]
