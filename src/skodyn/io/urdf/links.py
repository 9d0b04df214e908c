"""<link>: inertia about the centre of mass in axes of the link, and shapes to look at."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skodyn.faults import Subject
from skodyn.io.robots.assembly import WEIGHTLESS, Weight
from skodyn.io.robots.meshes import MeshFinder, mesh_vertices
from skodyn.io.robots.touching import FileShape, has_size, hull_points
from skodyn.io.urdf.proximity import read_proximity
from skodyn.io.urdf.values import AttributeReader, part_of_file
from skodyn.io.xml_source import Element
from skodyn.model.products import product
from skodyn.model.shapes import Box, Capsule, Cylinder, Mesh, Shape, Sphere, Touching, Visual

__all__ = ["Link", "LinkReader"]

Color = tuple[float, float, float, float]

_TENSOR = (("ixx", "ixy", "ixz"), ("ixy", "iyy", "iyz"), ("ixz", "iyz", "izz"))
_MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
_DRAKE = "drake:proximity_properties"
_OTHER_LAWS = ("surface",)
_UNUSED_IN_COLLISION = ("verbose", "contact_coefficients", "max_contacts")
_SHAPES = ("box", "cylinder", "sphere", "capsule", "mesh")
_TOUCHES = "<collision> touches only in runs with contacts; shapes are in model.collisions"
_NO_SIZE = "<collision> of no size touches nothing"
_ROUNDED = "A cylinder is the capsule that <collision_checking> makes of it"


@dataclass
class Link:
    """What a <link> says; `inertia_line` is 0 without an <inertial>."""

    name: str
    line: int
    weight: Weight = WEIGHTLESS
    inertia_line: int = 0
    unreadable: bool = False  # the <inertial>, which is a fault already
    visuals: tuple[Visual, ...] = ()
    shapes: tuple[FileShape, ...] = ()  # that can touch

    @property
    def owner(self) -> Subject:
        return part_of_file("Link", self.name)


class LinkReader:
    """Reads links; materials with a name may be defined before or after their use."""

    def __init__(
        self, values: AttributeReader, meshes: MeshFinder, materials: dict[str, Color], hulls: bool
    ) -> None:
        self.hulls = hulls
        self.values = values
        self.findings = values.findings
        self.meshes = meshes
        self.materials = materials

    def read(self, element: Element, name: str) -> Link:
        owner = part_of_file("Link", name)
        self.values.check(
            element, owner, attributes=("name",), once=("inertial",), many=("visual", "collision")
        )
        link = Link(name, element.line)
        if (inertial := element.first("inertial")) is not None:
            before = len(self.findings.faults)
            link.inertia_line = inertial.line
            link.weight = self._weight(inertial, owner)
            link.unreadable = len(self.findings.faults) > before
        touching = (self._collision(one, owner, name) for one in element.all("collision"))
        shapes = (one for one in touching if one is not None)
        link.shapes = tuple(self._rounded(one, element) for one in shapes)
        if link.shapes:
            self.findings.unused(_TOUCHES, name)
        shown = (self._visual(visual, owner) for visual in element.all("visual"))
        link.visuals = tuple(visual for visual in shown if visual is not None)
        return link

    # ---- inertia ------------------------------------------------------------------------------

    def _weight(self, inertial: Element, owner: Subject) -> Weight:
        """Without a mass or an inertia there is a fault, and zero in their place."""
        self.values.check(inertial, owner, once=("origin", "mass", "inertia"))
        rotation, com = self.values.pose(inertial, owner)
        mass, moments = inertial.first("mass"), inertial.first("inertia")
        for tag, found in (("mass", mass), ("inertia", moments)):
            if found is None:
                problem, remedy = (
                    f"{owner}: <inertial> has no <{tag}>",
                    "add it, or remove <inertial>.",
                )
                self.findings.fault(inertial.line, problem, remedy, owner.at("inertial"))
        kilograms = None
        if mass is not None:
            self.values.check(mass, owner, attributes=("value",))
            kilograms = self.values.number(mass, "value", owner, least=0.0)
        tensor = np.zeros((3, 3))
        if moments is not None:
            self.values.check(moments, owner, attributes=_MOMENTS)
            read = {key: self.values.number(moments, key, owner) or 0.0 for key in _MOMENTS}
            tensor = np.array([[read[key] for key in row] for row in _TENSOR])
        turned = product(product(rotation, tensor), rotation.T)
        return Weight(kilograms or 0.0, com, 0.5 * (turned + turned.T))

    # ---- shapes -------------------------------------------------------------------------------

    def _visual(self, element: Element, owner: Subject) -> Visual | None:
        self.values.check(
            element, owner, attributes=("name",), once=("origin", "geometry", "material")
        )
        rotation, translation = self.values.pose(element, owner)
        shape = self._shape(element, owner)
        material = element.first("material")
        color = self._color(material, owner) if material is not None else None
        if shape is None:
            return None
        return Visual(shape, rotation, translation, color, element.attributes.get("name", ""))

    def _collision(self, element: Element, owner: Subject, name: str) -> FileShape | None:
        """A shape that can touch; what it may hold besides, for other programs, is noted."""
        self.values.check(
            element, owner, attributes=("name", "group"),
            once=("origin", "geometry", "material", _DRAKE, *_OTHER_LAWS, *_UNUSED_IN_COLLISION),
        )  # fmt: skip
        for law in (tag for tag in _OTHER_LAWS if element.first(tag) is not None):
            self.findings.unused(f"<{law}> is not used; [contacts] says by what law", name)
        rotation, translation = self.values.pose(element, owner)
        geometry = element.first("geometry")
        if geometry is None or not geometry.children:
            self.findings.unused("<collision> without a shape touches nothing", name)
            return None
        shape: Touching | None = self._shape(element, owner)
        if shape is None:
            return None
        if not has_size(shape):
            self.findings.unused(_NO_SIZE, name)
            return None
        if isinstance(shape, Mesh) and self.hulls:
            shape = self._hull(shape, name)
        if shape is None:
            return None
        surface = None
        if (given := element.first(_DRAKE)) is not None:
            surface = read_proximity(self.values, given, owner)
            self.findings.unused(f'<{_DRAKE}> is for contacts with proximity = "drake"', name)
        own = element.attributes.get("name", "")
        return FileShape(name, shape, rotation, translation, own, surface)

    def _rounded(self, given: FileShape, link: Element) -> FileShape:
        """Pinocchio's <collision_checking> names cylinders that are capsules of the same sizes."""
        capsules = [one for part in link.all("collision_checking") for one in part.all("capsule")]
        named = given.name and given.name in (one.attributes.get("name") for one in capsules)
        if not named or not isinstance(given.shape, Cylinder):
            return given
        self.findings.unused(_ROUNDED, given.part)
        return replace(given, shape=Capsule(given.shape.radius, given.shape.length))

    def _hull(self, mesh: Mesh, link: str) -> Touching | None:
        if mesh.path is None:
            self.findings.unused("Collision meshes that are not found do not touch", link)
            return mesh
        vertices = mesh_vertices(str(mesh.path), self.findings)
        if vertices is None:
            return mesh
        return hull_points(vertices * np.array(mesh.scale), mesh.filename, self.findings)

    def _shape(self, visual: Element, owner: Subject) -> Shape | None:
        geometry = visual.first("geometry")
        forms = [c for c in geometry.children if c.tag in _SHAPES] if geometry is not None else []
        if geometry is not None:
            self.values.check(geometry, owner, attributes=("name",), many=_SHAPES)
        if len(forms) != 1:
            what = f"{len(forms)} shapes" if forms else "no shape"
            remedy = f"give one <geometry> with one of {', '.join(_SHAPES)}"
            self.findings.fault(
                visual.line, f"{owner}: <{visual.tag}> has {what}", f"{remedy}.", owner
            )
            return None
        return self._form(forms[0], owner)

    def _form(self, form: Element, owner: Subject) -> Shape | None:
        if form.tag == "mesh":
            return self._mesh(form, owner)
        if form.tag == "box":
            self.values.check(form, owner, attributes=("size",))
            size = self.values.vector(form, "size", owner, None)
            if size is not None and (size < 0.0).any():
                given = form.attributes["size"]
                problem, whose = f"{owner}: <box> has size {given!r}", owner.at("box", "size")
                self.findings.fault(form.line, problem, "give lengths of at least 0.", whose, given)
            return None if size is None else Box(_three(size))
        keys = ("radius",) if form.tag == "sphere" else ("radius", "length")
        self.values.check(form, owner, attributes=keys)
        read = [self.values.number(form, key, owner, least=0.0) for key in keys]
        if None in read:
            return None
        numbers = [float(x) for x in read if x is not None]
        if form.tag == "sphere":
            return Sphere(*numbers)
        return Cylinder(*numbers) if form.tag == "cylinder" else Capsule(*numbers)

    def _mesh(self, form: Element, owner: Subject) -> Mesh | None:
        self.values.check(form, owner, attributes=("filename", "scale"))
        name = self.values.text(form, "filename", owner, "name the mesh file")
        scale = self.values.vector(form, "scale", owner, np.ones(3))
        if name is None or scale is None:
            return None
        return Mesh(name, self.meshes.find(name), _three(scale))

    # ---- materials ----------------------------------------------------------------------------

    def define(self, element: Element) -> None:
        """A <material> at the top of the file."""
        name = element.attributes.get("name", "")
        owner = part_of_file("Material", name)
        if not name.strip():
            self.findings.fault(element.line, "A <material> has no name", "give it one.")
        color = self._color(element, owner)
        if name in self.materials and color is not None and color != self.materials[name]:
            remedy = "rename one of them"
            problem = f"{owner} is defined twice, differently"
            self.findings.fault(element.line, problem, f"{remedy}.", owner)
        if color is not None:
            self.materials.setdefault(name, color)

    def _color(self, element: Element, owner: Subject) -> Color | None:
        self.values.check(element, owner, attributes=("name",), once=("color", "texture"))
        name = element.attributes.get("name", "")
        if element.first("texture") is not None:
            self.findings.unused("<texture> is not used", name or str(owner))
        color = element.first("color")
        if color is None:
            if name not in self.materials and element.first("texture") is None:
                self.findings.unused("Materials without a color are drawn in any", name)
            return self.materials.get(name)
        self.values.check(color, owner, attributes=("rgba",))
        rgba = self.values.vector(color, "rgba", owner, None, 4)
        if rgba is None:
            return None
        red, green, blue, alpha = np.clip(rgba, 0.0, 1.0).tolist()
        found = (red, green, blue, alpha)
        if name.strip():
            self.materials.setdefault(name, found)
        return found


def _three(numbers: object) -> tuple[float, float, float]:
    x, y, z = np.asarray(numbers).tolist()
    return (x, y, z)
