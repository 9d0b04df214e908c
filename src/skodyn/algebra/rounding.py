"""Has a block an inverse, or is it zero, or singular, but for rounding?"""

from __future__ import annotations

import numpy as np

from skodyn.algebra.comparison import CERTAIN, EPS, ULPS
from skodyn.algebra.expression import Operator
from skodyn.algebra.structure import diagonal_blocks, terms_of
from skodyn.errors import DynamicsError
from skodyn.sko.blocks import Blocks, Floats

__all__ = ["refuse_rounding"]


def refuse_rounding(operator: Operator, inverses: Blocks) -> None:
    """A DynamicsError names a node where rounding alone makes a block-diagonal operator regular.

    A change as large as rounding makes a block B singular if ‖δB‖·‖B⁻¹‖ reaches one. How large
    that is, the samples of the workbench show (`samples.py`).
    """
    bench = operator.bench
    found = [diagonal_blocks(operator.on(sample)).data for sample in bench.samples]
    terms = [np.abs(diagonal_blocks(term).data) for term in terms_of(operator)]
    rounding = np.maximum(
        CERTAIN * np.std(found, axis=0, ddof=1), ULPS * EPS * np.max(terms, axis=0)
    )
    reach = _norms(Blocks(rounding, inverses.cols, inverses.rows)) * _norms(inverses)
    bad = np.flatnonzero(~(reach < 1.0))
    if len(bad):
        where = operator.spaces[0].label(int(bad[0]))
        raise DynamicsError(
            f"The block of {operator.text()} at {where} is singular but "
            "for rounding and has no inverse; only operators with regular blocks can be inverted."
        )


def _norms(blocks: Blocks) -> Floats:
    """Of each block: the root of the sum of its squares."""
    node = np.repeat(np.arange(len(blocks)), np.diff(blocks.starts))
    return np.sqrt(np.bincount(node, blocks.data**2, minlength=len(blocks)))
