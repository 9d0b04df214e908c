"""Arguments that need a closer look: shapes, batches, finite numbers, `out`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skodyn.errors import StateError
from skodyn.faults import Fault
from skodyn.kernels.entries import Tables
from skodyn.lanes import LANES
from skodyn.model.model import Model
from skodyn.typing import Floats

if TYPE_CHECKING:
    from skodyn.dynamics.algorithm import Algorithm


CHECKED_BY_KERNEL = LANES
"""Tables of so many states or more are looked through by the threads that work on them."""

NOTHING: Floats = np.zeros(0)
"""Stands for an argument that is not there."""


@dataclass(frozen=True)
class Inputs:
    """Contiguous tables with one row per state; empty where an argument is not there."""

    batch_shape: tuple[int, ...]
    q: Floats
    v: Floats
    x: Floats
    f_ext: Floats
    x_is_shared: bool

    @property
    def rows(self) -> int:
        return self.batch_shape[0] if self.batch_shape else 1

    @property
    def f_stride(self) -> int:
        return self.f_ext.size // max(self.rows, 1)

    def of_row(self, row: int) -> tuple[Floats, Floats, Floats, Floats]:
        """The arguments of one state, flat."""
        x = self.x.reshape(-1) if self.x_is_shared else _row(self.x, row, self.rows)
        return (
            _row(self.q, row, self.rows),
            _row(self.v, row, self.rows),
            x,
            _row(self.f_ext, row, self.rows),
        )

    def tables(self) -> Tables:
        """The arguments of all states, flat, and the length of a row of f_ext."""
        return Tables(
            self.q.reshape(-1),
            self.v.reshape(-1),
            self.x.reshape(-1),
            self.f_ext.reshape(-1),
            self.f_stride,
        )

    def overlap(self, array: Floats) -> bool:
        """May writing to the array change an argument?"""
        given = (self.q, self.v, self.x, self.f_ext)
        return any(a.size and np.may_share_memory(array, a) for a in given)


NO_INPUTS = Inputs((), NOTHING, NOTHING, NOTHING, NOTHING, x_is_shared=False)
"""Stands for arguments that a result cannot fall upon."""


def _row(table: Floats, row: int, rows: int) -> Floats:
    length = table.size // max(rows, 1)
    return table.reshape(-1)[row * length : (row + 1) * length]


def read_arguments(
    algorithm: Algorithm,
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    x: ArrayLike,
    f_ext: ArrayLike | None,
) -> Inputs:
    """Every argument as a finite contiguous table, or a StateError that lists all that is wrong."""
    faults: list[Fault] = []
    shared = algorithm.x is None
    tables = {
        "q": _table(q, "q", (model.nq,), faults),
        "v": _optional_table(v, "v", (model.nv,), faults),
        "f_ext": _optional_table(f_ext, "f_ext", (model.n_bodies, 6), faults),
    }
    if shared:
        free = _as_kernels_take_it(np.asarray(x))
    else:
        name = str(algorithm.x)
        tables[name] = _optional_table(x, name, (model.nv,), faults)
    batches = {
        name: t.shape[0] for name, t in tables.items() if t is not None and t.ndim > _base(name)
    }
    if len(set(batches.values())) > 1:
        listed = ", ".join(f"{name} has {count}" for name, count in batches.items())
        faults.append(Fault(f"The numbers of states differ: {listed}", "give each the same."))
    if faults:
        raise StateError(faults)
    shape = (next(iter(batches.values())),) if batches else ()
    spread = {name: _spread(t, shape, _base(name)) for name, t in tables.items()}
    if not shared:
        free = spread[str(algorithm.x)]
    return Inputs(shape, spread["q"], spread["v"], free, spread["f_ext"], shared)


def _base(name: str) -> int:
    """How many axes an argument has for one state."""
    return 2 if name == "f_ext" else 1


def _optional_table(
    value: ArrayLike | None, name: str, shape: tuple[int, ...], faults: list[Fault]
) -> Floats | None:
    if value is NOTHING or (value is None and name == "f_ext"):
        return None
    return _table(value, name, shape, faults)


def _table(
    value: ArrayLike | None, name: str, shape: tuple[int, ...], faults: list[Fault]
) -> Floats | None:
    array = _real_array(value, name, shape, faults)
    if array is None:
        return None
    if array.shape[-len(shape) :] != shape or array.ndim > len(shape) + 1:
        batch = ", ".join(str(s) for s in shape)
        faults.append(
            Fault(
                f"{name} has shape {array.shape}", f"the model needs {shape} or (batch, {batch})."
            )
        )
        return None
    if array.ndim > len(shape) and len(array) >= CHECKED_BY_KERNEL:
        return array
    return _finite(array, name, faults)


def read_partly(
    value: ArrayLike, name: str, used: NDArray[np.bool_], faults: list[Fault]
) -> Floats | None:
    """A number for each velocity, of which only those in use are looked at."""
    array = _real_array(value, name, used.shape, faults)
    if array is None:
        return None
    if array.shape[-1:] != used.shape or array.ndim > 2:
        faults.append(
            Fault(
                f"{name} has shape {array.shape}",
                f"the model needs {used.shape} or (batch, {used.size}).",
            )
        )
        return None
    kept = np.where(used, array, 0.0)
    return kept if _finite(kept, name, faults) is not None else None


def check_finite(algorithm: Algorithm, inputs: Inputs) -> None:
    """A StateError that names the first number of each argument that is not finite, if any."""
    faults: list[Fault] = []
    named = {"q": inputs.q, "v": inputs.v, "f_ext": inputs.f_ext}
    if algorithm.x is not None:
        named[algorithm.x] = inputs.x
    for name, table in named.items():
        _finite(table, name, faults)
    if faults:
        raise StateError(faults)


def _real_array(
    value: ArrayLike | None, name: str, shape: tuple[int, ...], faults: list[Fault]
) -> Floats | None:
    try:
        given = np.asarray(value)
        if given.dtype.kind not in "fiu":
            raise TypeError
        return _as_kernels_take_it(given)
    except (TypeError, ValueError):
        faults.append(
            Fault(f"{name} is not an array of real numbers", f"give floats of shape {shape}.")
        )
        return None


def _as_kernels_take_it(array: NDArray[Any]) -> Floats:
    """Contiguous and aligned; `np.require` takes microseconds to see that an array is so."""
    flags = array.flags
    if array.dtype == np.float64 and flags.c_contiguous and flags.aligned:
        return array
    return np.require(array, np.float64, ("C", "A"))


def _finite(array: Floats, name: str, faults: list[Fault]) -> Floats | None:
    if np.isfinite(array).all():
        return array
    bad = np.argwhere(~np.isfinite(array))
    where = tuple(bad[0].tolist())
    faults.append(Fault(f"{name}{list(where)} is {array[where]}", "give finite numbers."))
    return None


def read_columns(model: Model, q: ArrayLike, rhs: ArrayLike) -> Inputs:
    """One state with a table of right-hand sides, each a column; they become rows."""
    faults: list[Fault] = []
    coordinates = _table(q, "q", (model.nq,), faults)
    columns = _real_array(rhs, "rhs", (model.nv,), faults)
    if columns is not None and len(columns) != model.nv:
        faults.append(
            Fault(f"rhs has shape {columns.shape}", f"the model needs ({model.nv}, columns).")
        )
    elif columns is not None:
        columns = _finite(columns, "rhs", faults)
    if coordinates is None or columns is None or faults:
        raise StateError(faults)
    rows = np.ascontiguousarray(columns.T)
    return Inputs((), coordinates, NOTHING, rows, NOTHING, x_is_shared=True)


def read_point(point: ArrayLike) -> Floats:
    """A point fixed in a body."""
    faults: list[Fault] = []
    array = _real_array(point, "point", (3,), faults)
    if array is not None and array.shape != (3,):
        faults.append(Fault(f"point has shape {array.shape}", "give three numbers, in body axes."))
    elif array is not None:
        array = _finite(array, "point", faults)
    if array is None or faults:
        raise StateError(faults)
    return array


def _spread(table: Floats | None, batch: tuple[int, ...], base: int) -> Floats:
    """One row per state; an argument given once serves all states."""
    if table is None:
        return np.zeros(0)
    if batch and table.ndim == base:
        return np.ascontiguousarray(np.broadcast_to(table, (*batch, *table.shape)))
    return table


def check_out(out: Floats | None, shape: tuple[int, ...], inputs: Inputs) -> Floats:
    """An array to write into: `out` where it can be used as it is.

    A batch computes some of its last rows twice, so its results must not fall upon its arguments.
    """
    if out is None:
        return np.empty(shape)
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != np.float64:
        described = (
            f"{out.dtype} of shape {out.shape}" if isinstance(out, np.ndarray) else repr(out)
        )
        raise StateError(f"out is {described}", f"give a float64 array of shape {shape}.")
    if not out.flags.writeable:
        raise StateError("out is read-only", "give an array that can be written.")
    usable = out.flags.c_contiguous and out.flags.aligned and not inputs.overlap(out)
    return out if usable else np.empty(shape)


def check_threads(threads: int) -> None:
    if isinstance(threads, bool) or not isinstance(threads, (int, np.integer)) or threads < 1:
        raise StateError(
            f"threads is {threads!r}", "give a whole number from 1, or None for all cores."
        )
