"""A system from its parts: a model cut at joints, whose parts can be replaced.

How the dynamics of the parts make up those of the whole is in `part_evaluation.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skodyn.conventions import GROUND
from skodyn.cores import core_count
from skodyn.dynamics.algorithms import FORWARD_WITH_F_EXT
from skodyn.dynamics.arguments import check_finite, check_threads, read_arguments
from skodyn.dynamics.part_evaluation import Evaluation, Piece, Places
from skodyn.errors import ModelError, StateError
from skodyn.forks import cached_property
from skodyn.kernels.packed_model import PackedModel
from skodyn.model.model import Model
from skodyn.model.parting import Part, cut_model, joined
from skodyn.typing import Floats

__all__ = ["Parts", "cut"]


def cut(model: Model, joints: Iterable[str]) -> Parts:
    """A model as a system of parts, cut at joints.

    Parameters
    ----------
    model : Model
        The system.
    joints : iterable of str
        Where to cut; each joint belongs to the outer part.

    Returns
    -------
    parts : Parts
        Its dynamics are those of the whole; parts can be replaced and run on threads.

    Raises
    ------
    ModelError
        There is no such joint.

    See Also
    --------
    forward_dynamics : the same in one piece.

    Examples
    --------
    >>> model = sk.examples.pendulum(4)
    >>> parts = sk.cut(model, ["link3"])
    >>> q, v, tau = np.full(4, 0.3), np.zeros(4), np.zeros(4)
    >>> np.allclose(parts.forward_dynamics(q, v, tau), sk.forward_dynamics(model, q, v, tau))
    True
    """
    return Parts(cut_model(model, joints), model)


class Parts:
    """A system of parts. `whole` is the model of all of them, whose q, v and tau it takes.

    `recomputed` names the parts whose matrices the last call had to find anew.
    """

    def __init__(
        self, parts: Mapping[str, Part], whole: Model, pieces: Mapping[str, Piece] | None = None
    ) -> None:
        self.parts, self.whole = dict(parts), whole
        self._shared = dict(pieces or {})
        self.recomputed: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Model:
        """The model of a part, by the joint at which it was cut off; "world" for the first."""
        return self._part(name).model

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name}: {part.model.n_bodies}" for name, part in self.parts.items())
        return f"<Parts of {self.whole.name!r}, bodies of each: {sizes}>"

    def _part(self, name: str) -> Part:
        if name not in self.parts:
            listed = ", ".join(map(repr, self.parts))
            raise ModelError(f"There is no part {name!r}", f"there are {listed}.")
        return self.parts[name]

    def replaced(self, name: str, model: Model) -> Parts:
        """The same system with another model in the place of a part.

        Its first body stands on its ground as that of the old one did: give it joint and placement
        of the cut. Parts that hang from it must find their bodies in it.
        """
        old = self._part(name)
        model._refuse_mimics("replaced")
        model._refuse_loops("replaced")
        model._refuse_flexible("replaced")
        if name != GROUND and (model.parent < 0).sum() != 1:
            raise ModelError(
                f"Model {model.name!r} has {(model.parent < 0).sum()} bodies on its ground",
                "a part hangs from one joint.",
            )
        for other in self.parts.values():
            if other.carrier == name:
                model.body_index(other.body)
        parts = {n: p for n, p in self.parts.items() if n != name}
        made = {n: parts.get(n, Part(name, model, old.carrier, old.body)) for n in self.parts}
        whole = joined(made, self.whole.gravity, self.whole.name)
        return Parts(made, whole, {n: p for n, p in self._pieces.items() if n != name})

    @cached_property
    def _pieces(self) -> dict[str, Piece]:
        return {name: self._piece(part) for name, part in self.parts.items()}

    def _piece(self, part: Part) -> Piece:
        model, whole = part.model, self.whole
        hung = [p for p in self.parts.values() if p.carrier == part.name]
        numbers = [model.body_index(p.body) for p in hung]
        nodes = np.zeros((len(hung), 4))
        nodes[:, 0] = numbers
        every_q, every_v = np.arange(whole.nq), np.arange(whole.nv)
        coordinates = [every_q[whole.q_slice(name)] for name in model.joint_names]
        velocities = [every_v[whole.v_slice(name)] for name in model.joint_names]
        old = self._shared.get(part.name)
        return Piece(
            part,
            tuple(p.name for p in hung),
            nodes.reshape(-1),
            tuple(model.alignment[k] for k in numbers),
            PackedModel(model.kernel_tree, model.parameters),
            _places(np.concatenate([*coordinates, np.zeros(0, dtype=np.int64)])),
            _places(np.concatenate([*velocities, np.zeros(0, dtype=np.int64)])),
            _places(np.array([whole.body_index(name) for name in model.body_names])),
            old.memories if old is not None and old.part is part else [],
        )

    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        f_ext: ArrayLike | None = None,
        *,
        threads: int | None = None,
    ) -> Floats:
        """v̇ of the whole, for one state; parts run on `threads` threads (all cores by default)."""
        if threads is not None:
            check_threads(threads)
        inputs = read_arguments(FORWARD_WITH_F_EXT, self.whole, q, v, tau, f_ext)
        if inputs.batch_shape:
            raise StateError(
                "Systems of parts take one state at a time",
                f"give q of shape ({self.whole.nq},), or use sk.forward_dynamics(parts.whole, …) "
                "for a batch.",
            )
        check_finite(FORWARD_WITH_F_EXT, inputs)
        workers = int(threads or core_count())
        evaluation = Evaluation(self._pieces, self.whole.gravity, inputs, workers)
        vdot = evaluation.run()
        self.recomputed = evaluation.recomputed
        return vdot


def _places(numbers: NDArray[np.int64]) -> Places:
    """The same as a slice where they follow one another."""
    if numbers.size and (np.diff(numbers) == 1).all():
        return slice(int(numbers[0]), int(numbers[-1]) + 1)
    return numbers
