"""Every operator of a system in a state, dense, and its derivatives by a complex step.

In the layout of `sk.operators`: packed order, and behind the six velocities of a body the rates of
its joint where that has a rotor. From tests/naive.py and matrix algebra alone.
"""

import numpy as np

import naive
from adapters import packed_order

PRODUCTS = ("E_phi", "phi", "H", "M", "mass_matrix")  # no inertia is inverted for these
BASIC = (*PRODUCTS, "mass_matrix_inverse")
ARTICULATED = ("P", "D", "D_inverse", "G", "tau", "tau_bar", "E_psi", "psi", "K")
FACTORS = ("innovations", "innovations_inverse")
NAMES = (*BASIC, *ARTICULATED, *FACTORS)


def operators(model, bodies, q):
    """name -> matrix; q in list order, real or complex."""
    basic = E, H, M = _given(packed_order(model).tolist(), bodies, q)
    eye, one = np.eye(len(M)), np.eye(len(H))
    phi = np.linalg.inv(eye - E)
    mass = H @ phi @ M @ phi.T @ H.T
    P = M
    for _ in bodies:  # the Riccati equation; exact after as many steps as the tree is deep
        G = P @ H.T @ np.linalg.inv(H @ P @ H.T)
        P = M + E @ (P - G @ H @ P) @ E.T
    D = H @ P @ H.T
    G = P @ H.T @ np.linalg.inv(D)
    tau = G @ H
    E_psi, K = E @ (eye - tau), E @ G
    psi = np.linalg.inv(eye - E_psi)
    values = (*basic[:1], phi, H, M, mass, np.linalg.inv(mass), P, D, np.linalg.inv(D), G, tau,
              eye - tau, E_psi, psi, K, one + H @ phi @ K, one - H @ psi @ K)  # fmt: skip
    return dict(zip(NAMES, values, strict=True))


def derivatives(model, bodies, q, body, dof):
    """name -> derivative along a degree of freedom of a body's joint; log_det is a number."""
    _, v_slices, _, nv = naive.offsets(bodies)
    direction = np.zeros(nv)
    direction[v_slices[body].start + dof] = 1.0
    moved = operators(model, bodies, naive.integrate(bodies, q, 1j * naive.STEP * direction))
    found = {name: value.imag / naive.STEP for name, value in moved.items()}
    mass = moved["mass_matrix"].real
    return found | {"log_det": np.trace(np.linalg.solve(mass, found["mass_matrix"]))}


def _given(order, bodies, q):
    """ℰ_φ, H and M."""
    _, p = naive.forward_kinematics(bodies, q)
    maps, inertias = naive.hinge_maps(bodies, q), naive.body_inertias(bodies, q)
    rotor = [body["joint"].get("armature", 0.0) for body in bodies]
    joint = [np.eye(maps[k].shape[1] if rotor[k] else 0) for k in range(len(bodies))]
    M = naive.block_diagonal(
        [naive.block_diagonal([inertias[k], rotor[k] * joint[k]]) for k in order]
    )
    H = naive.block_diagonal(
        [np.hstack([maps[k].T, joint[k] if rotor[k] else np.zeros((maps[k].shape[1], 0))])
         for k in order]
    )  # fmt: skip
    start = dict(zip(order, np.cumsum([0, *(6 + len(joint[k]) for k in order)])[:-1], strict=True))
    E = np.zeros(M.shape, dtype=p.dtype)
    for k in order:
        parent = bodies[k]["parent"]
        if parent != -1:
            row, column = start[parent], start[k]
            E[row : row + 6, column : column + 6] = naive.shift(p[k] - p[parent])
    return E, H, M
