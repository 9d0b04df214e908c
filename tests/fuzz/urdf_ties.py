"""<loop>, <coupling> and ball constraints of URDF made by chance, and where their ends are.

What a tie says is computed again from the file's own numbers and Pinocchio's poses of links.
"""

from __future__ import annotations

import random
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin
import robot_files as files

import skodyn as sk
from skodyn.model.loops.loop_geometry import ConstraintRows, constraint_rows

if TYPE_CHECKING:
    from urdf_files import Maker

BALL = "drake:ball_constraint"
TYPES = ["revolute", "continuous", "prismatic", "planar", "fixed"]


# ---- made ---------------------------------------------------------------------------------------


def ties(maker: Maker, links: int) -> list[str]:
    """Up to three of any kind."""
    rng = maker.rng
    kinds = [_loop, _loop, _coupling, _coupling, _ball]
    return [rng.choice(kinds)(maker, k, links) for k in range(rng.choice((1, 1, 2, 3)))]


def _two(rng: random.Random, links: int, first: int = 0) -> list[int]:
    """Two links, now and then the same; couplings leave out the root where they can."""
    some = range(first if links > first + 1 else 0, links)
    return rng.sample(some, 2) if rng.random() < 0.97 else rng.choices(some, k=2)


def _loop(maker: Maker, k: int, links: int) -> str:
    one, two = _two(maker.rng, links)
    axis = f'<axis xyz="{maker.numbers(3)}"/>' if maker.rng.random() < 0.6 else ""
    more = "<limit/>" if maker.rng.random() < 0.03 else ""
    return (
        f'<loop name="t{k}" type="{maker.rng.choice(TYPES)}">\n'
        f'<predecessor link="l{one}">{maker.origin()}</predecessor>\n'
        f'<successor link="l{two}">{maker.origin()}</successor>\n{axis}{more}</loop>'
    )


def _coupling(maker: Maker, k: int, links: int) -> str:
    one, two = _two(maker.rng, links, 1)
    ratio = f'<ratio value="{maker.numbers(1, -3, 3)}"/>' if maker.rng.random() < 0.8 else ""
    return (
        f'<coupling name="t{k}"><predecessor link="l{one}"/>\n'
        f'<successor link="l{two}"/>\n{ratio}</coupling>'
    )


def _ball(maker: Maker, k: int, links: int) -> str:
    one, two = _two(maker.rng, links)
    return (
        f'<{BALL}><{BALL}_body_A name="l{one}"/>\n<{BALL}_body_B name="l{two}"/>\n'
        f'<{BALL}_p_AP value="{maker.numbers(3)}"/>\n<{BALL}_p_BQ value="{maker.numbers(3)}"/>\n'
        f"</{BALL}>"
    )


# ---- judged -------------------------------------------------------------------------------------


def compare_ties(model: sk.Model, peer: pin.Model, path: Path, chance: np.random.Generator) -> None:
    """Rows of every tie, in lengths and products that do not depend on a choice of axes."""
    text = path.read_text().replace("drake:", "drake_")
    robot = ET.fromstring(text)
    q, v = model.random_state(chance)
    data = peer.createData()
    pin.framesForwardKinematics(peer, data, sk.interop.to_pinocchio_state(model, peer, q, v)[0])
    poses = {f.name: data.oMf[i] for i, f in enumerate(peer.frames) if f.type == pin.BODY}
    rows = dict(zip(model.loop_names, constraint_rows(model, q), strict=True))
    size = 1.0 + sum(float(np.abs(pose.translation).max()) for pose in poses.values())
    loops = {one.get("name"): one for one in robot.findall("loop")}
    balls = [name for name in model.loops if name not in loops]
    for name, one in loops.items():
        _compare_loop(one, rows[name], poses, size)
    for name, ball in zip(balls, robot.findall("drake_ball_constraint"), strict=True):
        _compare_ball(ball, rows[name], poses, size)
    for one in robot.findall("coupling"):
        _compare_coupling(model, robot, one, rows[one.get("name")], q)


def _numbers(text: str) -> np.ndarray:
    return np.array([float(word) for word in text.split()])


def _frame(end: ET.Element, poses: dict[str, pin.SE3]) -> tuple[np.ndarray, np.ndarray, float]:
    """(Axes, origin, size of numbers) of an end of a loop."""
    pose, origin = poses[end.get("link")], end.find("origin")
    turn, place = np.eye(3), np.zeros(3)
    if origin is not None:
        place = _numbers(origin.get("xyz", "0 0 0"))
        turn = pin.rpy.rpyToMatrix(_numbers(origin.get("rpy", "0 0 0")))
        if "quat_xyzw" in origin.attrib:
            turn = pin.Quaternion(_numbers(origin.get("quat_xyzw"))).normalized().matrix()
    there = pose.rotation @ place + pose.translation
    return pose.rotation @ turn, there, float(np.abs(place).max())


def _compare_loop(
    loop: ET.Element, rows: ConstraintRows, poses: dict[str, pin.SE3], size: float
) -> None:
    a, x_a, far_a = _frame(loop.find("predecessor"), poses)
    b, x_b, far_b = _frame(loop.find("successor"), poses)
    given = None if loop.get("type") == "fixed" else loop.find("axis")  # it means nothing there
    axis = _numbers("1 0 0" if given is None else given.get("xyz", "1 0 0"))
    axis = axis / np.abs(axis).max()
    axis = axis / np.linalg.norm(axis)
    d = x_b - x_a
    tilt = np.linalg.norm(np.cross(a @ axis, b @ axis))
    turned = [a[:, 0] @ b[:, 1], a[:, 1] @ b[:, 2], a[:, 2] @ b[:, 0]]
    moved, tilted = rows.g[~rows.angular], rows.g[rows.angular]
    expected, found = {
        "revolute": ([*d, tilt], [*moved, _norm(tilted)]),
        "prismatic": ([_norm(np.cross(a @ axis, d)), *turned], [_norm(moved), *tilted]),
        "planar": ([abs((a @ axis) @ d), tilt], [_norm(moved), _norm(tilted)]),
        "fixed": ([*d, *turned], [*moved, *tilted]),
    }[loop.get("type").replace("continuous", "revolute")]
    scale = 1e-11 * (size + far_a + far_b)
    files.close(np.array(found), np.array(expected), scale, f"error of {loop.get('name')}")


def _norm(x: np.ndarray) -> float:
    return float(np.linalg.norm(x))


def _compare_ball(
    ball: ET.Element, rows: ConstraintRows, poses: dict[str, pin.SE3], size: float
) -> None:
    def point(body: str, place: str) -> np.ndarray:
        pose = poses[ball.find(f"{BALL}_{body}".replace(":", "_")).get("name")]
        x = _numbers(ball.find(f"{BALL}_{place}".replace(":", "_")).get("value"))
        return pose.rotation @ x + pose.translation

    a, b = point("body_A", "p_AP"), point("body_B", "p_BQ")
    scale = 1e-11 * (size + np.abs(a).max() + np.abs(b).max())
    files.close(rows.g, b - a, scale, "error of a ball constraint")


def _compare_coupling(
    model: sk.Model, robot: ET.Element, coupling: ET.Element, rows: ConstraintRows, q: np.ndarray
) -> None:
    """ratio · (sum of coordinates to the one) = sum to the other, from where their ways part."""
    above = {j.find("child").get("link"): j for j in robot.findall("joint")}
    ways: list[list[str]] = []
    for end in ("predecessor", "successor"):
        link, way = coupling.find(end).get("link"), []
        while link in above:
            way.append(above[link].get("name"))
            link = above[link].find("parent").get("link")
        ways.append(way)
    before, after = (
        [
            float(q[model.q_slice(name)][0])
            for name in way
            if name not in other and _moves(model, name)
        ]
        for way, other in (ways, ways[::-1])
    )
    ratio = coupling.find("ratio")
    factor = 1.0 if ratio is None else float(ratio.get("value"))
    parts = np.array([*(factor * x for x in before), *(-x for x in after)])
    files.close(rows.g, np.array([parts.sum()]), 1e-13 * (1 + np.abs(parts).sum()), "coupling")


def _moves(model: sk.Model, name: str) -> bool:
    return name in model.joint_names and model.joints[model.joint_index(name)].nv == 1
