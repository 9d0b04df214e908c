"""Where each number of a packed model lies. Kernels index with these names, nothing else.

`indices` is an (n_bodies, INDEX_COLUMNS) int64 array. `parameters` is one flat float64 array, so
that a kernel takes two arguments for the whole model and a sweep can hold it once per lane:

    header | one record per body | one record per degree of freedom | one record per mimic joint
"""

from __future__ import annotations

# columns of `indices`
PARENT, KIND, Q_START, V_START, N_DOF, SUBTREE_END = range(6)
INDEX_COLUMNS = 6

# `tree` is what kernels see of it: flat, with one more row in front that holds the sizes
N_BODIES, NQ, NV, FULL, LOOPS, FLEXIBLE = range(6)

# With mimic joints, `tree` is the layout of the state, in which they look fixed, and FULL says
# where the same follows for the tree with a coordinate for every joint, the one that `parameters`
# and all recursions speak of. Zero stands for no mimic joints. Behind both, at 2·FULL, lies the
# table of mimics.Coupling: this header, q_at (NQ), v_at (NV), and one row per coupled joint
MIMICS, SOURCES = range(2)
COUPLING_HEADER = 2
COUPLED_BODY, COUPLED_DOF, COUPLED_Q, FOLLOWS = range(4)
COUPLED_ROW = 4

# With flexible bodies, `tree` is the layout of the state, in which modes look like bodies that
# slide, and FULL says where the tree of bodies begins that parameters and recursions speak of.
# There FLEXIBLE says where the table of flexible bodies follows (flexible_layout.py), 0 for none

# header of `parameters`
GRAVITY = 0
HEADER = 4

# offsets in a body record
PLACE_ROTATION = 0  # joint frame in the parent's kernel frame, nine numbers
PLACE_TRANSLATION = 9
MASS = 12
FIRST_MOMENT = 13
SECOND_MOMENT = 16  # about the body origin, in the kernel frame, six numbers
PITCH = 22  # metres per radian, helical joints only
BODY_RECORD = 23

# a record per degree of freedom
TWIST = 0  # [u; t] of a series joint, zero for other kinds
ARMATURE = 6  # inertia of what turns or slides with this degree of freedom alone, a rotor
DOF_RECORD = 7

# a record per mimic joint
MULTIPLIER, OFFSET = range(2)
MIMIC_RECORD = 2


def parameter_count(n_bodies: int, nv: int) -> int:
    return HEADER + n_bodies * BODY_RECORD + nv * DOF_RECORD
