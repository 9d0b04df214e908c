"""Names for types: words that functions take, and arrays by their shape, frame and unit.

nq, nv and n are `model.nq`, `model.nv` and `model.n_bodies`; […,] is an axis of states in batches.
What NumPy cannot check these names say: they stand in signatures, docstrings and the reference.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, TypedDict, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "About",
    "Accelerations",
    "Compliance",
    "Coordinates",
    "DofArray",
    "DofMatrix",
    "EngineName",
    "Floats",
    "GeneralizedForces",
    "IntegratorName",
    "MimicRule",
    "PointJacobian",
    "Positions",
    "Provenance",
    "Root",
    "Rotations",
    "RunSummary",
    "SpatialArray",
    "SpatialVector",
    "TableValue",
    "Vector",
    "Velocities",
    "Wrenches",
]

# ---- words ---------------------------------------------------------------------------------------

IntegratorName: TypeAlias = Literal[
    "semi_implicit_euler", "rk4", "implicit_midpoint", "implicit_contact", "dormand_prince"
]
"""The integrators of the package; methods of your own are given by the name they registered."""

EngineName: TypeAlias = Literal["in-process", "threads", "processes", "dask"]
"""Where the runs of a sweep go."""

About: TypeAlias = Literal["origin", "com"]
"""The point of a momentum: the world's origin, or the centre of mass."""

Root: TypeAlias = Literal["fixed", "free"]
"""Whether the root link of a URDF robot is the world, or floats."""

MimicRule: TypeAlias = Literal["exact", "independent"]
"""Whether mimic joints of a file follow, or move by themselves."""

TableValue: TypeAlias = Union[
    float, bool, str, "list[TableValue]", "dict[str, TableValue]", None
]  # fmt: skip
"""A value of a scenario, a model file or a sweep, as TOML and JSON have them."""

# ---- what functions take: anything that NumPy makes an array of --------------------------------

Coordinates: TypeAlias = ArrayLike
"""q, shape ([…,] nq): angles in rad, lengths in m, quaternions (w, x, y, z) of unit length."""

Velocities: TypeAlias = ArrayLike
"""v, shape ([…,] nv): rad/s and m/s; in child axes for spherical and free joints."""

Accelerations: TypeAlias = ArrayLike
"""v̇, shape ([…,] nv): rad/s² and m/s², in the axes of v."""

GeneralizedForces: TypeAlias = ArrayLike
"""τ, shape ([…,] nv): generalised forces, N m and N, dual to v."""

Wrenches: TypeAlias = ArrayLike
"""Shape ([…,] n, 6): [moment; force] on each body at its origin, in world axes, N m and N."""

Vector: TypeAlias = ArrayLike
"""Shape (3,): x, y, z."""

# ---- what functions return -----------------------------------------------------------------------

Floats: TypeAlias = NDArray[np.float64]
"""An array of doubles; functions return C-contiguous ones."""

DofArray: TypeAlias = NDArray[np.float64]
"""Shape ([…,] nv): one number for each degree of freedom."""

DofMatrix: TypeAlias = NDArray[np.float64]
"""Shape ([…,] nv, nv): degrees of freedom by degrees of freedom."""

Rotations: TypeAlias = NDArray[np.float64]
"""Shape ([…,] n, 3, 3): columns are a body's axes in world axes."""

Positions: TypeAlias = NDArray[np.float64]
"""Shape ([…,] n, 3), or ([…,] 3) for one point: positions in world axes, m."""

SpatialVector: TypeAlias = NDArray[np.float64]
"""Shape ([…,] 6): angular part first, in world axes."""

SpatialArray: TypeAlias = NDArray[np.float64]
"""Shape ([…,] n, 6): a spatial vector for each body, angular part first, in world axes, at the
body's origin."""

PointJacobian: TypeAlias = NDArray[np.float64]
"""Shape ([…,] 6, nv): from v to [ω; velocity] of a point, in world axes."""

Compliance: TypeAlias = NDArray[np.float64]
"""Shape ([…,] 6k, 6k): from forces [moment; force] at k points to their accelerations."""


class Provenance(TypedDict, total=False):
    """What a run came from; docs/hdf5-schema.md has the meaning of each key."""

    scenario: str
    scenario_folder: str
    model: dict[str, str]
    code_hash: str
    versions: dict[str, str]
    cpu: dict[str, TableValue]
    compile_flags: dict[str, TableValue]
    kernels: dict[str, TableValue]
    seed: int | None
    integrator: str
    integrator_settings: dict[str, TableValue]
    dt: float | None
    duration: float
    every: int
    identity: dict[str, str]
    started: str
    ended: str
    resumed: list[dict[str, TableValue]]
    resumed_left_out: int


class RunSummary(TypedDict, total=False):
    """What a run says of itself at its end; docs/hdf5-schema.md has the meaning of each key."""

    t: float
    steps: int
    steps_this_run: int
    steps_rejected: int
    wall_seconds: float
    steps_per_second: float
    energy_start: float
    energy_end: float
    work_of_forces: float
    energy_imbalance: float
    linear_momentum_imbalance: float | None
    angular_momentum_imbalance: float | None
    momentum_note: str
    loop_error_max: float
    loop_condition_min: float
    loop_condition_time: float
    loop_rank_changes: int
    deflection_max: float
    contact_laws: list[str]
    contact_work: float
    contact_loss: float
    contact_stored: float
    contact_imbalance: float
    warnings: list[str]
