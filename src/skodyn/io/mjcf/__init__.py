"""Robots in MJCF, through the mujoco package (extra `mjcf`), which compiles the file.

MuJoCo resolves defaults, frames and the inertia of geometry; what skodyn takes from it are bodies,
joints (several to a body too), rotor inertias, springs, dampers, friction, limits, gravity, and
equality constraints, which become loops, couplings and mimic joints.
Whatever else changes the motion is refused by name, unless `ignore` says to leave it out; the rest
is in `model.notes`. See docs/robots.md.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from skodyn.conventions import GROUND
from skodyn.errors import ModelError
from skodyn.faults import in_file
from skodyn.io.mjcf.bodies import read_parts
from skodyn.io.mjcf.equalities import Equalities, read_equalities
from skodyn.io.mjcf.files import check_files
from skodyn.io.mjcf.finite import check_numbers
from skodyn.io.mjcf.joints import MujocoJoint, read_joints
from skodyn.io.mjcf.names import body_names, joint_names
from skodyn.io.mjcf.refusals import judge_extras
from skodyn.io.mjcf.shapes import read_visuals
from skodyn.io.mjcf.starts import add_sites, read_starts
from skodyn.io.mjcf.touching import read_touching
from skodyn.io.robots.assembly import Part, assemble, placed_visuals
from skodyn.io.robots.findings import Findings
from skodyn.io.robots.loops import FileCoupling, add_couplings, add_loops, as_couplings
from skodyn.io.robots.meshes import MeshFinder
from skodyn.io.robots.mimics import FileMimic, add_mimics, kept_mimics
from skodyn.io.robots.options import LoadOptions
from skodyn.io.robots.stops import with_stops
from skodyn.io.robots.touching import add_shapes
from skodyn.io.xml_source import XmlSource
from skodyn.model.description import ModelBuilder
from skodyn.model.joints import Fixed
from skodyn.model.model import Model
from skodyn.model.products import applied

__all__ = ["load_mjcf"]

_CONSTRAINTS = ("equality", "frictionloss", "limit", "contact")
"""What MuJoCo enforces by constraints, which one switch turns off together."""
_SWITCHES = (*_CONSTRAINTS, "constraint", "spring", "damper", "gravity")


def load_mjcf(source: XmlSource, options: LoadOptions) -> Model:
    """The model described in an MJCF file; raises ModelError with every fault at once."""
    check_files(source, options.search_paths)
    mujoco = _mujoco(source)
    compiled, warnings = _compiled(mujoco, source)
    converter = _Converter(mujoco, compiled, source, options)
    for warning in dict.fromkeys(warnings):
        converter.findings.note(f"MuJoCo warns: {_printable(warning)}.")
    return converter.model()


def _mujoco(source: XmlSource) -> Any:
    try:
        import mujoco
    except ImportError:
        problem = "MJCF models are read through the mujoco package, which is not installed"
        remedy = "install it with: pip install 'skodyn[mjcf]'"
        raise ModelError(source.fault(0, problem, remedy)) from None
    return mujoco


def _compiled(mujoco: Any, source: XmlSource) -> tuple[Any, list[str]]:
    """(the compiled model, what MuJoCo warns of: it would write that to a file here otherwise)."""
    warnings: list[str] = []
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(warnings.append)
    try:
        return mujoco.MjModel.from_xml_path(os.fspath(source.path)), warnings
    except (ValueError, mujoco.FatalError) as error:
        reason = _printable(str(error))
        problem = f"MuJoCo cannot compile it ({reason})"
        raise ModelError(source.fault(0, problem, "correct the file.")) from None
    finally:
        mujoco.set_mju_user_warning(before)


def _printable(text: str) -> str:
    """On one line, with escapes for what a screen would obey instead of showing it."""
    line = " ".join(text.split())
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in line)


class _Converter:
    """One compiled model on its way into skodyn."""

    def __init__(self, mujoco: Any, mj: Any, source: XmlSource, options: LoadOptions) -> None:
        self.mj, self.source, self.options = mj, source, options
        self.findings = Findings(options.ignore)
        bits = mujoco.mjtDisableBit.__members__
        flags = int(mj.opt.disableflags)
        switches = {key: int(bits.get(f"mjDSBL_{key.upper()}", 0)) for key in _SWITCHES}
        self.disabled = {key for key, bit in switches.items() if flags & bit}
        if "constraint" in self.disabled:
            self.disabled.update(_CONSTRAINTS)
        self.joint_names = joint_names(mj)

    def model(self) -> Model:
        mj, findings = self.mj, self.findings
        check_numbers(mj, self.joint_names, findings)
        self._stop_at_faults()
        joints = read_joints(mj, self.joint_names, findings, self.disabled)
        judge_extras(mj, findings)
        equalities = read_equalities(mj, self.joint_names, findings, self.disabled)
        couplings, mimics = self._coupled(equalities)
        meshes = MeshFinder(self.source.path.parent, self.options.search_paths, findings)
        visuals = read_visuals(mj, meshes, findings)
        parts, origins = read_parts(mj, body_names(mj), joints, visuals, findings)
        if not joints:
            findings.fault(0, "Nothing in this model can move", "give a body a joint.")
        properties, limits = self._of_joints(joints)
        self._stop_at_faults()

        gravity = (0.0, 0.0, 0.0) if "gravity" in self.disabled else mj.opt.gravity.tolist()
        name = bytes(mj.names).split(b"\0")[0].decode() or self.source.path.stem
        builder = ModelBuilder(gravity, name)
        carriers = assemble(builder, parts, (), self.options.merge_fixed)
        add_mimics(builder, mimics)
        add_loops(builder, equalities.loops, carriers, origins)
        add_couplings(builder, couplings)
        for body, origin in origins.items():
            if origin.any():
                at = carriers[body]
                place = at.translation + applied(at.rotation, origin)
                builder.add_frame(body, at.body, translation=place.tolist())
        called = [GROUND, *body_names(mj)[1:]]
        if "contact" not in self.options.ignore:
            hulls = self.options.hulls
            add_shapes(builder, read_touching(mj, called, origins, meshes, hulls=hulls), carriers)
        add_sites(mj, builder, called, carriers, origins, findings)
        world = Part(GROUND, GROUND, Fixed(), visuals=visuals[0])
        built = self._built(builder)
        starts = read_starts(mj, self.joint_names, built, findings)
        return replace(
            built,
            starts=starts,
            joint_properties=properties,
            limits=limits,
            visuals=placed_visuals([world, *parts], carriers),
            notes=findings.notes,
        )

    def _coupled(self, equalities: Equalities) -> tuple[list[FileCoupling], list[FileMimic]]:
        """(couplings, mimics): linear relations are mimics if all others are, too."""
        kept = kept_mimics(equalities.linear, self.options.mimic, self.findings)
        if not equalities._replace(linear=kept).need_couplings:
            return [], kept
        couplings = equalities.couplings
        return couplings + as_couplings(kept, equalities.names, couplings, self.findings), []

    def _of_joints(self, joints: list[MujocoJoint]) -> tuple[dict[str, Any], dict[str, Any]]:
        named = list(zip(self.joint_names, joints, strict=True))
        properties = {name: j.properties for name, j in named if j.properties is not None}
        limits = {name: j.limits for name, j in named if j.limits is not None}
        if limits:
            self.findings.note(
                f"Limits of {len(limits)} joints are in model.limits; efforts do not act, and "
                "positions do as compliant stops if asked for (stops)."
            )
        if self.options.stops:
            properties = with_stops(properties, limits, self.findings, {})
        return properties, limits

    def _stop_at_faults(self) -> None:
        if self.findings.faults:
            raise ModelError(in_file(self.source.path, self.findings.faults))

    def _built(self, builder: ModelBuilder) -> Model:
        try:
            return builder.build(repair_inertia=self.options.repair_inertia)
        except ModelError as error:
            raise ModelError(in_file(self.source.path, error.faults)) from None
