"""States to and from the layout of Pinocchio."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from skodyn.interop import pairing
from skodyn.interop.pairing import Names, Pairing, Rule
from skodyn.model.joints import Joint, Prismatic, Revolute
from skodyn.model.model import Model
from skodyn.model.peer_rules import SameRule
from skodyn.typing import Floats

__all__ = [
    "from_pinocchio_acceleration",
    "from_pinocchio_force",
    "from_pinocchio_state",
    "to_pinocchio_acceleration",
    "to_pinocchio_force",
    "to_pinocchio_state",
]


def to_pinocchio_state(
    model: Model, pin_model: Any, q: ArrayLike, v: ArrayLike, names: Names = None
) -> tuple[Floats, Floats]:
    """A state in Pinocchio's layout.

    Parameters
    ----------
    model : Model
        The model here.
    pin_model : pinocchio.Model
        The same system there.
    q : array_like, shape (nq,) or (B, nq)
        Coordinates in skodyn's layout.
    v : array_like, shape (nv,) or (B, nv)
        Velocities in skodyn's layout.
    names : mapping of str to str, optional
        Names of the joints there by names here, where they differ.

    Returns
    -------
    q : ndarray
        Coordinates in Pinocchio's layout.
    v : ndarray
        Velocities.
    """
    return pairing.to_state(_pair(model, pin_model, names), q, v)


def from_pinocchio_state(
    model: Model, pin_model: Any, q: ArrayLike, v: ArrayLike, names: Names = None
) -> tuple[Floats, Floats]:
    """A state in skodyn's layout, from Pinocchio's.

    Parameters
    ----------
    model : Model
        The model here.
    pin_model : pinocchio.Model
        The same system there.
    q : array_like
        Coordinates in Pinocchio's layout.
    v : array_like
        Velocities in Pinocchio's layout.
    names : mapping of str to str, optional
        Names of the joints there by names here, where they differ.

    Returns
    -------
    q : ndarray, shape (nq,) or (B, nq)
    v : ndarray, shape (nv,) or (B, nv)
    """
    return pairing.from_state(_pair(model, pin_model, names), q, v)


def to_pinocchio_force(
    model: Model, pin_model: Any, q: ArrayLike, tau: ArrayLike, names: Names = None
) -> Floats:
    """Generalised forces in Pinocchio's layout.

    Parameters
    ----------
    model : Model
        The model here.
    pin_model : pinocchio.Model
        The same system there.
    q : array_like, shape (nq,) or (B, nq)
        Coordinates in skodyn's layout.
    tau : array_like, shape (nv,) or (B, nv)
        Generalised forces in skodyn's layout.
    names : mapping of str to str, optional
        Names of the joints there by names here, where they differ.

    Returns
    -------
    tau : ndarray
    """
    return pairing.to_force(_pair(model, pin_model, names), q, tau)


def from_pinocchio_force(
    model: Model, pin_model: Any, q: ArrayLike, tau: ArrayLike, names: Names = None
) -> Floats:
    """Generalised forces in skodyn's layout, from Pinocchio's.

    Parameters
    ----------
    model : Model
        The model here.
    pin_model : pinocchio.Model
        The same system there.
    q : array_like
        Coordinates in Pinocchio's layout.
    tau : array_like
        Generalised forces in Pinocchio's layout.
    names : mapping of str to str, optional
        Names of the joints there by names here, where they differ.

    Returns
    -------
    tau : ndarray, shape (nv,) or (B, nv)
    """
    return pairing.from_force(_pair(model, pin_model, names), q, tau)


def to_pinocchio_acceleration(
    model: Model, pin_model: Any, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, names: Names = None
) -> Floats:
    """Accelerations in Pinocchio's layout.

    Parameters
    ----------
    model : Model
        The model here.
    pin_model : pinocchio.Model
        The same system there.
    q : array_like, shape (nq,) or (B, nq)
        Coordinates in skodyn's layout.
    v : array_like, shape (nv,) or (B, nv)
        Velocities in skodyn's layout.
    vdot : array_like, shape (nv,) or (B, nv)
        Accelerations in skodyn's layout.
    names : mapping of str to str, optional
        Names of the joints there by names here, where they differ.

    Returns
    -------
    vdot : ndarray
    """
    return pairing.to_acceleration(_pair(model, pin_model, names), q, v, vdot)


def from_pinocchio_acceleration(
    model: Model, pin_model: Any, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, names: Names = None
) -> Floats:
    """Accelerations in skodyn's layout, from Pinocchio's.

    Parameters
    ----------
    model : Model
        The model here.
    pin_model : pinocchio.Model
        The same system there.
    q : array_like
        Coordinates in Pinocchio's layout.
    v : array_like
        Velocities in Pinocchio's layout.
    vdot : array_like
        Accelerations in Pinocchio's layout.
    names : mapping of str to str, optional
        Names of the joints there by names here, where they differ.

    Returns
    -------
    vdot : ndarray, shape (nv,) or (B, nv)
    """
    return pairing.from_acceleration(_pair(model, pin_model, names), q, v, vdot)


def _pair(model: Model, pin_model: Any, names: Names) -> Pairing:
    found = {
        str(name): (joint.idx_q, joint.nq, joint.idx_v, joint.nv, joint)
        for name, joint in list(zip(pin_model.names, pin_model.joints, strict=True))[1:]
    }  # 0 is the universe

    def choose(k: int, joint: Any) -> Rule:
        return _rule(model.joints[k], joint)

    return pairing.link_all(model, "Pinocchio", found, names, choose, pin_model.nq, pin_model.nv)


def _rule(joint: Joint, theirs: Any) -> Rule:
    kind = str(theirs.shortname())
    known = joint.peers.get("pinocchio", {})
    if kind in known:
        return known[kind]
    if kind == "JointModelComposite":
        parts = [str(part.shortname()) for part in theirs.extract().joints]
        if _moves_alike(joint, parts):
            return SameRule()
        return f"Pinocchio's is a composite of {', '.join(parts)}, which moves in another way"
    return f"Pinocchio's is a {kind}, which has no counterpart among its coordinates"


def _moves_alike(joint: Joint, parts: list[str]) -> bool:
    """Whether a composite has one turning or sliding part for each axis of the joint."""
    wanted = [Revolute if any(turn) else Prismatic for turn, _ in joint.twists()]
    return len(parts) == len(wanted) > 0 and all(
        type(single.peers["pinocchio"].get(part)) is SameRule
        for part, single in zip(parts, wanted, strict=True)
    )
