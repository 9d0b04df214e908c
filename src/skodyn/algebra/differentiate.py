"""The derivative of any expression: sums, products, inverses, recursions.

    [X + Y] = [X] + [Y],   [XY] = [X]Y + X[Y],   [X⁻¹] = −X⁻¹[X]X⁻¹,
    [φ] = φ[ℰ]φ   for every φ = (I − ℰ)⁻¹,

and of the solution of a Lyapunov equation it is that of another one, along the same ℰ:

    [Y] − ℰ[Y]ℰ* = [X] + [ℰ]Yℰ* + ℰY[ℰ]*             of X = Y − ℰYℰ*,
    [Y] − diagOf{ℰ*[Y]ℰ} = [X] + diagOf{[ℰ]*Yℰ + ℰ*Y[ℰ]}   of X = Y − diagOf{ℰ*Yℰ}.

What a direction knows under an operator's name it is asked for first.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from skodyn.algebra.composite import (
    Identity,
    Product,
    Scaled,
    Sum,
    Transposed,
    product,
    scaled,
    summed,
)
from skodyn.algebra.expression import Operator
from skodyn.algebra.leaves import Diagonal, Edges, Inverted, Leaf, Named, Pickoff, Propagator
from skodyn.algebra.lyapunov import Lyapunov, lyapunov_recursion
from skodyn.algebra.own import OwnDiagonal, OwnEdges, read_blocks
from skodyn.algebra.point_inverse import PointInverse
from skodyn.algebra.structure import diagonal_blocks, edge_blocks
from skodyn.algebra.workbench import Workbench
from skodyn.errors import StateError
from skodyn.sko.blocks import Blocks

__all__ = ["derivative_of", "edge_sandwich"]

NAMED = ("E_phi", "phi", "H", "M", "P", "D", "G", "tau", "tau_bar", "E_psi", "psi", "K")
"""Operators whose derivatives a direction has under their names."""


def derivative_of(direction: Any, expression: Operator) -> Operator:
    """Along a direction: what `ops.derivative(…)` or `ops.given_derivative(…)` gave."""
    if not isinstance(expression, Operator):
        raise StateError(
            f"The derivative of {type(expression).__name__} is asked for",
            "give an expression of operators.",
        )
    bench = direction.bench
    bench.check_compatible(expression.bench, direction.name, expression)
    found = _derivative(direction, expression)
    return 0.0 * expression if found is None else found


def _derivative(d: Any, x: Operator) -> Operator | None:
    """None for zero."""
    if isinstance(x, Identity):
        return None
    if isinstance(x, Named):
        return _derivative(d, x.definition)
    if isinstance(x, Scaled):
        inner = _derivative(d, x.inner)
        return None if inner is None else scaled(x.number, inner)
    if isinstance(x, Transposed):
        inner = _derivative(d, x.inner)
        return None if inner is None else inner.T
    if isinstance(x, Sum):
        return _added([_derivative(d, term) for term in x.terms])
    if isinstance(x, Product):
        return _added([_changed(d, x.factors, k) for k in range(len(x.factors))])
    assert isinstance(x, Leaf)
    return _of_leaf(d, x)


def _added(terms: list[Operator | None]) -> Operator | None:
    kept = [term for term in terms if term is not None]
    return reduce(summed, kept) if kept else None


def _changed(d: Any, factors: tuple[Operator, ...], k: int) -> Operator | None:
    """The product with one factor changed."""
    inner = _derivative(d, factors[k])
    if inner is None:
        return None
    return reduce(product, (*factors[:k], inner, *factors[k + 1 :]))


def _of_leaf(d: Any, x: Leaf) -> Operator | None:
    bench = d.bench
    if isinstance(x, (Inverted, PointInverse)):
        inner = _derivative(d, x.inner)
        return None if inner is None else -x @ inner @ x
    if isinstance(x, (OwnDiagonal, OwnEdges)):
        return _of_own(d, x)
    if isinstance(x, Lyapunov):
        return _of_lyapunov(d, x.edges, x.right, x, x.backward)
    if isinstance(x, Pickoff):
        change: Operator = d.pickoff(x)
        return change
    if x.name in NAMED and getattr(bench, x.name).name == x.name:
        known: Operator = getattr(d, x.name)
        return known
    if isinstance(x, Propagator):
        inner = _derivative(d, x.edges)
        plain = _plain(x)
        return None if inner is None else plain @ inner @ plain
    if isinstance(x, Edges) and len(x.made_from) == 1:
        return _derivative(d, x.made_from[0])
    if x.name == "P_plus":
        return _derivative(d, bench.tau_bar @ bench.P)
    if x.name == "R":
        return _of_lyapunov(d, bench.E_phi, bench.M, bench.R, False)
    if x.name == "Upsilon":
        right = bench.H.T @ bench.D.inverse() @ bench.H
        return _of_lyapunov(d, bench.E_psi, right, bench.Upsilon, True)
    raise StateError(
        f"How {x.text()} changes along {d.name} is not known",
        "derivatives are of the operators of the papers, of your own with derivative=, and of "
        "what is made of them.",
    )


def _plain(x: Propagator) -> Propagator:
    """φ of φ̃."""
    if not x.strict:
        return x
    found = Propagator(f"({x.name} + Id)", rf"[{x.symbol} + \mathbf{{I}}]", x.edges)
    found.made_from = (x.edges,)
    return found


def _of_own(d: Any, x: OwnDiagonal | OwnEdges) -> Operator | None:
    if x.changes is None:
        raise StateError(
            f"How {x.name} changes is not known",
            "give derivative= when you make it: 0 if it does not change, or a function of the "
            "direction that says the blocks.",
        )
    given = x.changes(d) if callable(x.changes) else x.changes
    if not callable(given) and np.ndim(given) == 0 and not given:
        return None
    if isinstance(given, Operator):
        return given
    rows, cols = x.spaces
    name, symbol = f"{d.name}.of({x.name})", rf"[{x.symbol}]_{{{d.place}}}"
    read = read_blocks(d.bench, name, given, rows, cols, on_edges=isinstance(x, Edges))
    kind = Edges if isinstance(x, Edges) else Diagonal
    return kind(d.bench, name, symbol, rows, cols, lambda b: b.given(read))


def _of_lyapunov(
    d: Any, edges: Operator, X: Operator, Y: Operator, backward: bool
) -> Operator | None:
    change = _derivative(d, edges)
    terms = [_derivative(d, X)]
    if change is not None:
        terms += [
            edge_sandwich(change, Y, edges, backward),
            edge_sandwich(edges, Y, change, backward),
        ]
    right = _added(terms)
    if right is None:
        return None
    return lyapunov_recursion(edges.T if backward else edges, right)


def edge_sandwich(A: Operator, Y: Operator, B: Operator, backward: bool) -> Diagonal:
    """AYB*, or diagOf{A*YB} if backward, for A and B on edges and block-diagonal Y.

    A node has one parent, so that AYB* is block-diagonal in a tree.
    """
    bench, space = A.bench, A.spaces[0]
    tree = space.forest

    def make(other: Workbench) -> Blocks:
        a, b = edge_blocks(A.on(other)), edge_blocks(B.on(other))
        y = diagonal_blocks(Y.on(other))
        found = Blocks.zeros(space.sizes, space.sizes)
        for k, p in enumerate(tree.parent.tolist()):
            if p >= 0 and backward:
                found[k][...] = a[k].T @ y[p] @ b[k]
            elif p >= 0:
                found[p][...] += a[k] @ y[k] @ b[k].T
        return found

    star = ("", ".T") if not backward else (".T", "")
    words = [f"({op.text()})" for op in (A, Y, B)]
    name = f"{words[0]}{star[0]} @ {words[1]} @ {words[2]}{star[1]}"
    symbol = rf"{A.latex()}\,{Y.latex()}\,{B.latex()}^*"
    if backward:
        name = f"diag_of({name})"
        symbol = rf"\mathrm{{diagOf}}\{{{A.latex()}^*\,{Y.latex()}\,{B.latex()}\}}"
    leaf = Diagonal(bench, name, symbol, space, space, make)
    leaf.made_from = (A, Y, B)
    return leaf
