"""Reading a run: the same interface over a log file and over arrays in memory."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, cast, overload

import numpy as np
from numpy.typing import NDArray

from skodyn.channels.entry import Channel, built_in_data
from skodyn.errors import LogError
from skodyn.io.row_sources import LogRows, MemoryRows, Source
from skodyn.looks import Page, Picture, look
from skodyn.model.model import Model
from skodyn.typing import Provenance, RunSummary
from skodyn.wording import Spelling, listed

if TYPE_CHECKING:
    import xarray

__all__ = ["Trajectory", "forces_of", "open"]


def open(path: str | os.PathLike[str]) -> Trajectory:
    """The trajectory in a log file.

    Nothing is read until it is asked for. A log that is still being written, or whose run was
    killed, opens with the rows written so far.

    Parameters
    ----------
    path : path
        An HDF5 log.

    Returns
    -------
    trajectory : Trajectory
        With `t`, `q`, `v`, ``["energy"]`` and other channels, `model`, `to_xarray()`.

    Raises
    ------
    LogError
        The file is no log, or is damaged; the message says where.

    See Also
    --------
    simulate : writes logs.
    open_sweep : for the index of a sweep.

    Examples
    --------
    >>> import os, tempfile
    >>> log = os.path.join(tempfile.mkdtemp(), "run.h5")
    >>> run = sk.simulate(sk.examples.pendulum(1), [1.0], [0.0], duration=0.5, log=log, every=100)
    >>> sk.open(log).q.shape
    (6, 1)
    """
    return Trajectory(LogRows(Path(path)))


def forces_of(trajectory: Trajectory) -> object:
    """What acted in a run that is in memory; None for a log, whose scenario says it."""
    return getattr(trajectory._source, "acting", None)


class Trajectory:
    """The rows of a run, or some of them: `traj[::10]` is a trajectory of every tenth row.

    `traj.q`, `traj["energy"]` read the rows chosen, as arrays. In a `with` block the file stays
    open between reads; otherwise each read opens and closes it, so a trajectory can be pickled,
    sent to other processes and kept by the thousand.
    """

    def __init__(self, source: Source, rows: range | None = None) -> None:
        self._source = source
        self._rows = range(source.rows) if rows is None else rows

    @classmethod
    def in_memory(
        cls,
        model: Model,
        arrays: Mapping[str, NDArray[Any]],
        provenance: Mapping[str, Any] | None = None,
        *,
        status: str = "finished",
        message: str = "",
        summary: Mapping[str, Any] | None = None,
        own: Sequence[Channel] = (),
        events: tuple[NDArray[Any], NDArray[Any]] | None = None,
        acting: object = None,
    ) -> Self:
        """A trajectory over arrays, one for each channel, as a run without a log has them.

        own: the channels among them that are not skodyn's own; events: of contacts; acting: the
        forces of the run, which replays draw.
        """
        about = {
            "provenance": dict(provenance or {}),
            "status": status,
            "message": message,
            "summary": dict(summary or {}),
        }
        return cls(MemoryRows(model, arrays, about, own, events, acting))

    # ---- rows -------------------------------------------------------------------------------

    @property
    def t(self) -> NDArray[np.float64]:
        """Times, shape (rows,), s."""
        return self["t"]

    @property
    def step(self) -> NDArray[np.int64]:
        """Numbers of the steps, shape (rows,)."""
        return self["step"]

    @property
    def q(self) -> NDArray[np.float64]:
        """Coordinates, shape (rows, nq)."""
        return self["q"]

    @property
    def v(self) -> NDArray[np.float64]:
        """Velocities, shape (rows, nv)."""
        return self["v"]

    @overload
    def __getitem__(self, what: Literal["step"]) -> NDArray[np.int64]: ...  # type: ignore[overload-overlap]
    @overload
    def __getitem__(self, what: str) -> NDArray[np.float64]: ...
    @overload
    def __getitem__(self, what: slice) -> Self: ...
    def __getitem__(self, what: str | slice) -> NDArray[Any] | Self:
        """A channel by its name, or the trajectory of a slice of rows."""
        if isinstance(what, slice):
            return type(self)(self._source, self._rows[what])
        return self._source.read(self._known(what), self._rows, slice(None))

    @property
    def contact_events(self) -> NDArray[np.void]:
        """Contacts made and broken, of the whole run, whatever rows were chosen.

        A structured array: t (s), contact (its label), made (or broken) and normal_speed, at which
        the gap opens (m/s). Runs that log the channel contacts have it.
        """
        found = self._source.events()
        if found is None:
            raise LogError(
                f"This run ({self._source.label}) has no table of events; add contacts to the "
                "log's channels and run again."
            )
        labels = np.array(self._source.names.labels["contact"])
        times, table = found
        kind = [("t", "<f8"), ("contact", labels.dtype), ("made", "?"), ("normal_speed", "<f8")]
        events = np.empty(len(times), dtype=kind)
        events["t"], events["contact"] = times, labels[table[:, 0].astype(np.int64)]
        events["made"], events["normal_speed"] = table[:, 1] > 0.0, table[:, 2]
        return events

    def joint(self, name: str, channel: str = "q") -> NDArray[np.float64]:
        """The columns of one joint, shape (rows, columns): of q, or of v, vdot or tau."""
        first_dims = {"q_name": (0, 1), "v_name": (2, 3)}
        dims = self._source.names.data(self._known(channel)).dims
        if dims[-1] not in first_dims or len(dims) > 2:
            raise LogError(f"Channel {channel!r} has no joint columns; use q, v, vdot or tau.")
        start, size = (self._joint_row(name)[i] for i in first_dims[dims[-1]])
        return self._source.read(channel, self._rows, slice(start, start + size))

    def __len__(self) -> int:
        return len(self._rows)

    # ---- names and origin -------------------------------------------------------------------

    @property
    def channels(self) -> tuple[str, ...]:
        """Names of all channels in the log."""
        return self._source.channels

    @property
    def q_names(self) -> tuple[str, ...]:
        """A name for each column of q."""
        return self._source.names.labels["q_name"]

    @property
    def v_names(self) -> tuple[str, ...]:
        """A name for each column of v."""
        return self._source.names.labels["v_name"]

    @property
    def body_names(self) -> tuple[str, ...]:
        """Names of the bodies, in the order of the model."""
        return self._source.names.labels["body"]

    def labels(self, channel: str) -> dict[str, tuple[str, ...]]:
        """The labels along each dimension of a channel but time."""
        names = self._source.names
        return {dim: names.labels[dim] for dim in names.data(self._known(channel)).dims[1:]}

    def unit(self, channel: str) -> str:
        """The unit of all numbers of a channel; "" if it has none, or several."""
        return self._source.names.data(self._known(channel)).unit

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints, in the order of the model."""
        return self._source.names.joints

    @property
    def model(self) -> Model:
        """The model that was run, as the log keeps it: bodies, joints, frames, shapes."""
        return self._source.model()

    @property
    def label(self) -> str:
        """The file's name, for messages and legends."""
        return self._source.label.strip("'")

    @property
    def status(self) -> str:
        """running, finished, failed or interrupted; a killed run stays "running"."""
        return str(self._source.about()["status"])

    @property
    def message(self) -> str:
        """Why the run failed, if it did."""
        return str(self._source.about()["message"])

    @property
    def summary(self) -> RunSummary:
        """What the run said of itself at its end; empty before."""
        return cast(RunSummary, dict(self._source.about()["summary"]))

    @property
    def provenance(self) -> Provenance:
        """What the run came from: scenario, model, versions, processor, settings."""
        return cast(Provenance, dict(self._source.about()["provenance"]))

    @property
    def scenario_text(self) -> str:
        """The scenario that was run, if it was one."""
        return str(self.provenance.get("scenario", ""))

    # ---- other packages ---------------------------------------------------------------------

    def to_xarray(self) -> xarray.Dataset:
        """All rows as an xarray.Dataset in memory, with named dimensions and coordinates.

        To leave them on disk, use `xarray.open_dataset(path, engine="h5netcdf")`.
        """
        try:
            import xarray
        except ImportError:
            raise LogError(
                "to_xarray needs the package xarray; install it with: pip install 'skodyn[xarray]'"
            ) from None
        names = self._source.names
        known = {name: names.data(name) for name in self.channels}
        dims = {dim for data in known.values() for dim in data.dims[1:]} | {"body"}
        coordinates = {dim: list(names.labels[dim]) for dim in sorted(dims)}
        with self:
            data = {
                name: (data.dims, self[name], {"long_name": data.meaning})
                for name, data in known.items()
            }
        return xarray.Dataset(data, coords=coordinates, attrs={"status": self.status})

    def view(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        frames: int | None = None,
        show: Sequence[str] = (),
        open: bool | None = None,
        exaggerate: float = 1.0,
    ) -> Page:
        """The replay of the run: shown in a notebook, opened in the browser from a script.

        path: write one HTML file there instead, which needs no network. frames: keep at most so
        many rows. show: further layers from the start, for example "contacts", "velocities",
        "forces", "springs", "frames". open: whether to open the browser. exaggerate: draw the
        deflections of flexible bodies so many times larger.
        """
        chosen = {"frames": frames, "show": show, "open": open, "exaggerate": exaggerate}
        made: Page = look("view_trajectory")(self, path, **chosen)
        return made

    def plot(self, path: str | os.PathLike[str] | None = None, **chosen: Any) -> Picture:
        """The curves of the run as a picture, or as a PNG, SVG or PDF file at `path`.

        Options are those of `sk.view.sheet`: channels, joints, loops, start, end, title, …
        """
        made: Picture = look("plot_trajectory")(self, path, **chosen)
        return made

    def _repr_html_(self) -> str:
        return str(look("trajectory_html")(self))

    def __enter__(self) -> Self:
        if isinstance(self._source, LogRows):
            self._source.hold()
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file, if it is held open."""
        if isinstance(self._source, LogRows):
            self._source.release()

    def __repr__(self) -> str:
        span = "empty"
        if len(self):
            ends = self[:: max(len(self) - 1, 1)].t
            span = f"t = {ends[0]:g} … {ends[-1]:g} s"
        what = f"{len(self)} rows, {span}, {self.status}; {', '.join(self.channels)}"
        return f"<Trajectory {self._source.label}: {what}>"

    # ---- how --------------------------------------------------------------------------------

    def _known(self, channel: str) -> str:
        if channel in self.channels:
            return channel
        if channel in built_in_data():
            raise LogError(
                f"Channel {channel!r} was not logged in this run ({self._source.label}), "
                f"which has {', '.join(self.channels)}; add it to the log's channels and run again."
            )
        raise LogError(f"There is no channel {channel!r}; this run has {', '.join(self.channels)}.")

    def _joint_row(self, name: str) -> list[int]:
        names = self._source.names
        if name in names.joints:
            row: list[int] = names.columns[names.joints.index(name)].tolist()
            return row
        hint = Spelling(names.joints).remedy(name, f"it has {listed(names.joints, 5)}")
        raise LogError(f"This run ({self._source.label}) has no joint {name!r}; {hint}")
