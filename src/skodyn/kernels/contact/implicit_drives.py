"""Newton's step of an implicit step where joints have prescribed motions.

What is driven changes its velocity by x, known beforehand, and does not yield: P⁺ = P and
z⁺ = z + P·H*x, as in hybrid dynamics (hybrid_dynamics.py). Its pivot counts as zero, so that it
answers nothing. When the velocities of the end are found, one scatter and one gather over the
bodies give what the drives had to add, and their work.
"""

from skodyn.jit import helper, routine
from skodyn.kernels.aba_passes import backsubstitute_dof, pass_force_inward, passed_force
from skodyn.kernels.contact.implicit_law import POINT
from skodyn.kernels.contact.implicit_sweep import (
    STEP,
    dof_place,
    point_of,
    point_slot,
    project_resisted,
    side_of,
)
from skodyn.kernels.hybrid_dynamics import is_prescribed
from skodyn.kernels.joint_motion import joint_column, zero3
from skodyn.kernels.kinematics import body_inertia
from skodyn.kernels.packed_model import armature, body_count, entry
from skodyn.kernels.tuples import load3, load6, load_matrix, store6
from skodyn.kernels.workspace import BODY, DOF, body_slot, dof_slot
from skodyn.lanes import fma, load, load_rows, splat, store
from skodyn.model.layout import N_DOF, PARENT, V_START
from skodyn.spatial.articulated import apply_articulated
from skodyn.spatial.inertia import apply_inertia
from skodyn.spatial.linear3 import negate
from skodyn.spatial.motion import (
    add_scaled_spatial,
    add_spatial,
    dot_spatial,
    shift_force,
    shift_motion,
    subtract_spatial,
)

__all__ = ["backsubstitute_or_follow", "project_or_follow", "work_of_drives"]


@helper
def project_or_follow(work, model, places, k, r, big_p, z):
    """(P⁺, z⁺, sound) of a joint that yields, or goes where it is driven."""
    if not is_prescribed(model, k):
        return project_resisted(work, model, places, k, r, big_p, z)
    zero = splat(work, 0.0)
    for i in range(entry(model, k, N_DOF)):
        dof = entry(model, k, V_START) + i
        record = dof_slot(body_count(model), dof)
        u = apply_articulated(big_p, joint_column(work, model, k, i, r))
        store6(work, record + DOF.GAIN, u)
        store(work, record + DOF.PIVOT, zero)
        store(work, record + DOF.RESIDUE, zero)
        z = add_scaled_spatial(z, load_rows(work, places.changes, dof), u)
    return big_p, z, True


@helper
def backsubstitute_or_follow(work, model, places, k, i, change):
    """The change of a velocity."""
    if is_prescribed(model, k):
        return load_rows(work, places.changes, entry(model, k, V_START) + i)
    return backsubstitute_dof(work, model, k, i, change)


# ---- what the drives did ------------------------------------------------------------------------


@routine
def _scatter_found(work, model, places):
    """v⁺ − v₀ of every body, into MOTION."""
    store6(work, BODY.MOTION, (zero3(work), zero3(work)))
    for k in range(body_count(model)):
        slot = body_slot(k)
        r = load_matrix(work, slot + BODY.ROTATION)
        inner = load6(work, body_slot(entry(model, k, PARENT)) + BODY.MOTION)
        change = shift_motion(load3(work, slot + BODY.ARM), inner)
        for i in range(entry(model, k, N_DOF)):
            own = dof_place(places, entry(model, k, V_START) + i)
            x = load(work, own + STEP.SPEED) - load(work, own + STEP.START_SPEED)
            change = add_scaled_spatial(change, x, joint_column(work, model, k, i, r))
        store6(work, slot + BODY.MOTION, change)


@helper
def _less_impulse(work, places, code, f):
    """f less what a contact point has given the body."""
    slot, side = point_slot(places, point_of(code)), side_of(code)
    push = load6(work, slot + POINT.IMPULSE)
    if side == 1:
        push = negate(push[0]), negate(push[1])
    return subtract_spatial(f, shift_force(load3(work, slot + POINT.ARMS + 3 * side), push))


@routine
def work_of_drives(work, model, places):
    """Σ of what drives added in the step times v⁺: inverse dynamics of the step."""
    n, total = body_count(model), splat(work, 0.0)
    _scatter_found(work, model, places)
    for back in range(n):
        k = n - 1 - back
        r = load_matrix(work, body_slot(k) + BODY.ROTATION)
        change = load6(work, body_slot(k) + BODY.MOTION)
        f = add_spatial(
            passed_force(work, model, k), apply_inertia(body_inertia(work, model, k, r), change)
        )
        f = subtract_spatial(f, load6(work, places.loads + 6 * k))
        for i in range(places.touched[k], places.touched[k + 1]):
            f = _less_impulse(work, places, places.touched[n + 1 + i], f)
        if is_prescribed(model, k):
            for i in range(entry(model, k, N_DOF)):
                dof = entry(model, k, V_START) + i
                own = dof_place(places, dof)
                v = load(work, own + STEP.SPEED)
                way = v - load(work, own + STEP.START_SPEED)
                needed = dot_spatial(joint_column(work, model, k, i, r), f)
                needed = fma(armature(work, model, dof) * splat(work, 1.0), way, needed)
                added = needed - load(work, own + STEP.GIVEN) - load(work, own + STEP.PUSH)
                total = fma(added, v, total)
        pass_force_inward(work, model, k, f, False)
    return total
