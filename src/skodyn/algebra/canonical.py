"""An expression in the shortest names: `E_phi @ P @ H.T @ (H @ P @ H.T).inverse()` is K.

The definitions of Jain 2011-II eqs. 32, 34 and 37 (as it must read, K = ℰ_φG) are used from the
long form to the short one, so that `inverse` knows an operator however it was typed. Values are
never computed this way: what is typed is what runs.
"""

from __future__ import annotations

from skodyn.algebra.composite import Identity, Sum, Transposed
from skodyn.algebra.expression import Operator
from skodyn.algebra.leaves import Inverted, Leaf
from skodyn.algebra.lyapunov import Lyapunov
from skodyn.algebra.structure import expanded, factors_of, number_of, terms_of

__all__ = ["canonical", "canonical_terms"]

Words = tuple[str, ...]

DEFINITIONS: tuple[tuple[Words, Words], ...] = (
    (("H", "P", "H.T"), ("D",)),
    (("P", "H.T", "1/D"), ("G",)),
    (("1/D", "H", "P"), ("G.T",)),
    (("E_phi", "G"), ("K",)),
    (("G.T", "E_phi.T"), ("K.T",)),
    (("G", "H"), ("tau",)),
    (("H.T", "G.T"), ("tau.T",)),
    (("E_phi", "tau_bar"), ("E_psi",)),
    (("tau_bar.T", "E_phi.T"), ("E_psi.T",)),
)


def canonical(operator: Operator) -> Words:
    """The names of the factors, definitions folded; a number in front is left out."""
    return _fold(tuple(word for factor in factors_of(operator) for word in _words(factor)))


def canonical_terms(operator: Operator) -> dict[Words, float]:
    """The terms of an expression multiplied out, by their names, and the number before each."""
    found: dict[Words, float] = {}
    for term in expanded(operator):
        words = () if isinstance(term, Identity) else canonical(term)
        found[words] = found.get(words, 0.0) + number_of(term)
    return {words: number for words, number in found.items() if number}


def _words(factor: Operator) -> Words:
    if isinstance(factor, Inverted):
        inner = canonical(factor.inner)
        return (f"1/{inner[0]}",) if len(inner) == 1 else (_unique(factor),)
    if isinstance(factor, Lyapunov) and not factor.backward:
        of = canonical(factor.edges), canonical(factor.right)
        return ("R",) if of == (("E_phi",), ("M",)) else (factor.name,)  # eq. 20
    if isinstance(factor, Leaf):
        return (factor.name,)
    if isinstance(factor, Sum):
        return _words_of_sum(factor)
    if isinstance(factor, Transposed):
        return tuple(_star(word) for word in reversed(_words(factor.inner)))
    return (_unique(factor),)


def _words_of_sum(factor: Operator) -> Words:
    """I − τ is τ̄; any other sum is a word of its own."""
    terms = terms_of(factor)
    rest = [term for term in terms if not isinstance(term, Identity)]
    if len(terms) == 2 and len(rest) == 1 and number_of(rest[0]) == -1.0:
        words = canonical(rest[0])
        if words in (("tau",), ("tau.T",)):
            return (words[0].replace("tau", "tau_bar"),)
    return (_unique(factor),)


def _star(word: str) -> str:
    if word in ("M", "P", "D", "R", "P_plus", "Upsilon", "1/D"):
        return word
    return word.removesuffix(".T") if word.endswith(".T") else f"{word}.T"


def _unique(factor: Operator) -> str:
    return f"?{id(factor)}"


def _fold(words: Words) -> Words:
    for long, short in DEFINITIONS:
        for at in range(len(words) - len(long) + 1):
            if words[at : at + len(long)] == long:
                return _fold(words[:at] + short + words[at + len(long) :])
    return words
