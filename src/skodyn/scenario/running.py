"""Run a scenario, and resume the run that a log holds."""

from __future__ import annotations

import os
from pathlib import Path

from skodyn.errors import LogError
from skodyn.io.trajectory import open as open_trajectory
from skodyn.scenario.description import Scenario
from skodyn.scenario.reader import parse_scenario
from skodyn.simulation import session
from skodyn.simulation.loop import Progress

__all__ = ["plan_of", "resume_log", "run_scenario"]


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
    log: str | os.PathLike[str], *, force: bool = False, progress: Progress | None = None
) -> session.Run:
    """Continue the interrupted run of a log from its last checkpoint, to the same bits."""
    path = Path(log)
    before = open_trajectory(path)
    if not before.scenario_text:
        raise LogError(
            f"{path} was not written from a scenario file; go on with it in Python, by "
            f"sk.simulate(…, log={str(path)!r}, resume=True) and what else it was begun with."
        )
    folder = Path(before.provenance.get("scenario_folder", "."))
    plan = plan_of(parse_scenario(before.scenario_text, folder), folder)
    return session.resume(plan, path, force=force, progress=progress)
