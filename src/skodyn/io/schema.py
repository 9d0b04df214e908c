"""What a log holds: its data sets, and the names along their dimensions (docs/hdf5-schema.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from skodyn.channels.entry import CHANNELS, Channel, DataSet, built_in_data, known_labels
from skodyn.errors import LogError
from skodyn.model.model import Model
from skodyn.wording import Spelling

__all__ = ["Names", "always_there", "chosen_data", "dtype_of", "labels_of_all"]


class Names(NamedTuple):
    """The labels of every dimension but time, and where in q and v each joint lies."""

    labels: dict[str, tuple[str, ...]]
    joints: tuple[str, ...]
    columns: NDArray[np.int64]  # one row per joint: q start, nq, v start, nv
    parents: NDArray[np.int64]
    own: Mapping[str, DataSet] = {}

    @classmethod
    def of(cls, model: Model, channels: Sequence[Channel] = ()) -> Self:
        """channels: those that are not skodyn's own."""
        labels: dict[str, tuple[str, ...]] = known_labels(model)
        own: dict[str, DataSet] = {}
        for channel in channels:
            labels |= channel.labels(model)
            own.update(channel.data)
        columns = [
            (q.start, q.stop - q.start, v.start, v.stop - v.start)
            for q, v in ((model.q_slice(n), model.v_slice(n)) for n in model.independent_joints)
        ]
        table = np.array(columns, dtype=np.int64).reshape(-1, 4)
        parents = np.asarray(model.parent, dtype=np.int64)
        return cls(labels, model.independent_joints, table, parents, own)

    def data(self, name: str) -> DataSet:
        """What is known of a data set."""
        return self.own[name] if name in self.own else built_in_data()[name]

    def row_shape(self, name: str) -> tuple[int, ...]:
        """The shape of one row of a data set."""
        dims = self.data(name).dims[1:]
        if missing := sorted(set(dims) - self.labels.keys()):
            raise LogError(
                f"Channel {name!r} needs {missing[0]}s, and there are none; leave it out."
            )
        return tuple(len(self.labels[dim]) for dim in dims)

    def row_bytes(self, name: str) -> int:
        return 8 * int(np.prod(self.row_shape(name)))


def always_there() -> tuple[str, ...]:
    """The data sets that every log has."""
    own = CHANNELS.built_in.values()
    return tuple(name for channel in own if channel.always for name in channel.data)


def dtype_of(name: str) -> str:
    """The numbers of a data set; others' own are always floats."""
    known = built_in_data().get(name)
    return known.dtype if known else "<f8"


def labels_of_all() -> set[str]:
    """Every dimension of the package's own data sets but time."""
    return {dim for data in built_in_data().values() for dim in data.dims[1:]}


def chosen_data(extra: Iterable[str], own: Mapping[str, DataSet]) -> tuple[str, ...]:
    """t, step, q, v and the data sets asked for, in the order of the schema, then others' own."""
    known = {**built_in_data(), **own}
    wanted = {*always_there(), *extra}
    for name in sorted(wanted - set(known)):
        hint = Spelling(known).remedy(name, f"choose from {', '.join(known)}")
        raise LogError(f"There is no log channel {name!r}; {hint}")
    return tuple(name for name in known if name in wanted)
