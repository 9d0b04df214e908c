"""What flexible bodies cost beside rigid ones: forward dynamics of chains, one state, one core.

    python benchmarks/flexible.py
    python benchmarks/flexible.py --exudyn      # beside Exudyn: pip install exudyn==1.13.6

A chain of hinged beams, each on the tip of the one before; the shortest of many turns. Batches of
20,480 states of a chain of ten and of 1,024 of a chain of 100, on one thread.
Beside Exudyn a strip falls for 2 s as in tests/data/flexible/flexible_pendulum.json, and a bar of
finite elements swings for 1 s as in solid_bar_h20.json, both programs with its ten Craig-Bampton
modes. Each must first meet the reference, then whole runs are timed alternately.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import skodyn as sk
from skodyn.lanes import LANES

LENGTH = 0.2
HINGE = sk.Revolute(axis=(0, 0, 1))
KINDS = {
    "4 modes": ({"y": 2, "z": 2}, False),
    "4 modes, slaves": ({"y": 2, "z": 2}, True),
    "8 modes": ({"y": 4, "z": 4}, False),
    "8 modes, slaves": ({"y": 4, "z": 4}, True),
}


def chain(bodies: int, modes: dict[str, int] | None, stiffening: bool = False) -> sk.Model:
    """Rigid bars without modes, beams with them."""
    builder = sk.ModelBuilder()
    parent = "world"
    for k in range(bodies):
        if modes is None:
            builder.add_body(
                f"b{k}", parent, HINGE, translation=(LENGTH if k else 0.0, 0, 0), mass=LENGTH,
                com=(LENGTH / 2, 0, 0), inertia=(1e-3, 1e-3, 1e-3),
            )  # fmt: skip
        else:
            beam = sk.Beam(
                LENGTH, mass_per_length=1.0, bending_stiffness=50.0, rotary_inertia=1e-4,
                modes=modes, stiffening=stiffening,
            )  # fmt: skip
            builder.add_body(f"b{k}", parent, HINGE, flexible=beam, at="tip" if k else None)
        parent = f"b{k}"
    return builder.build()


def one_state(model: sk.Model) -> Callable[[], object]:
    q, v = model.random_state(np.random.default_rng(0))
    tau, out = np.zeros(model.nv), np.empty(model.nv)
    return lambda: sk.forward_dynamics(model, q, v, tau, out=out)


def batch(model: sk.Model, states: int) -> Callable[[], object]:
    """On one thread."""
    rng = np.random.default_rng(0)
    q, v = (np.stack(x) for x in zip(*(model.random_state(rng) for _ in range(64)), strict=True))
    q, v = np.tile(q, (states // 64, 1)), np.tile(v, (states // 64, 1))
    tau, out = np.zeros_like(v), np.empty_like(v)
    return lambda: sk.forward_dynamics(model, q, v, tau, out=out, threads=1)


def by_turns(calls: dict[str, Callable[[], object]], turns: int = 60) -> dict[str, float]:
    """Seconds of one call of each, the shortest of turns of a few milliseconds."""
    best = {}
    for name, call in calls.items():
        call()  # compiles
        start = time.perf_counter()
        call()
        best[name] = time.perf_counter() - start
    often = {name: max(1, round(2e-3 / spent)) for name, spent in best.items()}
    for _ in range(turns):
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(often[name]):
                call()
            best[name] = min(best[name], (time.perf_counter() - start) / often[name])
    return best


# ---- beside Exudyn ------------------------------------------------------------------------------

REFERENCES = Path(__file__).parent.parent / "tests" / "data" / "flexible"
DURATION, ROW = 2.0, 0.02
SWING, MODES, BAR_BOUND = 1.0, 10, 1e-4
EXUDYN = "1.13.6"


class Strip:
    """Ours: one body of four modes on a pin."""

    def __init__(self, p: dict[str, float], method: str, dt: float) -> None:
        builder = sk.ModelBuilder(gravity=(0, -p["g"], 0))
        beam = sk.Beam(
            p["L"], mass_per_length=p["rhoA"], bending_stiffness=p["EI"],
            rotary_inertia=p["rhoI"], modes={"y": 4},
        )  # fmt: skip
        builder.add_body("strip", joint=HINGE, flexible=beam)
        self.model, self.method, self.dt = builder.build(), method, dt

    def run(self) -> tuple[np.ndarray, float]:
        """(tip in each row, seconds)."""
        q, v = self.model.neutral(), np.zeros(self.model.nv)
        start = time.process_time()
        run = sk.simulate(
            self.model, q, v, duration=DURATION, dt=self.dt, every=round(ROW / self.dt),
            integrator=self.method,
        )  # fmt: skip
        spent = time.process_time() - start
        return sk.node_poses(self.model, run.q, "strip")[:, 1, :2, 3], spent


class Cable:
    """Exudyn's: eight ANCF cable elements in the plane, generalised-α.

    Newton's tolerances are 1e-6: with an axial stiffness as large as this the default ones cannot
    be met, and steps are halved again and again.
    """

    def __init__(self, p: dict[str, float], radius: float, dt: float) -> None:
        self.p, self.radius, self.dt = p, radius, dt

    def run(self) -> tuple[np.ndarray, float]:
        import exudyn
        from exudyn import beams, itemInterface

        p, container = self.p, exudyn.SystemContainer()
        system: Any = container.AddSystem()
        cable = itemInterface.ObjectANCFCable2D(
            massPerLength=p["rhoA"], bendingStiffness=p["EI"], axialStiffness=p["EA"]
        )
        nodes = beams.GenerateStraightLineANCFCable2D(
            system, [0, 0, 0], [p["L"], 0, 0], 8, cable,
            massProportionalLoad=[0, -p["g"], 0], fixedConstraintsNode0=[1, 1, 0, 0],
        )[0]  # fmt: skip
        tip = system.AddSensor(
            itemInterface.SensorNode(
                nodeNumber=nodes[-1], outputVariableType=exudyn.OutputVariableType.Position,
                storeInternal=True, writeToFile=False,
            )
        )  # fmt: skip
        system.Assemble()
        settings = exudyn.SimulationSettings()
        stepping = settings.timeIntegration
        stepping.numberOfSteps, stepping.endTime = round(DURATION / self.dt), DURATION
        stepping.generalizedAlpha.spectralRadius = self.radius
        stepping.newton.relativeTolerance = stepping.newton.absoluteTolerance = 1e-6
        stepping.newton.useModifiedNewton = True
        settings.solutionSettings.writeSolutionToFile = False
        settings.solutionSettings.sensorsWritePeriod = ROW
        start = time.process_time()
        system.SolveDynamic(settings)
        spent = time.process_time() - start
        return system.GetSensorStoredData(tip)[:, 1:3], spent


class Bar:
    """Ours: ten modes of a bar of 20-node hexahedra on a hinge at its root."""

    def __init__(self, data: Any, method: str, dt: float) -> None:
        from scipy import sparse

        body = sk.flexible.from_matrices(
            data["nodes"], sparse.csr_matrix(data["K"]), sparse.csr_matrix(data["M"]),
            root=data["root"], interfaces={"tip": data["tip"]}, modes=MODES,
        )  # fmt: skip
        builder = sk.ModelBuilder(gravity=(0, 0, -9.81))
        builder.add_body("bar", joint=sk.Revolute(axis=(0, 1, 0)), flexible=body)
        self.model, self.method, self.dt = builder.build(), method, dt

    def run(self) -> tuple[np.ndarray, float]:
        """(x and z of the upper middle of the tip after each half second, seconds)."""
        q, v = self.model.neutral(), np.zeros(self.model.nv)
        start = time.process_time()
        run = sk.simulate(
            self.model, q, v, duration=SWING, dt=self.dt, every=round(0.5 * SWING / self.dt),
            integrator=self.method,
        )  # fmt: skip
        spent = time.process_time() - start
        pose = sk.node_poses(self.model, run.q[1:], "bar")[
            :, list(self.model.flexible["bar"].nodes).index("tip")
        ]
        return pose[:, [0, 2], 3] + 0.005 * pose[:, [0, 2], 2], spent


class ReducedBar:
    """Exudyn's ObjectFFRFreducedOrder with the same modes: 6 static ones of the tip and 4 natural
    ones with root and tip held, interfaces rigid (RBE2), generalised-α."""

    def __init__(self, data: Any, dt: float) -> None:
        from exudyn import FEM
        from scipy import sparse

        fem = FEM.FEMinterface()
        fem.nodes = {"Position": data["nodes"]}
        fem.massMatrix = sparse.csr_matrix(data["M"])
        fem.stiffnessMatrix = sparse.csr_matrix(data["K"])
        fem.ComputeHurtyCraigBamptonModes(
            boundaryNodesList=[data["root"], data["tip"]], nEigenModes=MODES - 6,
            useSparseSolver=False, computationMode=FEM.HCBstaticModeSelection.RBE2,
        )  # fmt: skip
        self.reduced = FEM.ObjectFFRFreducedOrderInterface(fem)
        above = data["nodes"] - [0.5, 0.0, 0.005]
        self.top, self.dt = int(np.argmin((above**2).sum(axis=1))), dt

    def run(self) -> tuple[np.ndarray, float]:
        import exudyn
        from exudyn import itemInterface

        container = exudyn.SystemContainer()
        system: Any = container.AddSystem()
        made = self.reduced.AddObjectFFRFreducedOrder(system, gravity=[0, 0, -9.81])
        ground = system.AddObject(itemInterface.ObjectGround())
        markers = [
            system.AddMarker(itemInterface.MarkerBodyRigid(bodyNumber=ground)),
            system.AddMarker(itemInterface.MarkerNodeRigid(nodeNumber=made["nRigidBody"])),
        ]
        system.AddObject(
            itemInterface.GenericJoint(markerNumbers=markers, constrainedAxes=[1, 1, 1, 1, 0, 1])
        )
        top = system.AddSensor(
            itemInterface.SensorSuperElement(
                bodyNumber=made["oFFRFreducedOrder"], meshNodeNumber=self.top, storeInternal=True,
                outputVariableType=exudyn.OutputVariableType.Position, writeToFile=False,
            )
        )  # fmt: skip
        system.Assemble()
        settings = exudyn.SimulationSettings()
        stepping = settings.timeIntegration
        stepping.numberOfSteps, stepping.endTime = round(SWING / self.dt), SWING
        stepping.generalizedAlpha.spectralRadius = 0.9
        stepping.newton.useModifiedNewton = True
        settings.solutionSettings.writeSolutionToFile = False
        settings.solutionSettings.sensorsWritePeriod = 0.5 * SWING
        start = time.process_time()
        system.SolveDynamic(settings)
        spent = time.process_time() - start
        return system.GetSensorStoredData(top)[1:, [1, 3]], spent


def beside_exudyn(tries: int = 7) -> None:
    """Compared first, then timed."""
    import warnings

    import exudyn

    warnings.simplefilter("ignore", DeprecationWarning)  # its older names do in every version
    if exudyn.__version__ != EXUDYN:
        print(f"Exudyn is {exudyn.__version__}, not {EXUDYN}: figures are not comparable")
    given = json.loads((REFERENCES / "flexible_pendulum.json").read_text())
    p, rows = given["parameters"], np.array(given["rows"])[:, 1:3]
    strips: dict[str, Any] = {
        "Exudyn, 2 ms": Cable(p, 0.9, 2e-3),
        "Exudyn, 1 ms": Cable(p, 0.95, 1e-3),
        "rk4, 2 ms": Strip(p, "rk4", 2e-3),
        "implicit_midpoint, 2 ms": Strip(p, "implicit_midpoint", 2e-3),
        "implicit_midpoint, 1 ms": Strip(p, "implicit_midpoint", 1e-3),
    }
    print("a strip that falls, four modes and eight ANCF cable elements")
    compare(strips, rows, 1e-3 * p["L"], DURATION, tries)
    swung = json.loads((REFERENCES / "solid_bar_h20.json").read_text())["pendulum"]
    data = np.load(REFERENCES / "solid_bar_h20.npz")
    bars: dict[str, Any] = {
        "Exudyn, 1 ms": ReducedBar(data, 1e-3),
        "implicit_midpoint, 1 ms": Bar(data, "implicit_midpoint", 1e-3),
    }
    rows = np.array([swung["at_0.5_s"], swung["at_1.0_s"]])
    print("a bar of finite elements that swings, ten Craig-Bampton modes each")
    compare(bars, rows, BAR_BOUND, SWING, tries)
    print(f"load of the machine meanwhile: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")


def compare(
    runs: dict[str, Any], rows: np.ndarray, bound: float, duration: float, tries: int
) -> None:
    """Errors beside a reference, then the time of a step, best of several taken in turn."""
    for name, one in runs.items():
        error = np.abs(one.run()[0] - rows).max()
        print(f"{name:24} errs by {error:.1e} m", "" if error < bound else "(too much)")
    best = dict.fromkeys(runs, np.inf)
    for _ in range(tries):
        for name, one in runs.items():
            best[name] = min(best[name], one.run()[1] * one.dt / duration)
    for name, spent in best.items():
        ratio = best[f"Exudyn, {name[-4:]}"] / spent
        print(f"{name:24} {spent * 1e6:7.2f} µs a step, {ratio:5.1f} times as fast")


def main() -> None:
    parser = argparse.ArgumentParser(description="What flexible bodies cost.")
    parser.add_argument("--exudyn", action="store_true", help="strip and bar beside Exudyn")
    if parser.parse_args().exudyn:
        beside_exudyn()
    else:
        chains()


def chains() -> None:
    bent = {name: chain(100, *kind) for name, kind in KINDS.items()}
    calls = {"rigid": chain(100, None)} | bent
    best = by_turns({name: one_state(model) for name, model in calls.items()})
    for name, spent in best.items():
        print(f"{name:16} {spent * 1e7:5.0f} ns a body, {spent / best['rigid']:.2f} rigid ones")
    print(f"batches, {LANES} states to a register: ns a body and state")
    for bodies, states in ((10, 20_480), (100, 1024)):
        for name, kind in KINDS.items():
            model = chain(bodies, *kind)
            spent = by_turns({"one": one_state(model), "many": batch(model, states)}, 20)
            one, many = (1e9 * spent[word] / bodies for word in ("one", "many"))
            of_one = f"{one:5.0f} alone, {many / states:4.0f} of {states}"
            print(f"{name:16} {bodies:4} bodies: {of_one}, {one * states / many:.2f} times as fast")
    chains_of_four = {str(n): chain(n, *KINDS["4 modes"]) for n in (10, 100, 1000)}
    best = by_turns({n: one_state(model) for n, model in chains_of_four.items()})
    for n, spent in best.items():
        print(f"4 modes, {n:>4} bodies: {spent / int(n) * 1e9:5.0f} ns a body")


if __name__ == "__main__":
    main()
