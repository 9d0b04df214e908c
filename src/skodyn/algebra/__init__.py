"""The workbench: operator expressions, applied by recursion, dense on request."""

from skodyn.algebra.build import operators
from skodyn.algebra.expression import Operator
from skodyn.algebra.materialise import LargeMatrixWarning
from skodyn.algebra.vectors import StackedVector
from skodyn.algebra.workbench import Workbench

__all__ = ["LargeMatrixWarning", "Operator", "StackedVector", "Workbench", "operators"]
