"""URDF robots made and changed by chance, and Pinocchio's word on what they mean."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path

import numpy as np
import pinocchio as pin
import robot_files as files
from urdf_ties import compare_ties, ties

import skodyn as sk

ROBOTS = Path(pin.__file__).parents[4] / "share" / "example-robot-data" / "robots"
SEEDS = [
    "double_pendulum_description/urdf/double_pendulum.urdf",
    "double_pendulum_description/urdf/double_pendulum_simple.urdf",
    "hextilt_description/urdf/hextilt_flying_arm_5.urdf",
    "iris_description/robots/iris.urdf",
    "kinova_description/robots/kinova.urdf",
    "so_arm_description/urdf/so100.urdf",
    "ur_description/urdf/ur5_robot.urdf",
    "bolt_description/robots/bolt.urdf",
]
DESK_ARM = Path(__file__).parents[2] / "scenarios" / "models" / "desk_arm.urdf"
FOUR_BAR = """<robot name="four bar"><link name="base"/>
<link name="crank"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1.2" izz="1.5" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="coupler"><inertial><mass value="2"/>
<inertia ixx="1" iyy="1.2" izz="1.5" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="rocker"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1.2" izz="1.5" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="a" type="continuous" independent="true"><axis xyz="0 0 1"/>
<parent link="base"/><child link="crank"/></joint>
<joint name="b" type="continuous"><origin xyz="1 0 0"/><axis xyz="0 0 1"/>
<parent link="crank"/><child link="coupler"/></joint>
<joint name="c" type="continuous"><origin xyz="2 0 0"/><axis xyz="0 0 1"/>
<parent link="base"/><child link="rocker"/></joint>
<loop name="pin" type="revolute"><predecessor link="coupler"><origin xyz="2 0 0"/></predecessor>
<successor link="rocker"><origin xyz="1.5 0 0"/></successor><axis xyz="0 0 1"/></loop>
<coupling name="gear"><predecessor link="coupler"/><successor link="rocker"/>
<ratio value="2"/></coupling>
<drake:ball_constraint><drake:ball_constraint_body_A name="coupler"/>
<drake:ball_constraint_body_B name="rocker"/><drake:ball_constraint_p_AP value="1 0 0"/>
<drake:ball_constraint_p_BQ value="1 0 0"/></drake:ball_constraint></robot>"""
REAL = [(ROBOTS / name).read_text() for name in SEEDS] + [DESK_ARM.read_text(), FOUR_BAR]
TAGS = [
    "link", "joint", "mimic", "limit", "axis", "inertial", "origin", "mass", "visual", "inertia",
    "robot", "loop", "coupling", "loop_joint", "dynamics", "parent", "child", "predecessor",
    "successor", "ratio",
]  # fmt: skip
KEYS = ["name", "xyz", "rpy", "quat_xyzw", "value", "link", "izz", "ixy", "type", "q", "armature"]
TYPES = ["fixed", "planar", "floating", "continuous", "prismatic", "revolute", "spherical", "Fixed"]
KINDS = [*TYPES[:6], "revolute", "continuous"]
VERSIONS = ["1.0", "1.1", "1.2", "1.3", "2.0", "1", "1.0.0", " 1.1"]


# ---- made ---------------------------------------------------------------------------------------


class Maker:
    """One robot; `text` has a line for each element, so that lines can be lost."""

    def __init__(self, rng: random.Random, loops: float = 0.7) -> None:
        self.rng = rng
        self.loops = loops  # how often a robot has some
        self.version = rng.choice(("", "", "1.0", "1.1", "1.2"))
        self.kinds = KINDS

    def numbers(self, count: int, low: float = -1.0, high: float = 1.0) -> str:
        return " ".join(f"{self.rng.uniform(low, high):.4g}" for _ in range(count))

    def given(self, chance: float, key: str, value: str) -> str:
        return f' {key}="{value}"' if self.rng.random() < chance else ""

    def origin(self) -> str:
        if self.rng.random() < 0.15:
            return ""
        turn = self.given(0.6, "rpy", self.numbers(3, -3, 3))
        if self.version in ("1.1", "1.2") and self.rng.random() < 0.3:
            turn = f' quat_xyzw="{self.numbers(4)}"'
        return f"<origin{self.given(0.8, 'xyz', self.numbers(3))}{turn}/>"

    def text(self) -> str:
        rng = self.rng
        version = f' version="{self.version}"' if self.version else ""
        self.kinds = ["continuous"] if rng.random() < 0.3 else KINDS  # with angles to couple
        lines = [f'<robot name="made"{version}>', self.link(0)]
        links = rng.randrange(2, 8)
        for k in range(1, links):
            lines += [self.link(k), self.joint(k, rng.randrange(k))]
        if rng.random() < self.loops:
            lines += ties(self, links)
        if rng.random() < 0.1:
            lines.append(rng.choice(EXTRAS))
        return "\n".join([*(line for line in lines if line), "</robot>"])

    def link(self, k: int) -> str:
        rng = self.rng
        if rng.random() < 0.05:
            return f'<link name="l{k}"/>'
        a, b = rng.uniform(0.05, 1), rng.uniform(0.05, 1)
        c = rng.uniform(abs(a - b) * 1.05, a + b)
        x, y, z = self.numbers(3, -0.02, 0.02).split()
        moments = f'ixx="{a:.4g}" iyy="{b:.4g}" izz="{c:.4g}" ixy="{x}" ixz="{y}" iyz="{z}"'
        mass = rng.choice((self.numbers(1, 0.05, 4), self.numbers(1, 0.05, 4), "0", "1e-6", "+2"))
        inside = f'{self.origin()}<mass value="{mass}"/>\n<inertia {moments}/>'
        return f'<link name="l{k}">\n<inertial>{inside}</inertial>\n</link>'

    def joint(self, k: int, parent: int) -> str:
        kind = self.rng.choice(self.kinds)
        axis = f'<axis xyz="{self.numbers(3)}"/>' if self.rng.random() < 0.6 else ""
        if kind == "planar":
            axis = '<axis xyz="0 0 1"/>'
        lines = [
            f'<joint name="j{k}" type="{kind}">{self.origin()}',
            f'<parent link="l{parent}"/>\n<child link="l{k}"/>\n{axis}',
        ]
        if kind in ("revolute", "prismatic"):
            lines.append('<limit lower="-1" upper="1" effort="5" velocity="5"/>')
        if self.rng.random() < 0.3:
            lines.append(f'<dynamics damping="{self.numbers(1, 0, 1)}" friction="0"/>')
        return "\n".join([*lines, "</joint>"])


EXTRAS = [
    '<gazebo reference="l1"/>', '<transmission name="t"/>', '<loop_joint name="x"/>', "<loop/>",
    '<gazebo><joint name="x" type="revolute"/></gazebo>', "<mujoco><compiler/></mujoco>",
]  # fmt: skip

CHANGES: list[files.Change] = [
    *files.ANYWHERE,
    files.replaced(r'\s(\w+)="', KEYS),
    files.replaced(r"<(\w+)", TAGS),
    files.replaced(r'type="(\w+)"', TYPES),
    files.replaced(r'version="([^"]*)"', VERSIONS),
    files.renamed_everywhere(TAGS),
]


def made(rng: random.Random) -> bytes:
    """The bytes of a file: of a real robot or made up, and then changed."""
    text = rng.choice(REAL) if rng.random() < 0.3 else Maker(rng).text()
    return files.mutated(text, CHANGES, rng)


def made_with_loops(rng: random.Random) -> bytes:
    """A file that was made up and is left as it is."""
    return Maker(rng, loops=1.0).text().encode()


# ---- judged -------------------------------------------------------------------------------------


def judge(path: Path, rng: random.Random) -> str:
    """Either "refused" in words, "agreed" with Pinocchio, "looped" with loops, or "alone" where
    that cannot read it."""
    root = rng.choice(("fixed", "free"))
    try:
        model = sk.load(path, root=root, mimic="independent")
    except sk.ModelError as error:
        files.check_words(tuple(map(str, error.faults)), path)
        return "refused"
    peer = read_by_pinocchio(path, root)
    if peer is None or _has_tilted_plane(model):
        return "alone"
    chance = np.random.default_rng(rng.randrange(2**32))
    if model.has_loops:
        compare_ties(model, peer, path, chance)
    compare(model.opened, peer, chance)
    return "looped" if model.has_loops else "agreed"


def read_by_pinocchio(path: Path, root: str) -> pin.Model | None:
    """Its model; None if it cannot read the file, or complains and leaves out an inertia."""
    free = [pin.JointModelFreeFlyer()] if root == "free" else []
    peer = None
    with files.said_on_stderr() as said, suppress(ValueError, RuntimeError):
        peer = pin.buildModelFromUrdf(str(path), *free)
    return None if "Could not parse inertial" in said[0] else peer


def _has_tilted_plane(model: sk.Model) -> bool:
    """Pinocchio does not look at the normal of a planar joint."""
    planes = [joint for joint in model.joints if joint.type_name == "planar"]
    return any(list(j.x_axis) != [1, 0, 0] or list(j.y_axis) != [0, 1, 0] for j in planes)


def compare(model: sk.Model, peer: pin.Model, chance: np.random.Generator) -> None:
    """Mass matrix, bias force and acceleration, in Pinocchio's layout."""
    peer.gravity.linear = model.gravity
    data = peer.createData()
    assert model.nv == peer.nv, f"{model.nv} degrees of freedom, Pinocchio has {peer.nv}"
    q, v = model.random_state(chance)
    pin_q, pin_v = sk.interop.to_pinocchio_state(model, peer, q, v)
    turn = np.array([sk.interop.to_pinocchio_force(model, peer, q, e) for e in np.eye(model.nv)])
    theirs = np.triu(pin.crba(peer, data, pin_q))
    theirs = theirs + theirs.T - np.diag(np.diag(theirs))
    M = turn.T @ sk.mass_matrix(model, q) @ turn
    levers = np.array([inertia.lever for inertia in peer.inertias])
    places = np.array([place.translation for place in peer.jointPlacements])
    mass = sum(inertia.mass for inertia in peer.inertias)
    rounding = files.rounding_of(mass, levers, places)
    files.same_mass_matrix(M, theirs, rounding)

    at_rest = np.zeros(model.nv)
    vdot = sk.interop.from_pinocchio_acceleration(model, peer, pin_q, pin_v, at_rest)
    ours = sk.interop.to_pinocchio_force(model, peer, q, sk.inverse_dynamics(model, q, v, vdot))
    bias = pin.nonLinearEffects(peer, data, pin_q, pin_v)
    size = np.abs(bias).max() + np.abs(M).max() + 1e11 * rounding
    files.close(ours, bias, 1e-9 * size, "bias force")
    if np.linalg.cond(M) > files.SINGULAR:
        return
    vdot = sk.forward_dynamics(model, q, v, np.zeros(model.nv))
    pin_vdot = sk.interop.to_pinocchio_acceleration(model, peer, q, v, vdot)
    allowed = 1e-7 * size + files.rounding_of_product(theirs, pin_vdot)
    files.close(theirs @ pin_vdot, -bias, allowed, "M times acceleration")
