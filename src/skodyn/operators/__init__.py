"""The workbench: operator expressions, applied by recursion, dense on request."""

from skodyn.operators.build import operators
from skodyn.operators.expression import Operator
from skodyn.operators.materialise import LargeMatrixWarning
from skodyn.operators.vectors import StackedVector
from skodyn.operators.workbench import Workbench

__all__ = ["LargeMatrixWarning", "Operator", "StackedVector", "Workbench", "operators"]
