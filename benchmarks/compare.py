"""skodyn beside Pinocchio, MuJoCo and Drake: the same mechanisms, one process, one run.

    python benchmarks/compare.py            # a few minutes
    python benchmarks/compare.py --quick    # fewer repeats and models

First every library must give the same answers on the same mechanism. Then all take turns, warm, and
the best of many turns counts. Calls are made from Python, as a user makes them: skodyn through its
front door with all its checks, Pinocchio with data made beforehand, MuJoCo with the state in place
already. Compile times are measured apart, in processes of their own. What is not installed is left
out. Tables are printed as Markdown.
"""

import argparse
import importlib
import importlib.metadata
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

import skodyn as sk
from models import MODELS, chain, drake_model, mujoco_model, pinocchio_model
from skodyn import interop

BATCH = 4096
EPSILON = np.finfo(float).eps
ALGORITHMS = ("forward dynamics", "inverse dynamics", "mass matrix", "inverse mass matrix")
CORES = sorted(os.sched_getaffinity(0))

Calls = dict[str, Callable[[], object]]
goals: list[tuple[str, float, str, float]] = []
"""(what, measured, "≥" or "≤", wanted)"""


def installed(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


pin, mujoco, drake = installed("pinocchio"), installed("mujoco"), installed("pydrake")


# ---- measuring --------------------------------------------------------------------------------


def race(calls, turns, at_least=0.004):
    """Best seconds per call of each contender; they take turns, so that noise hits all alike."""
    loops = {}
    for name, call in calls.items():
        call()
        start = time.perf_counter()
        call()
        loops[name] = max(1, int(at_least / max(time.perf_counter() - start, 1e-7)))
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(turns):
        for name, call in calls.items():
            repeats = range(loops[name])
            start = time.perf_counter()
            for _ in repeats:
                call()
            best[name] = min(best[name], (time.perf_counter() - start) / loops[name])
    return best


def table(header, rows):
    """A Markdown table with columns in line."""
    cells = [header, *rows]
    widths = [max(len(str(row[c])) for row in cells) for c in range(len(header))]

    def line(row):
        padded = [str(row[0]).ljust(widths[0])]
        padded += [str(x).rjust(w) for x, w in zip(row[1:], widths[1:], strict=True)]
        return "| " + " | ".join(padded) + " |"

    rule = ["-" * widths[0]] + ["-" * (w - 1) + ":" for w in widths[1:]]
    print(line(header), "| " + " | ".join(rule) + " |", *map(line, rows), sep="\n", flush=True)


def heading(text):
    print(f"\n## {text}\n", flush=True)


# ---- one mechanism in every library -----------------------------------------------------------


class Case:
    """A mechanism, a random state of it, and how each library is asked about that state."""

    def __init__(self, name):
        self.name = name
        self.model = MODELS[name]()
        self.kinds = {joint.type_name for joint in self.model.joints}
        rng = np.random.default_rng(1)
        self.q, self.v = self.model.random_state(rng)
        self.v *= 0.1
        self.tau, self.vdot = rng.normal(size=(2, self.model.nv))
        self.answers = {algorithm: {} for algorithm in ALGORITHMS}
        self.calls: dict[str, Calls] = {algorithm: {} for algorithm in ALGORITHMS}
        self._skodyn()
        # longer ones take MuJoCo and Drake seconds, and Pinocchio's data more than 20 GB
        long = self.model.nv > 400
        if pin and not long:
            self._pinocchio()
        if mujoco and not long and self.kinds <= {"revolute", "prismatic", "spherical", "free"}:
            self._mujoco()
        if drake and not long and self.kinds <= {"revolute", "prismatic"}:
            self._drake()

    def _add(self, algorithm, label, call, answer=None):
        self.calls[algorithm][label] = call
        if answer is not None:
            self.answers[algorithm][label] = answer

    def _skodyn(self):
        m, q, v, tau, vdot = self.model, self.q, self.v, self.tau, self.vdot
        vector, square = np.empty(m.nv), np.empty((m.nv, m.nv))
        forward, inverse, matrix, solve = ALGORITHMS
        fd, rnea, crba, minv = (
            sk.forward_dynamics, sk.inverse_dynamics, sk.mass_matrix, sk.mass_matrix_inverse
        )  # fmt: skip
        self._add(forward, "skodyn", lambda: fd(m, q, v, tau), fd(m, q, v, tau))
        self._add(forward, "skodyn, out=", lambda: fd(m, q, v, tau, out=vector))
        self._add(inverse, "skodyn", lambda: rnea(m, q, v, vdot), rnea(m, q, v, vdot))
        self._add(inverse, "skodyn, out=", lambda: rnea(m, q, v, vdot, out=vector))
        self._add(matrix, "skodyn", lambda: crba(m, q), crba(m, q))
        self._add(matrix, "skodyn, out=", lambda: crba(m, q, out=square))
        self._add(solve, "skodyn", lambda: minv(m, q), minv(m, q))
        self._add(solve, "skodyn, out=", lambda: minv(m, q, out=square))

    def _pinocchio(self):
        peer = self.pin_model = pinocchio_model(self.model)
        data = peer.createData()
        q, v = interop.to_pinocchio_state(self.model, peer, self.q, self.v)
        tau = interop.to_pinocchio_force(self.model, peer, self.q, self.tau)
        vdot = interop.to_pinocchio_acceleration(self.model, peer, self.q, self.v, self.vdot)
        X = orthogonal(interop.to_pinocchio_state, self.model, peer, self.q)
        forward, inverse, matrix, solve = ALGORITHMS
        for label, way in (
            ("Pinocchio", pin.Convention.LOCAL),
            ("Pinocchio, world", pin.Convention.WORLD),
        ):
            answer = interop.from_pinocchio_acceleration(
                self.model, peer, q, v, pin.aba(peer, data, q, v, tau, way)
            )
            self._add(forward, label, lambda w=way: pin.aba(peer, data, q, v, tau, w), answer)
            answer = X.T @ pin.crba(peer, data, q, way) @ X
            self._add(matrix, label, lambda w=way: pin.crba(peer, data, q, w), answer)
        answer = interop.from_pinocchio_force(self.model, peer, q, pin.rnea(peer, data, q, v, vdot))
        self._add(inverse, "Pinocchio", lambda: pin.rnea(peer, data, q, v, vdot), answer)
        answer = X.T @ pin.computeMinverse(peer, data, q) @ X
        self._add(solve, "Pinocchio", lambda: pin.computeMinverse(peer, data, q), answer)

    def _mujoco(self):
        peer = mujoco_model(self.model)
        data, other = mujoco.MjData(peer), mujoco.MjData(peer)
        for d in (data, other):
            d.qpos[:], d.qvel[:] = interop.to_mujoco_state(self.model, peer, self.q, self.v)
        data.qfrc_applied[:] = interop.to_mujoco_force(self.model, peer, self.q, self.tau)
        other.qacc[:] = interop.to_mujoco_acceleration(self.model, peer, self.q, self.v, self.vdot)
        X = orthogonal(interop.to_mujoco_state, self.model, peer, self.q)
        mujoco.mj_forward(peer, data)
        mujoco.mj_inverse(peer, other)
        square = np.zeros((peer.nv, peer.nv))
        mujoco.mj_fullM(peer, data, square)
        forward, inverse, matrix, _ = ALGORITHMS
        answer = interop.from_mujoco_acceleration(self.model, peer, data.qpos, data.qvel, data.qacc)
        self._add(forward, "MuJoCo", lambda: mujoco.mj_forward(peer, data), answer)
        answer = interop.from_mujoco_force(self.model, peer, other.qpos, other.qfrc_inverse)
        self._add(inverse, "MuJoCo", lambda: mujoco.mj_inverse(peer, other), answer)

        def mass_matrix():
            mujoco.mj_kinematics(peer, other)
            mujoco.mj_comPos(peer, other)
            mujoco.mj_crb(peer, other)

        self._add(matrix, "MuJoCo", mass_matrix, X.T @ square @ X)

    def _drake(self):
        from pydrake.multibody.tree import MultibodyForces

        plant, places = drake_model(self.model)
        context = plant.CreateDefaultContext()
        place = np.array(places)
        state, tau, vdot = np.empty(2 * self.model.nv), np.empty(place.size), np.empty(place.size)
        state[place], state[place.size + place] = self.q, self.v
        tau[place], vdot[place] = self.tau, self.vdot
        plant.get_applied_generalized_force_input_port().FixValue(context, tau)

        def set_state():  # otherwise Drake answers from its cache
            plant.SetPositionsAndVelocities(context, state)

        def forward():
            set_state()
            return plant.EvalTimeDerivatives(context)

        def inverse():
            set_state()
            forces = MultibodyForces(plant)
            plant.CalcForceElementsContribution(context, forces)
            return plant.CalcInverseDynamics(context, vdot, forces)

        def matrix():
            set_state()
            return plant.CalcMassMatrix(context)

        rates = forward().CopyToVector()[place.size :]
        self._add("forward dynamics", "Drake", forward, rates[place])
        self._add("inverse dynamics", "Drake", inverse, inverse()[place])
        self._add("mass matrix", "Drake", matrix, matrix()[np.ix_(place, place)])

    def check(self):
        """Worst disagreement of each algorithm, as a part of what rounding allows."""
        worst = {}
        condition = np.linalg.cond(self.answers["mass matrix"]["skodyn"])
        for algorithm, answers in self.answers.items():
            solves = algorithm in ("forward dynamics", "inverse mass matrix")
            allowed = 200 * EPSILON * (condition if solves else 10 * self.model.n_bodies)
            ours = answers["skodyn"]
            for label, theirs in answers.items():
                error = np.abs(theirs - ours).max() / np.abs(ours).max()
                worst[algorithm] = max(worst.get(algorithm, 0.0), error)
                if not error <= allowed:
                    sys.exit(f"{self.name}: {label} and skodyn disagree on {algorithm}: {error}")
        return worst


def orthogonal(to_state, model, peer, q):
    """X with v' = X v."""
    return to_state(model, peer, np.tile(q, (model.nv, 1)), np.eye(model.nv))[1].T


# ---- what is printed --------------------------------------------------------------------------


def machine():
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    versions = {
        name: version(name) for name in ("skodyn", "numba", "numpy", "pin", "mujoco", "drake")
    }
    print(f"command   python {' '.join(sys.argv)}")
    print(f"machine   {names[0] if names else platform.processor()}, {len(CORES)} cores")
    print(f"load      {os.getloadavg()[0]:.2f} over the last minute, this run included")
    print(f"python    {platform.python_version()} on {platform.system()} {platform.release()}")
    print("versions  " + ", ".join(f"{name} {found}" for name, found in versions.items()))


def version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "absent"


def agreement(cases):
    heading("Agreement: largest difference from skodyn, relative")
    rows = []
    for case in cases:
        worst = case.check()
        labels = {label.split(",")[0] for answers in case.answers.values() for label in answers}
        others = ", ".join(sorted(labels - {"skodyn"})) or "–"
        shown = [f"{worst[a]:.1e}" if len(case.answers[a]) > 1 else "–" for a in ALGORITHMS]
        rows.append([case.name, others, *shown])
    table(["mechanism", "compared with", *ALGORITHMS], rows)


def single_calls(cases, turns):
    """One state, one core. The ratio is to the faster of Pinocchio's conventions."""
    best = {}
    for algorithm in ALGORITHMS:
        heading(f"{algorithm.capitalize()}, one state, one core, from Python")
        rows = []
        for case in cases:
            seconds = race(case.calls[algorithm], turns)
            best[case.name, algorithm] = seconds
            for label, t in seconds.items():
                per_body = f"{t / case.model.n_bodies * 1e9:.0f}"
                ratio = f"{t / seconds['skodyn, out=']:.2f}"
                rows.append([f"{case.name}: {label}", f"{t * 1e6:.2f}", per_body, ratio])
        table(["", "µs per call", "ns per body", "times skodyn, out="], rows)
    if pin:
        _single_goals(best)


def _single_goals(best):
    """Against Pinocchio as called by default, and against the faster of its two conventions."""
    forward, inverse, matrix, _ = ALGORITHMS
    wanted = [("chain 100", forward, 2.0), ("chain 100", inverse, 1.5), ("chain 100", matrix, 1.0)]
    wanted += [("arm 7", algorithm, 1.0) for algorithm in (forward, inverse, matrix)]
    for name, algorithm, ratio in wanted:
        seconds = best[name, algorithm]
        theirs = {k: t for k, t in seconds.items() if k.startswith("Pinocchio")}
        for label in ("skodyn, out=", "skodyn"):
            what = f"{name}, {algorithm}, {label}: times Pinocchio"
            goals.append((what, theirs["Pinocchio"] / seconds[label], "≥", ratio))
            if len(theirs) > 1:
                faster = min(theirs.values()) / seconds[label]
                goals.append((f"{what}'s faster way", faster, "≥", ratio))


def batches(cases, turns):
    heading(f"Forward dynamics, {BATCH} states, µs per state")
    rows, scaling = [], []
    for case in cases:
        calls, many = _batch_calls(case)
        one = race(calls, turns)
        os.sched_setaffinity(0, CORES)
        two = race(many, turns)  # with one thread once more: any other load hits both alike
        alone = two.pop("one thread again", None)
        os.sched_setaffinity(0, CORES[:1])
        for label, t in [*one.items(), *two.items()]:
            per_state = t / BATCH
            rows.append(
                [
                    f"{case.name}: {label}",
                    f"{per_state * 1e6:.3f}",
                    f"{per_state / case.model.n_bodies * 1e9:.1f}",
                    f"{t / one['skodyn, 1 thread']:.2f}",
                ]
            )
        theirs = [t for label, t in one.items() if label.startswith("Pinocchio")]
        if theirs:
            ratio = min(theirs) / one["skodyn, 1 thread"]
            goals.append((f"{case.name}, batch, one thread: times Pinocchio", ratio, "≥", 7.0))
        if two:
            ratio = alone / two["skodyn, 2 threads"]
            goals.append((f"{case.name}, batch: two threads over one", ratio, "≥", 1.7))
            scaling.append(f"{case.name}: {_two_busy_processes():.2f}")
    table(["", "µs per state", "ns per body", "times skodyn, 1 thread"], rows)
    if scaling:
        print("\nWhat two busy processes got done, over one, at that time: " + ", ".join(scaling))


def _two_busy_processes():
    """How much more two processes do than one: 2 where both cores are free."""
    busy = (
        "from time import perf_counter as now\nend, n = now() + 0.5, 0\n"
        "while now() < end: n += 1\nprint(n)"
    )

    def work(count):
        started = [
            subprocess.Popen([sys.executable, "-c", busy], stdout=subprocess.PIPE, text=True)
            for _ in range(count)
        ]
        return sum(int(process.communicate()[0]) for process in started)

    os.sched_setaffinity(0, CORES)
    ratio = work(2) / work(1)
    os.sched_setaffinity(0, CORES[:1])
    return ratio


def _batch_calls(case):
    """Contenders on one thread, and on two threads where there are two cores."""
    rng, m = np.random.default_rng(2), case.model
    states = [m.random_state(rng) for _ in range(BATCH)]
    q, v = np.array([q for q, _ in states]), np.array([v for _, v in states])
    tau, out = rng.normal(size=v.shape), np.empty_like(v)
    many = {}
    one: Calls = {"skodyn, 1 thread": lambda: sk.forward_dynamics(m, q, v, tau, out=out, threads=1)}
    if len(CORES) > 1:
        many["one thread again"] = one["skodyn, 1 thread"]
        many["skodyn, 2 threads"] = lambda: sk.forward_dynamics(m, q, v, tau, out=out, threads=2)
    if not pin:
        return one, many
    peer = case.pin_model
    pq, pv = interop.to_pinocchio_state(m, peer, q, v)
    ptau = interop.to_pinocchio_force(m, peer, q, tau)
    data, pool = peer.createData(), pin.ModelPool(peer, 2)
    results = np.empty(ptau.T.shape, order="F")
    columns = [np.asfortranarray(x.T) for x in (pq, pv, ptau)]

    def loop():
        for k in range(BATCH):
            pin.aba(peer, data, pq[k], pv[k], ptau[k], pin.Convention.WORLD)

    one["Pinocchio, loop"] = loop
    one["Pinocchio, pool of 1"] = lambda: pin.abaInParallel(1, pool, *columns, results)
    if many:
        many["Pinocchio, pool of 2"] = lambda: pin.abaInParallel(2, pool, *columns, results)
    one["skodyn, 1 thread"]()
    one["Pinocchio, pool of 1"]()
    theirs = interop.from_pinocchio_acceleration(m, peer, pq, pv, np.ascontiguousarray(results.T))
    if not np.allclose(theirs, out, rtol=1e-6, atol=1e-6 * np.abs(out).max()):
        sys.exit(f"{case.name}: the batches disagree")
    return one, many


def growth(turns):
    heading("Forward dynamics of long chains, one state, one core")
    calls, facts = {}, {}
    for n in (1_000, 10_000, 100_000):
        start = time.perf_counter()
        m = chain(n)
        built = time.perf_counter() - start
        q, v = 0.01 * np.random.default_rng(3).normal(size=(2, n))
        tau, out = np.zeros(n), np.empty(n)
        calls[n] = partial(sk.forward_dynamics, m, q, v, tau, out=out)
        calls[n]()
        residual = np.abs(sk.inverse_dynamics(m, q, v, out) - tau).max()
        facts[n] = residual / np.abs(sk.gravity_force(m, q)).max(), built
    seconds = race(calls, turns)
    header = ["bodies", "ms per call", "ns per body", "residual", "s to build the model"]
    table(
        header,
        [
            [n, f"{t * 1e3:.3f}", f"{t / n * 1e9:.0f}", f"{facts[n][0]:.1e}", f"{facts[n][1]:.2f}"]
            for n, t in seconds.items()
        ],
    )
    goals.append(("10,000 bodies over 1,000", seconds[10_000] / seconds[1_000], "≤", 11.0))
    goals.append(("100,000 bodies: residual over gravity torque", facts[100_000][0], "≤", 1e-9))


FIRST_CALL = """
import time
start = time.perf_counter()
import skodyn as sk
imported = time.perf_counter()
b = sk.ModelBuilder()
b.add_body("a", "world", sk.Revolute(axis=(0, 1, 0)), mass=1.0, com=(0, 0, -1), inertia=(1, 1, 1))
model = b.build()
built = time.perf_counter()
sk.forward_dynamics(model, model.neutral(), [0.0], [0.0])
print(imported - start, built - imported, time.perf_counter() - built)
"""


def compile_times(repeats):
    heading("Compile time, forward dynamics, in fresh processes")
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"NUMBA_CACHE_DIR": folder}
        cold = _first_call(environment)
        warm = min((_first_call(environment) for _ in range(repeats)), key=sum)
    rows = [
        [label, *(f"{t:.2f}" for t in (*times, sum(times)))]
        for label, times in (("empty cache", cold), ("warm cache", warm))
    ]
    table(["", "import, s", "build, s", "first call, s", "all, s"], rows)
    goals.append(("first call with an empty cache, s", cold[2], "≤", 15.0))
    goals.append(("import and first call with a warm cache, s", sum(warm), "≤", 2.0))


def _first_call(environment):
    done = subprocess.run(
        [sys.executable, "-c", FIRST_CALL],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return tuple(float(t) for t in done.stdout.split())


def verdicts():
    heading("Goals")
    rows = []
    for what, measured, sign, wanted in goals:
        met = measured >= wanted if sign == "≥" else measured <= wanted
        rows.append([what, f"{measured:.3g}", f"{sign} {wanted:g}", "met" if met else "MISSED"])
    table(["", "measured", "goal", ""], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer repeats, fewer mechanisms")
    quick = parser.parse_args().quick
    names = ["arm 7", "chain 100", "humanoid"]
    if not quick:
        names = ["arm 7", "chain 10", "chain 100", "chain 1000", "humanoid", "tree 200 shared"]
    machine()
    os.sched_setaffinity(0, CORES[:1])
    cases = [Case(name) for name in names]
    agreement(cases)
    single_calls(cases, turns=10 if quick else 60)
    batches([c for c in cases if c.name in ("chain 100", "humanoid")], turns=3 if quick else 40)
    growth(turns=3 if quick else 40)
    os.sched_setaffinity(0, CORES)
    compile_times(repeats=1 if quick else 4)
    verdicts()


if __name__ == "__main__":
    main()
