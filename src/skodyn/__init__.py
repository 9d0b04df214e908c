"""skodyn: multibody dynamics at compiled speed, with the operator algebra typed literally.

Nothing is imported before its first use: `import skodyn` takes no time, and a function no more than
what it needs.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

_HOME = {
    "skodyn": (
        "estimation",
        "examples",
        "extension",
        "fixman",
        "interop",
        "sko",
        "topology",
        "typing",
        "view",
    ),
    "skodyn.algebra": (
        "Operator",
        "Workbench",
        "operators",
    ),
    "skodyn.algebra.identities": ("check_identities",),
    "skodyn.algebra.materialise": ("LargeMatrixWarning",),
    "skodyn.channels.batches": (
        "ChannelError",
        "SlowChannelWarning",
    ),
    "skodyn.channels.entry": ("Channel",),
    "skodyn.channels.own": ("channel",),
    "skodyn.dynamics": (
        "Assembly",
        "BodyInertias",
        "ContactForces",
        "ContactGaps",
        "HybridDerivatives",
        "HybridDynamics",
        "InverseKinematics",
        "LoopForces",
        "OperationalSpace",
        "Parts",
        "Target",
        "assemble",
        "bias_force",
        "body_inertias",
        "center_of_mass",
        "christoffel_symbols",
        "contact_forces",
        "contact_gaps",
        "coriolis_matrix",
        "cut",
        "deflections",
        "diagonal_bias",
        "diagonal_dynamics",
        "diagonal_force",
        "diagonal_velocity",
        "energy",
        "fixman_potential",
        "force_from_diagonal",
        "forward_dynamics",
        "forward_dynamics_derivatives",
        "forward_kinematics",
        "frame_poses",
        "frame_velocities",
        "gravity_force",
        "hybrid_dynamics",
        "hybrid_dynamics_derivatives",
        "inverse_dynamics",
        "inverse_dynamics_derivatives",
        "inverse_kinematics",
        "jacobian",
        "jacobian_dot_v",
        "joint_forces",
        "linearize",
        "loop_basis",
        "loop_error",
        "loop_forces",
        "loop_jacobian",
        "loop_rate",
        "loop_rows",
        "mass_matrix",
        "mass_matrix_inverse",
        "mass_matrix_logdet",
        "mass_matrix_logdet_gradient",
        "mass_matrix_solve",
        "momentum",
        "node_poses",
        "operational_space",
        "operational_space_compliance",
        "operational_space_inertia",
        "project_velocity",
        "sample_velocity",
        "velocities",
        "velocity_from_diagonal",
    ),
    "skodyn.dynamics.rigid_sko_model": ("sko_model",),
    "skodyn.errors": (
        "ArgumentError",
        "DynamicsError",
        "Fault",
        "FaultsError",
        "KernelMemoryError",
        "LogError",
        "ModelError",
        "ScenarioError",
        "SkodynError",
        "StateError",
        "TopologyError",
    ),
    "skodyn.io": ("load",),
    "skodyn.io.flexible_files": ("flexible",),
    "skodyn.io.trajectory": (
        "Trajectory",
        "open",
    ),
    "skodyn.model.flexible.beams": ("Beam",),
    "skodyn.model.contact.contacts": ("Contact",),
    "skodyn.model.description": ("ModelBuilder",),
    "skodyn.model.flexible.modal_body": ("FlexibleBody",),
    "skodyn.model.joints": (
        "Cylindrical",
        "Fixed",
        "Free",
        "Gimbal",
        "Helical",
        "Joint",
        "Planar",
        "Prismatic",
        "Revolute",
        "Rod",
        "Spherical",
        "Translation",
        "Universal",
    ),
    "skodyn.model.loops.loop_description": (
        "JointCoupling",
        "Loop",
    ),
    "skodyn.model.mimics": ("Mimic",),
    "skodyn.model.model": ("Model",),
    "skodyn.model.properties": ("JointLimits",),
    "skodyn.model.solids": (
        "Solid",
        "solid",
    ),
    "skodyn.model.shapes": (
        "Box",
        "Capsule",
        "Collision",
        "Cylinder",
        "Disk",
        "Ellipsoid",
        "HalfSpace",
        "HeightField",
        "Mesh",
        "Points",
        "Sphere",
        "Visual",
    ),
    "skodyn.registry": (
        "PluginWarning",
        "register",
    ),
    "skodyn.scenario": (
        "Scenario",
        "read_scenario",
    ),
    "skodyn.scenario.running": (
        "resume",
        "run",
    ),
    "skodyn.simulation": (
        "AndersenThermostat",
        "Controller",
        "FixmanForce",
        "JointProperties",
        "MotionFunction",
        "MotionTable",
        "PointSpring",
        "Run",
        "Servo",
        "SineMotion",
        "Sinusoid",
        "SteadyMotion",
        "TorqueTable",
        "TrackingServo",
        "Wrench",
        "simulate",
    ),
    "skodyn.simulation.control.controllers": (
        "ControllerError",
        "SlowControllerWarning",
    ),
    "skodyn.simulation.element": ("Element",),
    "skodyn.simulation.sko_runs": ("simulate_sko",),
    "skodyn.simulation.steppers.tableaux": ("explicit_method",),
    "skodyn.sko": (
        "Blocks",
        "Riccati",
        "SKOModel",
        "Sparsity",
    ),
    "skodyn.sko.model": ("WrongKindError",),
    "skodyn.sko.sparsity_patterns": ("sparsity",),
    "skodyn.sweeps": (
        "open_sweep",
        "sweep",
    ),
    "skodyn.sweeps.results": ("Sweep",),
}
"""The public surface: every name, and where it lives. `__init__.pyi`, which type checkers and
editors read, is made of it by `python tests/api_snapshot.py`."""

_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = ("__version__", *sorted(_MODULE_OF))

_RENAMED: dict[str, tuple[str, str]] = {}
"""Former names: the name now, and the version in which the former one goes (docs/releasing.md)."""


class _FrontPage(ModuleType):
    """The package, which finds its public names when they are asked for."""

    def __getattr__(self, name: str) -> Any:
        if name == "__version__":
            value: Any = import_module("skodyn.jit.folders").package_version()
        elif _MODULE_OF.get(name) == "skodyn":
            value = import_module(f"skodyn.{name}")
        elif name in _MODULE_OF:
            value = getattr(import_module(_MODULE_OF[name]), name)
        elif name in _RENAMED:
            now, last = _RENAMED[name]
            removed = f"the old name will be removed in version {last}"
            sentence = f"sk.{name} is called sk.{now} now; {removed}."
            import_module("warnings").warn(sentence, DeprecationWarning, stacklevel=2)
            return getattr(self, now)
        else:
            raise AttributeError(f"module 'skodyn' has no attribute {name!r}")
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *__all__})


sys.modules[__name__].__class__ = _FrontPage
