"""All joints of a model beside those of another library's, and what follows from their rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skodyn.errors import ModelError, StateError
from skodyn.faults import Fault
from skodyn.model.model import Model
from skodyn.model.peer_rules import SameRule
from skodyn.typing import Floats

Names = Mapping[str, str] | None


@dataclass(frozen=True)
class Link:
    """Where one joint lies on both sides, and how to convert it."""

    q: slice
    v: slice
    peer_q: slice
    peer_v: slice
    rule: SameRule


@dataclass(frozen=True)
class Pairing:
    """All joints of a model and of its counterpart."""

    model: Model
    peer: str
    nq: int
    nv: int
    links: list[Link]
    unbounded: frozenset[str]  # joints whose angle the other side knows up to whole turns

    def __post_init__(self) -> None:
        self.model._refuse_flexible("interop")

    def q_in(self, q: ArrayLike) -> Floats:
        """Of every joint, mimics included: so the other side has them, and all between."""
        given = _checked(q, self.model.nq, "q", f"model {self.model.name!r}")
        return self.model.coupling.expand_q(given)

    def v_in(self, v: ArrayLike, name: str = "v") -> Floats:
        given = _checked(v, self.model.nv, name, f"model {self.model.name!r}")
        return self.model.coupling.expand_v(given)

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


def to_state(pairing: Pairing, q: ArrayLike, v: ArrayLike) -> tuple[Floats, Floats]:
    ours = pairing.q_in(q)
    return pairing.q_to(ours), pairing.turn(ours, pairing.v_in(v))


def from_state(pairing: Pairing, q: ArrayLike, v: ArrayLike) -> tuple[Floats, Floats]:
    ours = pairing.q_from(pairing.peer_q_in(q))
    return pairing.q_out(ours), pairing.v_out(pairing.turn_back(ours, pairing.peer_v_in(v)))


def to_force(pairing: Pairing, q: ArrayLike, tau: ArrayLike) -> Floats:
    return pairing.turn(pairing.q_in(q), pairing.tau_in(tau))


def from_force(pairing: Pairing, q: ArrayLike, tau: ArrayLike) -> Floats:
    ours = pairing.q_from(pairing.peer_q_in(q))
    return pairing.tau_out(pairing.turn_back(ours, pairing.peer_v_in(tau, "tau")))


def to_acceleration(pairing: Pairing, q: ArrayLike, v: ArrayLike, vdot: ArrayLike) -> Floats:
    ours = pairing.q_in(q)
    turned = pairing.turn(ours, pairing.v_in(vdot, "vdot"))
    return turned + pairing.drift(ours, pairing.v_in(v))


def from_acceleration(pairing: Pairing, q: ArrayLike, v: ArrayLike, vdot: ArrayLike) -> Floats:
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

Rule = SameRule | str
"""How to convert a joint, or why that is not possible."""


def link_all(
    model: Model, peer: str, found: dict[str, tuple[int, int, int, int, Any]], names: Names,
    choose: Callable[[int, Any], Rule], nq: int, nv: int,
) -> Pairing:  # fmt: skip
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
        if rule.winds:
            unbounded.add(name)
        links.append(
            Link(
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
    return Pairing(model, peer, nq, nv, links, frozenset(unbounded))
