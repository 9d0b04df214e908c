"""Fixman's O(n) method for the mass matrix of a serial chain (Fixman 1974; Wang & Chirikjian).

The chain is taken apart: every body, or every point mass, may move freely. Coordinates of the free
pieces are the joints' (soft, index 1) and as many as the joints forbid (hard, index 2). With all of
them the mass matrix G has a closed inverse H = (∂c/∂x) M⁻¹ (∂c/∂x)*, eqs. 3, 4 and 19, in which
hard variables couple to their neighbours only, and the mass matrix of the chain is its part G₁₁:

    det G₁₁ = (det G)(det H₂₂)                     from eq. 5
    x = (H₁₁ − H₁₂ H₂₂⁻¹ H₁₂*) b  solves G₁₁x = b     eq. 9

with a banded Cholesky factorisation of H₂₂. None of the articulated-body recursions is used: the
two methods check each other. Branched trees are refused: H₂₂ is banded for serial chains only.

Wang & Chirikjian print m·J_T J_T* and, in its inverse, m·J_T⁻¹J_T⁻* for the translational mass
matrix of a body; it is m·J_T* J_T, and m must be 1/m in the inverse. Nothing here depends on them.
"""

from skodyn.fixman.functions import (
    Pieces,
    hard_matrix,
    mass_matrix_logdet,
    mass_matrix_solve,
    take_apart,
)
from skodyn.fixman.groups import (
    euler_zxz,
    euler_zxz_jacobian,
    generators,
    motion,
    motion_gradient,
    motion_jacobian,
    rotation_derivative,
    rotation_gradient,
    rotation_jacobian,
)

__all__ = [
    "Pieces",
    "euler_zxz",
    "euler_zxz_jacobian",
    "generators",
    "hard_matrix",
    "mass_matrix_logdet",
    "mass_matrix_solve",
    "motion",
    "motion_gradient",
    "motion_jacobian",
    "rotation_derivative",
    "rotation_gradient",
    "rotation_jacobian",
    "take_apart",
]
