"""Which expressions have an inverse that is again an expression.

Block-diagonal ones block by block; φ⁻¹ = I − ℰ_φ and back (Jain 2011-II section 2.1); the
Innovations factors and their like by eqs. 44 and 50; 𝓜 by eq. 51; a product if every factor has
one.
"""

from __future__ import annotations

from functools import reduce

from skodyn.algebra.block_algebra import invert
from skodyn.algebra.canonical import canonical, canonical_terms
from skodyn.algebra.composite import Identity, Product, Scaled, Transposed, product
from skodyn.algebra.expression import Operator
from skodyn.algebra.leaves import Diagonal, Edges, Inverted, Named, Propagator
from skodyn.algebra.point_inverse import PointInverse, acts_on_points
from skodyn.algebra.rounding import refuse_rounding
from skodyn.algebra.structure import (
    diagonal_blocks,
    edge_blocks,
    factors_of,
    is_block_diagonal,
    is_on_edges,
    is_on_outward_edges,
    number_of,
    starred,
    terms_of,
)
from skodyn.algebra.workbench import Workbench
from skodyn.errors import StateError
from skodyn.sko.blocks import Blocks

__all__ = ["inverse", "is_mass_matrix"]

RESOLVENTS = (
    (("H", "phi", "K"), ("H", "psi", "K")),  # eq. 50
    (("phi", "K", "H"), ("psi", "K", "H")),  # eq. 44: φψ⁻¹ and ψφ⁻¹
    (("K", "H", "phi"), ("K", "H", "psi")),  # eq. 44: ψ⁻¹φ and φ⁻¹ψ
)
"""(I + X)⁻¹ = I − Y for these X and Y."""

REGULAR = (("M",), ("R",), ("P",), ("D",))
"""Sums of inertias, of which no rounding can be all that is left."""

NEWTON_EULER = ("H", "phi", "M", "phi.T", "H.T")
COMPOSITE = {
    ("H", "phi", "R", "H.T"): 1.0,
    ("H", "R", "phi.T", "H.T"): 1.0,
    ("H", "R", "H.T"): -1.0,
}
"""𝓜 = H[φR + Rφ* − R]H* (PyCraft eq. 20), multiplied out; eq. 19 has φ̃ = φ − I in it."""


def inverse(operator: Operator) -> Operator:
    """The inverse as an expression, or a StateError that says what can be inverted."""
    found = _inverse(operator)
    if found is None:
        raise StateError(
            f"{operator.text()} has no inverse that skodyn knows. What can be inverted: "
            "block-diagonal operators with square blocks, phi, psi, Id - E_phi and their "
            "transposes, the factors Id + H @ phi @ K, H @ phi @ G and Id - H @ psi @ K, the mass "
            "matrix H @ phi @ M @ phi.T @ H.T or from composite inertias, "
            "H @ psi @ M @ psi.T @ H.T, operators between picked-off points such as "
            "B.T @ Omega @ B, and products of these."
        )
    return found


def _inverse(operator: Operator) -> Operator | None:
    bench = operator.bench
    if isinstance(operator, Identity):
        return operator
    if isinstance(operator, Scaled) and operator.number:
        inner = _inverse(operator.inner)
        return None if inner is None else inner / operator.number
    if isinstance(operator, Transposed):
        inner = _inverse(operator.inner)
        return None if inner is None else inner.T
    if isinstance(operator, (Inverted, PointInverse)):
        return operator.inner
    if is_block_diagonal(operator):
        return _inverted(operator)
    if isinstance(operator, Propagator) and not operator.strict:
        words = f"{operator.name}.inverse()", f"{operator.symbol}^{{-1}}"
        return Named(*words, bench.Id - operator.edges, symmetric=False)
    if isinstance(operator, Named):
        return _inverse(operator.definition)
    if isinstance(operator, Product):
        return _inverse_of_product(operator)
    return _inverse_of_sum(operator)


def _inverted(operator: Operator) -> Operator | None:
    """Block by block; a leaf keeps its inverse, so that `D.inverse()` may be typed again."""
    rows, cols = operator.spaces
    if not rows.same(cols) and (rows.sizes != cols.sizes).any():
        return None
    if isinstance(operator, Diagonal) and operator.inverted is not None:
        return operator.inverted
    name = operator.text()
    checked = canonical(operator) not in REGULAR

    def make(bench: Workbench) -> Blocks:
        blocks = diagonal_blocks(operator.on(bench))
        inverses = invert(blocks, rows.forest.names, name)
        if checked and bench.samples:
            refuse_rounding(operator.on(bench), inverses)
        return inverses

    found = Inverted(operator, make)
    if isinstance(operator, Diagonal):
        operator.inverted = found
    return found


def _inverse_of_product(operator: Product) -> Operator | None:
    bench = operator.bench
    words, number = canonical(operator), number_of(operator)
    factor = bench.Id - bench.H @ bench.psi @ bench.K
    if words in (("H", "phi", "G"), ("G.T", "phi.T", "H.T")):  # eq. 40: HφG = I + HφK
        return (factor if words[0] == "H" else factor.T) / number
    if words == ("H", "psi", "M", "psi.T", "H.T"):  # eq. 48: it is D
        return bench.D.inverse() / number
    if is_mass_matrix(operator):
        return product(product(factor.T, bench.D.inverse()), factor) / number
    if acts_on_points(operator):
        return PointInverse(operator)
    inner = [_inverse(factor) for factor in reversed(factors_of(operator))]
    parts = [part for part in inner if part is not None]
    return reduce(product, parts) if len(parts) == len(inner) else None


def is_mass_matrix(operator: Operator) -> bool:
    """Is it 𝓜 of the model, as eq. 3 or eq. 19 writes it?"""
    if canonical(operator) == NEWTON_EULER and number_of(operator) == 1.0:
        return True
    return _without_tildes(canonical_terms(operator)) == COMPOSITE


def _without_tildes(terms: dict[tuple[str, ...], float]) -> dict[tuple[str, ...], float]:
    """The same terms with φ − I for φ̃."""
    found: dict[tuple[str, ...], float] = {}
    for words, number in terms.items():
        at = [k for k, word in enumerate(words) if word in ("phi_tilde", "phi_tilde.T")]
        if len(at) > 1:
            return terms
        parts = {words: number}
        if at:
            k = at[0]
            plain = words[k].replace("phi_tilde", "phi")
            before, after = words[:k], words[k + 1 :]
            parts = {(*before, plain, *after): number, (*before, *after): -number}
        for part, times in parts.items():
            found[part] = found.get(part, 0.0) + times
    return {words: number for words, number in found.items() if number}


def _inverse_of_sum(operator: Operator) -> Operator | None:
    """(I + X)⁻¹ for the X that are known."""
    bench, terms = operator.bench, terms_of(operator)
    ones = [term for term in terms if isinstance(term, Identity)]
    rest = [term for term in terms if not isinstance(term, Identity)]
    if is_mass_matrix(operator):
        factor = bench.Id - bench.H @ bench.psi @ bench.K
        return product(product(factor.T, bench.D.inverse()), factor)
    if len(ones) != 1 or not rest:
        return None
    if not operator.spaces[0].same(operator.spaces[1]) or operator.spaces[0].tree is None:
        return None
    if all(is_on_edges(term) for term in rest):
        return _resolvent(rest)
    if all(is_on_outward_edges(term) for term in rest):
        return _resolvent([starred(term) for term in rest]).T
    if len(rest) != 1:
        return None
    sign, words = number_of(rest[0]), canonical(rest[0])
    for outward, inward in RESOLVENTS:
        for words_of, given, other in ((outward, 1.0, inward), (inward, -1.0, outward)):
            if sign == given and words == words_of:
                return bench.Id - given * bench.typed(other)
            if sign == given and words == _starred(words_of):
                return (bench.Id - given * bench.typed(other)).T
    return None


def _starred(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{word}.T" for word in reversed(words))


def _resolvent(negative: list[Operator]) -> Operator:
    """(I − ℰ)⁻¹ from the terms of −ℰ."""
    edges = -reduce(lambda a, b: a + b, negative)
    bench, words = edges.bench, canonical(edges)
    if number_of(edges) == 1.0 and words in (("E_phi",), ("E_psi",)):
        return bench.phi if words == ("E_phi",) else bench.psi
    space = edges.spaces[0]
    name = f"(Id - {edges.text()}).inverse()"
    symbol = rf"[\mathbf{{I}} - {edges.latex()}]^{{-1}}"
    make = lambda b: edge_blocks(edges.on(b))  # noqa: E731
    leaf = Edges(bench, edges.text(), edges.latex(), space, space, make)
    leaf.made_from = (edges,)
    resolvent = Propagator(name, symbol, leaf)
    resolvent.made_from = (leaf,)
    return resolvent
