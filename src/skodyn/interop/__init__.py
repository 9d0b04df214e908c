"""States to and from the layouts of Pinocchio and MuJoCo, joint by joint, by name.

Between two layouts of the same mechanism the velocities differ by an orthogonal matrix X(q), so
one rule serves everything else:

    v' = X v        tau' = X tau        M' = X M Xᵀ        v̇' = X v̇ + Ẋ v

| joint | skodyn | Pinocchio | MuJoCo |
| --- | --- | --- | --- |
| one axis | q | q, or (cos q, sin q) where unbounded | q + ref |
| spherical | (w, x, y, z); ω in child axes | (x, y, z, w); same ω | same |
| free q | quaternion, position | position, (x, y, z, w) | position in the world, quaternion |
| free v | [ω; v] in child axes | [v; ω] in child axes | [v in world axes; ω in child axes] |
| planar | (x, y, angle); their rates | (x, y, cos, sin); rates in child axes | – |
| two or three axes | one number per axis | the same, or a composite of single axes | – |

Every function takes one state or a batch. Neither library is imported: the model objects that a
caller hands over say all that is needed. Both sides must describe the same mechanism, with the same
body frames; what can be seen from the joints (names, types) is checked, and every joint that does
not fit is named in one ModelError. A MuJoCo joint without a name goes by the name that `load` gives
it. `names` maps skodyn's joint names to the other side's where they differ.

A mimic joint is an ordinary one on the other side: it gets its coordinate and velocity there, and
on the way back both must follow the source's. Forces on it are carried to its source.

X is the identity up to order for all joints but Pinocchio's planar and MuJoCo's free joint; only
for these do `…_acceleration` and `…_force` need the configuration and the velocity.
"""

from __future__ import annotations

from skodyn.interop.mujoco import (
    from_mujoco_acceleration,
    from_mujoco_force,
    from_mujoco_state,
    to_mujoco_acceleration,
    to_mujoco_force,
    to_mujoco_state,
)
from skodyn.interop.pinocchio import (
    from_pinocchio_acceleration,
    from_pinocchio_force,
    from_pinocchio_state,
    to_pinocchio_acceleration,
    to_pinocchio_force,
    to_pinocchio_state,
)

__all__ = [
    "from_mujoco_acceleration",
    "from_mujoco_force",
    "from_mujoco_state",
    "from_pinocchio_acceleration",
    "from_pinocchio_force",
    "from_pinocchio_state",
    "to_mujoco_acceleration",
    "to_mujoco_force",
    "to_mujoco_state",
    "to_pinocchio_acceleration",
    "to_pinocchio_force",
    "to_pinocchio_state",
]
