"""A sweep that has run, or is running: outcomes by run, as arrays or as one labelled data set."""

from __future__ import annotations

import json
import os
import shutil
import weakref
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skodyn.errors import SkodynError
from skodyn.forks import cached_property
from skodyn.looks import Picture, look
from skodyn.simulation.loop import explain
from skodyn.sweeps.batch import CRASHED, FAILED, FINISHED, PENDING, REFUSED, log_path
from skodyn.sweeps.index import Index, open_index
from skodyn.sweeps.metric_units import unit_of
from skodyn.sweeps.packing import Packer
from skodyn.sweeps.scenario_data import to_toml
from skodyn.sweeps.stored_study import stored_study
from skodyn.typing import Floats, TableValue

if TYPE_CHECKING:
    import xarray

__all__ = ["STATUS_WORDS", "Sweep", "logs_folder", "open_sweep"]

STATUS_WORDS = {
    PENDING: "pending",
    FINISHED: "finished",
    FAILED: "failed",
    REFUSED: "refused",
    CRASHED: "crashed",
}


def logs_folder(path: Path) -> Path:
    """Where the full logs of a sweep are."""
    return path.with_name(path.stem + "-runs")


def _let_go(file: Any, temporary: Path | None) -> None:
    """Close the index; a temporary folder lives as long as the results that came from it."""
    file.close()
    if temporary is not None:
        shutil.rmtree(temporary, ignore_errors=True)


def open_sweep(path: str | os.PathLike[str]) -> Sweep:
    """The results in the index of a sweep, complete or not.

    Parameters
    ----------
    path : path
        An HDF5 index that `sweep` or ``skodyn sweep run`` wrote.

    Returns
    -------
    results : Sweep
        Points, metrics and outcomes of all runs; those that are pending read as NaN.

    Raises
    ------
    LogError
        The file is no index of a sweep.

    See Also
    --------
    sweep : run one.

    Examples
    --------
    >>> import os, tempfile
    >>> out = os.path.join(tempfile.mkdtemp(), "study.h5")
    >>> _ = sk.sweep("scenarios/double_pendulum.toml", {"duration": [0.1, 0.2]}, out=out)
    >>> sk.open_sweep(out).counts()
    {'pending': 0, 'finished': 2, 'failed': 0, 'refused': 0, 'crashed': 0}
    """
    return Sweep(Path(path))


class Sweep:
    """Outcomes of all runs; those that are pending read as NaN."""

    def __init__(self, path: Path, temporary: Path | None = None) -> None:
        self.path = path
        self._index = Index(open_index(path))
        self._finalizer = weakref.finalize(self, _let_go, self._index.file, temporary)

    def close(self) -> None:
        """Close the index; arrays that were read stay."""
        self._finalizer()

    def __len__(self) -> int:
        return self._index.count

    @cached_property
    def status(self) -> NDArray[np.uint8]:
        """0 pending, 1 finished, 2 failed on the way, 3 refused, 4 crashed."""
        return self._index.status()

    @property
    def finished(self) -> NDArray[np.bool_]:
        """Which runs reached their end."""
        return np.asarray(self.status == FINISHED)

    @property
    def failed(self) -> NDArray[np.bool_]:
        """Which runs failed on the way, were refused or crashed."""
        return np.asarray((self.status != FINISHED) & (self.status != PENDING))

    @cached_property
    def parameter_names(self) -> tuple[str, ...]:
        """Paths of the parameters that vary."""
        return self._labels("parameter")

    @cached_property
    def metric_names(self) -> tuple[str, ...]:
        """Names of the metrics."""
        return self._labels("metric")

    @cached_property
    def metric_units(self) -> tuple[str, ...]:
        """The unit of each metric; empty where it has none or is not known, as of a function."""
        given = json.loads(self._index.text("metrics"))
        own = json.loads(self._index.text("functions"))
        try:
            model = self.packer.base.model
        except SkodynError:  # a package or file that the sweep needs is not there
            return ("",) * len(self.metric_names)
        return tuple("" if n in own else unit_of(given[n], model) for n in self.metric_names)

    @cached_property
    def points(self) -> Floats:
        """(runs, parameters)."""
        return np.asarray(self._index.file["points"][:])

    @property
    def q(self) -> Floats:
        """Coordinates at the end of each run."""
        return self._column("q")

    @property
    def v(self) -> Floats:
        """Velocities at the end of each run."""
        return self._column("v")

    @property
    def metrics(self) -> Floats:
        """(runs, metrics)."""
        return self._column("metrics")

    @property
    def steps(self) -> NDArray[np.int64]:
        """How many steps each run took, shape (runs,)."""
        return np.asarray(self._index.file["steps"][:])

    @property
    def ids(self) -> NDArray[np.bytes_]:
        """The hash of each run's packed scenario."""
        return np.asarray(self._index.file["id"][:])

    def metric(self, name: str) -> Floats:
        """The values of one metric, shape (runs,)."""
        return self.metrics[:, self.metric_names.index(name)]

    def counts(self) -> dict[str, int]:
        """How many runs are pending, finished, failed, refused and crashed."""
        found = np.bincount(self.status, minlength=len(STATUS_WORDS))
        return {word: int(found[code]) for code, word in STATUS_WORDS.items()}

    def _labels(self, name: str) -> tuple[str, ...]:
        return tuple(x.decode() for x in self._index.file[name][:].tolist())

    def _column(self, name: str) -> Floats:
        values: Floats = self._index.file[name][:] if self._index.file[name].size else np.zeros(
            self._index.file[name].shape
        )  # fmt: skip
        values[self.status == PENDING] = np.nan
        return values

    # ---- one run ------------------------------------------------------------------------------

    @cached_property
    def packer(self) -> Packer:
        """What turns a row of values into a packed run."""
        return Packer(stored_study(self._index, {}))

    def values(self, run: int) -> dict[str, TableValue]:
        """The parameters of one run by path."""
        return self.packer.study.values(self._index.file["points"][run])

    def scenario_text(self, run: int) -> str:
        """The scenario of one run as TOML, for `skodyn run`."""
        return to_toml(self.packer.scenario_data(self._index.file["points"][run]))

    def failures(self, limit: int | None = None) -> list[tuple[int, str, str]]:
        """(run, status, reason) of all runs that did not finish, or of the first ones."""
        runs = np.flatnonzero(self.failed)[:limit]
        return [(r, STATUS_WORDS[int(self.status[r])], self.reason(r)) for r in runs.tolist()]

    def reason(self, run: int) -> str:
        """Why a run did not finish."""
        file = self._index.file
        text = self._index.reason(int(file["reason"][run]))
        if self.status[run] != FAILED:
            return text
        try:
            s = self.packer.scenario(file["points"][run])
        except SkodynError as error:
            return str(error)
        step = int(file["steps"][run])
        stand_in: Any = SimpleNamespace(
            model=s.model, settings=s.integrator, step=step, t=step * s.integrator.dt,
            q=np.asarray(file["q"][run]), v=np.asarray(file["v"][run]), forces=s.forces,
        )  # fmt: skip
        return explain(stand_in, int(file["code"][run])) + (f"; {text}" if text else "")

    def log(self, run: int) -> Path | None:
        """The full log of a run, if one was asked for."""
        path = log_path(logs_folder(self.path), run)
        return path if path.exists() else None

    # ---- as a data set ------------------------------------------------------------------------

    @cached_property
    def dimensions(self) -> list[tuple[str, tuple[str, ...], int]]:
        """Name, labels and length of each axis of the design."""
        return [(n, tuple(p), c) for n, p, c in json.loads(self._index.text("dimensions"))]

    def to_xarray(self) -> xarray.Dataset:
        """Parameters as coordinates, metrics and final states as variables.

        Each axis of a grid is a dimension; points of a list or a sample are one dimension with
        several coordinates.
        """
        try:
            import xarray
        except ImportError:
            raise SkodynError(
                "to_xarray needs xarray; install it with pip install 'skodyn[xarray]'."
            ) from None
        names = [name for name, _, _ in self.dimensions]
        shape = [count for _, _, count in self.dimensions]
        variables = {
            "status": (names, self.status.reshape(shape)),
            "steps": (names, self.steps.reshape(shape)),
            "final_q": ([*names, "q_name"], self.q.reshape(*shape, -1)),
            "final_v": ([*names, "v_name"], self.v.reshape(*shape, -1)),
        }
        metrics = self.metrics
        for i, name in enumerate(self.metric_names):
            variables[name] = (names, metrics[:, i].reshape(shape))
        coordinates: dict[str, Any] = {
            "q_name": list(self._labels("q_name")),
            "v_name": list(self._labels("v_name")),
        }
        coordinates |= self._coordinates()
        return xarray.Dataset(variables, coordinates)

    def _coordinates(self) -> dict[str, Any]:
        """The values of each parameter along its own dimension."""
        labels = json.loads(self._index.text("labels"))
        found: dict[str, Any] = {}
        stride = len(self)
        column = 0
        for dimension, parameters, count in self.dimensions:
            stride //= max(count, 1)
            rows = self._index.file["points"][: stride * count : stride] if count else []
            for name in parameters:
                values: Any = np.asarray(rows)[:, column]
                if name in labels:
                    values = [_label(labels[name][int(x)]) for x in values]
                found[name] = (dimension, values)
                column += 1
        return found

    def plot(self, path: str | os.PathLike[str] | None = None, **chosen: Any) -> Picture:
        """Metrics over parameters as a picture, or as a PNG, SVG or PDF file at `path`.

        Options are those of `sk.view.study_picture`: metrics, over, at, title.
        """
        made: Picture = look("plot_sweep")(self, path, **chosen)
        return made

    def _repr_html_(self) -> str:
        return str(look("sweep_html")(self))

    def __repr__(self) -> str:
        words = ", ".join(f"{n} {word}" for word, n in self.counts().items() if n)
        return f"<Sweep {str(self.path)!r}: {len(self)} runs, {words}>"


def _label(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool) else json.dumps(value)
