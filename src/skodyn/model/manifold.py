"""integrate and difference on the joints' manifolds.

A free joint moves by the exponential of rigid motions: constant body twist for unit time. Its v is
[ω; v] in child axes, so this is the curve along which v stays constant.
"""

from __future__ import annotations

from skodyn.conventions import JointKind
from skodyn.jit import COUNT, FLOATS, INTS, RESULT, helper, kernel
from skodyn.model.layout import KIND, N_DOF, Q_START, V_START
from skodyn.spatial.linear3 import add, multiply_vector, multiply_vector_transposed, subtract
from skodyn.spatial.motion import motion_exp, motion_log
from skodyn.spatial.rotations import (
    quaternion_conjugate,
    quaternion_exp,
    quaternion_log,
    quaternion_matrix,
    quaternion_product,
)

_SPHERICAL, _FREE = int(JointKind.SPHERICAL), int(JointKind.FREE)


@helper
def integrate_spherical(p, w):
    """Quaternion after turning with the constant angular velocity w (child axes)."""
    return quaternion_product(p, quaternion_exp(w))


@helper
def integrate_free(p, x, w, v):
    """(quaternion, position) after moving with the constant body twist [w; v]."""
    turn, shift = motion_exp(w, v)
    return quaternion_product(p, turn), add(x, multiply_vector(quaternion_matrix(p), shift))


@helper
def difference_free(p0, x0, p1, x1):
    """The body twist that leads from (p0, x0) to (p1, x1) in unit time. Width 1 only."""
    shift = multiply_vector_transposed(quaternion_matrix(p0), subtract(x1, x0))
    return motion_log(quaternion_product(quaternion_conjugate(p0), p1), shift)


@helper
def _four(a, i):
    return (a[i], a[i + 1], a[i + 2], a[i + 3])


@helper
def _three(a, i):
    return (a[i], a[i + 1], a[i + 2])


@helper
def _put(a, i, values):
    for j in range(len(values)):
        a[i + j] = values[j]


@kernel(INTS.of(2), FLOATS, FLOATS, RESULT, COUNT)
def integrate(indices, q, dv, out, nv):
    """Every state of the flat tables q (rows of nq) and dv (rows of nv)."""
    n = indices.shape[0]
    nq = _row_length(indices, n)
    for row in range(q.size // max(nq, 1)):
        for k in range(n):
            i, j = row * nq + indices[k, Q_START], row * nv + indices[k, V_START]
            if indices[k, KIND] == _SPHERICAL:
                _put(out, i, integrate_spherical(_four(q, i), _three(dv, j)))
            elif indices[k, KIND] == _FREE:
                p, x = integrate_free(
                    _four(q, i), _three(q, i + 4), _three(dv, j), _three(dv, j + 3)
                )
                _put(out, i, p)
                _put(out, i + 4, x)
            else:
                for d in range(indices[k, N_DOF]):
                    out[i + d] = q[i + d] + dv[j + d]


@kernel(INTS.of(2), FLOATS, FLOATS, RESULT, COUNT)
def difference(indices, q0, q1, out, nv):
    """Every pair of states of the flat tables q0 and q1 (rows of nq) into rows of nv."""
    n = indices.shape[0]
    nq = _row_length(indices, n)
    for row in range(q0.size // max(nq, 1)):
        for k in range(n):
            i, j = row * nq + indices[k, Q_START], row * nv + indices[k, V_START]
            if indices[k, KIND] == _SPHERICAL:
                turn = quaternion_product(quaternion_conjugate(_four(q0, i)), _four(q1, i))
                _put(out, j, quaternion_log(turn))
            elif indices[k, KIND] == _FREE:
                w, v = difference_free(
                    _four(q0, i), _three(q0, i + 4), _four(q1, i), _three(q1, i + 4)
                )
                _put(out, j, w)
                _put(out, j + 3, v)
            else:
                for d in range(indices[k, N_DOF]):
                    out[j + d] = q1[i + d] - q0[i + d]


@helper
def _row_length(indices, n):
    """nq: where the last joint's coordinates end."""
    kind = indices[n - 1, KIND]
    extra = 1 if kind in (_SPHERICAL, _FREE) else 0
    return indices[n - 1, Q_START] + indices[n - 1, N_DOF] + extra
