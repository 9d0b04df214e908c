"""Coordinates of rotations and motions, and derivatives along body axes: eqs. 10–18.

Wang & Chirikjian write R = A(q₁, q₂, q₃) and H(q₁ … q₆) and need two things: the Jacobian of the
coordinates, (ω, v) = 𝒥q̇ in body axes, and derivatives of functions of a rotation or a motion along
these axes, ∂f/∂ξ = (∂f/∂q)𝒥⁻¹. Derivatives are by complex steps if the function takes complex
numbers, exact to rounding, and by differences of fourth order if it does not.

Misprints: between eqs. 14 and 15 the velocity reads v = R*b, it is R*ḃ; in eq. 17 the first line
has ∂/∂ξ̃ on both sides, the right one is ∂/∂ξ of a rotation. Ẽ₁ has lost its fourth column. Below
eq. 17 coordinates come in another order, translation first; here rotation is first, as in eq. 15.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skodyn.errors import StateError
from skodyn.typing import Floats

__all__ = [
    "euler_zxz",
    "euler_zxz_jacobian",
    "generators",
    "motion",
    "motion_gradient",
    "motion_jacobian",
    "rotation_derivative",
    "rotation_gradient",
    "rotation_jacobian",
]

STEP = 1e-30
"""Of complex steps."""
DIFFERENCE = 1e-3
"""Of differences, whose error is of its fourth power."""


def generators(size: int = 3) -> Floats:
    """E₁ … E₃ of rotations (3 × 3), or Ẽ₁ … Ẽ₆ of motions (4 × 4), rotations first."""
    if size not in (3, 4):
        raise StateError(f"size is {size!r}", "give 3 for rotations, 4 for motions.")
    found = np.zeros((3 if size == 3 else 6, size, size))
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        found[i, k, j], found[i, j, k] = 1.0, -1.0
        if size == 4:
            found[3 + i, i, 3] = 1.0
    return found


def euler_zxz(alpha: float, beta: float, gamma: float) -> Floats:
    """R₃(α)R₁(β)R₃(γ), the rotation of ZXZ Euler angles; takes complex angles."""
    turns = [(2, alpha), (0, beta), (2, gamma)]
    R: Any = np.eye(3)
    for axis, angle in turns:
        R = R @ _turn(axis, angle)
    return R  # type: ignore[no-any-return]


def _turn(axis: int, angle: Any) -> Any:
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3, dtype=np.result_type(angle, np.float64))
    R[i, i] = R[j, j] = np.cos(angle)
    R[j, i], R[i, j] = np.sin(angle), -np.sin(angle)
    return R


def euler_zxz_jacobian(alpha: float, beta: float, gamma: float) -> Floats:
    """J of eq. 11: ω = J·(α̇, β̇, γ̇) in body axes. Singular where sin β = 0."""
    s, c = np.sin, np.cos
    return np.array(
        [[s(beta) * s(gamma), c(gamma), 0.0], [s(beta) * c(gamma), -s(gamma), 0.0],
         [c(beta), 0.0, 1.0]]
    )  # fmt: skip


def rotation_jacobian(rotation: Callable[..., ArrayLike], q: ArrayLike) -> Floats:
    """J of eq. 10: column i is vect(A*∂A/∂q_i), for any coordinates A(q₁, q₂, q₃) of rotations."""
    A, slopes = _slopes(rotation, q, 3)
    return np.array([_vect(A.T @ slope) for slope in slopes]).reshape(-1, 3).T


def motion_jacobian(motion: Callable[..., ArrayLike], q: ArrayLike) -> Floats:
    """𝒥 of eq. 14: column i is (H⁻¹∂H/∂q_i)^∨, [ω; v] in body axes.

    For rotations by q₁ … q₃ and places q₄ … q₆ it is diag(J, R*) (eq. 15).
    """
    H, slopes = _slopes(motion, q, 4)
    inverse = np.linalg.inv(H)
    columns = [inverse @ slope for slope in slopes]
    found = [np.concatenate((_vect(x[:3, :3]), x[:3, 3])) for x in columns]
    return np.array(found).reshape(-1, 6).T


def motion(rotation: ArrayLike, place: ArrayLike) -> Floats:
    """The homogeneous transform [[R, b], [0, 1]]; takes complex numbers."""
    R, b = np.asarray(rotation), np.asarray(place)
    if R.shape != (3, 3) or b.shape != (3,):
        raise StateError(
            f"rotation has shape {R.shape} and place {b.shape}", "give (3, 3) and (3,)."
        )
    H = np.zeros((4, 4), dtype=np.result_type(R, b, np.float64))
    H[:3, :3], H[:3, 3], H[3, 3] = R, b, 1.0
    return H


def rotation_derivative(
    function: Callable[[Floats], Any], rotation: ArrayLike, direction: ArrayLike
) -> float | Floats:
    """∂f/∂ξ_n of eq. 12: the derivative of f(A·ROT[n, t]) by t, along a body axis n."""
    A, n = _matrix(rotation, 3, "rotation"), np.asarray(direction, dtype=np.float64)
    if n.shape != (3,):
        raise StateError(f"direction has shape {n.shape}", "give three numbers.")
    N = np.einsum("i,ijk->jk", n, generators(3))
    slope: float | Floats = _slope(lambda t: function(A @ _exponential(N, t)))
    return slope


def rotation_gradient(function: Callable[[Floats], Any], rotation: ArrayLike) -> Floats:
    """(∂f/∂ξ₁, ∂f/∂ξ₂, ∂f/∂ξ₃) of eq. 12; by coordinates it is (∂f/∂q)J⁻¹."""
    return np.array([rotation_derivative(function, rotation, n) for n in np.eye(3)])


def motion_gradient(function: Callable[[Floats], Any], transform: ArrayLike) -> Floats:
    """(∂f/∂ξ̃₁ … ∂f/∂ξ̃₆) of eq. 16; by coordinates it is (∂f/∂q)𝒥⁻¹ (eqs. 17 and 18)."""
    H = _matrix(transform, 4, "transform")

    def along(E: Floats) -> Any:
        return _slope(lambda t: function(H @ _exponential(E, t)))

    return np.array([along(E) for E in generators(4)])


# ---- inside -------------------------------------------------------------------------------------


def _exponential(generator: Floats, t: Any) -> Any:
    """exp(tE): a turn about one axis, or a shift along one; E³ = −θ²E closes the series."""
    square = generator @ generator
    theta = np.sqrt(max(0.0, -np.trace(square) / 2.0))
    if theta == 0.0:
        return np.eye(len(generator)) + t * generator
    sine, versine = np.sin(theta * t) / theta, (1.0 - np.cos(theta * t)) / theta**2
    return np.eye(len(generator)) + sine * generator + versine * square


def _vect(matrix: Any) -> Any:
    """(m₃₂, m₁₃, m₂₁) of a skew matrix, rounding shared between both halves."""
    half = (matrix - matrix.T) / 2.0
    return np.array([half[2, 1], half[0, 2], half[1, 0]])


def _slope(function: Callable[[Any], Any]) -> Any:
    """The derivative of a function of one number at zero."""
    try:
        found = np.asarray(function(1j * STEP))
    except (TypeError, ValueError, np.exceptions.ComplexWarning):
        found = np.asarray(0.0)
    if np.iscomplexobj(found):
        return found.imag / STEP
    h = DIFFERENCE

    def difference(step: float) -> Any:
        return (np.asarray(function(step)) - np.asarray(function(-step))) / (2.0 * step)

    return (4.0 * difference(h / 2) - difference(h)) / 3.0


def _slopes(function: Callable[..., ArrayLike], q: ArrayLike, size: int) -> tuple[Any, Any]:
    """(The matrix at q, its derivative by each coordinate)."""
    at = np.asarray(q, dtype=np.float64)
    if at.ndim != 1 or not np.isfinite(at).all():
        raise StateError(f"q has shape {at.shape}", "give a vector of finite numbers.")
    matrix = _matrix(function(*at), size, "what the function gives")

    def along(i: int) -> Any:
        return _slope(lambda t: function(*(at + t * np.eye(len(at))[i])))

    return matrix, [along(i) for i in range(len(at))]


def _matrix(given: ArrayLike, size: int, what: str) -> Floats:
    matrix = np.asarray(given, dtype=np.float64)
    if matrix.shape != (size, size) or not np.isfinite(matrix).all():
        raise StateError(
            f"{what} has shape {matrix.shape}", f"give a finite matrix of {size} × {size}."
        )
    return matrix
