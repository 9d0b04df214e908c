"""The builder of models: it collects what a person describes, and `build` judges it all at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skodyn.conventions import DEFAULT_GRAVITY, GROUND
from skodyn.errors import ModelError
from skodyn.faults import Fault
from skodyn.model.builder_entries import (
    BodyDescription,
    CollisionDescription,
    CouplingDescription,
    FrameDescription,
    LinkDescription,
    LoopDescription,
    MimicDescription,
    VisualDescription,
)
from skodyn.model.joints import Fixed, Joint
from skodyn.model.keywords import keywords_checked
from skodyn.model.shapes import Surface, Touching

if TYPE_CHECKING:
    from skodyn.model.flexible.beams import Beam
    from skodyn.model.flexible.modal_body import FlexibleBody
    from skodyn.model.model import Model

__all__ = ["ModelBuilder"]

_ORIGIN = (0.0, 0.0, 0.0)
_NO_INERTIA = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


class ModelBuilder:
    """Collects bodies in any order; `build` checks them all at once and packs them.

    Parameters
    ----------
    gravity : sequence of 3 floats
        In world axes, m/s².
    name : str
        Name of the model.

    See Also
    --------
    load : a model from a file.

    Examples
    --------
    >>> b = sk.ModelBuilder()
    >>> b.add_body("arm", "world", sk.Revolute(axis=(0, 1, 0)), mass=1.0, com=(0, 0, -0.5))
    >>> model = b.build()
    >>> model.nv
    1
    """

    @keywords_checked()
    def __init__(self, gravity: Sequence[float] = DEFAULT_GRAVITY, name: str = "model") -> None:
        self.name = name
        self.gravity = gravity
        self.bodies: list[BodyDescription] = []
        self.frames: list[FrameDescription] = []
        self.mimics: list[MimicDescription] = []
        self.loops: list[LoopDescription] = []
        self.couplings: list[CouplingDescription] = []
        self.links: list[LinkDescription] = []
        self.joints: list[LoopDescription] = []
        self.collisions: list[CollisionDescription] = []
        self.visuals: list[VisualDescription] = []

    @keywords_checked()
    def add_body(
        self,
        name: str,
        parent: str = GROUND,
        joint: Joint | None = None,
        *,
        translation: Sequence[float] = _ORIGIN,
        rotation: Any = None,
        mass: float = 0.0,
        com: Sequence[float] = _ORIGIN,
        inertia: Any = _NO_INERTIA,
        flexible: Beam | FlexibleBody | None = None,
        at: str | None = None,
    ) -> None:
        """Add a body and the joint that carries it; it is checked in `build`.

        Parameters
        ----------
        name : str
            Name of the body.
        parent : str
            Name of the body that carries it, or "world".
        joint : Joint, optional
            How it moves; fixed by default.
        translation : sequence of 3 floats
            Where the joint sits, in the parent's frame, m.
        rotation : array_like, optional
            A 3×3 rotation matrix, or a unit quaternion (w, x, y, z), from joint axes
            to the parent's.
        mass : float
            kg.
        com : sequence of 3 floats
            Centre of mass in body axes from the body's origin, m.
        inertia : array_like
            About the centre of mass in body axes: 3×3, or three principal moments, kg m².
        flexible : Beam or FlexibleBody, optional
            How it bends; mass, com and inertia are then those of the beam.
        at : str, optional
            The node of a flexible parent that the joint sits at; translation and rotation are
            those from this node.
        """
        carried_by = Fixed() if joint is None else joint
        placed = (name, parent, carried_by, translation, rotation)
        self.bodies.append(BodyDescription(*placed, mass, com, inertia, flexible, at))

    @keywords_checked()
    def add_frame(
        self,
        name: str,
        body: str,
        *,
        translation: Sequence[float] = _ORIGIN,
        rotation: Any = None,
        at: str | None = None,
    ) -> None:
        """Add a named frame fixed in a body, or in the world.

        Parameters
        ----------
        name : str
            Name of the frame.
        body : str
            Name of the body, or "world".
        translation : sequence of 3 floats
            In body axes from the body's origin, m.
        rotation : array_like, optional
            A 3×3 rotation matrix, or a unit quaternion (w, x, y, z).
        at : str, optional
            The node of a flexible body that the frame is fixed to, and placed from.
        """
        self.frames.append(FrameDescription(name, body, translation, rotation, at))

    @keywords_checked()
    def add_mimic(
        self, joint: str, source: str, multiplier: float = 1.0, offset: float = 0.0
    ) -> None:
        """Let a joint follow another one exactly: q = multiplier·q_source + offset.

        Both have one coordinate (revolute, prismatic or helical), anywhere in the tree. The joint
        is then no part of the state. Its source may itself mimic a third.

        Parameters
        ----------
        joint : str
            The joint that follows.
        source : str
            The joint it follows.
        multiplier : float
            How much for each unit of the source.
        offset : float
            rad or m.
        """
        self.mimics.append(MimicDescription(joint, source, multiplier, offset))

    @keywords_checked()
    def add_loop(
        self,
        name: str,
        body_a: str,
        body_b: str,
        joint: Joint,
        *,
        translation_a: Sequence[float] = _ORIGIN,
        rotation_a: Any = None,
        translation_b: Sequence[float] = _ORIGIN,
        rotation_b: Any = None,
    ) -> None:
        """Close a loop: join a frame in one body to a frame in another.

        The joint is any but `Free`, or a `Rod`; it has no coordinate. Its axes are those of the
        frames, which coincide when it is at its neutral position.

        Parameters
        ----------
        name : str
            Name of the loop.
        body_a : str
            Name of a body, or "world".
        body_b : str
            Name of the other.
        joint : Joint
            What the closure lets free.
        translation_a : sequence of 3 floats
            The frame in body a, m.
        rotation_a : array_like, optional
            A 3×3 rotation matrix, or a unit quaternion (w, x, y, z).
        translation_b : sequence of 3 floats
            The frame in body b, m.
        rotation_b : array_like, optional
            As rotation_a.
        """
        self.loops.append(
            LoopDescription(
                name, body_a, body_b, joint, translation_a, rotation_a, translation_b, rotation_b
            )
        )

    @keywords_checked()
    def add_coupling(
        self,
        name: str,
        joint: str | None = None,
        source: str | None = None,
        coefficients: Sequence[float] | None = None,
        *,
        terms: Mapping[str, float] | None = None,
        offset: float = 0.0,
    ) -> None:
        """Tie joint coordinates to each other, exactly; each joint stays part of the state.

        Either q = c₀ + c₁·q_source + … up to degree 4 (without a source: q = c₀), or, with terms,
        Σ factor·q = offset of two or more joints. Joints have one coordinate each.

        Parameters
        ----------
        name : str
            Name of the coupling.
        joint : str, optional
            The joint that depends.
        source : str, optional
            The joint it depends on.
        coefficients : sequence of float, optional
            c₀, c₁, … of the polynomial.
        terms : mapping of str to float, optional
            Factors by joint.
        offset : float
            What the terms add up to.
        """
        self.couplings.append(CouplingDescription(name, joint, source, coefficients, terms, offset))

    @keywords_checked()
    def add_link(
        self,
        name: str,
        *,
        mass: float = 0.0,
        com: Sequence[float] = _ORIGIN,
        inertia: Any = _NO_INERTIA,
    ) -> None:
        """Add a body without saying what carries it; joints to it are added by `add_joint`.

        All that is placed in the link (com, inertia, joints, loops, frames, bodies) is given in
        axes of one's own choice. In the model its body frame is that of the joint which carries it;
        poses, Jacobians, wrenches and `model.frames` refer to that frame.
        """
        self.links.append(LinkDescription(name, mass, com, inertia))

    @keywords_checked()
    def add_joint(
        self,
        name: str,
        body_a: str,
        body_b: str,
        joint: Joint,
        *,
        translation_a: Sequence[float] = _ORIGIN,
        rotation_a: Any = None,
        translation_b: Sequence[float] = _ORIGIN,
        rotation_b: Any = None,
    ) -> None:
        """Join a frame in body_a to one in body_b: links, bodies or "world", in any order.

        `build` finds out which joints carry links and which close loops. One that carries has
        coordinates, those of frame B as seen from frame A, whichever of the two hangs on the other.
        """
        self.joints.append(
            LoopDescription(
                name, body_a, body_b, joint, translation_a, rotation_a, translation_b, rotation_b
            )
        )

    @keywords_checked()
    def add_collision(
        self,
        body: str,
        shape: Touching,
        *,
        translation: Sequence[float] = _ORIGIN,
        rotation: Any = None,
        name: str | None = None,
        surface: Surface | None = None,
    ) -> None:
        """Give a body (or "world") a shape that can touch others, placed in its body frame.

        name: by it contacts speak of the shape, as "body/name"; by default its type, "sphere",
        "sphere2" … Shapes touch nothing until a contact says so. surface: what a robot file says of
        it.
        """
        self.collisions.append(
            CollisionDescription(name, body, shape, translation, rotation, surface)
        )

    @keywords_checked()
    def add_visual(
        self,
        body: str,
        shape: Touching,
        *,
        translation: Sequence[float] = _ORIGIN,
        rotation: Any = None,
        name: str | None = None,
        color: str | Sequence[float] | None = None,
    ) -> None:
        """Give a body (or "world") a shape to look at, placed in its body frame.

        It weighs nothing, touches nothing and changes no result. name: by default its type, "box",
        "box2" … color: "#RRGGBB", or red, green, blue and perhaps alpha from 0 to 1; by default one
        that tells the body from others. With an alpha of 0 it is not drawn.
        """
        self.visuals.append(VisualDescription(name, body, shape, translation, rotation, color))

    @keywords_checked()
    def build(self, *, cut: Iterable[str] = (), repair_inertia: bool = False) -> Model:
        """The frozen, packed model.

        Parameters
        ----------
        cut : iterable of str
            Joints of `add_joint` that shall close loops. Others are cut as needed, so that the tree
            is shallow; never those that are free, have armature or are named by a coupling.
        repair_inertia : bool
            Replace an invalid inertia by the nearest valid one instead of refusing it, and list it
            in `model.repairs`.

        Returns
        -------
        model : Model

        Raises
        ------
        ModelError
            Every fault at once.
        """
        from skodyn.model.flexible.bent import Bent  # these build on this file
        from skodyn.model.mechanisms.mechanism import resolved
        from skodyn.model.name_checks import name_problem
        from skodyn.model.packing import pack

        unfit = name_problem(self.name)
        described, faults = resolved(self, cut)
        bent = Bent(described)
        plain = all(b.flexible is None and b.at is None for b in described.bodies)
        if not plain or any(f.at is not None for f in described.frames):
            from skodyn.model.flexible.bending import bend  # few models need it

            bent = bend(described, faults)
        if unfit:
            faults.insert(0, Fault(f"The model {unfit[0]}", unfit[1], ("name",), self.name))
        try:
            model = pack(bent.builder, repair_inertia)
        except ModelError as error:
            said = {str(fault) for fault in faults}
            more = [other for other in error.faults if str(other) not in said]
            raise ModelError(faults + more) from None
        if faults:
            raise ModelError(faults)
        return bent.finished(model)
