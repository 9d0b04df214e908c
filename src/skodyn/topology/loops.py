"""Cycles that loops close in a tree, and the groups of bodies that they tie together.

A loop joins two bodies of a tree. What it says depends on the joints between them only: on those of
path(a) △ path(b), where path(k) holds k and its ancestors; the joints above the closest common
ancestor c move both ends alike. The joint of a body has the body's number, so bodies stand for
joints here. Every cycle is a union of paths that lead outward from one node c, which it does not
hold.

*A group has a single parent.* Let two cycles with the nodes c and c' share a body m. Both nodes lie
strictly above m, so one of them, say c, lies on the way from the ground to the other, or is it.
The first cycle holds the whole path from c (exclusive) to m. So either c' = c, or c' lies on that
path and in the first cycle; in both cases the union is again a union of paths outward from c. It
does not hold c: bodies of the second cycle lie strictly below c', hence below c. By induction this
holds for every group, which so fulfils Assumption 1 of Jain 2012-I and can be aggregated as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from skodyn.topology.forest import GROUND

__all__ = ["Group", "cycle", "groups", "span"]


class Group(NamedTuple):
    """Bodies that loops tie together, as packed indices."""

    members: tuple[int, ...]  # ascending
    parent: int  # the only node above members that is none; −1 is the ground
    cycles: tuple[int, ...]  # which of the given cycles it was made of, ascending


def cycle(parent: Sequence[int] | Any, a: int, b: int) -> tuple[int, ...]:
    """The bodies on path(a) △ path(b), ascending; parent[k] < k, and −1 is the ground."""
    found = []
    while a != b:
        a, b = max(a, b), min(a, b)  # the larger is no ancestor of the other
        found.append(int(a))
        a = int(parent[a])
    return tuple(sorted(found))


def span(parent: Sequence[int] | Any, bodies: Iterable[int]) -> tuple[int, ...]:
    """The bodies on the paths to these from their parents' closest common ancestor, ascending.

    The ancestor is left out; a body that is above all others is in.
    """
    given = sorted({int(k) for k in bodies})
    meeting = _meeting(parent, [int(parent[k]) for k in given])
    found: set[int] = set()
    for k in given:
        while k != meeting and k not in found:
            found.add(k)
            k = int(parent[k])
    return tuple(sorted(found))


def _meeting(parent: Sequence[int] | Any, bodies: list[int]) -> int:
    """The closest common ancestor of bodies, maybe one of them; −1 if only the ground is."""
    if not bodies:
        return GROUND
    here = bodies[0]
    for k in bodies[1:]:
        while here != k:
            here, k = int(parent[max(here, k)]), min(here, k)
    return here


def groups(parent: Sequence[int] | Any, cycles: Iterable[Iterable[int]]) -> tuple[Group, ...]:
    """Cycles that share a body are merged; in the order of their first bodies.

    A cycle without bodies belongs to no group.
    """
    bodies = [tuple(int(k) for k in own) for own in cycles]
    leader = _merged(bodies)
    joined: dict[int, list[int]] = {}
    for number, own in enumerate(bodies):
        if own:
            joined.setdefault(_found(leader, number), []).append(number)
    made = [_group(parent, numbers, bodies) for numbers in joined.values()]
    return tuple(sorted(made, key=lambda group: group.members[0]))


def _merged(bodies: list[tuple[int, ...]]) -> list[int]:
    """A union-find forest of the cycles' numbers."""
    leader = list(range(len(bodies)))
    holder: dict[int, int] = {}
    for number, own in enumerate(bodies):
        for k in own:
            one, other = _found(leader, holder.setdefault(k, number)), _found(leader, number)
            leader[max(one, other)] = min(one, other)
    return leader


def _found(leader: list[int], number: int) -> int:
    while leader[number] != number:
        leader[number] = leader[leader[number]]
        number = leader[number]
    return number


def _group(parent: Any, numbers: list[int], bodies: list[tuple[int, ...]]) -> Group:
    members = sorted({k for number in numbers for k in bodies[number]})
    above = int(parent[members[0]])
    inside = set(members)
    outer = {int(parent[k]) for k in members} - inside
    assert outer == {above}, "cycles of a tree: see the proof above"
    return Group(tuple(members), above, tuple(numbers))
