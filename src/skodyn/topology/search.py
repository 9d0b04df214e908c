"""Linear graph searches over adjacency lists of integers, none of them recursive."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["disjoint_cycles", "reachable"]

Adjacency = Sequence[Sequence[int]]

_UNSEEN, _DONE = -1, -2


def reachable(adjacency: Adjacency, starts: Iterable[int]) -> list[bool]:
    """Which nodes can be reached from the starts, the starts included."""
    seen = [False] * len(adjacency)
    stack = list(starts)
    for start in stack:
        seen[start] = True
    while stack:
        for node in adjacency[stack.pop()]:
            if not seen[node]:
                seen[node] = True
                stack.append(node)
    return seen


def disjoint_cycles(adjacency: Adjacency) -> list[list[int]]:
    """Directed cycles that share no node, at least one in each strongly connected component.

    A digraph may have exponentially many cycles; these are enough to know where all of them
    are. When each node has at most one parent, they are all the cycles there are.
    """
    cycles: list[list[int]] = []
    place = [_UNSEEN] * len(adjacency)  # on the current path, or one of the two marks
    for root in range(len(adjacency)):
        if place[root] != _UNSEEN:
            continue
        place[root] = 0
        path, branches = [root], [iter(adjacency[root])]
        taken = [-1]  # per place on the path: the deepest place up to it that is on a cycle
        while path:
            node = next(branches[-1], None)
            if node is None:
                place[path.pop()] = _DONE
                branches.pop()
                taken.pop()
            elif place[node] == _UNSEEN:
                place[node] = len(path)
                path.append(node)
                branches.append(iter(adjacency[node]))
                taken.append(taken[-1])
            elif place[node] > taken[-1]:  # back to the path, below every cycle named so far
                start = place[node]
                cycles.append(path[start:])
                taken[start:] = range(start, len(path))
    return cycles
