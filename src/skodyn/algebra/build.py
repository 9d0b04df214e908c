"""The front door: a workbench from a rigid model and a state, or from an SKO model."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skodyn.algebra.subtree import connected
from skodyn.algebra.workbench import Origin, Workbench
from skodyn.dynamics import forward_kinematics, sko_model
from skodyn.errors import StateError
from skodyn.model.model import Model
from skodyn.sko import SKOModel
from skodyn.sko.blocks import Floats, Ints
from skodyn.sko.partition import positions, submodel
from skodyn.wording import listed

__all__ = ["operators"]


def operators(
    model: Model | SKOModel,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    *,
    bodies: Iterable[Hashable] | None = None,
) -> Workbench:
    """The operators of a model in a state, to be typed as the papers print them.

    Expressions of them are lazy; applied to a vector they run as recursions over the tree.

    Parameters
    ----------
    model : Model or SKOModel
        The system.
    q : array_like, shape (nq,), optional
        Coordinates of a rigid model; an SKOModel is already of one state.
    v : array_like, shape (nv,), optional
        Velocities; without them the bodies are at rest. Of an SKOModel v is for V alone, and a
        and b are the model's.
    bodies : iterable, optional
        Restrict to a connected subtree, by names. Its root then hangs on a ground that holds still
        where the root's parent is: `a` and `b` are those of the subtree moving alone with its part
        of v.

    Returns
    -------
    ops : Workbench
        With H, phi, M, P, D, G, K, psi and all others as attributes.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    ModelError
        The bodies are no connected subtree.

    See Also
    --------
    sko_model : the numbers behind the operators.

    Examples
    --------
    >>> model = sk.examples.pendulum(2)
    >>> ops = sk.operators(model, [0.5, 0.2])
    >>> mass = ops.H @ ops.phi @ ops.M @ ops.phi.T @ ops.H.T
    >>> np.allclose(mass @ [1.0, 0.0], sk.mass_matrix(model, [0.5, 0.2])[:, 0])
    True
    >>> (ops.H @ ops.tau_bar).is_zero()
    True
    """
    if isinstance(model, Model):
        return _rigid(model, q, v, bodies)
    if not isinstance(model, SKOModel):
        raise StateError(f"model is {type(model).__name__}", "give a Model or an SKOModel.")
    if q is not None:
        raise StateError("An SKOModel is already of one state", "leave out q.")
    return _general(model, v, bodies)


def _rigid(model: Model, q: Any, v: Any, bodies: Iterable[Hashable] | None) -> Workbench:
    if q is None:
        raise StateError("A rigid model needs a state", "give q, for example model.neutral().")
    model._refuse_mimics("operators")
    model._refuse_loops("operators")
    model._refuse_flexible("operators")
    rates = np.zeros(model.nv) if v is None else _rates(v, model.nv)
    chosen = None if bodies is None else connected(model.tree, bodies)
    if chosen is not None:
        rates = _alone(model, rates, chosen)
    whole = sko_model(model, q, rates)  # checks q
    state = hashlib.sha256(np.asarray(q, dtype=np.float64).tobytes() + rates.tobytes()).hexdigest()
    who = f"model {model.name!r}" if model.name else "a model without a name"
    title = f"the operators of {who} ({_bodies(whole, chosen)}) at state {state[:8]}"
    kept = np.arange(model.n_bodies) if chosen is None else chosen
    rotation = forward_kinematics(model, q)[0][kept]
    key = ("rigid", model.content_hash, state, _key(chosen))
    names = tuple(model.joint_names[k] for k in kept.tolist())
    kinds = tuple(model.joints[k].kind for k in kept.tolist())
    origin = Origin(title, key, rotation, names, kinds, model.frames)
    if chosen is None:
        return Workbench(whole, origin, rates)
    return Workbench(submodel(whole, chosen), origin, rates[positions(whole.dof_starts, chosen)])


def _general(model: SKOModel, v: Any, bodies: Iterable[Hashable] | None) -> Workbench:
    rates = None if v is None else _rates(v, model.nv)
    chosen = None if bodies is None else connected(model.tree, bodies)
    digest = hashlib.sha256(b"".join(b.data.tobytes() for b in (model.weights, model.H, model.M)))
    title = f"the operators of SKO model {digest.hexdigest()[:8]} ({_bodies(model, chosen)})"
    key = ("sko", model, None if rates is None else rates.tobytes(), _key(chosen))
    if chosen is not None:
        rates = None if rates is None else rates[positions(model.dof_starts, chosen)]
        model = submodel(model, chosen)
    return Workbench(model, Origin(title, key), rates)


def _alone(model: Model, rates: Floats, chosen: Ints) -> Floats:
    """The rates with all joints outside the subtree at rest."""
    kept = np.zeros(model.n_bodies, dtype=np.bool_)
    kept[chosen] = True
    return np.where(np.repeat(kept, [joint.nv for joint in model.joints]), rates, 0.0)


def _rates(v: Any, nv: int) -> Floats:
    try:
        rates = np.array(v, dtype=np.float64)
    except (TypeError, ValueError):
        raise StateError("v is not an array of real numbers", f"give shape ({nv},).") from None
    if rates.shape != (nv,) or not np.isfinite(rates).all():
        raise StateError(f"v has shape {rates.shape}", f"give ({nv},), finite numbers.")
    return rates


def _bodies(model: SKOModel, chosen: Ints | None) -> str:
    if chosen is None:
        return f"all {model.n_nodes} bodies"
    return "bodies " + listed([model.names[k] for k in chosen.tolist()], limit=4)


def _key(chosen: Ints | None) -> bytes | None:
    return None if chosen is None else chosen.tobytes()
