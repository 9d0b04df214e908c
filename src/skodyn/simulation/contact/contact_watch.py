"""What is watched of contacts: whether a run may begin, whether its steps resolve them, energies.

A contact is a spring of k_eff = p·k·δ^(p−1)·(1 + c·δ̇) against the compliance Λₙ = nᵀ(J𝓜⁻¹Jᵀ)n of
what it touches; ω = √(k_eff·Λₙ) times dt says how well steps resolve it. With rk4, the worst phase
of the grid leaves an elastic impact 0.05, 0.2, 0.4 and 0.6 % too fast at dt·ω = 0.1, 0.2, 0.3 and
0.4, and several times too fast somewhere beyond 1.4. Shapes that are about to touch count with the
speed they come at.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from skodyn.conventions import GROUND
from skodyn.dynamics.body_poses import forward_kinematics
from skodyn.dynamics.contact_functions import ContactForces, evaluate_contacts, forces_of
from skodyn.dynamics.mass_matrices import operational_space_compliance
from skodyn.errors import DynamicsError, StateError
from skodyn.faults import Fault
from skodyn.kernels.contact import contact_states as rows
from skodyn.model.contact.contact_pairs import Pair
from skodyn.model.contact.contact_tables import ContactTables
from skodyn.model.model import Model
from skodyn.simulation.methods import method_named
from skodyn.simulation.settings import IntegratorSettings
from skodyn.typing import Floats

__all__ = ["ContactWatch", "contact_momentum_obstacle"]

RESOLVED = 0.3
"""Largest dt·ω without a warning; half of it for semi_implicit_euler."""
HELD = 2.0
"""Largest dt times the fastest rate of a bristle without a warning."""
IMBALANCE = 1e-3
IMPLICIT_IMBALANCE = 0.05
"""Long implicit steps see normals and arms of their start: a trotting quadruped leaves 0.005."""
LOOKS = 8
"""Points of a block whose compliance is computed."""


@dataclass
class _Worst:
    """The worst seen of one thing, and the sentence for it."""

    value: float = 0.0
    sentence: str = ""

    def take(self, value: float, sentence: str) -> None:
        if value > self.value:
            self.value, self.sentence = value, sentence


class ContactWatch:
    """Looks at rows as they come; `warnings` and `summary` are for the end."""

    def __init__(
        self, model: Model, tables: ContactTables, integral: int, settings: IntegratorSettings
    ) -> None:
        self.model, self.tables, self.settings = model, tables, settings
        self.first = model.nv + integral
        self.laws = [tables.pairs[k].law for k in tables.pair_of]
        self.constants = (
            np.array([law.stiffness for law in self.laws]),
            np.array([law.dissipation for law in self.laws]),
            np.array([law.hertz for law in self.laws]),
        )
        self.resolved, self.held, self.deep, self.fast = (_Worst() for _ in range(4))

    # ---- the start ----------------------------------------------------------------------------

    def check_start(self, q: Floats, y: Floats) -> None:
        """Refuse shapes deep in each other, and steps that are too long for friction."""
        faults = self._step_faults()
        found = self.evaluate(q[None], y[None])[0]
        for label, size, gap in zip(
            self.tables.labels, self.tables.sizes, found[:, 0], strict=True
        ):
            if -gap > 0.5 * size:
                faults.append(
                    Fault(
                        f"The start cannot be simulated: contact {label!r} begins {-gap:.6g} m "
                        f"deep, more than half of the shape ({size:.6g} m)",
                        "move the bodies apart.",
                    )
                )
        if faults:
            raise StateError(list(dict.fromkeys(faults)))

    def _step_faults(self) -> list[Fault]:
        if self.settings.method != "semi_implicit_euler":
            return []
        dt = self.settings.dt
        return [
            Fault(
                f"dt is {dt:g}, and semi_implicit_euler needs less than tangential_damping "
                f"over tangential_stiffness, {law.damping / law.tangential_stiffness:.3g} s, "
                f"of contact {label!r}",
                "use a smaller dt, more damping, or rk4.",
            )
            for label, law in zip(self.tables.labels, self.laws, strict=True)
            if law.friction > 0.0 and dt > law.damping / law.tangential_stiffness
        ]

    # ---- rows ---------------------------------------------------------------------------------

    def bristles(self, y: Floats) -> Floats:
        """The columns of y that are bristles."""
        return np.ascontiguousarray(y[:, self.first : self.first + self.tables.n_bristles])

    def evaluate(self, q: Floats, y: Floats) -> Floats:
        """(states, points, ROW); NaN where a state is beyond all numbers."""
        v = np.ascontiguousarray(y[:, : self.model.nv])
        try:
            return evaluate_contacts(self.model, self.tables, q, v, self.bristles(y))
        except (DynamicsError, StateError):
            if len(q) == 1:
                return np.full((1, self.tables.n_points, rows.POINT.size), np.nan)
            single = [self.evaluate(q[i : i + 1], y[i : i + 1]) for i in range(len(q))]
            return np.concatenate(single)  # its neighbours are as they are

    def stored(self, q: Floats, y: Floats) -> float:
        """The energy that all contacts hold."""
        return float(self.evaluate(q[None], y[None])[0, :, rows.POINT.STORED].sum())

    def forces(self, found: Floats) -> ContactForces:
        """What `evaluate` found, by name."""
        return forces_of(self.tables, found)

    def look(self, t: Floats, q: Floats, found: Floats, interval: float) -> None:
        """Take rows in; found: what `evaluate` says of them; interval: seconds between them."""
        gap, speed = found[:, :, rows.POINT.GAP], found[:, :, rows.POINT.SPEED]
        # about to touch before the next row
        near = (gap < 0.0) | (gap + 2.0 * interval * np.minimum(speed, 0.0) < 0.0)
        near &= np.asarray(np.isfinite(q).all(axis=1))[
            :, None
        ]  # not the last rows of a run that fails
        if not near.any():
            return
        self._look_at_depths(t, gap, speed, near)
        if not self.settings.adaptive and not method_named(self.settings.method).solves_contacts:
            self._look_at_steps(t, q, found, near)

    def _look_at_depths(self, t: Floats, gap: Floats, speed: Floats, near: Any) -> None:
        size = np.array(self.tables.sizes)
        share = np.where(near, -gap / size, 0.0)
        row, point = np.unravel_index(np.argmax(share), share.shape)
        if share[row, point] > 0.5:
            label = self.tables.labels[point]
            self.deep.take(
                float(share[row, point]),
                f"contact {label!r} was {-gap[row, point]:.3g} m deep at t = {t[row]:.6g} s, more "
                f"than half of the shape ({size[point]:.3g} m); use a larger stiffness.",
            )
        way = np.where(near, -speed * self.settings.dt / size, 0.0)
        row, point = np.unravel_index(np.argmax(way), way.shape)
        if way[row, point] > 1.0 and not self.settings.adaptive:
            label = self.tables.labels[point]
            self.fast.take(
                float(way[row, point]),
                f"contact {label!r} moved {-speed[row, point] * self.settings.dt:.3g} m in a step "
                f"at t = {t[row]:.6g} s, more than its shape ({size[point]:.3g} m), and may have "
                f"passed through; use dt = {size[point] / -speed[row, point] / 4.0:.1g}.",
            )

    def _look_at_steps(self, t: Floats, q: Floats, found: Floats, near: Any) -> None:
        gap, speed = found[:, :, rows.POINT.GAP], found[:, :, rows.POINT.SPEED]
        rough = np.where(near, self._stiffness(gap, speed, 1.0), 0.0)
        worst = rough.max(axis=0)
        for point in np.argsort(-worst, kind="stable")[:LOOKS].tolist():
            if worst[point] <= 0.0:
                continue
            row = int(np.argmax(rough[:, point]))
            self._look_at(point, float(t[row]), q[row], found[row, point])

    def _stiffness(self, gap: Floats, speed: Floats, compliance: float) -> Floats:
        """k_eff of points; of those still apart, what it will be at the deepest of the impact."""
        k, c = (
            np.array([getattr(law, x) for law in self.laws]) for x in ("stiffness", "dissipation")
        )
        hertz = np.array([law.hertz for law in self.laws])
        closing = np.maximum(-speed, 0.0)
        brake = np.maximum(1.0 + c * np.where(gap < 0.0, -speed, closing), 0.0)
        # of an elastic impact: k·δ^(p + 1)/(p + 1) = v²/(2Λ)
        impact = (1.25 * closing**2 / (k * compliance)) ** 0.4
        depth = np.where(gap < 0.0, -gap, impact)
        found: Floats = k * np.where(hertz, 1.5 * np.sqrt(depth), 1.0) * brake
        return found

    def _look_at(self, point: int, t: float, q: Floats, found: Floats) -> None:
        along, across = self._compliance(point, q, found)
        law, label, dt = self.laws[point], self.tables.labels[point], self.settings.dt
        gap = np.full(len(self.laws), found[rows.POINT.GAP])
        speed = np.full(len(self.laws), found[rows.POINT.SPEED])
        omega = math.sqrt(max(self._stiffness(gap, speed, along)[point] * along, 0.0))
        limit = RESOLVED / (2.0 if self.settings.method == "semi_implicit_euler" else 1.0)
        if dt * omega > limit:
            self.resolved.take(
                dt * omega,
                f"contact {label!r} oscillates at ω = {omega:.3g} rad/s at t = {t:.6g} s, and "
                f"dt·ω = {dt * omega:.2g} is above {limit:g}: impacts are not resolved, and may "
                f"create energy; use dt = {_below(limit / omega):.1e}, or a smaller stiffness.",
            )
        if law.friction > 0.0:
            kt, d = law.tangential_stiffness, law.damping
            rate = max(math.sqrt(kt * across), d * across, kt / d)
            if dt * rate > HELD:
                self.held.take(
                    dt * rate,
                    f"friction of contact {label!r} reacts at {rate:.3g} 1/s at t = {t:.6g} s, "
                    f"too fast for dt = {dt:g}; use dt = {_below(HELD / rate):.1e}, or a smaller "
                    "tangential_stiffness and tangential_damping.",
                )

    def _compliance(self, point: int, q: Floats, found: Floats) -> tuple[float, float]:
        """(along the normal, the largest across it), of both bodies against each other."""
        pair: Pair = self.tables.pairs[self.tables.pair_of[point]]
        x = found[rows.POINT.PLACE : rows.POINT.PLACE + 3]
        n = found[rows.POINT.NORMAL : rows.POINT.NORMAL + 3]
        rotations, positions = forward_kinematics(self.model, q)
        nodes, signs = [], []
        for placed, sign in ((pair.a, 1.0), (pair.b, -1.0)):
            if placed.body != GROUND:
                k = self.model.body_index(placed.body)
                nodes.append((placed.body, rotations[k].T @ (x - positions[k])))
                signs.append(sign)
        whole = operational_space_compliance(self.model, q, nodes)
        select = np.zeros((3, len(whole)))
        for i, sign in enumerate(signs):
            select[:, 6 * i + 3 : 6 * i + 6] = sign * np.eye(3)
        compliance = select @ whole @ select.T
        flat = np.eye(3) - np.outer(n, n)
        return float(n @ compliance @ n), float(np.linalg.norm(flat @ compliance @ flat, 2))

    # ---- the end ------------------------------------------------------------------------------

    def summary(self, q: Floats, y: Floats, start: float, largest: float) -> dict[str, Any]:
        """Accounts of contacts; start: what they held then, largest: energy by which to judge."""
        work, loss = (float(x) for x in y[-3:-1])
        stored = self.stored(q, y)
        imbalance = (work + stored - start + loss) / max(largest, 1e-300)
        warnings = [w.sentence for w in (self.resolved, self.held, self.deep, self.fast) if w.value]
        implicit = method_named(self.settings.method).solves_contacts
        if abs(imbalance) > (IMPLICIT_IMBALANCE if implicit else IMBALANCE):
            warnings.append(
                f"contact_imbalance is {imbalance:.2g} of the largest energy: contacts are "
                "not integrated accurately; use a smaller dt, or a smaller stiffness."
            )
        laws = [pair.from_file for pair in self.tables.pairs if pair.from_file]
        return {
            **({"contact_laws": laws} if laws else {}),
            "contact_work": work,
            "contact_loss": loss,
            "contact_stored": stored,
            "contact_imbalance": imbalance,
            "warnings": warnings,
        }


def _below(value: float) -> float:
    """Rounded down to one digit, so that the value proposed is small enough."""
    if not 0.0 < value < math.inf:
        return value
    unit = 10.0 ** math.floor(math.log10(value))
    return math.floor(value / unit) * unit


def contact_momentum_obstacle(tables: ContactTables | None) -> str:
    """Why contacts keep momentum from being conserved; empty if none of them does."""
    for pair in tables.pairs if tables is not None else ():
        body = next(
            (x.body for x, y in ((pair.a, pair.b), (pair.b, pair.a)) if y.body == GROUND), ""
        )
        if body:
            return f"body {body!r} touches the world"
    return ""
