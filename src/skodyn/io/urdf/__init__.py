"""Robots in URDF: read strictly, every fault at once with file and line.

What the format says is applied: all six types of joints, origins, axes, inertias, damping and
friction; limits are kept, and visual geometry too. What skodyn has no use for is listed in
`model.notes`. Loops and couplings are those of URDF+. See docs/robots.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import numpy as np

from skodyn.conventions import GROUND
from skodyn.errors import ModelError
from skodyn.faults import Fault, Subject, in_file, shown
from skodyn.io.robots.assembly import Part, assemble, placed_visuals
from skodyn.io.robots.findings import Findings
from skodyn.io.robots.loops import FileCoupling, add_couplings, add_loops, as_couplings
from skodyn.io.robots.meshes import MeshFinder
from skodyn.io.robots.mimics import FileMimic, add_mimics, kept_mimics
from skodyn.io.robots.options import LoadOptions
from skodyn.io.robots.stops import with_stops
from skodyn.io.robots.touching import add_shapes
from skodyn.io.urdf.cycles import (
    as_file_coupling,
    as_file_loop,
    check_ends,
    check_motion,
    tied_links,
)
from skodyn.io.urdf.extensions import mechanism_inside
from skodyn.io.urdf.joints import UrdfJoint, read_joint
from skodyn.io.urdf.links import Link, LinkReader
from skodyn.io.urdf.loops import (
    BALL,
    Tie,
    UrdfCoupling,
    UrdfLoop,
    named_balls,
    read_coupling,
    read_loop,
)
from skodyn.io.urdf.tree import check_mimics, check_tree, joints_from_root
from skodyn.io.urdf.values import AttributeReader, part_of_file
from skodyn.io.urdf.weights import check_masses, judge_inertias, repaired
from skodyn.io.xml_source import Element, XmlSource
from skodyn.model.description import ModelBuilder
from skodyn.model.joints import Free, Joint
from skodyn.model.model import Model
from skodyn.model.name_checks import name_problem
from skodyn.wording import listed

__all__ = ["UrdfFile"]

ROOT_JOINT = "root_joint"
"""What the joint of a free root is called, as in Pinocchio."""

ROBOT = Subject(("robot",), "The robot")

_NOT_USED = {
    "gazebo": "<gazebo> is for that simulator and is not used",
    "transmission": "<transmission> is not used: forces act on joints directly",
    "sensor": "<sensor> is not used",
    "ros2_control": "<ros2_control> is not used",
    "mujoco": "<mujoco> is for that simulator and is not used",
}
VERSIONS = ("1.0", "1.1", "1.2")

Named = TypeVar("Named", Link, UrdfJoint, UrdfLoop, UrdfCoupling)


class UrdfFile:
    """One file on its way to a model; `model` raises ModelError with every fault at once."""

    def __init__(self, source: XmlSource, options: LoadOptions) -> None:
        self.source, self.options = source, options
        self.findings = Findings(options.ignore)
        top = source.root
        self.values = AttributeReader(self.findings, self._version(top))
        if top.tag != "robot":
            problem = f"the outermost element is <{top.tag}>"
            raise ModelError(source.fault(top.line, problem, "a URDF file has <robot>."))
        self.values.check(
            top, ROBOT, attributes=("name", "version"),
            many=("link", "joint", "material", "loop", "coupling", BALL, *_NOT_USED),
        )  # fmt: skip
        self._note_unused(top)
        meshes = MeshFinder(source.path.parent, options.search_paths, self.findings)
        reader = LinkReader(self.values, meshes, {}, options.hulls)
        for element in top.all("material"):
            reader.define(element)
        self.links = self._named(top.all("link"), "Link", reader.read)
        self.joints = self._named(
            top.all("joint"), "Joint", lambda element, name: read_joint(self.values, element, name)
        )

        self.loops = self._named(
            top.all("loop"), "Loop", lambda element, name: read_loop(self.values, element, name)
        )
        self.couplings = self._named(
            top.all("coupling"),
            "Coupling",
            lambda element, name: read_coupling(self.values, element, name),
        )
        taken = (*self.loops, *self.couplings)
        self.loops |= named_balls(self.values, top.all(BALL), taken)

    @property
    def _ties(self) -> list[Tie]:
        return [*self.loops.values(), *self.couplings.values()]

    @property
    def _carriers(self) -> dict[str, UrdfJoint]:
        return {joint.child: joint for joint in self.joints.values()}

    def _note_unused(self, top: Element) -> None:
        if "name" not in top.attributes:
            self.findings.note("The robot has no name; it gets the name of its file.")
        for child in top.children:
            if child.tag in _NOT_USED:
                whose = child.attributes.get("name") or child.attributes.get("reference")
                self.findings.unused(_NOT_USED[child.tag], whose or f"line {child.line}")
                for inner, words in mechanism_inside(child):
                    what = f"The robot has {words} in <{child.tag}>"
                    self.findings.refuse("extension", what, words, inner.line)

    def _version(self, top: Element) -> str:
        """The version of the format, of which 1 is short for 1.0."""
        given = top.attributes.get("version", "1.0")
        found = "1.0" if given == "1" else given
        if found not in VERSIONS:
            problem, remedy = (
                f"{ROBOT} has version {shown(given)}",
                f"skodyn reads {listed(VERSIONS)}.",
            )
            self.findings.fault(top.line, problem, remedy, ROBOT.at("version"), given)
        return found

    def _named(
        self, elements: list[Element], what: str, read: Callable[[Element, str], Named]
    ) -> dict[str, Named]:
        """What was read, by name; a name that is missing or taken is a fault."""
        found: dict[str, Named] = {}
        for element in elements:
            given = element.attributes.get("name")
            if given is None:
                self.findings.fault(element.line, f"A <{element.tag}> has no name", "give it one.")
            elif unfit := name_problem(given):
                self.findings.fault(element.line, f"A <{element.tag}> {unfit[0]}", unfit[1])
            one = read(element, given or f"of line {element.line}")
            if given in found:
                owner = part_of_file(what, given)
                problem = f"{owner} is there twice, first in line {found[given].line}"
                self.findings.fault(element.line, problem, "rename one.", owner)
            elif given is not None:
                found[given] = one
        return found

    # ---- the model ----------------------------------------------------------------------------

    def model(self) -> Model:
        """The model, or a ModelError with every fault of the file."""
        joints = list(self.joints.values())
        root = check_tree(self.links, joints, self.findings)
        check_mimics(self.joints, self.findings)
        ties = check_ends(self._ties, self.links, self.findings)
        in_order = joints_from_root(root, joints) if root is not None else []
        grounded = self._grounded(root, in_order)
        unfit = judge_inertias(self.links, in_order, grounded, self.options.merge_fixed)
        if not self.options.repair_inertia:  # otherwise they are repaired when the model is built
            self.findings.faults += [fault for fault, _ in unfit]
        if root is not None:
            check_motion(ties, self._carriers, self.findings)
            self._check_root(root, in_order)
        properties = {j.name: j.properties for j in joints if j.properties is not None}
        limits = {j.name: j.limits for j in joints if j.limits is not None}
        if limits:
            self.findings.note(
                f"Limits of {len(limits)} joints are in model.limits; velocity and effort do not "
                "act, and positions do as compliant stops if asked for (stops)."
            )
        if self.options.stops:
            lines = {joint.name: joint.limit_line for joint in joints}
            properties = with_stops(properties, limits, self.findings, lines)
        mimics = [joint.mimic for joint in joints if joint.mimic is not None]
        kept = kept_mimics(mimics, self.options.mimic, self.findings)
        self._stop_at_faults()
        couplings, kept = self._coupled(kept)
        assert root is not None  # otherwise there was a fault

        builder = ModelBuilder(name=self.source.root.attributes.get("name", self._stem))
        parts = self._parts(root, in_order)
        ground = () if self.options.root == "free" else (root,)
        carriers = assemble(builder, parts, ground, self.options.merge_fixed)
        add_mimics(builder, kept)
        add_loops(builder, map(as_file_loop, self.loops.values()), carriers)
        add_couplings(builder, couplings)
        if "contact" not in self.options.ignore:
            used = [name for name in self.links if name in carriers]
            add_shapes(builder, (s for name in used for s in self.links[name].shapes), carriers)
        shown = parts if self.options.root == "free" else [self._part(root, GROUND), *parts]
        built = self._built(builder)
        return replace(
            built,
            joint_properties=properties,
            limits=limits,
            visuals=placed_visuals(shown, carriers),
            notes=self.findings.notes,
            repairs=tuple(map(str, in_file(self.source.path, repaired(unfit)))),
        )

    def _coupled(self, mimics: list[FileMimic]) -> tuple[list[FileCoupling], list[FileMimic]]:
        """(couplings, mimics): beside loops and couplings mimics are couplings, too."""
        carriers = self._carriers
        couplings = [as_file_coupling(one, carriers) for one in self.couplings.values()]
        if not self._ties:
            return couplings, mimics
        taken = [tie.name for tie in self._ties]
        return couplings + as_couplings(mimics, taken, couplings, self.findings), []

    @property
    def _stem(self) -> str:
        return self.source.path.stem

    def _grounded(self, root: str | None, in_order: list[UrdfJoint]) -> set[str]:
        """The links that are one with the world, whose inertia therefore does not matter."""
        if root is None or self.options.root == "free":
            return set()
        found = {root}
        for joint in in_order:
            if not joint.moves and joint.parent in found and self.options.merge_fixed:
                found.add(joint.child)
        for name in found:
            if self.links[name].inertia_line:
                self.findings.unused("Inertia of what is fixed to the world does not matter", name)
        return found

    def _check_root(self, root: str, in_order: list[UrdfJoint]) -> None:
        line = self.links[root].line
        is_ground = self.options.root == "fixed"
        for name in (name for name in self.links if name == GROUND):
            if not (is_ground and name == root):
                owner = self.links[name].owner
                remedy = (
                    'rename it, or load it with root="fixed".' if name == root else "rename it."
                )
                problem = f"{owner} has the name of the ground"
                self.findings.fault(self.links[name].line, problem, remedy, owner)
        if is_ground and not any(joint.moves for joint in in_order):
            remedy = 'load it with root="free", or give it a joint that moves'
            self.findings.fault(line, "Nothing in this robot can move", f"{remedy}.")
        tied = tied_links(self._ties, self._carriers)
        check_masses(self.links, root, in_order, is_ground, tied, self.findings)

    def _stop_at_faults(self) -> None:
        if self.findings.faults:
            raise ModelError(in_file(self.source.path, self.findings.faults))

    def _parts(self, root: str, in_order: list[UrdfJoint]) -> list[Part]:
        """All parts but the world, parents first."""
        parts = []
        if self.options.root == "free":
            name = ROOT_JOINT if ROOT_JOINT not in self.joints else f"{ROOT_JOINT} of {root}"
            parts.append(replace(self._part(root, GROUND), joint=Free(name=name)))
        for joint in in_order:
            parts.append(
                replace(
                    self._part(joint.child, joint.parent, joint.described()),
                    rotation=joint.rotation,
                    translation=joint.translation,
                )
            )
        return parts

    def _part(self, name: str, parent: str, joint: Joint | None = None) -> Part:
        link = self.links[name]
        return Part(
            name, parent, joint or Free(), np.eye(3), np.zeros(3), link.weight, link.visuals
        )

    def _built(self, builder: ModelBuilder) -> Model:
        """What the builder still refuses is told with the line of what it speaks of."""
        try:
            return builder.build(repair_inertia=self.options.repair_inertia)
        except ModelError as error:
            found = [replace(fault, line=self._line(fault)) for fault in error.faults]
            raise ModelError(in_file(self.source.path, found)) from None

    def _line(self, fault: Fault) -> int:
        """Where the part stands that a fault of the model is one of."""
        group, name = fault.path[:2] if len(fault.path) > 1 else ("", "")
        if group == "loops" and name in self.loops:
            return self.loops[str(name)].line
        if group == "couplings" and name in self.couplings:
            return self.couplings[str(name)].line
        if fault.joint in self.joints:
            return self.joints[fault.joint].line
        link = self.links.get(fault.body)
        return link.line if link else self.source.root.line
