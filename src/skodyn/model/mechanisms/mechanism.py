"""A mechanism given as links and joints in any order: which joints carry them, which close loops.

The graph of links and joints becomes a tree of bodies and loops. A link is carried by one of its
joints; its body frame is then that joint's frame in it, and all that was placed in the link is
expressed anew in that frame. A joint that carries its body_a is turned: frames swapped and the axis
reversed, which leaves q as it was.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from skodyn.conventions import GROUND
from skodyn.faults import Fault, shown
from skodyn.model.builder_entries import BodyDescription
from skodyn.model.joints import Free
from skodyn.model.mechanisms.mechanism_bodies import as_bodies, with_lists
from skodyn.model.mechanisms.mechanism_checks import (
    check_ends,
    check_joints,
    check_mechanism_names,
    is_zero,
    read_frames,
    read_links,
)
from skodyn.model.mechanisms.mechanism_graph import Graph
from skodyn.model.mechanisms.mechanism_tree import find_tree
from skodyn.model.name_checks import check_tree, name_problem

if TYPE_CHECKING:
    from skodyn.model.description import ModelBuilder

__all__ = ["resolved"]


def resolved(described: ModelBuilder, cut: Any) -> tuple[ModelBuilder, list[Fault]]:
    """The mechanism as bodies and loops, and what is wrong with its links, joints and cuts.

    If anything is, the first is a stand-in in which every link floats: it serves to find the faults
    of all else.
    """
    chosen, faults = _names_to_cut(cut)
    if not (described.links or described.joints or chosen or faults):
        return described, []
    stand_in = _floating(described)
    valid = check_mechanism_names(described, faults)
    valid &= check_tree(stand_in.bodies, valid, faults) is not None
    valid &= check_ends(described, faults)
    valid &= check_joints(described.joints, faults)
    frames = read_frames(described.joints, faults)
    columns = read_links(described, faults)
    if valid:
        graph = Graph(described)
        through = find_tree(graph, chosen, faults)
        if not faults:
            return as_bodies(graph, through, frames, columns), []
    return stand_in, faults


def _names_to_cut(cut: Any) -> tuple[list[Any], list[Fault]]:
    try:
        if not isinstance(cut, (str, bytes)):
            return list(cut), []
    except Exception:  # no list, or an object that fails in its own way
        pass
    return [], [
        Fault(f"cut is {shown(cut)}", "give a list of joints' names, for example cut=['pin'].")
    ]


def _floating(described: ModelBuilder) -> ModelBuilder:
    """A model with the same bodies, frames and loops, in which no link hangs on another.

    What has no mass gets one: it may be carried along by what is not there.
    """
    bodies = [replace(b, mass=1.0) if is_zero(b.mass) else b for b in described.bodies]
    taken = {GROUND, *(b.name for b in bodies if isinstance(b.name, str))}
    for k, link in enumerate(described.links):
        unfit = name_problem(link.name) is not None or link.name in taken
        name = f"link number {k + 1}" if unfit else link.name
        taken.add(name)
        mass = 1.0 if is_zero(link.mass) else link.mass
        joint = Free(name=f"link {name}")
        bodies.append(
            BodyDescription(name, GROUND, joint, (0, 0, 0), None, mass, link.com, link.inertia)
        )
    return with_lists(described, bodies=bodies, links=[], joints=[], mimics=[], couplings=[])
