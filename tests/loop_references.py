"""The reference mechanisms of tests/data/loops, as skodyn models and as the naive twin takes them.

`reference(name)` reads a file; `ladder`, `ring`, `n_four_bar` and `five_bar` come in any size.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import naive
import naive_loops
import skodyn as sk
from skodyn.model.joints import CATALOGUE

DATA = Path(__file__).parent / "data" / "loops"
NAMES = tuple(sorted(path.stem for path in DATA.glob("*.json")))
QUARTER = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])  # a turn by 90° about z, exact
DOWN = (0.0, -9.81, 0.0)
METHODS = ("rk4", "semi_implicit_euler", "implicit_midpoint", "implicit_contact", "dormand_prince")
"""Integrators that take loops: all."""


@dataclass
class Mechanism:
    """A mechanism in a closed state. Bodies, joints, q and v are in the order of `bodies`."""

    bodies: list[dict[str, Any]]  # naive, with the keys name and joint_name
    loops: list[dict[str, Any]]  # naive, with the key name
    couplings: list[dict[str, Any]]  # likewise
    gravity: Any
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray | None = None
    source: dict[str, Any] = field(default_factory=dict)

    @property
    def twin(self) -> SimpleNamespace:
        return naive_loops.mechanism(self.bodies, self.loops, self.couplings)

    def builder(self, order: Any = None) -> sk.ModelBuilder:
        b = sk.ModelBuilder(gravity=self.gravity)
        for k in range(len(self.bodies)) if order is None else order:
            body = self.bodies[k]
            b.add_body(
                body["name"], self.body_name(body["parent"]), joint(body["joint"], body),
                translation=body["translation"], rotation=body["rotation"], mass=body["mass"],
                com=body["com"], inertia=body["inertia"],
            )  # fmt: skip
        for loop in self.loops:
            b.add_loop(
                loop["name"], self.body_name(loop["a"]), self.body_name(loop["b"]),
                joint(loop["joint"]), translation_a=loop["translation_a"],
                rotation_a=loop["rotation_a"], translation_b=loop["translation_b"],
                rotation_b=loop["rotation_b"],
            )  # fmt: skip
        for coupling in self.couplings:
            names = [self.bodies[k]["joint_name"] for k in coupling["joints"]]
            if "coefficients" in coupling:
                b.add_coupling(coupling["name"], *names, coupling["coefficients"])
            else:
                terms = dict(zip(names, coupling["factors"], strict=True))
                b.add_coupling(coupling["name"], terms=terms, offset=coupling["offset"])
        return b

    def body_name(self, k: int) -> str:
        return "world" if k == -1 else str(self.bodies[k]["name"])

    @property
    def model(self) -> sk.Model:
        return self.builder().build()

    def packed_q(self, model: sk.Model, q: Any) -> np.ndarray:
        return self._packed(np.asarray(q), naive.offsets(self.bodies)[0], model.q_slice)

    def packed_v(self, model: sk.Model, v: Any) -> np.ndarray:
        return self._packed(np.asarray(v), naive.offsets(self.bodies)[1], model.v_slice)

    def packed_bodies(self, model: sk.Model, rows: Any) -> np.ndarray:
        number = {body["name"]: k for k, body in enumerate(self.bodies)}
        return np.asarray(rows)[[number[name] for name in model.body_names]]

    def packed_matrix(self, model: sk.Model, matrix: Any) -> np.ndarray:
        return self.packed_v(model, self.packed_v(model, matrix).T).T

    def _packed(self, values: np.ndarray, slices: Any, place: Any) -> np.ndarray:
        packed = np.empty_like(values)
        for body, s in zip(self.bodies, slices, strict=True):
            packed[..., place(body["joint_name"])] = values[..., s]
        return packed

    def state(self, model: sk.Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q, v and tau as the model orders them."""
        tau = np.zeros_like(self.v) if self.tau is None else self.tau
        return self.packed_q(model, self.q), self.packed_v(model, self.v), self.packed_v(model, tau)

    def gathered(self, by_joint: dict[str, Any]) -> np.ndarray:
        """q or v in list order, from numbers by joint; joints that are not named have zeros."""
        sizes = [naive.SIZES[body["joint"]["kind"]] for body in self.bodies]
        parts = [
            np.ravel(by_joint.get(body["joint_name"], np.zeros(nv)))
            for body, (_, nv) in zip(self.bodies, sizes, strict=True)
        ]
        return np.concatenate(parts).astype(float)


def joint(described: dict[str, Any], body: dict[str, Any] | None = None) -> Any:
    arguments = {key: value for key, value in described.items() if key != "kind"}
    if body is not None:
        arguments["name"] = body["joint_name"]
    if described["kind"] == "rod":
        return sk.Rod(described["length"])
    return CATALOGUE[described["kind"]](**arguments)


def turned_onto(u: Any, w: Any) -> np.ndarray:
    """A rotation that takes the unit vector u to w."""
    u, w = naive_loops.unit(u), naive_loops.unit(w)
    s = np.linalg.norm(np.cross(u, w))
    if s < 1e-12:
        return np.eye(3) if u @ w > 0 else naive.axis_rotation(naive_loops.across(u)[0], np.pi)
    return naive.axis_rotation(np.cross(u, w) / s, np.arctan2(s, u @ w))


# ---- files --------------------------------------------------------------------------------------


def _body(given: dict[str, Any], numbers: dict[str, int]) -> dict[str, Any]:
    joint = {key: value for key, value in given["joint"].items() if key not in ("type", "name")}
    inertia = np.array(given["inertia"], dtype=float)
    rotation = np.array(given.get("rotation", (1, 0, 0, 0)), dtype=float)
    return {
        "name": given["name"],
        "joint_name": given["joint"]["name"],
        "parent": numbers[given["parent"]],
        "joint": {"kind": given["joint"]["type"], **joint},
        "rotation": naive.quaternion_matrix(rotation),
        "translation": np.array(given.get("translation", (0, 0, 0)), dtype=float),
        "mass": given["mass"],
        "com": np.array(given["com"], dtype=float),
        "inertia": np.diag(inertia) if inertia.ndim == 1 else inertia,
    }


def _loop(given: dict[str, Any], numbers: dict[str, int]) -> dict[str, Any]:
    kind, axis_b = given["type"], np.eye(3)
    axis_a = np.eye(3)
    if kind == "revolute":
        closing = {"kind": kind, "axis": np.array(given["axis_a"], dtype=float)}
        axis_b = turned_onto(given["axis_a"], given["axis_b"])
    elif kind == "universal":
        closing = {"kind": kind, "axis1": np.eye(3)[0], "axis2": np.eye(3)[1]}
        axis_a = turned_onto(np.eye(3)[0], given["axis_a"])
        axis_b = turned_onto(np.eye(3)[1], given["axis_b"])
    elif kind == "distance":
        closing = {"kind": "rod", "length": given["length"]}
    else:
        closing = {"kind": kind}
    return {
        "name": given["name"],
        "a": numbers[given["body_a"]],
        "b": numbers[given["body_b"]],
        "joint": closing,
        "rotation_a": axis_a,
        "translation_a": np.array(given["point_a"], dtype=float),
        "rotation_b": axis_b,
        "translation_b": np.array(given["point_b"], dtype=float),
    }


@cache
def reference(name: str) -> Mechanism:
    """The mechanism of a file at its initial state; `source` holds what the file says."""
    data = json.loads((DATA / f"{name}.json").read_text())
    if name.startswith("10"):
        made = ring(100)
    elif name.startswith("12"):
        made = ladder(10)
    else:
        given = data["model"]["bodies"]
        numbers = {"world": -1} | {body["name"]: k for k, body in enumerate(given)}
        bodies = [_body(body, numbers) for body in given]
        by_joint = {body["joint_name"]: k for k, body in enumerate(bodies)}
        couplings = [
            {"name": f"c{i}", "joints": [by_joint[c["joint"]], by_joint[c["source"]]],
             "coefficients": c["coefficients"]}
            for i, c in enumerate(data.get("couplings", ()))
        ]  # fmt: skip
        loops = [_loop(loop, numbers) for loop in data.get("loops", ())]
        gravity, empty = data["model"]["gravity"], np.zeros(0)
        made = Mechanism(bodies, loops, couplings, gravity, empty, empty)
    made.source = data
    start = data["initial"]
    if isinstance(start["q"], dict):
        made.q, made.v = made.gathered(start["q"]), made.gathered(start["v"])
        made.tau = made.gathered(data.get("tau", {}))
    else:  # listed in the order of the bodies
        made.q, made.v = np.array(start["q"]), np.array(start["v"])
        made.tau = np.zeros(len(made.v))
    return made


def listing(key: str) -> list[str]:
    """The files whose expectations at the start have a key."""
    return [name for name in NAMES if key in reference(name).source["expected"]["t0"]]


def expected_vdot(given: Mechanism) -> np.ndarray:
    vdot = given.source["expected"]["t0"]["vdot"]
    return given.gathered(vdot) if isinstance(vdot, dict) else np.array(vdot)


def expected_forces(given: Mechanism) -> dict[str, np.ndarray]:
    """Force on body b of each loop, world axes; NaN where the file leaves it open."""
    found = given.source["expected"]["t0"]
    if "pin_force_on_ground" in found:
        return {"pin": np.array([*found["pin_force_on_ground"], np.nan])}
    if "pin_force_on_right" in found:
        pins = enumerate(found["pin_force_on_right"], start=1)
        return {f"pin{k}": np.array([*force, np.nan]) for k, force in pins}
    reactions = found.get("reaction", {}).items()
    return {name: np.array(given["force"], dtype=float) for name, given in reactions}


# ---- of any size --------------------------------------------------------------------------------


def rod(name: str, parent: int, mass: float, length: float, **placed: Any) -> dict[str, Any]:
    """A uniform rod along x that turns about z."""
    across = mass * length**2 / 12
    return {
        "name": name, "joint_name": name, "parent": parent,
        "joint": {"kind": "revolute", "axis": np.array([0.0, 0, 1])},
        "translation": np.array([placed.get("x", 0.0), placed.get("y", 0.0), 0.0]),
        "rotation": placed.get("rotation", np.eye(3)), "mass": mass,
        "com": np.array([length / 2, 0, 0]),
        "inertia": np.diag([1e-3 * across, across, across]),
    }  # fmt: skip


def pin(name: str, a: int, b: int, x_a: float, x_b: float) -> dict[str, Any]:
    """A hinge about z between points on the x axes of two bodies."""
    return {
        "name": name, "a": a, "b": b, "joint": {"kind": "revolute", "axis": np.array([0.0, 0, 1])},
        "rotation_a": np.eye(3), "translation_a": np.array([x_a, 0.0, 0.0]),
        "rotation_b": np.eye(3), "translation_b": np.array([x_b, 0.0, 0.0]),
    }  # fmt: skip


def ring(n: int) -> Mechanism:
    """A closed chain of n links, both ends at the world's origin (rule of 10_ring_100)."""
    bodies = [rod(f"link{i}", i - 1, 0.05, 0.1, x=0.1 * (i > 0)) for i in range(n)]
    phi = 2 * np.pi * np.arange(n) / n
    angles = phi + 0.1 * np.sin(3 * phi)
    rates = 0.5 + 0.3 * np.sin(3 * phi) + 0.2 * np.cos(3 * phi)
    q, v = np.diff(angles, prepend=0.0), np.diff(rates, prepend=0.0)
    return Mechanism(bodies, [pin("pin", n - 1, -1, 0.1, 0.0)], [], DOWN, q, v)


def ladder(n: int) -> Mechanism:
    """A tower of n four-bar windows (rule of 12_ladder_10)."""
    bodies, loops, below = [], [], -1
    for k in range(1, n + 1):
        left = len(bodies)
        apart = (-0.05, 0.35) if k > 1 else (0.0, 0.4)
        bodies.append(rod(f"left{k}", below, 0.4, 0.5, x=apart[0], rotation=QUARTER))
        bodies.append(rod(f"rung{k}", left, 0.3, 0.3, x=0.5, rotation=QUARTER.T))
        bodies.append(rod(f"right{k}", below, 0.4, 0.5, x=apart[1], rotation=QUARTER))
        loops.append(pin(f"pin{k}", left + 1, left + 2, 0.3, 0.5))
        below = left + 1
    q, v = np.zeros(3 * n), np.zeros(3 * n)
    for k in range(1, n + 1):
        window = slice(3 * k - 3, 3 * k)
        q[window], v[window] = _window(-0.1 + 0.05 * np.sin(1.3 * k), 0.4 * np.cos(0.7 * k))
    return Mechanism(bodies, loops, [], DOWN, q, v)


def _window(left: float, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """q and v of left, rung, right of one window, by closure in extended precision."""
    wide = np.longdouble
    a, b = wide(left), wide(0.1)  # of left and right against the vertical; b by Newton
    x, y = wide("0.4"), wide("0.5")

    def ends(a: Any, b: Any) -> tuple[Any, Any]:
        """From the top of left to the top of right."""
        return x - y * np.sin(b) + y * np.sin(a), y * np.cos(b) - y * np.cos(a)

    for _ in range(60):
        dx, dy = ends(a, b)
        gap = dx * dx + dy * dy - wide("0.09")
        b = b - gap / (2 * (-dx * y * np.cos(b) - dy * y * np.sin(b)))
    dx, dy = ends(a, b)
    turn = np.arctan2(dy, dx)
    # d/dt of the rung's length is zero: dx·ẋ + dy·ẏ = 0
    rate = wide(rate)
    rate_b = rate * (dx * np.cos(a) + dy * np.sin(a)) / (dx * np.cos(b) + dy * np.sin(b))
    x_dot = y * (np.cos(a) * rate - np.cos(b) * rate_b)
    y_dot = y * (np.sin(a) * rate - np.sin(b) * rate_b)
    turning = (dx * y_dot - dy * x_dot) / (dx * dx + dy * dy)
    q, v = [a, turn - a, b], [rate, turning - rate, rate_b]
    return np.array(q, dtype=float), np.array(v, dtype=float)


def n_four_bar(n: int) -> Mechanism:
    """IFToMM A02 with n windows, upright, turning at −1 rad/s."""
    bodies = [rod(f"crank{i}", -1, 1.0, 1.0, x=float(i)) for i in range(n + 1)]
    bodies += [rod(f"bar{i}", i, 1.0, 1.0, x=1.0) for i in range(n)]
    loops = [pin(f"pin{i}", n + 1 + i, i + 1, 1.0, 1.0) for i in range(n)]
    up, turning = np.full(2 * n + 1, np.pi / 2), np.full(2 * n + 1, -1.0)
    up[n + 1 :] *= -1
    turning[n + 1 :] *= -1
    return Mechanism(bodies, loops, [], DOWN, up, turning)


def n_four_bar_angle(n: int, t: float) -> float:
    """The angle of all cranks of A02: ((n+1)/3 + n)·θ̈ = −g((n+1)/2 + n)·cos θ, to 1e-12."""
    from scipy.integrate import solve_ivp

    pull = 9.81 * ((n + 1) / 2 + n) / ((n + 1) / 3 + n)
    run = solve_ivp(
        lambda _, y: (y[1], -pull * np.cos(y[0])), (0.0, t), (np.pi / 2, -1.0), "DOP853",
        rtol=3e-14, atol=1e-14,
    )  # fmt: skip
    return float(run.y[0, -1])


def five_bar() -> Mechanism:
    """A planar robot of two cranks and two couplers: mobility 2, lengths of this file's own."""
    bodies = [
        rod("left", -1, 0.5, 0.3), rod("left_arm", 0, 0.4, 0.5, x=0.3),
        rod("right", -1, 0.6, 0.35, x=0.4), rod("right_arm", 2, 0.3, 0.45, x=0.35),
    ]  # fmt: skip
    made = Mechanism(bodies, [pin("tip", 1, 3, 0.5, 0.45)], [], DOWN, np.zeros(4), np.zeros(4))
    made.q = naive_loops.closed(made.twin, np.array([1.9, -1.1, 1.2, 1.2]))
    made.v = naive_loops.project_velocity(made.twin, made.q, np.array([3.0, -1.0, -2.0, 1.0]))
    return made


def rsur() -> Mechanism:
    """Crank, coupler on a ball joint, universal joint, rocker: spatial, mobility 1, own lengths."""
    lean = naive.axis_rotation(naive_loops.unit([0.3, 1.0, 0.2]), 1.1)
    bodies = [rod("crank", -1, 0.5, 0.3), rod("coupler", 0, 1.0, 0.9, x=0.3)]
    bodies += [rod("rocker", -1, 0.8, 0.6, x=0.8, y=0.3, rotation=lean)]
    bodies[1]["joint"] = {"kind": "spherical"}
    bodies[1]["inertia"] = np.diag([0.01, 0.07, 0.07])
    loop = pin("cross", 1, 2, 0.9, 0.6)
    loop["joint"] = {
        "kind": "universal", "axis1": np.array([0.0, 1, 0]), "axis2": np.array([0.0, 0, 1])
    }  # fmt: skip
    made = Mechanism(bodies, [loop], [], DOWN, np.zeros(6), np.zeros(5))
    start = np.array([1.48, 0.43, -0.16, 0.33, -0.83, -1.93])
    start[1:5] /= np.linalg.norm(start[1:5])
    made.q = naive_loops.closed(made.twin, start)
    free = naive_loops.decompose(naive_loops.jacobian(made.twin, made.q)).X[:, 0]
    made.v = 4.0 * free / np.abs(free).max()
    return made


def four_bar_cut(at: str) -> Mechanism:
    """The four-bar of 02 with its loop cut at "pin", "coupler" (crank's end) or "rocker"."""
    whole = reference("02_four_bar")
    if at == "pin":
        return whole
    crank, coupler, rocker = (dict(body) for body in whole.bodies)
    length = {"crank": 0.3, "coupler": 0.9, "rocker": 0.7}
    a, b, c = whole.q
    da, db, dc = whole.v
    if at == "coupler":  # the coupler hangs from the rocker's end, turned round
        coupler |= {
            "parent": 2, "translation": np.array([length["rocker"], 0, 0]),
            "com": np.array([0.45 - 0.9, 0, 0]),
        }  # fmt: skip
        loops = [pin("pin", 0, 1, length["crank"], -length["coupler"])]
        q, v = [a, a + b - c, c], [da, da + db - dc, dc]
    else:  # crank, coupler, rocker one after the other; the rocker's foot is the end
        rocker |= {
            "parent": 1, "translation": np.array([length["coupler"], 0, 0]),
            "com": np.array([0.35 - 0.7, 0, 0]),
        }  # fmt: skip
        loops = [pin("pin", 2, -1, -length["rocker"], 1.0)]
        q, v = [a, b, c - a - b], [da, db, dc - da - db]
    bodies = [crank, coupler, rocker]
    return Mechanism(bodies, loops, [], whole.gravity, np.array(q), np.array(v))
