"""Flexible bodies for the eye and for other programs: size, frequencies, steps."""

from __future__ import annotations

from typing import Any

from skodyn.looks import look
from skodyn.model.flexible.beams import Beam
from skodyn.model.flexible.bent import BentBody
from skodyn.model.model import Model

__all__ = ["bent_rows", "describe_bent"]


def describe_bent(model: Model) -> dict[str, dict[str, Any]]:
    """Length, mass, and pieces or modes with their frequencies, by body; and the largest step of
    RK4, which is that of the whole model."""
    step = _largest_step(model) if model.flexible else 0.0
    return {name: _one(model, name, given, step) for name, given in model.bent.items()}


def _largest_step(model: Model) -> float:
    found: float = look("largest_rk4_step", "skodyn.dynamics.assembled_frequency")(model)
    return found


def _one(model: Model, name: str, given: BentBody, step: float) -> dict[str, Any]:
    if name not in model.flexible:
        assert isinstance(given.described, Beam)
        numbers = given.described.numbers
        whole = {"length": numbers.length, "mass": numbers.length * numbers.mass}
        return {**whole, "segments": len(given.pieces)}
    body = model.flexible[name]
    return {
        "length": body.length,
        "mass": body.mass,
        "modes": dict(zip(body.labels, body.frequencies.tolist(), strict=True)),
        "slaves": len(body.slaves),
        "largest_rk4_step": step,
    }


def bent_rows(model: Model) -> list[tuple[str, ...]]:
    """The same as cells of a table."""
    rows: list[tuple[str, ...]] = []
    for name, said in describe_bent(model).items():
        size = f"{said['length']:.6g} m, {said['mass']:.6g} kg"
        if "segments" in said:
            rows.append((name, size, f"{said['segments']} segments", ""))
            continue
        hertz = ", ".join(f"{label} {f:.4g}" for label, f in said["modes"].items())
        slaves = f"{said['slaves']} slaves, RK4 up to {said['largest_rk4_step']:.2g} s"
        rows.append((name, size, f"{hertz} Hz", slaves))
    return rows
