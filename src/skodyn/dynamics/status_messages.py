"""What the status of a kernel means, in a sentence with its remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from skodyn.dynamics.arguments import Inputs
from skodyn.errors import DynamicsError, StateError
from skodyn.kernels.status import NOT_FINITE, NOT_UNIT, SINGULAR, decode
from skodyn.model.model import Model

if TYPE_CHECKING:
    from skodyn.dynamics.algorithm import Algorithm

__all__ = ["raise_failure"]


def raise_failure(
    algorithm: Algorithm, model: Model, inputs: Inputs, status: int, row: int
) -> NoReturn:
    """The error that a kernel's status stands for."""
    code, k = decode(status)
    where = f" in state {row}" if inputs.batch_shape else ""
    if code == NOT_UNIT:
        model.check_q(inputs.q)
        raise StateError(  # a length that two ways of rounding judge differently
            f"Joint {model.joint_names[k]!r}{where}: its quaternion is not of unit length",
            "divide it by its norm.",
        )
    if code == SINGULAR:
        raise DynamicsError(_singular(model, k, where))
    if model.has_loops:
        from skodyn.dynamics.looped import loop_failure  # few models need it, and it needs drivers

        q, v, *_ = inputs.of_row(row)
        found = loop_failure(model, code, q, v, k, where)
        if found is not None:
            raise found
    if code == NOT_FINITE:
        raise DynamicsError(
            f"The result{where} is not finite at joint {model.joint_names[k]!r}, although every "
            "input is; the numbers are too large for double precision: check units and velocities."
        )
    raise StateError(
        f"An argument{where} does not fit model {model.name!r}", "check shapes and numbers."
    )


def _singular(model: Model, k: int, where: str) -> str:
    joint = model.joints[k]
    start = f"Joint {model.joint_names[k]!r} ({joint.type_name}){where}"
    outboard = slice(k, int(model.tree.subtree_end[k]))
    carried = float(model.mass[outboard].sum())
    if carried == 0.0:
        reason = "what it carries has no mass"
    elif joint.turning == (False,):
        reason = (
            f"the {carried:.3g} kg it carries hang from joints further out that already allow the "
            "same motion"
        )
    elif joint.nv == 1:
        reason = (
            f"the {carried:.3g} kg it carries lie on its axis and have no inertia about it, or "
            "other joints outboard already allow the same motion"
        )
    else:
        reason = (
            "two of its axes have become parallel, or what it carries has no inertia about one of "
            "them"
        )
    return (
        f"{start} has no inertia, so that the mass matrix is singular: {reason}; give it mass or "
        "inertia, or fix the joint."
    )
