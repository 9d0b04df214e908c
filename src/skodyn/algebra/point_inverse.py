"""The inverse of an operator between picked-off points, such as 𝔅*Ω𝔅: small, and so dense."""

from __future__ import annotations

import numpy as np

from skodyn.algebra.composite import Product
from skodyn.algebra.expression import Operator
from skodyn.algebra.leaves import Leaf
from skodyn.algebra.materialise import dense
from skodyn.algebra.workbench import Workbench
from skodyn.errors import DynamicsError
from skodyn.sko.blocks import Blocks, Floats

__all__ = ["PointInverse", "acts_on_points"]

REGULAR = 1e-12
"""Singular values below this fraction of the largest are rounding."""


def acts_on_points(operator: Product) -> bool:
    """Does it lead from forces at points to the motion of the same points?"""
    rows, cols = operator.spaces
    return rows.kind == cols.kind == "pickoff" and rows.same(cols)


class PointInverse(Leaf):
    """The inverse of an expression between picked-off points, written out when it is first used."""

    def __init__(self, inner: Operator) -> None:
        rows, cols = inner.spaces
        name, symbol = f"({inner.text()}).inverse()", rf"[{inner.latex()}]^{{-1}}"
        super().__init__(inner.bench, name, symbol, cols, rows, self._invert)
        self.inner = inner
        self.made_from = (inner,)

    def _invert(self, bench: Workbench) -> Blocks:
        matrix = dense(self.inner.on(bench))
        sizes = np.linalg.svd(matrix, compute_uv=False)
        rank = int((sizes > REGULAR * sizes.max(initial=0.0)).sum())
        if rank < len(matrix):
            raise DynamicsError(
                f"{self.inner.text()} has no inverse: {rank} of its {len(matrix)} directions can "
                "be moved independently; pick off fewer points, or directions by a matrix."
            )
        return Blocks.of([np.linalg.inv(matrix)])

    def moved(self, bench: Workbench) -> Operator:
        return PointInverse(self.inner.on(bench))

    def run(self, x: Floats, transpose: bool) -> Floats:
        matrix = self.blocks[0]
        result: Floats = (matrix.T if transpose else matrix) @ x
        return result
