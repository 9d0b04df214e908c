"""Forward dynamics of a tree whose bodies are pushed: Algorithm 6.1 in the three passes that leave
nothing to be computed twice.

The scatter gives all that contacts ask for besides what dynamics does: where bodies are and how
fast. Forces on bodies lie in lanes, six for each body, as the gather reads them; free roots answer
at once (free_root.py).
"""

from skodyn.jit import helper
from skodyn.kernels.aba_passes import pass_force_inward, passed_force
from skodyn.kernels.articulated_inertia import gathered_inertia, joint_trouble, pass_inertia_inward
from skodyn.kernels.forward_dynamics import backsubstitute_body, project_loaded_joint
from skodyn.kernels.forward_kinematics import POSITION
from skodyn.kernels.free_root import backsubstitute_free_root, free_root_pose, is_free_root
from skodyn.kernels.joint_motion import joint_pose, relative_velocity
from skodyn.kernels.kinematics import begin_scatter, body_inertia, ground_acceleration
from skodyn.kernels.packed_model import body_count, entry
from skodyn.kernels.status import NOT_FINITE, NOT_UNIT, OK, failure
from skodyn.kernels.tuples import load3, load6, load_matrix, store3, store6, store_matrix
from skodyn.kernels.workspace import BODY, body_slot, sum_slot
from skodyn.lanes import splat
from skodyn.model.layout import PARENT
from skodyn.spatial.articulated import add_applied_articulated
from skodyn.spatial.inertia import add_gyroscopic_force
from skodyn.spatial.linear3 import add, add_cross, add_scaled, cross
from skodyn.spatial.motion import subtract_spatial

__all__ = ["gather_pushed_residuals", "scatter_motion", "scatter_pushed_accelerations"]

VELOCITY = BODY.MOTION + 3
"""Of a body's origin, until accelerations take its place; the angular velocity is in OMEGA."""


@helper
def move_and_place(work, model, k, pose, v):
    """Store ω, the velocity of the origin, a(k) and the position of body k; its parent has them."""
    r, l = pose
    slot, inner = body_slot(k), body_slot(entry(model, k, PARENT))
    omega = load3(work, inner + BODY.OMEGA)
    spin, slide, turn_product, slide_product = relative_velocity(work, model, k, r, v)
    carried = cross(omega, l)
    store3(work, slot + BODY.OMEGA, add(omega, spin))
    store3(work, slot + VELOCITY, add(add(load3(work, inner + VELOCITY), carried), slide))
    moving = add_scaled(carried, 2.0, slide)
    a = add_cross(turn_product, omega, spin), add_cross(slide_product, omega, moving)
    store6(work, slot + BODY.CORIOLIS, a)
    origin = load3(work, sum_slot(model, entry(model, k, PARENT)) + POSITION)
    store3(work, sum_slot(model, k) + POSITION, add(origin, l))


@helper
def scatter_motion(work, model, q, v):
    """R, l, ω, a(k), position and velocity of every body."""
    begin_scatter(work, model, q)
    zero = splat(work, 0.0)
    store3(work, VELOCITY, (zero, zero, zero))
    store3(work, sum_slot(model, -1) + POSITION, (zero, zero, zero))
    status = OK
    for k in range(body_count(model)):
        slot = body_slot(k)
        if is_free_root(model, k):
            r, l, sound = free_root_pose(work, model, k, q)
        else:
            outer = load_matrix(work, body_slot(entry(model, k, PARENT)) + BODY.ROTATION)
            r, l, sound = joint_pose(work, model, k, outer, q)
        store_matrix(work, slot + BODY.ROTATION, r)
        store3(work, slot + BODY.ARM, l)
        move_and_place(work, model, k, (r, l), v)
        if not sound:
            status = failure(NOT_UNIT, k)
    return status


@helper
def gather_pushed_residuals(work, model, tau, forces, rates):
    """Tips to base: P, z, per degree of freedom u, 1/d and ε; free roots have their v̇ and α.

    forces: the lanes of the forces on bodies.
    """
    n = body_count(model)
    status = OK
    for back in range(n):
        k = n - 1 - back
        r = load_matrix(work, body_slot(k) + BODY.ROTATION)
        inertia = body_inertia(work, model, k, r)
        big_p = gathered_inertia(work, model, k, inertia)
        f = passed_force(work, model, k)
        f = add_gyroscopic_force(f, inertia, load3(work, body_slot(k) + BODY.OMEGA))
        f = subtract_spatial(f, load6(forces, 6 * k))
        if is_free_root(model, k):
            sound, finite = backsubstitute_free_root(work, model, k, r, big_p, f, tau, rates)
            if status == OK and not finite:
                status = failure(NOT_FINITE, k)
        else:
            z = add_applied_articulated(f, big_p, load6(work, body_slot(k) + BODY.CORIOLIS))
            p_plus, z_plus, sound = project_loaded_joint(work, model, k, r, big_p, z, tau)
            pass_inertia_inward(work, model, k, p_plus, False)
            pass_force_inward(work, model, k, z_plus, False)
        if status == OK and not sound:
            status = joint_trouble(work, model, k)
    return status


@helper
def scatter_pushed_accelerations(work, model, rates):
    """Base to tips: v̇ and α of all bodies but free roots."""
    status = OK
    store6(work, BODY.MOTION, ground_acceleration(work, model))
    for k in range(body_count(model)):
        if is_free_root(model, k):
            continue
        finite = backsubstitute_body(work, model, k, rates)
        if status == OK and not finite:
            status = failure(NOT_FINITE, k)
    return status
