"""The parts of the loop that are compiled apart, and which of them a system needs.

A model that has no mimic joint, loop, element or Fixman force pays for none of them: not while
kernels are compiled, and in the loop with a look at an integer. Something new (contact, modes) goes
here too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skodyn.errors import StateError
from skodyn.jit import COUNT, JIT_DISABLED, NUMBER
from skodyn.kernels.flexible.flexible_table import is_bent
from skodyn.lanes import WIDTH_1, PartAtWidths, Width, parts_of
from skodyn.model.layout import FULL, LOOPS
from skodyn.simulation import forces as f
from skodyn.simulation.bent_looks import COPY_STATE
from skodyn.simulation.contact.contacts import apply_contacts
from skodyn.simulation.control.control_calls import control_lanes, sample_lanes
from skodyn.simulation.control.control_dynamics import DYNAMICS_PARTS
from skodyn.simulation.control.controllers import ReadyLaw
from skodyn.simulation.element_forces import apply_elements, compensate_gravity
from skodyn.simulation.element_kinds.fixman import apply_fixman
from skodyn.simulation.methods import method_named
from skodyn.simulation.settings import IntegratorSettings
from skodyn.simulation.steppers.driven_midpoint import step_driven_looped
from skodyn.simulation.steppers.implicit_coupled import newton_coupled
from skodyn.simulation.steppers.implicit_driven import newton_driven
from skodyn.simulation.steppers.implicit_looped import newton_looped
from skodyn.simulation.steppers.looped_midpoint import step_looped
from skodyn.simulation.structures import (
    CLOSING,
    COUPLED,
    DRIVEN,
    EFFECTS,
    ELEMENTS_PART,
    EXPANDING,
    FOLLOWING,
    MIDPOINT,
    ROWS,
    SPRUNG,
    STATE,
    SYSTEM,
)
from skodyn.simulation.systems.coupled_system import evaluate_coupled, expand_state
from skodyn.simulation.systems.driven_coupled import evaluate_driven_coupled
from skodyn.simulation.systems.driven_looped import (
    close_held_loops,
    evaluate_driven_looped,
    follow_closed,
)
from skodyn.simulation.systems.driven_motions import follow_motions
from skodyn.simulation.systems.driven_system import evaluate_driven
from skodyn.simulation.systems.flexible_looped_system import close_bent_loops, evaluate_bent_looped
from skodyn.simulation.systems.flexible_system import (
    apply_bent_elements,
    evaluate_bent,
    evaluate_bent_springs,
)
from skodyn.simulation.systems.looped_system import close_loops, evaluate_looped
from skodyn.simulation.systems.sprung_system import evaluate_sprung
from skodyn.simulation.systems.touching_system import evaluate_touching

BENT = {
    COUPLED: parts_of(evaluate_bent, SYSTEM, NUMBER, STATE, ROWS),
    ELEMENTS_PART: parts_of(apply_bent_elements, SYSTEM, NUMBER, STATE, EFFECTS),
    SPRUNG: parts_of(evaluate_bent_springs, SYSTEM, NUMBER, STATE, ROWS),
    EXPANDING: COPY_STATE,
}
"""Those that stand in the place of others where bodies are flexible."""

BENT_LOOPED = {
    **BENT,
    COUPLED: parts_of(evaluate_bent_looped, SYSTEM, NUMBER, STATE, ROWS),
    CLOSING: parts_of(close_bent_loops, SYSTEM, STATE, STATE, COUNT),
}
"""And those where they are parts of loops."""

DRIVEN_LOOPED = {
    CLOSING: parts_of(close_held_loops, SYSTEM, STATE, STATE, COUNT),
    MIDPOINT: parts_of(step_driven_looped, SYSTEM, NUMBER, NUMBER, STATE, STATE),
    DRIVEN: parts_of(evaluate_driven_looped, SYSTEM, NUMBER, STATE, ROWS),
    FOLLOWING: parts_of(follow_closed, SYSTEM, NUMBER, STATE),
}
"""Those where joints of models with loops are driven."""

IMPLICIT_LOOPED = {MIDPOINT: parts_of(newton_looped, SYSTEM, NUMBER, NUMBER, STATE, COUNT)}
IMPLICIT_COUPLED = {MIDPOINT: parts_of(newton_coupled, SYSTEM, NUMBER, NUMBER, STATE, COUNT)}
IMPLICIT_DRIVEN = {MIDPOINT: parts_of(newton_driven, SYSTEM, NUMBER, NUMBER, STATE, COUNT)}
"""Newton's steps of implicit_contact, where another method has a whole step with loops."""

__all__ = ["CONTACTS", "AtAnyWidth", "addresses", "element_part"]

OWN = (
    parts_of(evaluate_coupled, SYSTEM, NUMBER, STATE, ROWS),
    parts_of(apply_elements, SYSTEM, NUMBER, STATE, EFFECTS),
    parts_of(compensate_gravity, SYSTEM, ROWS, ROWS),
    parts_of(apply_fixman, SYSTEM, ROWS, ROWS),
    parts_of(evaluate_looped, SYSTEM, NUMBER, STATE, ROWS),
    parts_of(close_loops, SYSTEM, STATE, STATE, COUNT),
    parts_of(step_looped, SYSTEM, NUMBER, NUMBER, STATE, STATE),
    parts_of(evaluate_sprung, SYSTEM, NUMBER, STATE, ROWS),
    parts_of(evaluate_driven, SYSTEM, NUMBER, STATE, ROWS),
    parts_of(follow_motions, SYSTEM, NUMBER, STATE),
    parts_of(expand_state, SYSTEM, STATE),
    parts_of(evaluate_driven_coupled, SYSTEM, NUMBER, STATE, ROWS),
    parts_of(control_lanes, SYSTEM, NUMBER, STATE, ROWS, ROWS),
    parts_of(sample_lanes, SYSTEM, NUMBER, STATE),
    parts_of(evaluate_touching, SYSTEM, NUMBER, STATE, ROWS),
)
"""In the order of structures.py."""


def element_part(function: Any) -> PartAtWidths:
    """The part of an element of its own kind: a helper f(work, system, at, t, state, effects).

    It reads its record of `system.codes` at `at`, its numbers of `system.numbers` from
    `system.codes[at + OFFSET]` on, and adds to `effects.tau` and `effects.f_ext`; it returns OK.
    """
    return parts_of(function, SYSTEM, COUNT, NUMBER, STATE, EFFECTS)


CONTACTS = element_part(apply_contacts)
"""Contacts as an element among others."""


class AtAnyWidth:
    """A function that is called for one state at a time, in the place of a part."""

    def __init__(self, law: ReadyLaw) -> None:
        self.law = law

    def address(self, _width: Width) -> Any:
        return self.law.address


def addresses(
    tree: Any,
    codes: Any,
    brought: Sequence[PartAtWidths | AtAnyWidth],
    width: Width,
    settings: IntegratorSettings,
) -> Any:
    """The address of every part that a system needs, 0 for the others; compiles them if need be.

    tree, codes: of the packed model and its forces. brought: parts that elements bring along, and
    functions of motions and controllers.
    """
    if settings.implicit_springs and codes[f.MOTIONS] > 0:
        raise StateError(
            "implicit_springs cannot be combined with prescribed motions", "leave one of them out."
        )
    driven, looped = codes[f.MOTIONS] > 0, tree[LOOPS] > 0
    method = method_named(settings.method)
    implicit = method.solves_contacts
    own_step = looped and method.closes_loops
    if own_step and is_bent(tree):
        raise StateError(
            f"{settings.method} cannot be combined with loops between flexible bodies",
            "use rk4 or dormand_prince, or give the bodies segments instead of modes.",
        )
    # then all elements are inside of TOUCHING, but for the iteration with implicit springs
    touching = codes[f.CONTACTS_ALONE] > 0 and not settings.implicit_springs
    needed = (
        tree[FULL] > 0,
        codes[f.ELEMENTS] > 0 and not touching,
        codes[f.GRAVITY_COMPENSATED] > 0 and not is_bent(tree),
        codes[f.FIXMAN] > 0,
        looped and not driven and not is_bent(tree),
        looped and (own_step or not driven),
        own_step or (implicit and (looped or driven or tree[FULL] > 0)),
        settings.implicit_springs and not looped,
        driven and not tree[FULL] > 0,
        driven,
        tree[FULL] > 0 and width.own_parameters,  # metrics of runs side by side look at all joints
        driven and tree[FULL] > 0,
        codes[f.CONTROLLERS] > 0,
        codes[f.SAMPLED] > 0,
        codes[f.CONTACTS_ALONE] > 0,
    )
    if is_bent(tree):
        others = BENT_LOOPED if looped else BENT
    else:
        others = DRIVEN_LOOPED if driven and looped else {}
    if implicit:
        steps = IMPLICIT_DRIVEN if driven else IMPLICIT_COUPLED
        others = {**others, **(IMPLICIT_LOOPED if looped else steps)}
    own = [others.get(i, part) for i, part in enumerate(OWN)]
    asked = frozenset().union(*(one.law.asks for one in brought if isinstance(one, AtAnyWidth)))
    if asked and is_bent(tree):
        raise StateError(
            "A control law takes dynamics, which models with flexible bodies do not have",
            "take dynamics out of its parameters.",
        )
    idle = (CONTACTS,) if touching else ()
    found = [
        *(part.address(width) if used else 0 for part, used in zip(own, needed, strict=True)),
        *(part.address(WIDTH_1) if i in asked else 0 for i, part in enumerate(DYNAMICS_PARTS)),
        *(part.address(width) if part not in idle else 0 for part in brought),
    ]
    return np.array(found, dtype=object if JIT_DISABLED else np.int64)
