"""Lyapunov equations of expressions, forward and backward (Jain 2011-II Lemmas 3 and 5)."""

from __future__ import annotations

from skodyn import sko
from skodyn.algebra.expression import Operator
from skodyn.algebra.leaves import Diagonal
from skodyn.algebra.structure import (
    diagonal_blocks,
    edge_blocks,
    is_block_diagonal,
    is_on_edges,
    is_on_outward_edges,
    starred,
)
from skodyn.algebra.workbench import Workbench
from skodyn.errors import StateError
from skodyn.sko.blocks import Blocks

__all__ = ["Lyapunov", "lyapunov_recursion"]


class Lyapunov(Diagonal):
    """The block-diagonal Y of X = Y − ℰYℰ*, or of X = Y − diagOf{ℰ*Yℰ}."""

    edges: Operator
    right: Operator
    backward: bool


def lyapunov_recursion(edges: Operator, X: Operator) -> Lyapunov:
    """For an ℰ on edges the forward equation, for the transpose of one the backward one."""
    _check(edges, X)
    backward = not is_on_edges(edges)
    inward = starred(edges) if backward else edges
    bench, space = edges.bench, edges.spaces[0]
    solve = sko.backward_lyapunov if backward else sko.forward_lyapunov
    name = f"{_bracketed(edges.text())}.lyapunov_recursion({X.text()})"
    symbol = rf"\mathrm{{lyap}}({edges.latex()},\,{X.latex()})"

    def make(other: Workbench) -> Blocks:
        weights, right = edge_blocks(inward.on(other)), diagonal_blocks(X.on(other))
        return solve(space.forest, weights, right)

    solution = Lyapunov(bench, name, symbol, space, space, make)
    solution.edges, solution.right, solution.backward = inward, X, backward
    solution.made_from = (inward, X)
    return solution


def _bracketed(text: str) -> str:
    return f"({text})" if " " in text else text


def _check(edges: Operator, X: Operator) -> None:
    if not is_on_edges(edges) and not is_on_outward_edges(edges):
        raise StateError(
            f"{edges.text()} has blocks elsewhere than between parents and children",
            "a Lyapunov recursion runs along E_phi, E_psi or what is made of one of them and "
            "block-diagonal operators.",
        )
    if not isinstance(X, Operator):
        raise StateError(
            f"X is {type(X).__name__}",
            "give a block-diagonal operator, such as M or H.T @ D.inverse() @ H.",
        )
    edges.bench.check_compatible(X.bench, edges, X)
    rows, cols = edges.spaces
    if not rows.same(cols):
        raise StateError(f"{edges.text()} maps joints to nodes", "give E_phi or E_psi.")
    if not is_block_diagonal(X) or X.rows is None or not X.rows.same(rows):
        raise StateError(
            f"{X.text()} is not block-diagonal over the nodes",
            "a Lyapunov recursion needs an X that is, such as M or H.T @ D.inverse() @ H.",
        )
