"""Mechanisms with loops as embedded SKO models: kernels against `sk.sko`, which shares no code with
them. Bases of consistent velocities are those of the dense twin, a singular value decomposition for
each group; loops are never seen by `sk.sko`.
"""

import numpy as np
import pytest

import naive_loops
import skodyn as sk
from loop_mechanisms import case_of
from skodyn import sko
from test_loop_twin import near, packed

EPS = np.finfo(float).eps


def constraint_rows(case):
    """G, γ with g̈ = Gθ̈ + γ of the dense twin, columns in packed order; rows by constraint."""
    G = naive_loops.jacobian(case.twin, case.q)
    columns = np.array([case.packed_v(case.built, row) for row in G]).reshape(len(G), len(case.v))
    slices = naive_loops.row_slices(case.twin)
    names = [one["name"] for one in (*case.loops, *case.couplings)]
    return (
        columns,
        naive_loops.gamma(case.twin, case.q, case.v),
        dict(zip(names, slices, strict=True)),
    )


def dofs_of(model, body):
    return range(*model.v_slice(model.joint_names[model.body_names.index(body)]).indices(model.nv))


def embedded_groups(case, tree):
    """Models of which each has one more group embedded; the last one has no loops any more."""
    model = case.built
    G, gamma, rows_of = constraint_rows(case)
    for number, group in enumerate(model.groups):
        own = {model.body_names[model.joint_names.index(joint)] for joint in group.joints}
        nodes = [name for name in tree.names if name in own]
        dofs = [dof for name in nodes for dof in dofs_of(model, name)]
        rows = np.concatenate([np.r_[rows_of[name]] for name in group.constraints])
        inside = G[np.ix_(rows, dofs)]
        outside = np.abs(np.delete(G[rows], dofs, axis=1)).max(initial=0.0)
        assert outside <= 1000 * EPS * max(
            1.0, np.abs(G).max()
        )  # what its loops see, a group moves alone
        parts = naive_loops.decompose(inside)
        assert parts.X.shape[1] == group.mobility
        x_p = -parts.pinv @ gamma[rows]
        tree = sko.embed(tree, nodes, parts.X, x_p, name=f"group{number}")
        yield tree


def check_embedded_dynamics(case):
    model, q, v, tau, _ = packed(case)
    vdot = sk.forward_dynamics(model, q, v, tau)
    levels = list(embedded_groups(case, sk.sko_model(model.opened, q, v)))
    for level in levels:
        tau = level.torques_from_original(tau)
    found = sko.forward_dynamics(levels[-1], tau)
    for level in reversed(levels):
        found = level.accelerations_to_original(found)
    near(found, vdot, 100 * EPS * case.kappa * (case.speed_up + np.linalg.norm(vdot)))


@pytest.mark.parametrize("seed", range(0, 120, 6))
def test_kernels_agree_with_embedded_sko_models(seed):
    check_embedded_dynamics(case_of(seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(120, 1000))
def test_kernels_agree_with_many_more(seed):
    check_embedded_dynamics(case_of.__wrapped__(seed))
