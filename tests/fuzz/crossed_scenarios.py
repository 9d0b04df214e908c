"""Scenarios whose features meet by chance: what is refused and what runs, alone, in pieces, in
lanes, and by every method to the same motion.

Everything follows from a seed, so that a number names a file for ever.

    python tests/fuzz/crossed_scenarios.py 7 200 60       # seed, most scenarios, most seconds

prints what is wrong and the text that did it, and a count at the end.
"""

from __future__ import annotations

import contextlib
import io
import random
import shutil
import sys
import tempfile
import time
import tomllib
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np

import skodyn as sk
from skodyn.cli import main as command
from skodyn.errors import ModelError, SkodynError
from skodyn.scenario.running import plan_of
from skodyn.simulation.plan import Plan
from skodyn.simulation.settings import IntegratorSettings
from skodyn.sweeps.scenario_data import to_toml
from time_limit import time_limit

SCENARIOS = Path(__file__).parent.parent.parent / "scenarios"
MOST_SECONDS = 60.0
LARGE = {"chain_50", "chain_1000", "polymer_200", "rag_doll", "whipping_chain"}

Data = dict[str, Any]

MIMICS = """
[model]
name = "hand"
[model.bodies.palm]
parent = "world"
joint = { type = "free", name = "root" }
mass = 1.5
com = [0.01, 0, -0.02]
inertia = [0.006, 0.004, 0.005]
[model.bodies.thumb]
parent = "palm"
joint = { type = "revolute", axis = [0, 1, 0], armature = 0.01 }
translation = [0.1, 0, 0]
mass = 0.3
com = [0.1, 0, 0.02]
inertia = [0.001, 0.002, 0.0015]
[model.bodies.finger]
parent = "palm"
translation = [-0.1, 0, 0]
mass = 0.2
com = [-0.1, 0.01, 0]
inertia = [0.001, 0.002, 0.0015]
[model.bodies.finger.joint]
type = "helical"
axis = [0, 0, 1]
pitch = 0.2
mimic = { joint = "thumb", multiplier = -1.5, offset = 0.1 }
[model.bodies.tip]
parent = "thumb"
joint = { type = "prismatic", axis = [1, 0, 0] }
translation = [0.2, 0, 0]
mass = 0.1
inertia = [0.0002, 0.0002, 0.0002]
[model.bodies.other]
parent = "world"
joint = { type = "spherical", armature = 0.02 }
translation = [0, 1, 0]
mass = 0.4
com = [0.1, 0.02, -0.1]
inertia = [0.01, 0.02, 0.015]
"""
LAW = """
def law(t, q, v, params, tau):
    for i in range(len(v)):
        tau[i] -= 0.05 * v[i]

def integrating(t, q, v, params, tau, integrals, rates):
    rates[0] = v[0]
    tau[0] -= 0.1 * integrals[0]

def reach(t, q, v):
    return q[0] + v[-1]
"""


def seeds() -> dict[str, Data]:
    found = {
        path.stem: tomllib.loads(path.read_text())
        for path in sorted(SCENARIOS.glob("*.toml"))
        if path.stem not in LARGE
    }
    found["mimics"] = tomllib.loads(MIMICS) | {"duration": 1.0}
    for data in found.values():
        data.pop("sweep", None)
    return found


def furnish(folder: Path) -> None:
    for name in ("models", "laws"):
        shutil.copytree(SCENARIOS / name, folder / name)
    (folder / "law.py").write_text(LAW)


# ---- making -------------------------------------------------------------------------------------


class Maker:
    """Adds to a scenario what the model of it could have."""

    def __init__(self, data: Data, model: sk.Model, rng: random.Random) -> None:
        self.data, self.model, self.rng = data, model, rng
        self.joints = list(model.joint_names)
        self.single = [n for n, j in zip(self.joints, model.joints, strict=True) if j.nv == 1]
        self.dt = data.get("integrator", {}).get("dt", 0.001)

    def put(self, table: str, given: Data) -> None:
        """Under a name of its own."""
        tables = self.data.setdefault(table, {})
        tables[f"crossed_{len(tables)}"] = given

    def number(self, size: float) -> float:
        return float(f"{size * self.rng.uniform(-1, 1):.3g}")

    def clock(self) -> Data:
        rng, given = self.rng, {}
        if rng.random() < 0.6:
            given["sample_time"] = rng.choice((1, 2, 5)) * self.dt
            if rng.random() < 0.5:
                given["delay"] = rng.choice((0.5, 1, 2)) * given["sample_time"]
            if rng.random() < 0.5:
                given["q_noise"] = 1e-3
        return given

    def servo(self) -> None:
        given = {"type": "servo", "joint": self.rng.choice(self.single), "kp": self.number(20.0)}
        given |= self.rng.choice(({}, {"ki": 3.0}, {"limit": 0.5}, {"gravity_compensation": True}))
        self.put("controllers", given | self.clock())

    def tracking(self) -> None:
        joint = self.rng.choice(self.single)
        given = {"type": "tracking_servo", "joint": joint, "kp": 5.0, "kd": 0.1}
        target: list[Data] = [
            {"times": [0.0, 1.0, 2.0], "positions": [0.0, 0.2, 0.1]},
            {"times": [0.0, 1.0], "positions": [0.0, 0.2], "between": "minimum_jerk"},
            {"amplitude": 0.1, "frequency": 2.0},
        ]
        self.put("controllers", given | self.rng.choice(target) | self.clock())

    def torque(self) -> None:
        given = {"joint": self.rng.choice(self.single)}
        kinds: list[Data] = [
            {"type": "sinusoid", "amplitude": 0.3, "frequency": 3.0},
            {"type": "torque_table", "times": [0.0, 1.0], "torques": [0.1, -0.2]},
        ]
        self.put("controllers", given | self.rng.choice(kinds))

    def law(self) -> None:
        given: Data = {"type": "python", "function": "law.py:law"}
        if self.rng.random() < 0.4:
            given |= {"function": "law.py:integrating", "integrals": 1}
        self.put("controllers", given | self.clock())

    def passive(self) -> None:
        name = self.rng.choice([*self.joints, "*"])
        kinds: list[Data] = [
            {"damping": 0.2}, {"stiffness": 2.0, "rest": 0.1}, {"friction": 0.1},
            {"upper": 0.01, "stop_stiffness": 100.0, "stop_damping": 1.0},
        ]  # fmt: skip
        given = self.data.setdefault("joints", {}).setdefault(name, {})
        given |= self.rng.choice(kinds)

    def motion(self) -> None:
        joint = self.rng.choice(self.single)
        kinds: list[Data] = [
            {"type": "sine", "amplitude": 0.1, "frequency": 1.0},
            {"type": "steady", "speed": 0.5},
            {"type": "table", "times": [0.0, 1.0, 2.0], "positions": [0.0, 0.1, 0.0]},
        ]
        for table in self.data.get("initial", {}).values():
            if isinstance(table, dict):
                table.pop(joint, None)
        self.put("motions", {"joint": joint} | self.rng.choice(kinds))

    def body(self) -> str:
        return self.rng.choice([*self.model.body_names, *self.model.frames])

    def wrench(self) -> None:
        kinds: list[Data] = [
            {"force": [0.1, 0.2, 0.3]}, {"moment": [0.1, 0, 0.02], "frame": "body"},
            {"force": [0.0, 0.2, 0.3], "point": [0.1, 0.1, 0.0]},
        ]  # fmt: skip
        self.put("forces", {"type": "wrench", "body": self.body()} | self.rng.choice(kinds))

    def spring(self) -> None:
        given = {"type": "point_spring", "body_a": self.body(), "body_b": "world", "stiffness": 5.0}
        more: Data = {"damping": 0.1, "point_b": [0.3, 0.4, 0.9], "length": 0.1}
        self.put("forces", given | more)

    def fixman(self) -> None:
        self.put("forces", {"type": "fixman", "kT": 0.1})

    def bath(self) -> None:
        self.data["thermostat"] = {"kT": 0.01, "rate": 0.2 / self.dt}

    def touch(self) -> None:
        body = self.rng.choice(self.model.body_names)
        shapes: list[Data] = [
            {"type": "sphere", "radius": 0.05},
            {"type": "box", "size": [0.1, 0.1, 0.1]},
            {"type": "capsule", "radius": 0.03, "length": 0.1},
        ]
        self.data.setdefault("shapes", {})["crossed"] = {"body": body} | self.rng.choice(shapes)
        name = next(iter(self.data.setdefault("ground", {"floor": {"type": "half_space"}})))
        law: Data = {"a": f"{body}/crossed", "b": name, "stiffness": 100.0, "dissipation": 1.0}
        law |= self.rng.choice(({}, {"friction": 0.5}, {"friction": 0.5, "rolling_friction": 1e-3}))
        self.put("contacts", law)

    def noise(self) -> None:
        self.data.setdefault("initial", {})[self.rng.choice(("q_noise", "v_noise"))] = 0.01

    def channels(self) -> None:
        names = [
            "vdot", "tau", "poses", "drive", "energy", "force_energy", "momentum", "loop_forces",
            "loop_error", "contacts", "deflection", "integrals", "frame_poses", "law.py:reach",
        ]  # fmt: skip
        chosen = self.rng.sample(names, self.rng.randrange(1, 4))
        self.data.setdefault("output", {})["channels"] = chosen


FEATURES = [
    *[Maker.servo] * 2, *[Maker.tracking] * 2, Maker.torque, *[Maker.law] * 2,
    *[Maker.passive] * 3, *[Maker.motion] * 3, *[Maker.wrench] * 2, Maker.spring, Maker.fixman,
    Maker.bath, *[Maker.touch] * 2, Maker.noise,
]  # fmt: skip
METHODS = ("rk4", "rk4", "semi_implicit_euler", "implicit_midpoint", "implicit_contact")
STEPS = 20
ENDS = ("refused", "failed", "finished")


def shortened(data: Data, method: str | None) -> None:
    """A few steps, every one of them logged; what flies apart under a law that is too stiff for its
    clock ends by a bound, or error control would follow it in a million steps."""
    data.setdefault("bounds", {}).setdefault("max_speed", 1e5)
    given = data.setdefault("integrator", {})
    dt = given.get("dt", 0.001)
    if method == "dormand_prince" or (method is None and given.get("method") == method):
        data["integrator"] = {"method": "dormand_prince", "rtol": 1e-11, "atol": 1e-11}
        data["output"] = {"channels": data.get("output", {}).get("channels", []), "interval": dt}
    elif method:
        data["integrator"] = {"method": method, "dt": dt}
        data["output"] = {"channels": data.get("output", {}).get("channels", [])}
    data.setdefault("output", {}).pop("every", None)
    data["duration"] = STEPS * dt


def made(rng: random.Random, folder: Path, sound: dict[str, Data]) -> str:
    """A scenario with up to four features more than it had."""
    name = rng.choice(list(sound))
    data = tomllib.loads(to_toml(sound[name]))
    path = folder / "plain.toml"
    path.write_text(to_toml(data))
    maker = Maker(data, sk.read_scenario(path).model, rng)
    shortened(data, rng.choice((*METHODS, "dormand_prince")))
    for _ in range(rng.choice((1, 2, 2, 3, 4))):
        feature = rng.choice(FEATURES)
        if maker.single or feature not in (Maker.servo, Maker.tracking, Maker.torque, Maker.motion):
            feature(maker)
    if rng.random() < 0.5:
        maker.channels()
    return to_toml(data)


# ---- judging ------------------------------------------------------------------------------------


def judge(path: Path) -> str:
    """How a scenario ended; raises AssertionError for what must not be."""
    code, said = checked(path), ""
    try:
        plan = plan_of(sk.read_scenario(path))
        run = sk.run(path, progress=False)
    except SkodynError as error:
        said = str(error)
    if said:
        assert code == 2, f"check finds nothing, Python says {said}"
        return "refused"
    assert code == 0, "check refuses what runs"
    in_pieces(plan)
    in_lanes(path)
    if run.status != "finished":
        return "failed"
    by_shorter_steps(plan)
    return "finished"


def checked(path: Path) -> int:
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        return command(["check", str(path)])


def advanced(engine: Any, budget: int) -> int:
    while not engine.finished:
        if status := engine.advance(budget).status:
            return int(status)
    return 0


def in_pieces(plan: Plan) -> None:
    """A run that was stopped and begun anew has the same bits."""
    whole, first, second = plan.engine(), plan.engine(), plan.engine()
    ended = advanced(whole, 1000)
    if first.advance(7).status == 0:
        second.restore(first.memory_of_run())
        assert advanced(second, 3) == ended, "resumed, it ends otherwise"
        same_bits(second.q, whole.q, "q of a resumed run")
        same_bits(second.y, whole.y, "y of a resumed run")


def same_bits(one: Any, other: Any, what: str) -> None:
    one, other = np.asarray(one), np.asarray(other)
    assert one.tobytes() == other.tobytes(), f"{what}: off by {np.abs(one - other).max():g}"


def in_lanes(path: Path) -> None:
    """Runs of a sweep are those that its scenarios give alone."""
    out = path.with_suffix(".h5")
    chosen = {"out": out, "overwrite": True, "engine": "in-process", "progress": False}
    swept = sk.sweep(path, {"seed": [3, 4, 5]}, **chosen)
    again = path.with_name("again.toml")
    for i in (0, 2):
        again.write_text(swept.scenario_text(i))
        alone = sk.run(again, progress=False)
        done = bool(swept.finished[i])
        assert done == (alone.status == "finished"), f"run {i} of a sweep: {swept.reason(i)}"
        if done:
            same_bits(swept.q[i], alone.q[-1], f"q of run {i} of a sweep")
            same_bits(swept.v[i], alone.v[-1], f"v of run {i} of a sweep")


def end_of(plan: Plan) -> np.ndarray | None:
    """The last state, if there is one; other steps may not fit samples of controllers."""
    try:
        engine = plan.engine()
    except ModelError:
        return None
    return None if advanced(engine, 1000) else np.concatenate((engine.q, engine.v))


def by_shorter_steps(plan: Plan) -> None:
    """Shorter steps lead to what error control leads to."""
    if plan.thermostat is not None or plan.settings.adaptive:
        return
    dt, quiet = plan.settings.dt, replace(plan, channels=())
    exact = IntegratorSettings("dormand_prince", dt, rtol=1e-11, atol=1e-11)
    ends = [end_of(replace(quiet, settings=exact))]
    for parts in (1, 2, 4):
        ends.append(end_of(replace(quiet, settings=plan.settings.changed(dt=dt / parts))))
    if any(end is None for end in ends):
        return
    off = [float(np.abs(end - ends[0]).max()) for end in ends[1:]]
    size = 1.0 + float(np.abs(ends[0]).max())
    if off[2] > 1e-7 * size and off[2] > 0.75 * max(off[:2]):  # stops and contacts: not monotone
        raise AssertionError(f"{plan.settings.method} does not converge: off by {off}")


def campaign(folder: Path, seed: int, count: int, seconds: float) -> Iterator[tuple[str, str]]:
    """(how it ended or what is wrong, text) of each scenario."""
    furnish(folder)
    sound, until = seeds(), time.monotonic() + seconds
    for number in range(count):
        if time.monotonic() > until:
            break
        path = folder / "crossed.toml"
        path.write_text(made(random.Random(f"{seed}/{number}"), folder, sound))
        try:
            with time_limit(MOST_SECONDS), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                warnings.simplefilter("error", RuntimeWarning)
                end = judge(path)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            end = f"{seed}/{number}: {type(error).__name__}: {error}"
        yield end, path.read_text()


if __name__ == "__main__":
    ends: Counter[str] = Counter()
    seed, most, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    with tempfile.TemporaryDirectory() as name:
        for end, text in campaign(Path(name), seed, most, seconds):
            ends[end if end in ENDS else "found"] += 1
            if end not in ENDS:
                print(f"{end[:1000]}\n{text}", flush=True)
    print(dict(ends), f"{time.process_time():.0f} s of the processor")
