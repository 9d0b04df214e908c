"""States to and from the layout of MuJoCo."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from skodyn.interop import pairing
from skodyn.interop.pairing import Names, Pairing, Rule
from skodyn.io.mjcf.names import joint_names
from skodyn.model.model import Model
from skodyn.typing import Floats

__all__ = [
    "from_mujoco_acceleration",
    "from_mujoco_force",
    "from_mujoco_state",
    "to_mujoco_acceleration",
    "to_mujoco_force",
    "to_mujoco_state",
]

_SIZES = {"free": (7, 6), "ball": (4, 3), "slide": (1, 1), "hinge": (1, 1)}
_TYPES = tuple(_SIZES)
"""In the order of mjtJoint."""


def to_mujoco_state(
    model: Model, mj_model: Any, q: ArrayLike, v: ArrayLike, names: Names = None
) -> tuple[Floats, Floats]:
    """A state in MuJoCo's layout.

    Parameters
    ----------
    model : Model
        The model here.
    mj_model : mujoco.MjModel
        The same system there.
    q : array_like, shape (nq,) or (B, nq)
        Coordinates in skodyn's layout.
    v : array_like, shape (nv,) or (B, nv)
        Velocities in skodyn's layout.
    names : mapping of str to str, optional
        Names of the joints there by names here, where they differ.

    Returns
    -------
    qpos : ndarray
        Coordinates in MuJoCo's layout.
    qvel : ndarray
        Velocities.
    """
    return pairing.to_state(_pair(model, mj_model, names), q, v)


def from_mujoco_state(
    model: Model, mj_model: Any, qpos: ArrayLike, qvel: ArrayLike, names: Names = None
) -> tuple[Floats, Floats]:
    """A state in skodyn's layout, from MuJoCo's.

    Parameters
    ----------
    model : Model
        The model here.
    mj_model : mujoco.MjModel
        The same system there.
    qpos : array_like
        Coordinates in MuJoCo's layout.
    qvel : array_like
        Velocities in MuJoCo's layout.
    names : mapping of str to str, optional
        Names of the joints there by names here, where they differ.

    Returns
    -------
    q : ndarray, shape (nq,) or (B, nq)
    v : ndarray, shape (nv,) or (B, nv)
    """
    return pairing.from_state(_pair(model, mj_model, names), qpos, qvel)


def to_mujoco_force(
    model: Model, mj_model: Any, q: ArrayLike, tau: ArrayLike, names: Names = None
) -> Floats:
    """Generalised forces in MuJoCo's layout.

    Parameters
    ----------
    model : Model
        The model here.
    mj_model : mujoco.MjModel
        The same system there.
    q : array_like, shape (nq,) or (B, nq)
        Coordinates in skodyn's layout.
    tau : array_like, shape (nv,) or (B, nv)
        Generalised forces in skodyn's layout.
    names : mapping of str to str, optional
        Names of the joints there by names here, where they differ.

    Returns
    -------
    qfrc : ndarray
    """
    return pairing.to_force(_pair(model, mj_model, names), q, tau)


def from_mujoco_force(
    model: Model, mj_model: Any, qpos: ArrayLike, qfrc: ArrayLike, names: Names = None
) -> Floats:
    """Generalised forces in skodyn's layout, from MuJoCo's.

    Parameters
    ----------
    model : Model
        The model here.
    mj_model : mujoco.MjModel
        The same system there.
    qpos : array_like
        Coordinates in MuJoCo's layout.
    qfrc : array_like
        Generalised forces in MuJoCo's layout.
    names : mapping of str to str, optional
        Names of the joints there by names here, where they differ.

    Returns
    -------
    tau : ndarray, shape (nv,) or (B, nv)
    """
    return pairing.from_force(_pair(model, mj_model, names), qpos, qfrc)


def to_mujoco_acceleration(
    model: Model, mj_model: Any, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, names: Names = None
) -> Floats:
    """Accelerations in MuJoCo's layout.

    Parameters
    ----------
    model : Model
        The model here.
    mj_model : mujoco.MjModel
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
    qacc : ndarray
    """
    return pairing.to_acceleration(_pair(model, mj_model, names), q, v, vdot)


def from_mujoco_acceleration(
    model: Model,
    mj_model: Any,
    qpos: ArrayLike,
    qvel: ArrayLike,
    qacc: ArrayLike,
    names: Names = None,
) -> Floats:
    """Accelerations in skodyn's layout, from MuJoCo's.

    Parameters
    ----------
    model : Model
        The model here.
    mj_model : mujoco.MjModel
        The same system there.
    qpos : array_like
        Coordinates in MuJoCo's layout.
    qvel : array_like
        Velocities in MuJoCo's layout.
    qacc : array_like
        Accelerations in MuJoCo's layout.
    names : mapping of str to str, optional
        Names of the joints there by names here, where they differ.

    Returns
    -------
    vdot : ndarray, shape (nv,) or (B, nv)
    """
    return pairing.from_acceleration(_pair(model, mj_model, names), qpos, qvel, qacc)


def _pair(model: Model, mj_model: Any, names: Names) -> Pairing:
    found = {}
    for j, name in enumerate(joint_names(mj_model)):
        kind = _TYPES[int(mj_model.jnt_type[j])]
        q_start, v_start = int(mj_model.jnt_qposadr[j]), int(mj_model.jnt_dofadr[j])
        nq, nv = _SIZES[kind]
        found[name] = (q_start, nq, v_start, nv, (kind, float(mj_model.qpos0[q_start])))

    def choose(k: int, seen: tuple[str, float]) -> Rule:
        kind, ref = seen
        known = model.joints[k].peers.get("mujoco", {})
        if not known:
            return "MuJoCo has no such joint; describe it as several bodies with one axis each"
        if kind not in known:
            return f"MuJoCo's is a {kind} joint and should be a {' or '.join(known)} joint"
        if known[kind].in_world and model.parent[k] >= 0:
            return f"MuJoCo's hang from the world, this from {model.body_names[model.parent[k]]!r}"
        return known[kind].placed(ref, model.rotation[k], model.translation[k])

    return pairing.link_all(model, "MuJoCo", found, names, choose, mj_model.nq, mj_model.nv)
