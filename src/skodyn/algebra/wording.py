"""Expressions in words: as Python and in the papers' symbols."""

from __future__ import annotations

from skodyn.algebra.composite import Identity, Product, Scaled, Sum, Transposed
from skodyn.algebra.expression import Operator
from skodyn.algebra.leaves import Inverted, Leaf, Named

__all__ = ["latex", "text"]

SUM, MULTIPLE, PRODUCT, ATOM = range(4)
"""How tightly an expression holds together."""


def text(operator: Operator) -> str:
    """As it may be typed: H @ phi @ M @ phi.T @ H.T."""
    if isinstance(operator, Identity):
        return "Id"
    if isinstance(operator, Inverted):
        return f"{_text(operator.inner, ATOM)}.inverse()"
    if isinstance(operator, (Leaf, Named)):
        return operator.name
    if isinstance(operator, Transposed):
        return f"{_text(operator.inner, ATOM)}.T"
    if isinstance(operator, Product):
        return " @ ".join(_text(factor, PRODUCT + 1) for factor in operator.factors)
    if isinstance(operator, Scaled):
        number = "-" if operator.number == -1.0 else f"{_digits(operator.number)} * "
        return number + _text(operator.inner, PRODUCT)
    assert isinstance(operator, Sum)
    return _joined([_text(term, MULTIPLE) for term in operator.terms])


def latex(operator: Operator) -> str:
    r"""In the papers' symbols: H\phi M\phi^*H^*."""
    if isinstance(operator, Identity):
        return r"\mathbf{I}"
    if isinstance(operator, Inverted):
        return f"{_latex(operator.inner, ATOM)}^{{-1}}"
    if isinstance(operator, (Leaf, Named)):
        return operator.symbol
    if isinstance(operator, Transposed):
        if isinstance(operator.inner, Inverted):
            return f"{_latex(operator.inner.inner, ATOM)}^{{-*}}"
        return f"{_latex(operator.inner, ATOM)}^*"
    if isinstance(operator, Product):
        return r"\,".join(_latex(factor, PRODUCT + 1) for factor in operator.factors)
    if isinstance(operator, Scaled):
        number = "-" if operator.number == -1.0 else f"{_digits(operator.number)}\\,"
        return number + _latex(operator.inner, PRODUCT)
    assert isinstance(operator, Sum)
    return _joined([_latex(term, MULTIPLE) for term in operator.terms])


def _digits(number: float) -> str:
    """Short if that is exact, else in full, so that what is printed can be typed again."""
    return f"{number:g}" if float(f"{number:g}") == number else repr(number)


def _joined(terms: list[str]) -> str:
    words = terms[0]
    for term in terms[1:]:
        words += f" - {term[1:]}" if term.startswith("-") else f" + {term}"
    return words


def _text(operator: Operator, least: int) -> str:
    return text(operator) if _hold(operator) >= least else f"({text(operator)})"


def _latex(operator: Operator, least: int) -> str:
    brackets = ("[", "]")  # as the papers print them
    inner = latex(operator)
    if _hold(operator) < least:
        return f"{brackets[0]}{inner}{brackets[1]}"
    if least == ATOM and isinstance(operator, (Leaf, Named)) and "^" in inner:
        return f"({inner})"  # P⁺ starred
    return inner


def _hold(operator: Operator) -> int:
    if isinstance(operator, Sum):
        return SUM
    if isinstance(operator, Scaled):
        return MULTIPLE
    return PRODUCT if isinstance(operator, Product) else ATOM
