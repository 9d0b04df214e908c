"""States to and from the layouts of Pinocchio and MuJoCo, joint by joint, by name.

Between two layouts of the same mechanism the velocities differ by an orthogonal matrix X(q), so
one rule serves everything else:

    v' = X v        tau' = X tau        M' = X M Xᵀ        v̇' = X v̇ + Ẋ v

| joint | skodyn | Pinocchio | MuJoCo |
| --- | --- | --- | --- |
| one axis | q | q, or (cos q, sin q) where unbounded | q + ref |
| spherical | (w, x, y, z); ω in child axes | (x, y, z, w); same ω | same |
| free q | quaternion, position | position, (x, y, z, w) | position in the world, quaternion |
| free v | [ω; v] in child axes | [v; ω] in child axes | [v in world axes; ω in child axes] |
| planar | (x, y, angle); their rates | (x, y, cos, sin); rates in child axes | – |
| two or three axes | one number per axis | the same, or a composite of single axes | – |

Every function takes one state or a batch. Neither library is imported: the model objects that a
caller hands over say all that is needed. Both sides must describe the same mechanism, with the same
body frames; what can be seen from the joints (names, types) is checked, and every joint that does
not fit is named in one ModelError. A MuJoCo joint without a name goes by the name that `load` gives
it. `names` maps skodyn's joint names to the other side's where they differ.

A mimic joint is an ordinary one on the other side: it gets its coordinate and velocity there, and
on the way back both must follow the source's. Forces on it are carried to its source.

X is the identity up to order for all joints but Pinocchio's planar and MuJoCo's free joint; only
for these do `…_acceleration` and `…_force` need the configuration and the velocity.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skodyn.errors import ModelError, StateError
from skodyn.faults import Fault
from skodyn.io.mjcf.names import joint_names
from skodyn.model.columns import Floats
from skodyn.model.joints import Joint
from skodyn.model.model import Model

__all__ = [
    "from_mujoco_acceleration",
    "from_mujoco_force",
    "from_mujoco_state",
    "from_pinocchio_acceleration",
    "from_pinocchio_force",
    "from_pinocchio_state",
    "to_mujoco_acceleration",
    "to_mujoco_force",
    "to_mujoco_state",
    "to_pinocchio_acceleration",
    "to_pinocchio_force",
    "to_pinocchio_state",
]

Names = Mapping[str, str] | None


# ---- Pinocchio --------------------------------------------------------------------------------


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
    return _to_state(_pair_pinocchio(model, pin_model, names), q, v)


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
    return _from_state(_pair_pinocchio(model, pin_model, names), q, v)


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
    return _to_force(_pair_pinocchio(model, pin_model, names), q, tau)


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
    return _from_force(_pair_pinocchio(model, pin_model, names), q, tau)


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
    return _to_acceleration(_pair_pinocchio(model, pin_model, names), q, v, vdot)


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
    return _from_acceleration(_pair_pinocchio(model, pin_model, names), q, v, vdot)


# ---- MuJoCo -----------------------------------------------------------------------------------


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
    return _to_state(_pair_mujoco(model, mj_model, names), q, v)


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
    return _from_state(_pair_mujoco(model, mj_model, names), qpos, qvel)


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
    return _to_force(_pair_mujoco(model, mj_model, names), q, tau)


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
    return _from_force(_pair_mujoco(model, mj_model, names), qpos, qfrc)


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
    return _to_acceleration(_pair_mujoco(model, mj_model, names), q, v, vdot)


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
    return _from_acceleration(_pair_mujoco(model, mj_model, names), qpos, qvel, qacc)


# ---- one joint --------------------------------------------------------------------------------


class _Same:
    """Both sides agree. Other rules override what differs; q and v of `Ẋ v` are skodyn's."""

    def q_to(self, q: Floats) -> Floats:
        return q

    def q_from(self, q: Floats) -> Floats:
        return q

    def turn(self, q: Floats, x: Floats) -> Floats:
        """X x, with skodyn's q."""
        return x

    def turn_back(self, q: Floats, x: Floats) -> Floats:
        """Xᵀ x, with skodyn's q."""
        return x

    def drift(self, q: Floats, v: Floats) -> Floats:
        """Ẋ v."""
        return np.zeros_like(v)


@dataclass
class _Offset(_Same):
    """MuJoCo's `ref`: the coordinate that the initial pose is called."""

    ref: float

    def q_to(self, q: Floats) -> Floats:
        return q + self.ref

    def q_from(self, q: Floats) -> Floats:
        return q - self.ref


class _Unbounded(_Same):
    """An angle as (cos, sin)."""

    def q_to(self, q: Floats) -> Floats:
        return np.concatenate((np.cos(q), np.sin(q)), axis=-1)

    def q_from(self, q: Floats) -> Floats:
        angle: Floats = np.arctan2(q[..., 1:], q[..., :1])
        return angle


class _ScalarLast(_Same):
    """A quaternion as (x, y, z, w)."""

    def q_to(self, q: Floats) -> Floats:
        return np.roll(q, -1, axis=-1)

    def q_from(self, q: Floats) -> Floats:
        return np.roll(q, 1, axis=-1)


class _PinocchioFree(_Same):
    """Position first, quaternion scalar last; linear velocity first."""

    def q_to(self, q: Floats) -> Floats:
        return np.concatenate((q[..., 4:], q[..., 1:4], q[..., :1]), axis=-1)

    def q_from(self, q: Floats) -> Floats:
        return np.concatenate((q[..., 6:], q[..., 3:6], q[..., :3]), axis=-1)

    def turn(self, q: Floats, x: Floats) -> Floats:
        return np.roll(x, 3, axis=-1)

    def turn_back(self, q: Floats, x: Floats) -> Floats:
        return np.roll(x, -3, axis=-1)


class _PinocchioPlanar(_Same):
    """The angle as (cos, sin), the linear velocity in child axes."""

    def q_to(self, q: Floats) -> Floats:
        return np.concatenate((q[..., :2], np.cos(q[..., 2:]), np.sin(q[..., 2:])), axis=-1)

    def q_from(self, q: Floats) -> Floats:
        return np.concatenate((q[..., :2], np.arctan2(q[..., 3:], q[..., 2:3])), axis=-1)

    def turn(self, q: Floats, x: Floats) -> Floats:
        return self._turned(-q[..., 2], x)

    def turn_back(self, q: Floats, x: Floats) -> Floats:
        return self._turned(q[..., 2], x)

    def drift(self, q: Floats, v: Floats) -> Floats:
        along = self.turn(q, v)
        rate = v[..., 2]
        return np.stack((rate * along[..., 1], -rate * along[..., 0], np.zeros_like(rate)), axis=-1)

    @staticmethod
    def _turned(angle: Floats, x: Floats) -> Floats:
        c, s = np.cos(angle), np.sin(angle)
        return np.stack(
            (c * x[..., 0] - s * x[..., 1], s * x[..., 0] + c * x[..., 1], x[..., 2]), axis=-1
        )


@dataclass
class _MujocoFree(_Same):
    """Position in the world, quaternion; linear velocity in world axes, angular in child axes.

    skodyn's free joint starts from a placement in the world, a quaternion and a position.
    """

    rotation: Floats
    translation: Floats

    def q_to(self, q: Floats) -> Floats:
        position = self.translation + _rotate(self.rotation, q[..., 4:])
        return np.concatenate((position, _product(self.rotation, q[..., :4])), axis=-1)

    def q_from(self, q: Floats) -> Floats:
        back = _conjugate(self.rotation)
        position = _rotate(back, q[..., :3] - self.translation)
        return np.concatenate((_product(back, q[..., 3:]), position), axis=-1)

    def turn(self, q: Floats, x: Floats) -> Floats:
        to_world = _product(self.rotation, q[..., :4])
        return np.concatenate((_rotate(to_world, x[..., 3:]), x[..., :3]), axis=-1)

    def turn_back(self, q: Floats, x: Floats) -> Floats:
        to_child = _conjugate(_product(self.rotation, q[..., :4]))
        return np.concatenate((x[..., 3:], _rotate(to_child, x[..., :3])), axis=-1)

    def drift(self, q: Floats, v: Floats) -> Floats:
        swept = np.cross(v[..., :3], v[..., 3:])
        return self.turn(q, np.concatenate((np.zeros_like(swept), swept), axis=-1))


def _product(a: Floats, b: Floats) -> Floats:
    """Hamilton product of quaternions, scalar first."""
    s, u, t, w = a[..., :1], a[..., 1:], b[..., :1], b[..., 1:]
    scalar = s * t - (u * w).sum(axis=-1, keepdims=True)
    return np.concatenate((scalar, s * w + t * u + np.cross(u, w)), axis=-1)


def _conjugate(a: Floats) -> Floats:
    return np.concatenate((a[..., :1], -a[..., 1:]), axis=-1)


def _rotate(a: Floats, x: Floats) -> Floats:
    """x turned by a unit quaternion."""
    twice = 2.0 * np.cross(a[..., 1:], x)
    turned: Floats = x + a[..., :1] * twice + np.cross(a[..., 1:], twice)
    return turned


def _quaternion(r: Floats) -> Floats:
    """The quaternion of a rotation matrix, from the largest of its four components."""
    xx, yy, zz = r[0, 0], r[1, 1], r[2, 2]
    yz, zx, xy = r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]
    sxy, szx, syz = r[1, 0] + r[0, 1], r[0, 2] + r[2, 0], r[2, 1] + r[1, 2]
    rows = np.array(
        [
            [1 + xx + yy + zz, yz, zx, xy],
            [yz, 1 + xx - yy - zz, sxy, szx],
            [zx, sxy, 1 - xx + yy - zz, syz],
            [xy, szx, syz, 1 - xx - yy + zz],
        ]
    )  # each row is the quaternion, times four of its components
    best = rows[np.argmax(np.diag(rows))]
    unit: Floats = best / np.linalg.norm(best)
    return unit


# ---- all joints of a model --------------------------------------------------------------------


@dataclass(frozen=True)
class _Link:
    """Where one joint lies on both sides, and how to convert it."""

    q: slice
    v: slice
    peer_q: slice
    peer_v: slice
    rule: _Same


@dataclass(frozen=True)
class _Pairing:
    """All joints of a model and of its counterpart."""

    model: Model
    peer: str
    nq: int
    nv: int
    links: list[_Link]
    unbounded: frozenset[str]  # joints whose angle the other side knows up to whole turns

    def q_in(self, q: ArrayLike) -> Floats:
        """Of every joint, mimics included: so the other side has them, and all between."""
        given = _checked(q, self.model.nq, "q", f"model {self.model.name!r}")
        return self.model.coupling.expand_q(given) if self.model.mimics else given

    def v_in(self, v: ArrayLike, name: str = "v") -> Floats:
        given = _checked(v, self.model.nv, name, f"model {self.model.name!r}")
        return self.model.coupling.expand_v(given) if self.model.mimics else given

    def tau_in(self, tau: ArrayLike) -> Floats:
        given = _checked(tau, self.model.nv, "tau", f"model {self.model.name!r}")
        return self.model.coupling.spread(given) if self.model.mimics else given

    def q_out(self, q: Floats) -> Floats:
        """Of the state alone, once the joints that mimic are seen to do so."""
        if not self.model.mimics:
            return q
        own: Floats = q[..., self.model.coupling.q_at]
        self._check_following(q, self.model.coupling.expand_q(own), "q")
        return own

    def v_out(self, v: Floats, name: str = "v") -> Floats:
        if not self.model.mimics:
            return v
        own: Floats = v[..., self.model.coupling.v_at]
        self._check_following(v, self.model.coupling.expand_v(own), name)
        return own

    def tau_out(self, tau: Floats) -> Floats:
        return self.model.coupling.project(tau) if self.model.mimics else tau

    def _check_following(self, given: Floats, meant: Floats, name: str) -> None:
        """The other side has a coordinate for every joint, and may not mimic at all."""
        full = self.model.uncoupled
        faults = []
        for joint, mimic in self.model.mimics.items():
            place = full.q_slice(joint) if name == "q" else full.v_slice(joint)
            has, wants = given[..., place], meant[..., place]
            if name == "q" and {joint, mimic.source} & self.unbounded:
                continue  # an angle that is known up to whole turns follows nothing exactly
            wrong = np.abs(has - wants) > 1e-9 * (1.0 + np.abs(wants))
            if wrong.any():
                where = np.unravel_index(np.argmax(wrong), wrong.shape)
                faults.append(
                    Fault(
                        f"Joint {joint!r} mimics {mimic.source!r}, and its {name} should be "
                        f"{wants[where]:.9g}",
                        f"the {self.peer} state has {has[where]:.9g}.",
                    )
                )
        if faults:
            raise StateError(faults)

    def peer_q_in(self, q: ArrayLike) -> Floats:
        return _checked(q, self.nq, "q", f"the {self.peer} model")

    def peer_v_in(self, v: ArrayLike, name: str = "v") -> Floats:
        return _checked(v, self.nv, name, f"the {self.peer} model")

    def q_to(self, q: Floats) -> Floats:
        out = np.empty((*q.shape[:-1], self.nq))
        for link in self.links:
            out[..., link.peer_q] = link.rule.q_to(q[..., link.q])
        return out

    def q_from(self, q: Floats) -> Floats:
        out = np.empty((*q.shape[:-1], self.model.uncoupled.nq))
        for link in self.links:
            out[..., link.q] = link.rule.q_from(q[..., link.peer_q])
        return out

    def turn(self, q: Floats, x: Floats) -> Floats:
        """X x, with skodyn's q."""
        _same_batch(q, x)
        out = np.empty((*x.shape[:-1], self.nv))
        for link in self.links:
            out[..., link.peer_v] = link.rule.turn(q[..., link.q], x[..., link.v])
        return out

    def turn_back(self, q: Floats, x: Floats) -> Floats:
        """Xᵀ x, with skodyn's q."""
        _same_batch(q, x)
        out = np.empty((*x.shape[:-1], self.model.uncoupled.nv))
        for link in self.links:
            out[..., link.v] = link.rule.turn_back(q[..., link.q], x[..., link.peer_v])
        return out

    def drift(self, q: Floats, v: Floats) -> Floats:
        """Ẋ v, with skodyn's q and v."""
        _same_batch(q, v)
        out = np.empty((*v.shape[:-1], self.nv))
        for link in self.links:
            out[..., link.peer_v] = link.rule.drift(q[..., link.q], v[..., link.v])
        return out


def _to_state(pairing: _Pairing, q: ArrayLike, v: ArrayLike) -> tuple[Floats, Floats]:
    ours = pairing.q_in(q)
    return pairing.q_to(ours), pairing.turn(ours, pairing.v_in(v))


def _from_state(pairing: _Pairing, q: ArrayLike, v: ArrayLike) -> tuple[Floats, Floats]:
    ours = pairing.q_from(pairing.peer_q_in(q))
    return pairing.q_out(ours), pairing.v_out(pairing.turn_back(ours, pairing.peer_v_in(v)))


def _to_force(pairing: _Pairing, q: ArrayLike, tau: ArrayLike) -> Floats:
    return pairing.turn(pairing.q_in(q), pairing.tau_in(tau))


def _from_force(pairing: _Pairing, q: ArrayLike, tau: ArrayLike) -> Floats:
    ours = pairing.q_from(pairing.peer_q_in(q))
    return pairing.tau_out(pairing.turn_back(ours, pairing.peer_v_in(tau, "tau")))


def _to_acceleration(pairing: _Pairing, q: ArrayLike, v: ArrayLike, vdot: ArrayLike) -> Floats:
    ours = pairing.q_in(q)
    turned = pairing.turn(ours, pairing.v_in(vdot, "vdot"))
    return turned + pairing.drift(ours, pairing.v_in(v))


def _from_acceleration(pairing: _Pairing, q: ArrayLike, v: ArrayLike, vdot: ArrayLike) -> Floats:
    ours = pairing.q_from(pairing.peer_q_in(q))
    our_v = pairing.turn_back(ours, pairing.peer_v_in(v))
    left = pairing.peer_v_in(vdot, "vdot") - pairing.drift(ours, our_v)
    return pairing.v_out(pairing.turn_back(ours, left), "vdot")


def _checked(values: ArrayLike, size: int, name: str, owner: str) -> Floats:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise StateError(f"{name} is not an array of numbers", f"give {size} floats.") from None
    if array.ndim not in (1, 2) or array.shape[-1] != size:
        raise StateError(
            f"{name} has shape {array.shape}", f"{owner} needs ({size},) or (batch, {size})."
        )
    return array


def _same_batch(q: Floats, x: Floats) -> None:
    if q.shape[:-1] != x.shape[:-1]:
        raise StateError(
            f"q has batch shape {q.shape[:-1]} and the vectors that go with it {x.shape[:-1]}",
            "give both the same number of states.",
        )


# ---- which joints belong together -------------------------------------------------------------

_Rule = _Same | str
"""How to convert a joint, or why that is not possible."""


def _link_all(
    model: Model, peer: str, found: dict[str, tuple[int, int, int, int, Any]], names: Names,
    choose: Callable[[int, Any], _Rule], nq: int, nv: int,
) -> _Pairing:  # fmt: skip
    """`found`: name -> (start in q, length, start in v, length, what `choose` wants to see)."""
    given = dict(names or {})
    unknown = sorted(set(given) - set(model.joint_names))
    faults = [
        Fault(f"`names` mentions {name!r}, which model {model.name!r} lacks", "leave it out.")
        for name in unknown
    ]
    links, left, unbounded = [], dict(found), set()
    for k, name in enumerate(model.joint_names):
        if model.joints[k].nv == 0:
            continue
        theirs = given.get(name, name)
        if theirs not in left:
            faults.append(
                Fault(
                    f"Joint {name!r}: the {peer} model has no joint {theirs!r} to pair it with",
                    "give it that name, or say the other one in `names`.",
                )
            )
            continue
        q_start, q_length, v_start, v_length, seen = left.pop(theirs)
        rule = choose(k, seen)
        if isinstance(rule, str):
            faults.append(Fault(f"Joint {name!r} is {model.joints[k].type_name}", f"{rule}."))
            continue
        if isinstance(rule, _Unbounded):
            unbounded.add(name)
        links.append(
            _Link(
                model.uncoupled.q_slice(name),
                model.uncoupled.v_slice(name),
                slice(q_start, q_start + q_length),
                slice(v_start, v_start + v_length),
                rule,
            )
        )
    faults += [
        Fault(
            f"Joint {name!r} of the {peer} model: model {model.name!r} has no such joint that "
            "moves",
            "say in `names` which one it is.",
        )
        for name in left
    ]
    if faults:
        raise ModelError(faults)
    return _Pairing(model, peer, nq, nv, links, frozenset(unbounded))


_TURNS, _SLIDES = "revolute", "prismatic"
_SINGLE_AXES = {
    _TURNS: ("JointModelRX", "JointModelRY", "JointModelRZ", "JointModelRevoluteUnaligned"),
    _SLIDES: ("JointModelPX", "JointModelPY", "JointModelPZ", "JointModelPrismaticUnaligned"),
    "helical": ("JointModelHX", "JointModelHY", "JointModelHZ", "JointModelHelicalUnaligned"),
}
_PINOCCHIO_RULES: dict[str, dict[str, _Same]] = {
    _TURNS: dict.fromkeys(
        (
            "JointModelRUBX",
            "JointModelRUBY",
            "JointModelRUBZ",
            "JointModelRevoluteUnboundedUnaligned",
        ),
        _Unbounded(),
    ),
    "universal": {"JointModelUniversal": _Same()},
    "planar": {"JointModelPlanar": _PinocchioPlanar()},
    "translation": {"JointModelTranslation": _Same()},
    "spherical": {"JointModelSpherical": _ScalarLast()},
    "free": {"JointModelFreeFlyer": _PinocchioFree()},
}


def _pair_pinocchio(model: Model, pin_model: Any, names: Names) -> _Pairing:
    joints = pin_model.joints
    found = {
        str(name): (joint.idx_q, joint.nq, joint.idx_v, joint.nv, joint)
        for name, joint in list(zip(pin_model.names, joints, strict=True))[1:]  # 0: the universe
    }

    def choose(k: int, joint: Any) -> _Rule:
        return _pinocchio_rule(model.joints[k], joint)

    return _link_all(model, "Pinocchio", found, names, choose, pin_model.nq, pin_model.nv)


def _pinocchio_rule(joint: Joint, theirs: Any) -> _Rule:
    kind = str(theirs.shortname())
    if kind in _SINGLE_AXES.get(joint.type_name, ()):
        return _Same()
    if kind in _PINOCCHIO_RULES.get(joint.type_name, {}):
        return _PINOCCHIO_RULES[joint.type_name][kind]
    if kind == "JointModelComposite":
        parts = [str(part.shortname()) for part in theirs.extract().joints]
        if _moves_alike(joint, parts):
            return _Same()
        return f"Pinocchio's is a composite of {', '.join(parts)}, which moves in another way"
    return f"Pinocchio's is a {kind}, which has no counterpart among its coordinates"


def _moves_alike(joint: Joint, parts: list[str]) -> bool:
    """Whether a composite has one turning or sliding part for each axis of the joint."""
    wanted = [_SLIDES if not any(u) else _TURNS for u, _ in joint.twists()]
    return len(parts) == len(wanted) > 0 and all(
        part in _SINGLE_AXES[kind] for part, kind in zip(parts, wanted, strict=True)
    )


_MUJOCO_TYPES = ("free", "ball", "slide", "hinge")  # in the order of mjtJoint
_MUJOCO_SIZES = {"free": (7, 6), "ball": (4, 3), "slide": (1, 1), "hinge": (1, 1)}
_MUJOCO_FOR = {"free": "free", "spherical": "ball", _SLIDES: "slide", _TURNS: "hinge"}


def _pair_mujoco(model: Model, mj_model: Any, names: Names) -> _Pairing:
    found = {}
    for j, name in enumerate(joint_names(mj_model)):
        kind = _MUJOCO_TYPES[int(mj_model.jnt_type[j])]
        q_start, v_start = int(mj_model.jnt_qposadr[j]), int(mj_model.jnt_dofadr[j])
        nq, nv = _MUJOCO_SIZES[kind]
        found[name] = (q_start, nq, v_start, nv, (kind, float(mj_model.qpos0[q_start])))

    def choose(k: int, seen: tuple[str, float]) -> _Rule:
        kind, ref = seen
        wanted = _MUJOCO_FOR.get(model.joints[k].type_name)
        if wanted is None:
            return "MuJoCo has no such joint; describe it as several bodies with one axis each"
        if wanted != kind:
            return f"MuJoCo's is a {kind} joint and should be a {wanted} joint"
        if kind == "free" and model.parent[k] >= 0:
            return f"MuJoCo's hang from the world, this from {model.body_names[model.parent[k]]!r}"
        if kind == "free":
            return _MujocoFree(_quaternion(model.rotation[k]), model.translation[k])
        return _Same() if kind == "ball" else _Offset(ref)

    return _link_all(model, "MuJoCo", found, names, choose, mj_model.nq, mj_model.nv)
