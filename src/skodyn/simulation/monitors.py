"""What a run must account for from its start to its end: energy, and momentum where it can be.

Energy changes by the work of all forces but gravity, which the integrator carries along. Momentum
is accounted for if the system floats freely: every body that hangs on the world does so by a free
joint, and nothing pushes from outside but gravity and wrenches given in world axes. With F their
sum, these two stay what they were, for forces inside the system cancel:

    linear momentum − F·t;   without wrenches, angular momentum about the centre of mass

What is left over is divided by the largest momenta that these bodies, in these places, could have
with this kinetic energy (Cauchy–Schwarz), since the total itself may well be zero:

    |p| ≤ √(2 T Σ m),   |L| ≤ √(2 T Σ (m r² + largest moment of inertia))
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skodyn import dynamics
from skodyn.conventions import GROUND
from skodyn.errors import DynamicsError, StateError
from skodyn.model.contact.contact_tables import ContactTables
from skodyn.model.model import Model
from skodyn.simulation.elements import Forces, JointProperties
from skodyn.simulation.engine import Engine
from skodyn.typing import Floats

__all__ = ["Snapshot", "balance", "momentum_obstacle", "snapshot", "turning_obstacle"]


@dataclass(frozen=True)
class Snapshot:
    """The accounts at one moment, in numbers that a checkpoint can hold; momenta if they count."""

    energy: float
    angular: tuple[float, ...] = ()  # about the centre of mass
    linear: tuple[float, ...] = ()
    largest: tuple[float, ...] = ()  # what angular and linear momentum could be at most
    stored: float = 0.0  # in contacts
    kinetic: float = 0.0


def snapshot(engine: Engine) -> Snapshot:
    """Now; NaN where a number is too large to be one, or a coordinate of a failed run is none."""
    model, q, v = engine.model, engine.q, np.ascontiguousarray(engine.v)
    floats = not momentum_obstacle(model, engine.forces, engine.tables.contacts)
    stored = engine.contacts.stored(q, engine.y) if engine.contacts is not None else 0.0
    try:
        kinetic, potential = map(float, dynamics.energy(model, q, v))
        if not floats:
            return Snapshot(kinetic + potential, stored=stored, kinetic=kinetic)
        momentum = dynamics.momentum(model, q, v, about="com").tolist()
        largest = _largest_momenta(model, q, kinetic)
    except (DynamicsError, StateError):
        momenta: Any = ((math.nan,) * n if floats else () for n in (3, 3, 2))
        return Snapshot(math.nan, *momenta)
    parts = tuple(momentum[:3]), tuple(momentum[3:]), largest
    return Snapshot(kinetic + potential, *parts, stored, kinetic)


def _largest_momenta(model: Model, q: Floats, kinetic: float) -> tuple[float, float]:
    """(angular, linear)."""
    rotations, positions = dynamics.forward_kinematics(model, q)
    centres = positions + np.einsum("nij,nj->ni", rotations, model.com)
    arms = centres - dynamics.center_of_mass(model, q)
    # two moments of inertia are never less than the third, so half the trace is never too small
    own = np.einsum("nii->n", model.inertia) / 2.0
    inertia = float((model.mass * (arms**2).sum(axis=1) + own).sum())
    return math.sqrt(2.0 * kinetic * inertia), math.sqrt(2.0 * kinetic * float(model.mass.sum()))


# ---- what stands in the way -----------------------------------------------------------------


def momentum_obstacle(model: Model, forces: Forces, contacts: ContactTables | None = None) -> str:
    """Why the linear momentum cannot be accounted for; empty if it can."""
    if contacts is not None:
        from skodyn.simulation.contact.contact_watch import (
            contact_momentum_obstacle,  # few runs have any
        )

        obstacle = contact_momentum_obstacle(contacts)
        if obstacle:
            return obstacle
    for k in np.flatnonzero(model.parent < 0):
        name = model.joint_names[k]
        if model.joints[k].nv < 6:
            return f"joint {name!r} is fixed to the world"
        if forces.joints.get(name, JointProperties()) != JointProperties():
            return f"joint {name!r} to the world has forces of its own"
        if model.joints[k].armature > 0.0:
            return f"joint {name!r} to the world has a rotor, whose momentum is not counted"
    held = (_held(model, element).momentum_obstacle() for element in forces.elements)
    return next(filter(None, held), "")


def _held(model: Model, element: Any) -> Any:
    """The element with "world" in place of frames that are fixed in it."""
    fixed = {name for name, frame in model.frames.items() if frame.body == GROUND}
    ends = {end: getattr(element, end, None) for end in ("body_a", "body_b")}
    changed = {end: GROUND for end, name in ends.items() if name in fixed}
    return replace(element, **changed) if changed else element


def turning_obstacle(model: Model, forces: Forces, contacts: ContactTables | None = None) -> str:
    """Why the angular momentum cannot be accounted for; empty if it can."""
    turning = filter(None, (element.turning_obstacle() for element in forces.elements))
    return momentum_obstacle(model, forces, contacts) or next(turning, "")


def _outer_force(model: Model, forces: Forces) -> Floats:
    """Weight and wrenches, constant in world axes."""
    pushes = [np.asarray(element.outer_force(), float) for element in forces.elements]
    weight = float(model.mass.sum()) * np.asarray(model.gravity)
    return sum(pushes, start=weight)


# ---- the accounts at the end ----------------------------------------------------------------


def balance(engine: Engine, start: Snapshot) -> dict[str, Any]:
    """What changed since the start and is not explained, as parts of the largest there is."""
    now, work = snapshot(engine), float(engine.y[-1])
    scale = max(abs(now.energy), abs(start.energy), abs(work), 1e-300)
    return {
        "energy_start": start.energy,
        "energy_end": now.energy,
        "work_of_forces": work,
        "energy_imbalance": (now.energy - start.energy - work) / scale,
        **_momentum_balance(engine, start, now),
        **_contact_balance(engine, start, now),
    }


def _contact_balance(engine: Engine, start: Snapshot, now: Snapshot) -> dict[str, Any]:
    """Work, loss and stored energy of contacts, and what their integration leaves over.

    It is judged by the largest energy that moved: what contacts took in, what they hold, and the
    kinetic energies; a potential has no zero.
    """
    if engine.contacts is None:
        return {}
    loss = float(engine.y[-2])
    largest = max(abs(loss), start.kinetic, now.kinetic, start.stored, now.stored)
    return engine.contacts.summary(engine.q, engine.y, start.stored, largest)


def _momentum_balance(engine: Engine, start: Snapshot, now: Snapshot) -> dict[str, Any]:
    """Imbalances, or None and the reason why there is none to be told."""
    result: dict[str, Any] = {
        "linear_momentum_imbalance": None,
        "angular_momentum_imbalance": None,
        "momentum_note": turning_obstacle(engine.model, engine.forces, engine.tables.contacts),
    }
    if now.linear and start.linear:
        impulse = engine.t * _outer_force(engine.model, engine.forces)
        rest = np.subtract(now.linear, start.linear) - impulse
        scale = max(start.largest[1], now.largest[1], float(np.linalg.norm(impulse)), 1e-300)
        result["linear_momentum_imbalance"] = float(np.linalg.norm(rest)) / scale
        if not result["momentum_note"]:
            turn = np.subtract(now.angular, start.angular)
            scale = max(start.largest[0], now.largest[0], 1e-300)
            result["angular_momentum_imbalance"] = float(np.linalg.norm(turn)) / scale
    return result
