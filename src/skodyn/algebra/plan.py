"""What an expression will run, in order, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass

from skodyn.algebra.composite import Identity, Scaled, Sum, Transposed
from skodyn.algebra.expression import Operator
from skodyn.algebra.leaves import Edges, Inverted, Leaf, Named, Pickoff, Placed, Propagator
from skodyn.algebra.materialise import dense_rule
from skodyn.algebra.structure import FROM_RICCATI, factors_of, leaves_of

__all__ = ["plan"]

DENSE = {
    "blocks": "block by block",
    "edges": "edge by edge",
    "forward": "forward Lyapunov recursion for the diagonal, the rest along paths (Lemma 3)",
    "backward": "backward Lyapunov recursion for the diagonal, the rest along paths (Lemma 5)",
    "mass matrix": "composite inertias, then ancestors of each node (Algorithm 4.2)",
    "columns": "applied to the columns of the identity",
    "rows": "its transpose applied to the columns of the identity",
}

ONCE = (
    (FROM_RICCATI, "the Riccati equation, one gather (eq. 33)"),
    (frozenset({"R"}), "composite inertias, one gather (eq. 20)"),
    (frozenset({"Upsilon"}), "Υ, one scatter (eq. 24)"),
)


@dataclass(frozen=True)
class Step:
    what: str
    how: str
    cost: int  # multiply-adds for one column


def plan(operator: Operator) -> str:
    """The text that `explain` prints."""
    rows, cols = operator.spaces
    n = operator.bench.tree.n
    steps = _steps(operator, False)
    wide = max((len(step.what) for step in steps), default=0)
    reach = max((len(step.how) for step in steps), default=0)
    lines = [f"{operator.text()}", f"on one column, {cols} -> {rows}, {n} nodes:"]
    for k, step in enumerate(steps, 1):
        lines.append(f"{k:4}  {step.what:<{wide}}  {step.how:<{reach}}  {step.cost:>9,}")
    total = sum(step.cost for step in steps)
    lines.append(f"total {total:,} multiply-adds, {total / max(n, 1):.0f} for each node: O(n)")
    names = {leaf.name for leaf in leaves_of(operator) if isinstance(leaf, Leaf)}
    lines += [f"once for this state: {words}" for group, words in ONCE if names & group]
    lines.append(f"dense(): {_dense_words(operator)}")
    return "\n".join(lines)


def _dense_words(operator: Operator) -> str:
    if isinstance(operator, Sum):
        return "the sum of its terms: " + "; ".join(_dense_words(t) for t in operator.terms)
    if isinstance(operator, (Transposed, Scaled)):
        return _dense_words(operator.inner)
    if isinstance(operator, Named):
        return _dense_words(operator.definition)
    return DENSE[dense_rule(operator)]


def _steps(operator: Operator, transpose: bool) -> list[Step]:
    if isinstance(operator, Identity):
        return []
    if isinstance(operator, Transposed):
        return _steps(operator.inner, not transpose)
    if isinstance(operator, Named):
        return _steps(operator.definition, transpose)
    if isinstance(operator, Scaled):
        size = operator.spaces[1 if transpose else 0].size
        scale = Step(f"{operator.number:g} *", "every number", size)
        return [*_steps(operator.inner, transpose), *([scale] if operator.number != -1.0 else [])]
    if isinstance(operator, Sum):
        return [step for term in operator.terms for step in _term(term, transpose)]
    factors = factors_of(operator)
    if len(factors) > 1:
        order = factors if transpose else factors[::-1]
        return [step for factor in order for step in _steps(factor, transpose)]
    assert isinstance(operator, Leaf)
    return [_leaf_step(operator, transpose)]


def _term(term: Operator, transpose: bool) -> list[Step]:
    """The steps of a term, the first of them marked."""
    steps = _steps(term, transpose)
    return [
        Step(s.what, s.how + ("; starts a term" if s is steps[0] else ""), s.cost) for s in steps
    ]


def _leaf_step(leaf: Leaf, transpose: bool) -> Step:
    what = leaf.text() + (".T" if transpose and leaf.T is not leaf else "")
    cost = leaf.blocks.data.size
    if isinstance(leaf, Propagator):
        how = "scatter, base to tips (Lemma 2)" if transpose else "gather, tips to base (Lemma 1)"
        if leaf.strict:
            return Step(what, how.split(" (", maxsplit=1)[0] + " (Corollary 3.1)", 2 * cost)
        return Step(what, how, cost)
    if isinstance(leaf, Edges):
        how = "from each parent to its children" if transpose else "from each node to its parent"
        return Step(what, how, cost)
    if isinstance(leaf, Pickoff):
        return Step(what, "at the picked-off points", cost)
    if isinstance(leaf, Placed):
        return Step(what, "from one part to another", cost)
    inverted = isinstance(leaf, Inverted)
    return Step(what, "block by block" + (", inverses kept" if inverted else ""), cost)
