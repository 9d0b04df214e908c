"""A force along the diagonal velocities: it changes the energy and nothing else at once.

In ν = D^½[I + HφK]*v the mass matrix is the identity. The force e = gain·(wanted − E)·ν there is
τ = gain·(wanted − E)·𝓜v in joint space, and its power 2·gain·T·(wanted − E), with T the kinetic
energy, has the sign of what is missing.
"""


def law(t, q, v, params, tau, dynamics, scratch):
    """E goes to `wanted` from both sides, however the joints are arranged."""
    n = len(v)
    mass = scratch[: n * n].reshape(n, n)
    dynamics.mass_matrix(q, mass)
    kinetic, potential = dynamics.energy(q, v)
    missing = params.wanted - kinetic - potential
    for i in range(n):
        tau[i] = 0.0
        for j in range(n):
            tau[i] += params.gain * missing * mass[i, j] * v[j]
