"""Energy, momentum and centre of mass of trees with flexible bodies: energy.py, with modes.

Strain energy counts as potential.
"""

from skodyn.jit import helper, routine
from skodyn.kernels.energy import (
    ROW,
    add_body,
    no_sums,
    shape,
    with_rotors,
    work_of_gravity,
    write_sums,
)
from skodyn.kernels.entries import batch, one_state
from skodyn.kernels.flexible.flexible_body import gain_of, own_inertia, pair_row
from skodyn.kernels.flexible.flexible_kinematics import scatter_bent_velocities
from skodyn.kernels.flexible.flexible_strain import strain_energy
from skodyn.kernels.flexible.flexible_table import field, flexible_record
from skodyn.kernels.flexible.flexible_tree import scatter_bent_rates
from skodyn.kernels.forward_kinematics import POSITION, scatter_positions
from skodyn.kernels.kinematics import body_inertia
from skodyn.kernels.packed_model import body_count
from skodyn.kernels.status import NOT_FINITE, OK, failure
from skodyn.kernels.tuples import load3, load6, load_matrix
from skodyn.kernels.workspace import BODY, body_slot, sum_slot
from skodyn.lanes import fma, load, load_rows, splat
from skodyn.model.flexible import flexible_layout as its
from skodyn.spatial.inertia import apply_inertia
from skodyn.spatial.linear3 import subtract
from skodyn.spatial.motion import add_scaled_spatial, dot_spatial

__all__ = ["ROW", "flexible_energy", "flexible_energy_batch", "sweep"]


@routine
def moved_modes(work, model, record, v, velocity, momentum):
    """(momentum with that of the modes, twice what they add to the kinetic energy)."""
    start = field(model, record, its.MODE_V)
    energy = splat(work, 0.0)
    for i in range(field(model, record, its.MODES)):
        rate, u = load_rows(work, v, start + i), gain_of(work, model, record, i)
        own = 2.0 * dot_spatial(u, velocity)
        momentum = add_scaled_spatial(momentum, rate, u)
        row = pair_row(model, record, i)
        for j in range(i):
            own = fma(2.0 * load(work, row + j), load_rows(work, v, start + j), own)
        energy = fma(rate, fma(load(work, row + i), rate, own), energy)
    return momentum, energy


@helper
def sweep(work, model, given, out):
    """The twelve numbers; rows of v may be longer than velocities."""
    status = scatter_bent_rates(work, model, given.q, given.v)
    scatter_positions(work, model)
    scatter_bent_velocities(work, model, given.v)
    reference, sums = load3(work, sum_slot(model, 0) + POSITION), no_sums(work)
    strain = splat(work, 0.0)
    for k in range(body_count(model)):
        slot, record = body_slot(k), flexible_record(model, k)
        velocity = load6(work, slot + BODY.MOTION)
        if record > 0:
            inertia = own_inertia(work, model, k, record)
            momentum = apply_inertia(inertia, velocity)
            kinetic = fma(0.5, dot_spatial(velocity, momentum), sums.kinetic)
            momentum, more = moved_modes(work, model, record, given.v, velocity, momentum)
            kinetic = fma(0.5, more, kinetic)
            strain = strain + strain_energy(work, model, record)
        else:
            inertia = body_inertia(work, model, k, load_matrix(work, slot + BODY.ROTATION))
            momentum = apply_inertia(inertia, velocity)
            kinetic = fma(0.5, dot_spatial(velocity, momentum), sums.kinetic)
        arm = subtract(load3(work, sum_slot(model, k) + POSITION), reference)
        sums = add_body(sums, inertia, momentum, kinetic, arm)
    kinetic = with_rotors(work, model, given.v, sums.kinetic)
    potential = strain - work_of_gravity(work, model, sums, reference)
    sound = write_sums(work, sums, (kinetic, potential), reference, out)
    return failure(NOT_FINITE, 0) if status == OK and not sound else status


flexible_energy = one_state("flexible_energy", sweep, shape, "q v")
flexible_energy_batch = batch("flexible_energy_batch", sweep, shape)
