"""Poses and velocities of frames fixed in bodies, in world axes.

The pose of a frame with axes F and origin p in body k is R(k)·F and R(k)·p plus the arms from body
to body on the way inward; its velocity gathers those of the joints on that way, each carried to the
frame's origin: V = Σ (ω; v + ω × r). `x` holds how many frames there are, and of each (body, F, p),
in the kernel frame of the body.
"""

from skodyn.jit import helper, shared_routine
from skodyn.kernels.entries import batch, one_state
from skodyn.kernels.joint_motion import relative_velocity, zero3
from skodyn.kernels.kinematics import begin_scatter, place_body
from skodyn.kernels.packed_model import entry
from skodyn.kernels.rows import store_row3
from skodyn.kernels.status import NOT_FINITE, NOT_UNIT, OK, failure
from skodyn.kernels.tuples import finite3, finite_spatial, load3, load_matrix
from skodyn.kernels.workspace import BODY, body_slot
from skodyn.lanes import store_rows
from skodyn.model.layout import PARENT
from skodyn.spatial.linear3 import add, add_cross, multiply, multiply_vector

FRAME = 13
"""Numbers of a frame in x: its body, nine of its axes, three of its origin."""


@helper
def frame_count(frames):
    return int(frames.data[0])


@helper
def frame_body(frames, i):
    return int(frames.data[FRAME * i + 1])


@helper
def frame_axes(frames, i):
    x, at = frames.data, FRAME * i + 2
    return (
        x[at], x[at + 1], x[at + 2], x[at + 3], x[at + 4], x[at + 5], x[at + 6], x[at + 7],
        x[at + 8],
    )  # fmt: skip


@helper
def frame_arm(work, k, frames, i):
    """From the origin of body k to that of frame i, world axes."""
    x, at = frames.data, FRAME * i + 11
    r = load_matrix(work, body_slot(k) + BODY.ROTATION)
    return multiply_vector(r, (x[at], x[at + 1], x[at + 2]))


@shared_routine
def place_bodies(work, model, q, frames):
    """R and l of every body up to the last one that is asked for; bodies follow their parents."""
    last = -1
    for i in range(frame_count(frames)):
        last = max(last, frame_body(frames, i))
    begin_scatter(work, model, q)
    status = OK
    for k in range(last + 1):
        _, _, sound = place_body(work, model, k, q)
        if not sound:
            status = failure(NOT_UNIT, k)
    return status


@helper
def sweep_poses(work, model, given, out):
    """A homogeneous matrix, 4 × 4, for each frame."""
    status = place_bodies(work, model, given.q, given.x)
    for i in range(frame_count(given.x)):
        body = frame_body(given.x, i)
        r = multiply(load_matrix(work, body_slot(body) + BODY.ROTATION), frame_axes(given.x, i))
        position = frame_arm(work, body, given.x, i)
        k = body
        while k >= 0:
            position = add(position, load3(work, body_slot(k) + BODY.ARM))
            k = entry(model, k, PARENT)
        at = 16 * i
        for row in range(3):
            store_row3(work, out, at + 4 * row, (r[3 * row], r[3 * row + 1], r[3 * row + 2]))
            store_rows(work, out, at + 4 * row + 3, position[row])
            store_rows(work, out, at + 12 + row, 0.0)
        store_rows(work, out, at + 15, 1.0)
        if status == OK and not finite3(position):
            status = failure(NOT_FINITE, max(body, 0))
    return status


@helper
def sweep_velocities(work, model, given, out):
    """Spatial velocity [angular; linear] of each frame's origin."""
    status = place_bodies(work, model, given.q, given.x)
    for i in range(frame_count(given.x)):
        k = frame_body(given.x, i)
        arm = frame_arm(work, k, given.x, i)
        omega, linear = zero3(work), zero3(work)
        while k >= 0:
            r = load_matrix(work, body_slot(k) + BODY.ROTATION)
            spin, slide, _, _ = relative_velocity(work, model, k, r, given.v)
            omega = add(omega, spin)
            linear = add(linear, add_cross(slide, spin, arm))
            arm = add(arm, load3(work, body_slot(k) + BODY.ARM))
            k = entry(model, k, PARENT)
        store_row3(work, out, 6 * i, omega)
        store_row3(work, out, 6 * i + 3, linear)
        if status == OK and not finite_spatial((omega, linear)):
            status = failure(NOT_FINITE, max(frame_body(given.x, i), 0))
    return status


@helper
def shape_of_poses(model, count):
    return (4 * (count // FRAME), 4) if count % FRAME == 1 else (-1, 1)


@helper
def shape_of_velocities(model, count):
    return (count // FRAME, 6) if count % FRAME == 1 else (-1, 1)


frame_poses = one_state("frame_poses", sweep_poses, shape_of_poses, "q x", dimensions=2)
frame_poses_batch = batch("frame_poses_batch", sweep_poses, shape_of_poses, shared_x=True)
frame_velocities = one_state(
    "frame_velocities", sweep_velocities, shape_of_velocities, "q v x", dimensions=2
)
frame_velocities_batch = batch(
    "frame_velocities_batch", sweep_velocities, shape_of_velocities, shared_x=True
)
