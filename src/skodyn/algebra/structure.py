"""What an expression is made of: is it block-diagonal, or does it live on edges, and its blocks.

Recognised by structure alone, never by looking at numbers.
"""

from __future__ import annotations

from functools import reduce

import numpy as np

from skodyn.algebra.block_algebra import identity_blocks, multiply, transpose
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
from skodyn.algebra.leaves import Diagonal, Edges, Inverted, Leaf, Named
from skodyn.sko.blocks import Blocks

__all__ = [
    "FROM_RICCATI",
    "diagonal_blocks",
    "edge_blocks",
    "expanded",
    "factors_of",
    "is_block_diagonal",
    "is_on_edges",
    "is_on_outward_edges",
    "leaves_of",
    "number_of",
    "starred",
    "terms_of",
]


def factors_of(operator: Operator) -> list[Operator]:
    """The factors from left to right; (A @ B).T counts as B.T, A.T. Numbers are left out."""
    if isinstance(operator, Scaled):
        return factors_of(operator.inner)
    if isinstance(operator, Product):
        return [f for factor in operator.factors for f in factors_of(factor)]
    if isinstance(operator, Transposed) and isinstance(operator.inner, (Product, Scaled)):
        return [f.T for f in reversed(factors_of(operator.inner))]
    if isinstance(operator, Named):
        return factors_of(operator.definition)
    return [operator]


def number_of(operator: Operator) -> float:
    """The number in front of a product."""
    if isinstance(operator, Scaled):
        return operator.number * number_of(operator.inner)
    return number_of(operator.inner) if isinstance(operator, Transposed) else 1.0


def terms_of(operator: Operator) -> list[Operator]:
    """The terms of a sum; (A + B).T counts as A.T, B.T."""
    if isinstance(operator, Sum):
        return [t for term in operator.terms for t in terms_of(term)]
    if isinstance(operator, Transposed) and isinstance(operator.inner, Sum):
        return [term.T for term in terms_of(operator.inner)]
    return [operator]


def is_block_diagonal(operator: Operator) -> bool:
    """Is it made of block-diagonal operators alone?"""
    if isinstance(operator, (Diagonal, Identity)):
        return True
    if isinstance(operator, (Transposed, Scaled)):
        return is_block_diagonal(operator.inner)
    if isinstance(operator, Sum):
        return all(is_block_diagonal(term) for term in operator.terms)
    if isinstance(operator, Product):
        return all(is_block_diagonal(factor) for factor in operator.factors)
    return False


def diagonal_blocks(operator: Operator) -> Blocks:
    """The blocks of an operator that `is_block_diagonal`."""
    if isinstance(operator, Diagonal):
        return operator.blocks
    if isinstance(operator, Identity):
        return identity_blocks(operator.spaces[0].sizes)
    if isinstance(operator, Transposed):
        return transpose(diagonal_blocks(operator.inner))
    if isinstance(operator, Scaled):
        return _times(operator.number, diagonal_blocks(operator.inner))
    if isinstance(operator, Sum):
        return _added([diagonal_blocks(term) for term in operator.terms])
    assert isinstance(operator, Product)
    blocks = diagonal_blocks(operator.factors[0])
    for factor in operator.factors[1:]:
        blocks = multiply(blocks, diagonal_blocks(factor))
    return blocks


def is_on_edges(operator: Operator) -> bool:
    """Has it blocks from nodes to their parents alone, as ℰ_φ, ℰ_φτ̄ and K have?"""
    if isinstance(operator, Edges):
        return True
    if isinstance(operator, Scaled):
        return is_on_edges(operator.inner)
    if isinstance(operator, Sum):
        return all(is_on_edges(term) for term in operator.terms)
    if isinstance(operator, Product):
        edges = [is_on_edges(factor) for factor in operator.factors]
        rest = [f for f, edge in zip(operator.factors, edges, strict=True) if not edge]
        return sum(edges) == 1 and all(is_block_diagonal(factor) for factor in rest)
    return False


def edge_blocks(operator: Operator) -> Blocks:
    """The blocks of an operator that `is_on_edges`."""
    if isinstance(operator, Edges):
        return operator.blocks
    if isinstance(operator, Scaled):
        return _times(operator.number, edge_blocks(operator.inner))
    if isinstance(operator, Sum):
        return _added([edge_blocks(term) for term in operator.terms])
    assert isinstance(operator, Product)
    at = [is_on_edges(factor) for factor in operator.factors].index(True)
    blocks = edge_blocks(operator.factors[at])
    for factor in operator.factors[at + 1 :]:
        blocks = multiply(blocks, diagonal_blocks(factor))
    for factor in reversed(operator.factors[:at]):  # X(℘(k))·E(k)
        blocks = multiply(diagonal_blocks(factor), blocks, operator.spaces[0].forest.parent)
    return blocks


def starred(operator: Operator) -> Operator:
    """The transpose, with stars at the leaves alone: (A @ B).T as B.T @ A.T."""
    if isinstance(operator, Transposed):
        return operator.inner
    if isinstance(operator, Scaled):
        return scaled(operator.number, starred(operator.inner))
    if isinstance(operator, Sum):
        return reduce(summed, (starred(term) for term in operator.terms))
    if isinstance(operator, Product):
        return reduce(product, (starred(factor) for factor in reversed(operator.factors)))
    return operator.T


MANY = 256
"""So many terms an expression may have when it is multiplied out."""


def expanded(operator: Operator) -> list[Operator]:
    """The terms of an expression multiplied out: A @ (B + C) as A @ B and A @ C.

    Block-diagonal sums stay whole. Beyond MANY terms the expression is left as it is.
    """
    terms = _expanded(operator)
    return [operator] if terms is None else terms


def _expanded(operator: Operator) -> list[Operator] | None:
    if is_block_diagonal(operator):
        return [operator]
    if isinstance(operator, Named):
        return _expanded(operator.definition)
    if isinstance(operator, Scaled):
        inner = _expanded(operator.inner)
        return None if inner is None else [scaled(operator.number, term) for term in inner]
    if isinstance(operator, Transposed):
        inner = _expanded(operator.inner)
        return None if inner is None else [starred(term) for term in inner]
    if isinstance(operator, Sum):
        parts = [_expanded(term) for term in operator.terms]
        known = [part for part in parts if part is not None]
        return [term for part in known for term in part] if len(known) == len(parts) else None
    if not isinstance(operator, Product):
        return [operator]
    terms: list[Operator] = []
    for at, factor in enumerate(operator.factors):
        inner = _expanded(factor)
        if inner is None or max(1, len(terms)) * len(inner) > MANY:
            return None
        terms = [product(a, b) for a in terms for b in inner] if at else inner
    return terms


def is_on_outward_edges(operator: Operator) -> bool:
    """Has it blocks from nodes to their children alone, as ℰ_φ* has?"""
    return not isinstance(operator, Identity) and is_on_edges(starred(operator))


def _times(number: float, blocks: Blocks) -> Blocks:
    return Blocks(number * blocks.data, blocks.rows, blocks.cols)


def _added(several: list[Blocks]) -> Blocks:
    data = np.asarray(np.add.reduce([b.data for b in several]))
    return Blocks(data, several[0].rows, several[0].cols)


def leaves_of(operator: Operator) -> list[Operator]:
    """Every leaf that an expression is made of, inverted ones and what they invert included."""
    if isinstance(operator, Inverted):
        return [operator, *leaves_of(operator.inner)]
    if isinstance(operator, (Transposed, Scaled)):
        return leaves_of(operator.inner)
    if isinstance(operator, Named):
        return leaves_of(operator.definition)
    parts = operator.terms if isinstance(operator, Sum) else ()
    parts = operator.factors if isinstance(operator, Product) else parts
    if isinstance(operator, Leaf):
        return [operator, *(leaf for part in operator.made_from for leaf in leaves_of(part))]
    return [leaf for part in parts for leaf in leaves_of(part)] if parts else [operator]


FROM_RICCATI = frozenset(
    ("P", "P_plus", "D", "G", "tau", "tau_bar", "K", "E_psi", "psi", "psi_tilde", "Upsilon")
)
"""Operators whose blocks come from the Riccati equation."""
