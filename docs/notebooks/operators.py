# %% [markdown]
# # From $H\phi\mathbf{M}\phi^*H^*$ to $\mathcal{M}^{-1}$ and forward dynamics
#
# The spatial operator algebra writes the dynamics of a tree of bodies in a handful of operators.
# `sk.operators` gives them under the papers' names, so that an equation can be typed as it is printed.
# What is typed stays an expression; applied to a vector, it runs as recursions over the tree.
#
# Equation numbers are those of Jain, *Graph theoretic foundations of multibody dynamics, part II* (2011).
# This notebook is made by `python docs/make_notebooks.py` from `docs/notebooks/operators.py`.

# %%
import numpy as np

import skodyn as sk

b = sk.ModelBuilder(name="figure")
link = {"mass": 1.0, "com": (0, 0, -0.2), "inertia": (0.02, 0.02, 0.005)}
b.add_body("trunk", "world", sk.Free(), mass=8.0, inertia=(0.4, 0.3, 0.2))
b.add_body("upper", "trunk", sk.Spherical(), translation=(0.2, 0, 0.3), **link)
b.add_body("fore", "upper", sk.Revolute(axis=(0, 1, 0)), translation=(0, 0, -0.4), **link)
b.add_body("hand", "fore", sk.Universal(), translation=(0, 0, -0.4), **link)
b.add_body("leg", "trunk", sk.Spherical(), translation=(0, 0, -0.4), **link)
model = b.build()
q, v = model.random_state(np.random.default_rng(1))
print("\n".join(str(model).splitlines()[1:]))

# %%
g = sk.operators(model, q, v)
g.bodies

# %% [markdown]
# ## Velocities
#
# $\mathcal{V} = \phi^*H^*\dot\theta$ (eq. 1). $H$ is block-diagonal, from bodies to joints; $\phi$ carries
# forces inward along the tree, $\phi^*$ velocities outward. The product is a *scatter* from the base to the
# tips: $\phi$ is not formed.

# %%
g.phi.T @ g.H.T

# %%
V = g.phi.T @ g.H.T @ v
print(V["hand"].round(6))
print(sk.velocities(model, q, v)[0][model.body_index("hand")].round(6))

# %% [markdown]
# ## The mass matrix
#
# Newton and Euler give $\mathcal{M} = H\phi\mathbf{M}\phi^*H^*$ (eq. 3).

# %%
H, phi, M, Id = g.H, g.phi, g.M, g.Id
mass = H @ phi @ M @ phi.T @ H.T
mass

# %%
mass.explain()

# %% [markdown]
# Applied to accelerations it is inverse dynamics, in a time that grows with the number of bodies.
# `dense()` writes it out, here by composite body inertias $\mathcal{R}$ (Algorithm 4.2).

# %%
print(mass.dense().shape, np.allclose(mass.dense(), sk.mass_matrix(model, q)))
R = g.E_phi.lyapunov_recursion(M)
(mass - H @ (phi @ R + R @ phi.T - R) @ H.T).is_zero()

# %% [markdown]
# ## Articulated inertias
#
# The Riccati equation (eq. 33) gives $\mathcal{P}$, and from it
# $\mathcal{D} = H\mathcal{P}H^*$, $\mathcal{G} = \mathcal{P}H^*\mathcal{D}^{-1}$, $\bar\tau = I - \mathcal{G}H$,
# $\mathcal{K} = \mathcal{E}_\phi\mathcal{G}$ and $\mathcal{E}_\psi = \mathcal{E}_\phi\bar\tau$.
# (Eq. 37 prints $\mathcal{K} = \mathcal{E}_\psi\mathcal{G}$; that is zero.)

# %%
P = g.P
D = H @ P @ H.T
G = P @ H.T @ D.inverse()
K = g.E_phi @ G
taubar = Id - G @ H
psi = (Id - g.E_phi @ taubar).inverse()
print((K - g.K).is_zero(), (psi - g.psi).is_zero(), (g.E_psi @ G).is_zero())

# %% [markdown]
# $\psi$ has the structure of $\phi$, and with it the mass matrix becomes block-diagonal (eq. 46):

# %%
(H @ psi @ M @ psi.T @ H.T - D).is_zero()

# %% [markdown]
# ## The inverse
#
# $\mathcal{M} = [I + H\phi\mathcal{K}]\,\mathcal{D}\,[I + H\phi\mathcal{K}]^*$ (eq. 49), and the factor has an
# inverse that is again an expression (eq. 50). skodyn recognises it by its structure.

# %%
factor = Id + H @ phi @ g.K
print((mass - factor @ g.D @ factor.T).is_zero())
factor.inverse()

# %%
(factor @ factor.inverse()).is_identity()

# %% [markdown]
# So $\mathcal{M}^{-1} = [I - H\psi\mathcal{K}]^*\mathcal{D}^{-1}[I - H\psi\mathcal{K}]$ (eq. 51):

# %%
inverse = mass.inverse()
inverse

# %%
print((mass @ inverse).is_identity())
inverse.explain()

# %% [markdown]
# ## Forward dynamics
#
# Eq. 54, in the order of Algorithm 6.1, from forces $\mathcal{T}$ to accelerations $\ddot\theta$; `a` and `b`
# are the Coriolis accelerations and gyroscopic forces, gravity included.

# %%
T = g.joint_vector({"fore": 2.0, "hand": [0.1, -0.3]})
z = g.psi @ (g.K @ T + P @ g.a + g.b)
epsilon = T - H @ z
nu = g.D.inverse() @ epsilon
alpha = g.psi.T @ (H.T @ nu + g.a)
thetaddot = nu - g.G.T @ g.E_phi.T @ alpha
print(thetaddot["fore"].round(6))
np.allclose(thetaddot, sk.forward_dynamics(model, q, v, T))

# %% [markdown]
# ## Operational space
#
# A pick-off $\mathfrak{B}$ at a point of the hand gives the Jacobian $\mathfrak{B}^*\phi^*H^*$, and
# $\mathcal{J}\mathcal{M}^{-1}\mathcal{J}^* = \mathfrak{B}^*\Omega\mathfrak{B}$ with
# $\Omega = \psi^*H^*\mathcal{D}^{-1}H\psi$ (eq. 60): the mass matrix is not needed at all.

# %%
B = g.pickoff([("hand", (0, 0, -0.4))])
J = B.T @ phi.T @ H.T
(J @ inverse @ J.T - B.T @ g.Omega @ B).is_zero()

# %% [markdown]
# ## All equations at once
#
# Every identity of the paper is a check; `skodyn identities MODEL` does the same on the command line.

# %%
results = sk.check_identities(g)
for result in results[30:36]:
    print(f"{result.name:20} {result.verdict:6} {result.equation}")
print(sum(r.verdict == "holds" for r in results), "hold,", sum(r.failed for r in results), "fail")
