"""Run a scenario, and resume the run that a log holds."""

from __future__ import annotations

import os
from pathlib import Path

from skodyn.errors import LogError
from skodyn.io.trajectory import open as open_trajectory
from skodyn.scenario.description import Scenario
from skodyn.scenario.reader import parse_scenario, read_scenario
from skodyn.simulation import session
from skodyn.simulation.loop import Progress
from skodyn.simulation.run_progress import shown_run

__all__ = ["plan_of", "resume", "resume_log", "run", "run_scenario"]


def plan_of(scenario: Scenario, folder: Path | None = None) -> session.Plan:
    """The run that a scenario describes."""
    where = folder if folder is not None else (scenario.path or Path()).parent
    return session.Plan(
        model=scenario.model,
        q0=scenario.q0,
        v0=scenario.v0,
        duration=scenario.duration,
        settings=scenario.integrator,
        forces=scenario.forces,
        every=scenario.output.every,
        channels=scenario.output.channels,
        seed=scenario.seed,
        scenario_text=scenario.text,
        scenario_folder=str(where.resolve()),
        thermostat=scenario.thermostat,
    )


def run(
    scenario: str | os.PathLike[str] | Scenario,
    log: str | os.PathLike[str] | None = None,
    *,
    overwrite: bool = False,
    progress: Progress | bool | None = None,
) -> session.Run:
    """Simulate what a scenario describes, as ``skodyn run`` does.

    Parameters
    ----------
    scenario : path or Scenario
        A scenario file, or what `read_scenario` made of one.
    log : path, optional
        The HDF5 log to write; without it, rows stay in memory.
    overwrite : bool
        Replace a log of that name.
    progress : bool or callable, optional
        True shows how far it has come, False does not; by default it is shown if it takes long. A
        function is called as ``progress(engine, seconds)`` about ten times a second instead,
        between two steps.

    Returns
    -------
    Run
        How it ended (`status`, `message`, `summary`), and its `trajectory`.

    Raises
    ------
    ScenarioError
        Every fault of the file, with its line.
    LogError
        The log exists, or cannot be written.

    See Also
    --------
    resume : go on with a log after an interruption.
    simulate : the same from Python, without a file.

    Examples
    --------
    >>> run = sk.run("scenarios/double_pendulum.toml")
    >>> run.status
    'finished'
    """
    given = scenario if isinstance(scenario, Scenario) else read_scenario(scenario)
    with shown_run(given.title, progress) as show:
        return run_scenario(given, log, overwrite=overwrite, progress=show)


def resume(
    log: str | os.PathLike[str],
    *,
    force: bool = False,
    until: float | None = None,
    progress: Progress | bool | None = None,
) -> session.Run:
    """Go on with the interrupted run of a log, to the same bits, as ``skodyn resume`` does.

    Parameters
    ----------
    log : path
        The HDF5 log that `run` began.
    force : bool
        Go on although the code has changed since; the last bits may then differ.
    until : float, optional
        Seconds; extends the run, also one that has finished, to this time.
    progress : bool or callable, optional
        As in `run`.

    Returns
    -------
    Run
        Of the whole run: its trajectory has the rows from before the interruption, too.

    Raises
    ------
    LogError
        The log has no checkpoint, or was begun by `simulate`: give that function ``resume=True``.

    Examples
    --------
    >>> import os, signal, tempfile
    >>> log = os.path.join(tempfile.mkdtemp(), "run.h5")
    >>> press_ctrl_c = lambda engine, seconds: signal.raise_signal(signal.SIGINT)
    >>> sk.run("scenarios/double_pendulum.toml", log, progress=press_ctrl_c).status
    'interrupted'
    >>> sk.resume(log).status
    'finished'
    """
    with shown_run(Path(log).name, progress) as show:
        return resume_log(log, force=force, until=until, progress=show)


def run_scenario(
    scenario: Scenario,
    log: str | os.PathLike[str] | None,
    *,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> session.Run:
    """Simulate a scenario into a log file, or into memory."""
    path = None if log is None else Path(log)
    return session.run(plan_of(scenario), path, overwrite=overwrite, progress=progress)


def resume_log(
    log: str | os.PathLike[str],
    *,
    force: bool = False,
    until: float | None = None,
    progress: Progress | None = None,
) -> session.Run:
    """Continue the interrupted run of a log from its last checkpoint, to the same bits."""
    path = Path(log)
    before = open_trajectory(path)
    if not before.scenario_text:
        raise LogError(
            f"{path} was not written from a scenario file; go on with it in Python, by "
            f"sk.simulate(…, log={str(path)!r}, resume=True), or sk.simulate_sko, and what else it "
            "was begun with."
        )
    folder = Path(before.provenance.get("scenario_folder", "."))
    plan = plan_of(parse_scenario(before.scenario_text, folder), folder)
    return session.resume(plan, path, force=force, until=until, progress=progress)


def begun(scenario: Scenario, log: Path) -> bool:
    """Does a log hold a run of this scenario from which one can go on, or one that is done?

    One that was killed before its first checkpoint has nothing but its start: it is begun anew.
    What is of another scenario raises a LogError.
    """
    if not log.exists():
        return False
    before = open_trajectory(log)
    theirs, ours = before.provenance.get("identity", {}), plan_of(scenario).identity()
    other = [key for key, value in ours.items() if key != "code" and theirs.get(key) != value]
    if other:
        raise LogError(
            f"{log} holds a run of another scenario (its {', '.join(other)} differ); choose "
            "another name with -o, or replace it with --overwrite."
        )
    kept = session.checkpoint_path(log).exists()
    return before.status == "finished" or kept or len(before) > 1
