"""Closed loops beside Pinocchio and MuJoCo: forward dynamics of one state, growth, steps, batches.

    python benchmarks/loops.py            # a minute or two
    python benchmarks/loops.py --quick

Results are compared first. skodyn closes loops exactly; Pinocchio's `constraintDynamics` comes near
(μ = 1e-10, five iterations), its `lcaba` to about 1e-7 (μ = 1e-6, as it recommends), MuJoCo's soft
constraints with stiff settings to 1e-3 and worse. Contenders take turns, warm; the best counts.
"""

import argparse
import time
from functools import partial

import numpy as np

import skodyn as sk
from compare import installed, race, table
from loop_models import (
    closed_state,
    four_bar,
    given_state,
    ladder,
    mujoco_loops,
    pinocchio_constraints,
    ring,
    stewart,
    windows,
)
from models import pinocchio_model
from skodyn import interop

pin, mujoco = installed("pinocchio"), installed("mujoco")

STEPS, DT = 400, 1e-4
GOALS = {  # against lcaba, constraintDynamics, mj_forward
    "four-bar": (1.2, 1.2, 1.5),
    "ladder 10": (2.5, 4.0, 2.5),
    "ladder 50": (3.5, 50.0, 15.0),
    "stewart": (1.3, 1.5, 1.3),
}


def contenders(model, q, v):
    """(calls, errors): forward dynamics of one state by everybody who is installed."""
    tau, out = np.zeros(model.nv), np.empty(model.nv)
    exact = sk.forward_dynamics(model, q, v, tau)
    size = np.abs(exact).max()
    calls = {"skodyn": lambda: sk.forward_dynamics(model, q, v, tau, out=out)}
    errors = {"skodyn": 0.0}

    def error(vdot):
        return float(np.abs(vdot - exact).max() / size)

    if pin is not None:
        made = pinocchio_model(model.opened)
        pq, pv = interop.to_pinocchio_state(model.opened, made, q, v)
        ptau = np.zeros(made.nv)
        for name in ("constraintDynamics", "lcaba"):
            data, (rows, row_data) = made.createData(), pinocchio_constraints(model, made)
            if name == "lcaba":
                settings = pin.ProximalSettings(1e-12, 1e-6, 5)
                pin.computeJointMinimalOrdering(made, data, rows)
            else:
                settings = pin.ProximalSettings(1e-12, 1e-10, 5)
                pin.initConstraintDynamics(made, data, rows, row_data)
            call = getattr(pin, name)

            def run(call=call, data=data, rows=rows, row_data=row_data, settings=settings):
                return call(made, data, pq, pv, ptau, rows, row_data, settings)

            calls[name] = run
            places = interop.from_pinocchio_state(model.opened, made, pq, run().copy())[1]
            errors[name] = error(places)
    if mujoco is not None:
        m = mujoco_loops(model)
        d = mujoco.MjData(m)
        d.qpos[:], d.qvel[:] = _mujoco_state(model, m, q, v)
        calls["mj_forward"] = lambda: mujoco.mj_forward(m, d)
        mujoco.mj_forward(m, d)
        errors["mj_forward"] = float("nan")
    return calls, errors


def _mujoco_state(model, m, q, v):
    """q and v as MuJoCo lays them out; universal joints are two hinges of one body there."""
    qpos, qvel = np.zeros(m.nq), np.zeros(m.nv)
    rotations, _ = sk.forward_kinematics(model, q)
    for k, (name, joint) in enumerate(zip(model.joint_names, model.joints, strict=True)):
        if joint.nv == 0:
            continue
        first = f"{name}.0" if joint.type_name == "universal" else name
        j = mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_JOINT, first)
        at, dof = m.jnt_qposadr[j], m.jnt_dofadr[j]
        own, rate = q[model.q_slice(name)], v[model.v_slice(name)]
        if joint.type_name == "free":
            own = np.concatenate((own[4:], own[:4]))
            rate = np.concatenate((rotations[k] @ rate[3:], rate[:3]))
        qpos[at : at + len(own)], qvel[dof : dof + len(rate)] = own, rate
    return qpos, qvel


def one_state(turns):
    """Time of forward dynamics, and how far off the others are."""
    rows = []
    for model, q0, v0 in (four_bar(), ladder(10), ladder(50), stewart()):
        q, v = closed_state(model, q0, v0)
        calls, errors = contenders(model, q, v)
        best = race(calls, turns)
        goal = GOALS[model.name]
        for name, wanted in zip(("lcaba", "constraintDynamics", "mj_forward"), goal, strict=True):
            if name in best:
                ratio = best[name] / best["skodyn"]
                rows.append([
                    model.name, f"{best['skodyn'] * 1e6:.1f}", name, f"{best[name] * 1e6:.1f}",
                    f"{ratio:.2f}", f"≥ {wanted}", f"{errors[name]:.0e}",
                ])  # fmt: skip
    print("\n## Forward dynamics, one state, µs\n")
    table(["mechanism", "skodyn", "peer", "its time", "ratio", "goal", "its error"], rows)


def growth(turns):
    """Linear in the number of loops, and of links."""

    def seconds(made, is_closed=False):
        model, q0, v0 = made
        q, v = given_state(model, q0, v0) if is_closed else closed_state(model, q0, v0)
        tau, out = np.zeros(model.nv), np.empty(model.nv)
        calls = {
            "closed": lambda: sk.forward_dynamics(model, q, v, tau, out=out),
            "open": lambda: sk.forward_dynamics(model.opened, q, v, tau, out=out),
        }
        return race(calls, turns)

    few, many = seconds(ladder(50)), seconds(ladder(500))
    row, long_row = (seconds(windows(n), True) for n in (40, 400))
    short, long = seconds(ring(100)), seconds(ring(1000))
    print("\n## Growth\n")
    table(["", "ratio", "goal"], [
        ["ladder 500 over ladder 50", f"{many['closed'] / few['closed']:.2f}", "≤ 11"],
        ["A02 with 400 windows over 40", f"{long_row['closed'] / row['closed']:.2f}", "≤ 12"],
        ["ring 1000 over ring 100", f"{long['closed'] / short['closed']:.2f}", "≤ 11"],
        ["ring 100 over its open chain", f"{short['closed'] / short['open']:.2f}", "≤ 3"],
        ["ring 1000 over its open chain", f"{long['closed'] / long['open']:.2f}", "≤ 3"],
    ])  # fmt: skip


def _step_seconds(model, q, v, turns):
    """Of an RK4 step: what a long run takes more than a short one."""

    def seconds(count):
        run = sk.simulate(model, q, v, duration=count * DT, dt=DT, every=count)
        return run.summary["wall_seconds"]

    seconds(STEPS)
    short, long = (min(seconds(n) for _ in range(turns)) for n in (STEPS, 3 * STEPS))
    return (long - short) / (2 * STEPS)


def steps(turns):
    """An RK4 step with all its projections, in evaluations and beside MuJoCo's."""
    rows = []
    for model, q0, v0 in (four_bar(), ladder(50), stewart()):
        q, v = closed_state(model, q0, v0)
        tau, out = np.zeros(model.nv), np.empty(model.nv)
        best, one = _step_seconds(model, q, v, turns), np.inf
        for _ in range(2):  # before and behind, since the machine may change its pace
            call = partial(sk.forward_dynamics, model, q, v, tau, out=out)
            one = min(one, race({"f": call}, turns)["f"])
            best = min(best, _step_seconds(model, q, v, turns))
        row = [model.name, f"{best * 1e6:.1f}", f"{best / one:.1f}", "–"]
        if mujoco is not None:
            m = mujoco_loops(model)
            m.opt.integrator, m.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, DT
            d = mujoco.MjData(m)
            d.qpos[:], d.qvel[:] = _mujoco_state(model, m, q, v)
            start = time.perf_counter()
            for _ in range(20):
                mujoco.mj_step(m, d)
            row[3] = f"{(time.perf_counter() - start) / 20 / best:.1f}"
        rows.append(row)
    print("\n## An RK4 step\n")
    header = ["mechanism", "µs", "in evaluations (goal ≤ 8)", "× MuJoCo (ladder 50: ≥ 10)"]
    table(header, rows)


def batches(turns):
    """4096 four-bars on one thread over one state each."""
    model, q0, v0 = four_bar()
    q, v = closed_state(model, q0, v0)
    tau, out = np.zeros(model.nv), np.empty(model.nv)
    many = [np.tile(x, (4096, 1)) for x in (q, v, tau)]
    into = np.empty((4096, model.nv))
    for _ in range(6):  # the first twenty thousand states may go one by one
        sk.forward_dynamics(model, *many, threads=1, out=into)
    best = race({
        "one": lambda: sk.forward_dynamics(model, q, v, tau, out=out),
        "batch": lambda: sk.forward_dynamics(model, *many, threads=1, out=into),
    }, turns)  # fmt: skip
    print(f"\nbatch of 4096 four-bars: {best['one'] * 4096 / best['batch']:.1f} times (goal ≥ 5)")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    turns = 5 if parser.parse_args().quick else 25
    one_state(turns)
    growth(max(3, turns // 5))
    steps(max(3, turns // 5))
    batches(turns)
