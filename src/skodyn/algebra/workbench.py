"""The workbench: every operator of one SKO model under the papers' names.

Jain 2011-II: H, φ (there 𝔸), M and ℰ_φ section 2.1; R eq. 20; P, D, G, τ, τ̄ and P⁺ eqs. 32, 33;
ℰ_ψ and ψ eqs. 34 and 35; K = ℰ_φG (eq. 37 prints ℰ_ψG, which is zero); Υ and Ω section 6.2, eqs. 24
and 60. What several of them need, such as the Riccati solution, is computed once, when needed.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from skodyn import sko
from skodyn.algebra.composite import Identity, product
from skodyn.algebra.expression import Operator
from skodyn.algebra.leaves import Diagonal, Edges, Named, Pickoff, Propagator
from skodyn.algebra.spaces import Space
from skodyn.algebra.vectors import StackedVector
from skodyn.conventions import JointKind
from skodyn.errors import StateError
from skodyn.forks import cached_property
from skodyn.model.model import Frame
from skodyn.sko import Riccati, SKOModel
from skodyn.sko.blocks import Blocks, Floats
from skodyn.topology import Tree

if TYPE_CHECKING:
    from skodyn.algebra.covariances import Covariances
    from skodyn.algebra.given_derivative import GivenDerivative
    from skodyn.algebra.parts import Parts
    from skodyn.algebra.sensitivities import Derivative

__all__ = ["Origin", "Workbench"]


@dataclass(frozen=True, eq=False)
class Origin:
    """Where a workbench comes from."""

    title: str
    fingerprint: tuple[object, ...]  # equal ones may be mixed
    rotation: Floats | None = None  # of rigid bodies, (n, 3, 3), for points in body axes
    joint_names: tuple[str, ...] = ()  # of rigid bodies; what derivatives need to know of joints
    joint_kinds: tuple[JointKind, ...] = ()
    frames: Mapping[str, Frame] = field(default_factory=dict)  # of rigid bodies, by name


class Workbench:
    """`ops.H @ ops.phi @ ops.M @ ops.phi.T @ ops.H.T` and whatever else can be typed.

    Made by `sk.operators`. N is the length of a stacked vector over the nodes, nv the number of
    degrees of freedom. Operators are lazy; a, b and V are stacked vectors.
    """

    def __init__(self, model: SKOModel, origin: Origin, rates: Floats | None) -> None:
        self.model, self.origin, self.rates = model, origin, rates
        self.notes: dict[str, float] = {}  # numbers worth keeping, such as the condition number
        find = model.tree.resolve
        self.node_space = Space("node", "N", model.sizes, find, tree=model.tree)
        self.joint_space = Space("joint", "nv", model.dofs, find, tree=model.tree)

    # ---- what was given -----------------------------------------------------------------------

    @property
    def tree(self) -> Tree:
        """The tree of the bodies."""
        return self.model.tree

    @property
    def bodies(self) -> tuple[Hashable, ...]:
        """The names, in the order of stacked vectors."""
        return self.model.names

    @cached_property
    def H(self) -> Diagonal:
        """Joint maps H, nv × N, block-diagonal: H.T turns joint rates into body velocities."""
        return self._diagonal("H", "H", lambda b: b.model.H, self.joint_space, self.node_space)

    @cached_property
    def M(self) -> Diagonal:
        """Spatial inertias, N × N, block-diagonal."""
        return self._inertia("M", r"\mathbf{M}", lambda b: b.model.M)

    @cached_property
    def E_phi(self) -> Edges:
        """ℰ_φ, N × N: parent from child."""
        return self._edges("E_phi", r"\mathcal{E}_\phi", lambda b: b.model.weights)

    @cached_property
    def phi(self) -> Propagator:
        """φ = (I − ℰ_φ)⁻¹, N × N."""
        return Propagator("phi", r"\phi", self.E_phi)

    @cached_property
    def phi_tilde(self) -> Propagator:
        """φ̃ = φ − I."""
        return Propagator("phi_tilde", r"\tilde{\phi}", self.E_phi, self.phi)

    @cached_property
    def Id(self) -> Identity:
        """I of whichever space it is used in."""
        return Identity(self)

    @cached_property
    def a(self) -> StackedVector:
        """Coriolis accelerations, a stacked vector."""
        return StackedVector(self.model.a, self, self.node_space)

    @cached_property
    def b(self) -> StackedVector:
        """Gyroscopic forces with gravity, a stacked vector."""
        return StackedVector(self.model.b, self, self.node_space)

    @cached_property
    def V(self) -> StackedVector:
        """φ*H*θ̇, the velocities of the nodes."""
        if self.rates is None:
            raise StateError("V needs generalised velocities", "give v= to sk.operators.")
        velocity: StackedVector = self.phi.T @ (self.H.T @ self.rates)
        return velocity

    # ---- what follows -------------------------------------------------------------------------

    @cached_property
    def solution(self) -> Riccati:
        """Of the Riccati equation (eq. 33), by one gather."""
        return sko.riccati(self.model)

    @cached_property
    def R(self) -> Diagonal:
        """Composite body inertias, N × N, block-diagonal."""
        return self._inertia("R", r"\mathcal{R}", lambda b: sko.composite_inertias(b.model))

    @cached_property
    def P(self) -> Diagonal:
        """Articulated body inertias, N × N, block-diagonal, from the Riccati equation."""
        return self._inertia("P", r"\mathcal{P}", lambda b: b.solution.P)

    @cached_property
    def P_plus(self) -> Diagonal:
        """P⁺ = τ̄P, what P passes inward through the joints."""
        return self._inertia("P_plus", r"\mathcal{P}^+", lambda b: b.solution.P_plus)

    @cached_property
    def D(self) -> Diagonal:
        """D = HPH*, nv × nv, block-diagonal."""
        joint = self.joint_space
        return self._diagonal(
            "D", r"\mathcal{D}", lambda b: b.solution.D, joint, joint
        ).symmetrical()

    @cached_property
    def G(self) -> Diagonal:
        """G = PH*D⁻¹, N × nv, block-diagonal."""
        make = lambda b: b.solution.G  # noqa: E731
        return self._diagonal("G", r"\mathcal{G}", make, self.node_space, self.joint_space)

    @cached_property
    def tau(self) -> Diagonal:
        """τ = GH, N × N, block-diagonal projection."""
        return self._square("tau", r"\tau", lambda b: b.solution.tau)

    @cached_property
    def tau_bar(self) -> Diagonal:
        """τ̄ = I − τ."""
        return self._square("tau_bar", r"\bar{\tau}", lambda b: b.solution.tau_bar)

    @cached_property
    def K(self) -> Edges:
        """K = ℰ_φG, N × nv."""
        return self._edges("K", r"\mathcal{K}", lambda b: b.solution.K, self.joint_space)

    @cached_property
    def E_psi(self) -> Edges:
        """ℰ_ψ = ℰ_φτ̄, N × N."""
        return self._edges("E_psi", r"\mathcal{E}_\psi", lambda b: b.solution.psi)

    @cached_property
    def psi(self) -> Propagator:
        """ψ = (I − ℰ_ψ)⁻¹, N × N."""
        return Propagator("psi", r"\psi", self.E_psi)

    @cached_property
    def psi_tilde(self) -> Propagator:
        """ψ̃ = ψ − I."""
        return Propagator("psi_tilde", r"\tilde{\psi}", self.E_psi, self.psi)

    @cached_property
    def Upsilon(self) -> Diagonal:
        """Operational space compliances of the bodies, the block diagonal of Ω."""
        make = lambda b: sko.node_compliances(b.model, b.solution)  # noqa: E731
        return self._inertia("Upsilon", r"\Upsilon", make)

    @cached_property
    def Omega(self) -> Named:
        """ψ*H*D⁻¹Hψ, the extended operational space compliance."""
        whole = self.psi.T @ self.H.T @ self.D.inverse() @ self.H @ self.psi
        return Named("Omega", r"\Omega", whole, symmetric=True)

    @property
    def covariances(self) -> Covariances:
        """Covariances and estimators of x = φw, T = Hx with cov w = M, as operators."""
        from skodyn.algebra.covariances import Covariances

        return Covariances(self)

    # ---- made on request ------------------------------------------------------------------------

    def pickoff(self, nodes: Any) -> Pickoff:
        """𝔅 (N × 6k) for k points [(body, point in body axes), …]; 𝔅.T @ φ.T @ H.T is the Jacobian.

        On an SKO model: nodes, or (node, matrix of as many rows as the node has velocities).
        """
        from skodyn.algebra.pickoffs import pickoff

        return pickoff(self, nodes)

    def derivative(self, joint: Hashable, dof: int | None = None) -> Derivative:
        """Derivatives of all operators along a degree of freedom of a joint (PyCraft section 5).

        joint: by its own or its body's name. dof: its number in the joint, if there are several.
        `ops.derivative("elbow").mass_matrix`; along velocity directions, at q ⊞ ε e.
        """
        from skodyn.algebra.direction import locate
        from skodyn.algebra.sensitivities import Derivative

        return Derivative(self, *locate(self, joint, dof))

    def block_diagonal(
        self,
        name: str,
        blocks: Any,
        *,
        rows: str = "node",
        cols: str = "node",
        symbol: str | None = None,
        derivative: Any = None,
    ) -> Diagonal:
        """A block-diagonal operator of your own, which expressions take as any other.

        blocks: a function of a body's name, a dict by name (others zero), a list, one matrix for
        all, or a number. rows, cols: "node" or "joint". derivative: how it changes along a
        direction, for `ops.derivative(…).of`: 0 if it does not, or a function that is given
        `ops.derivative(…)` and says the blocks.
        """
        from skodyn.algebra.own import block_diagonal

        return block_diagonal(self, name, blocks, (rows, cols), symbol, derivative)

    def kernel(
        self, name: str, weights: Any, *, symbol: str | None = None, derivative: Any = None
    ) -> Edges:
        """An SKO operator ℰ of your own, from weights 𝔸(℘(k), k) given as for `block_diagonal`.

        Its SPO operator 𝔸 is `ops.propagator(name, kernel)`, or (Id - kernel).inverse().
        """
        from skodyn.algebra.own import kernel

        return kernel(self, name, weights, symbol, derivative)

    def propagator(self, name: str, kernel: Operator, *, symbol: str | None = None) -> Propagator:
        """The SPO operator (I − ℰ)⁻¹ of an ℰ such as `kernel` makes, or `E_phi @ tau_bar`."""
        from skodyn.algebra.own import propagator

        return propagator(self, name, kernel, symbol)

    def segments(self) -> Parts:
        """ℰ, 𝔸, H, M and 𝓜 by serial segments, as operators (Jain 2011-II eqs. 61 to 63)."""
        from skodyn.algebra.parts import segments_of

        return segments_of(self)

    def partition(self, nodes: Any) -> Parts:
        """The same by the parts that a path-induced set of nodes makes (Jain 2012-I eqs. 22–27)."""
        from skodyn.algebra.parts import partition_of

        return partition_of(self, nodes)

    def given_derivative(
        self, A: Any = None, H: Any = None, M: Any = None, *, name: str = "s"
    ) -> GivenDerivative:
        """Derivatives of all operators by a number s, from those of the model's blocks.

        A, H, M: d𝔸(℘(k), k)/ds, dH(k)/ds and dM(k)/ds, given as for `block_diagonal`; what is left
        out does not change. For SKO models, which do not say how they change, and for masses,
        lengths and other parameters.
        """
        from skodyn.algebra.given_derivative import GivenDerivative

        return GivenDerivative(self, A, H, M, name)

    def stacked_vector(self, values: ArrayLike | Mapping[Hashable, Any] = 0.0) -> StackedVector:
        """A vector over the nodes: of an array, one number, or parts by name (others zero)."""
        return self._vector(values, self.node_space)

    def joint_vector(self, values: ArrayLike | Mapping[Hashable, Any] = 0.0) -> StackedVector:
        """A vector over the degrees of freedom, such as 𝒯: given as for `stacked_vector`."""
        return self._vector(values, self.joint_space)

    def typed(self, words: tuple[str, ...]) -> Operator:
        """The product of operators given by name, starred as `H.T`."""
        named: list[Operator] = [getattr(self, word.removesuffix(".T")) for word in words]
        starred = [op.T if w.endswith(".T") else op for op, w in zip(named, words, strict=True)]
        return reduce(product, starred)

    def given(self, blocks: Blocks) -> Blocks:
        """Numbers that a user gave, as they are; `Sample` has them rounded otherwise."""
        return blocks

    def tried(self, x: Floats) -> Floats:
        """Vectors to try an operator on, as they are; `Sample` takes others."""
        return x

    def measured(self, y: Floats) -> Floats:
        """What an operator makes of the vectors asked for, from what it makes of those tried."""
        return y

    @cached_property
    def samples(self) -> tuple[Workbench, ...]:
        """The same model with every number rounded otherwise: what is rounding differs there."""
        from skodyn.algebra.samples import samples_of  # they are workbenches themselves

        return samples_of(self)

    def check_compatible(self, other: Workbench, mine: object, theirs: object) -> None:
        """Do both stand for the same model, state and bodies?"""
        if self is other or self.origin.fingerprint == other.origin.fingerprint:
            return
        words = [x.text() if isinstance(x, Operator) else str(x) for x in (mine, theirs)]
        raise StateError(
            f"{words[0]} belongs to {self.origin.title}, {words[1]} to {other.origin.title}",
            "only operators of the same model, state and bodies can be combined.",
        )

    def __repr__(self) -> str:
        sizes = f"N = {self.node_space.size}, nv = {self.joint_space.size}"
        return f"<{self.origin.title}: {sizes}>"

    # ---- inside ---------------------------------------------------------------------------------

    def _vector(self, values: Any, space: Space) -> StackedVector:
        vector = StackedVector(np.zeros(space.size), self, space)
        if isinstance(values, Mapping):
            for label, part in values.items():
                here = vector.block(label)
                try:
                    here[...] = part
                except (TypeError, ValueError):
                    raise StateError(
                        f"The part of {label!r} is {part!r}",
                        f"give a number or {len(here)} of them.",
                    ) from None
            return vector
        try:
            given = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise StateError(
                f"The vector is {type(values).__name__}, no array of real numbers",
                f"give shape ({space.size},), or a dict of parts by name.",
            ) from None
        if given.shape not in ((), (space.size,)):
            raise StateError(f"The vector has shape {given.shape}", f"give ({space.size},).")
        vector[...] = given
        return vector

    def _diagonal(self, name: str, symbol: str, make: Any, rows: Space, cols: Space) -> Diagonal:
        return Diagonal(self, name, symbol, rows, cols, make)

    def _square(self, name: str, symbol: str, make: Any) -> Diagonal:
        return Diagonal(self, name, symbol, self.node_space, self.node_space, make)

    def _inertia(self, name: str, symbol: str, make: Any) -> Diagonal:
        return self._square(name, symbol, make).symmetrical()

    def _edges(self, name: str, symbol: str, make: Any, cols: Space | None = None) -> Edges:
        return Edges(self, name, symbol, self.node_space, cols or self.node_space, make)
