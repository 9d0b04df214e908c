"""MJCF models made and changed by chance, and MuJoCo's word on what they mean."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import mujoco
import numpy as np
import robot_files as files
from mjcf_equalities import compare_loops, equalities

import skodyn as sk

SITE = Path(find_spec("gymnasium").origin).parents[1]
SMALL = [
    "dm_control/suite/acrobot.xml", "dm_control/suite/cartpole.xml", "dm_control/suite/hopper.xml",
    "dm_control/suite/cheetah.xml", "dm_control/suite/walker.xml", "dm_control/suite/finger.xml",
    "dm_control/suite/pendulum.xml", "dm_control/suite/point_mass.xml",
    "dm_control/suite/reacher.xml", "dm_control/suite/humanoid.xml",
    "gymnasium/envs/mujoco/assets/ant.xml", "gymnasium/envs/mujoco/assets/hopper.xml",
    "gymnasium/envs/mujoco/assets/inverted_double_pendulum.xml",
]  # fmt: skip
SUITE = [
    text.replace('<include file="./common', f'<include file="{SITE}/dm_control/suite/common')
    for text in ((SITE / name).read_text() for name in SMALL)
]
TAGS = ["body", "geom", "joint", "freejoint", "inertial", "site", "frame", "default", "motor",
        "equality", "connect", "weld"]  # fmt: skip
KEYS = [
    "mass", "density", "pos", "quat", "euler", "axisangle", "zaxis", "xyaxes", "armature", "ref",
    "stiffness", "damping", "springref", "range", "axis", "type", "size", "fromto", "diaginertia",
    "fullinertia", "childclass", "class", "name", "gear", "shellinertia", "gravcomp",
    "anchor", "relpose", "torquescale", "polycoef", "joint1", "joint2", "body1", "site1", "active",
]  # fmt: skip
TYPES = ["hinge", "slide", "ball", "free", "sphere", "capsule", "box", "ellipsoid", "cylinder"]
OFF = (
    mujoco.mjtDisableBit.mjDSBL_CONTACT
    | mujoco.mjtDisableBit.mjDSBL_LIMIT
    | mujoco.mjtDisableBit.mjDSBL_FRICTIONLOSS
    | mujoco.mjtDisableBit.mjDSBL_EQUALITY
)


# ---- made ---------------------------------------------------------------------------------------


class Maker:
    """One model; `text` has a line for each element, so that lines can be lost."""

    def __init__(self, rng: random.Random, loops: float = 0.7) -> None:
        self.rng, self.count = rng, 0
        self.loops = loops  # how often a model has some
        self.joints: list[str] = []
        self.scalars: list[str] = []  # joints of one coordinate
        self.bodies: list[str] = []
        self.sites: list[str] = []
        self.classes = ["arm", "leg"]

    def number(self, low: float = -1.0, high: float = 1.0) -> str:
        return f"{self.rng.uniform(low, high):.4g}"

    def numbers(self, count: int, low: float = -1.0, high: float = 1.0) -> str:
        return " ".join(self.number(low, high) for _ in range(count))

    def maybe(self, chance: float, text: str) -> str:
        return text if self.rng.random() < chance else ""

    def given(self, chance: float, key: str, value: str) -> str:
        """An attribute, or nothing."""
        return self.maybe(chance, f' {key}="{value}"')

    def called(self, word: str) -> str:
        self.count += 1
        return f"{word}{self.count}"

    def turn(self) -> str:
        return self.rng.choice(
            ["", "", f' quat="{self.numbers(4)}"', f' euler="{self.numbers(3, -3, 3)}"',
             f' axisangle="{self.numbers(4)}"', f' zaxis="{self.numbers(3)}"',
             f' xyaxes="{self.numbers(6)}"']
        )  # fmt: skip

    def of_class(self, chance: float = 0.2) -> str:
        return self.maybe(chance, f' class="{self.rng.choice(self.classes)}"')

    def text(self) -> str:
        parts = ['<mujoco model="made">', self.compiler(), self.option(), self.defaults()]
        parts += [
            '<asset><mesh name="wedge" vertex="0 0 0 1 0 0 0 1 0 0 0 1"'
            + self.given(0.3, "scale", self.numbers(3, 0.1, 1))
            + self.given(0.5, "inertia", self.rng.choice(INERTIAS))
            + "/></asset>"
        ]
        parts += ["<worldbody>", self.maybe(0.3, self.geom()), self.body(0)]
        parts += [self.body(0) for _ in range(self.rng.choice((0, 0, 1)))]
        parts += [
            "</worldbody>",
            self.extras(),
            self.maybe(self.loops, equalities(self)),
            "</mujoco>",
        ]
        return "\n".join(part for part in parts if part)

    def compiler(self) -> str:
        rng = self.rng
        settings = {
            "angle": rng.choice(("radian", "degree")),
            "eulerseq": rng.choice(("xyz", "ZYX", "zxz", "XyZ")),
            "autolimits": rng.choice(("true", "false")),
            "inertiafromgeom": rng.choice(("true", "false", "auto")),
            "boundmass": self.number(0, 0.5),
            "boundinertia": self.number(0, 0.1),
            "settotalmass": self.number(0.5, 5),
            "balanceinertia": rng.choice(("true", "false")),
            "inertiagrouprange": rng.choice(("0 1", "0 5", "2 3")),
            "coordinate": rng.choice(("local", "global")),
            "fusestatic": rng.choice(("true", "false")),
            "alignfree": rng.choice(("true", "false")),
            "discardvisual": rng.choice(("true", "false")),
        }
        rare = {"coordinate": 0.02, "inertiafromgeom": 0.1, "inertiagrouprange": 0.05}
        chosen = [f'{k}="{v}"' for k, v in settings.items() if rng.random() < rare.get(k, 0.12)]
        return f"<compiler {' '.join(chosen)}/>" if chosen else ""

    def option(self) -> str:
        flags = ("gravity", "spring", "damper", "constraint", "equality", "frictionloss", "limit",
                 "actuation", "contact", "clampctrl", "eulerdamp")  # fmt: skip
        on = ("energy", "invdiscrete", "override", "sleep", "diagexact")
        chosen = [f'{f}="disable"' for f in flags if self.rng.random() < 0.06]
        chosen += [f'{f}="enable"' for f in on if self.rng.random() < 0.03]
        flag = f"<flag {' '.join(chosen)}/>" if chosen else ""
        gravity = self.given(0.4, "gravity", self.numbers(3, -9, 9))
        wind = self.given(0.05, "wind", self.numbers(3))
        kind = self.rng.choice(("", "", ' integrator="implicitfast"', ' integrator="RK4"'))
        return f"<option{gravity}{wind}{kind}>{flag}</option>"

    def defaults(self) -> str:
        def one() -> str:
            joint = self.given(0.5, "armature", self.number(0, 1))
            joint += self.given(0.3, "axis", self.numbers(3))
            geom = self.given(0.5, "density", self.number(1, 3000))
            geom += self.given(0.2, "mass", self.number(0, 3))
            geom += self.given(0.04, "shellinertia", "true")
            motor = self.maybe(0.3, f'<motor gear="{self.number(-3, 3)}"/>')
            mesh = self.maybe(0.3, '<mesh inertia="convex"/>')
            return f"<joint{joint}/><geom{geom}/>{motor}{mesh}"

        inner = "".join(f'<default class="{name}">{one()}</default>' for name in self.classes)
        return f"<default>{one()}\n{inner}</default>"

    def body(self, depth: int) -> str:
        rng = self.rng
        name = self.called("b")
        self.bodies.append(name)
        here = f' pos="{self.numbers(3)}"{self.turn()}'
        here += self.given(0.2, "childclass", rng.choice(self.classes))
        here += self.given(0.05, "simple", rng.choice(("true", "false")))
        here += self.maybe(0.02 if depth == 0 else 0.0, ' mocap="true"')
        lines = [f'<body name="{name}"{here}>', *self.joints_of(depth)]
        lines += [self.maybe(0.35, self.inertial())]
        lines += [self.geom() for _ in range(rng.choice((1, 1, 1, 2)))]
        if rng.random() < 0.5:
            self.sites.append(self.called("s"))
            lines.append(f'<site name="{self.sites[-1]}" pos="{self.numbers(3)}"{self.turn()}/>')
        if rng.random() < 0.15:
            lines.append(f'<frame pos="{self.numbers(3)}"{self.turn()}>{self.geom()}</frame>')
        for _ in range(rng.choice((0, 0, 1, 1, 2)) if depth < 4 else 0):
            child = self.body(depth + 1)
            if rng.random() < 0.15:
                child = f'<frame pos="{self.numbers(3)}"{self.turn()}>\n{child}\n</frame>'
            lines.append(child)
        return "\n".join(line for line in [*lines, "</body>"] if line)

    def joints_of(self, depth: int) -> list[str]:
        rng = self.rng
        if depth == 0 and rng.random() < 0.25:
            name = self.called("j")
            self.joints.append(name)
            align = self.given(0.3, "align", rng.choice(("true", "false", "auto")))
            return [f'<freejoint name="{name}"{align}/>']
        kinds = rng.choice((["hinge"], ["slide"], ["ball"], ["hinge", "hinge"], ["slide", "hinge"],
                            ["hinge", "slide", "ball"], [], ["hinge"]))  # fmt: skip
        return [self.joint(kind) for kind in kinds]

    def joint(self, kind: str) -> str:
        name = self.called("j")
        self.joints.append(name)
        self.scalars += [name] if kind in ("hinge", "slide") else []
        text = f'<joint name="{name}" type="{kind}"'
        for key, chance, value in (
            ("pos", 0.4, self.numbers(3)),
            ("axis", 0.7, self.numbers(3)),
            ("ref", 0.2, self.number()),
            ("armature", 0.3, self.number(0, 2)),
            ("damping", 0.3, self.number(0, 2)),
            ("stiffness", 0.2, self.number(0, 5)),
            ("springref", 0.2, self.number()),
            ("springdamper", 0.1, self.numbers(2, 0.1, 2)),
            ("frictionloss", 0.1, self.number(0, 1)),
            ("range", 0.2, f"{self.number(-2, 0)} {self.number(0, 2)}"),
            ("actuatorgravcomp", 0.05, "true"),
        ):
            text += self.maybe(chance if kind != "ball" else 0.3 * chance, f' {key}="{value}"')
        return text + self.of_class() + "/>"

    def inertial(self) -> str:
        mass = self.number(0.05, 4)
        a, b = self.rng.uniform(0.05, 1), self.rng.uniform(0.05, 1)
        c = self.rng.uniform(abs(a - b) * 1.05, a + b)
        moments = f'diaginertia="{a:.4g} {b:.4g} {c:.4g}"{self.turn()}'
        if self.rng.random() < 0.3:
            off = self.numbers(3, -0.02, 0.02)
            moments = f'fullinertia="{a:.4g} {b:.4g} {c:.4g} {off}"'
        return f'<inertial pos="{self.numbers(3)}" mass="{mass}" {moments}/>'

    def geom(self) -> str:
        rng = self.rng
        kind = rng.choice((*TYPES[4:], "mesh"))
        size = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3, "ellipsoid": 3, "mesh": 0}[kind]
        form = f' size="{self.numbers(size, 0.05, 0.5)}"' if size else ' mesh="wedge"'
        place = f' pos="{self.numbers(3)}"{self.turn()}'
        if kind in ("capsule", "cylinder", "box", "ellipsoid") and rng.random() < 0.3:
            place, form = f' fromto="{self.numbers(6)}"', f' size="{self.number(0.05, 0.5)}"'
        weight = rng.choice(
            ["", "", f' mass="{self.number(0, 3)}"', f' density="{self.number(1, 2000)}"',
             ' mass="1" density="5"']
        )  # fmt: skip
        more = self.maybe(0.1 if size else 0.01, ' shellinertia="true"')
        more += self.given(0.1, "group", rng.randrange(6))
        more += self.maybe(0.05, ' contype="0" conaffinity="0"') + self.of_class()
        return f'<geom type="{kind}"{form}{place}{weight}{more}/>'

    def extras(self) -> str:
        """Much of it is refused; what is not must change nothing, or be applied."""
        rng = self.rng
        if not self.joints:
            return ""
        (one, two), body = rng.choices(self.joints, k=2), rng.choice(self.bodies)
        armature = f'armature="{self.number(0, 2)}"'
        choices = [
            f'<actuator><motor joint="{one}" gear="{self.number(-3, 3)}" {armature}/></actuator>',
            f'<actuator><motor joint="{one}" damping="{self.number(0, 2)}"/></actuator>',
            f'<actuator><position joint="{one}" kp="3" {armature} damping="1"/>'
            f'<motor joint="{two}" {armature}/></actuator>',
            f'<actuator><motor jointinparent="{one}" {armature}/></actuator>',
            f'<actuator><motor joint="{one}" damping="1 0.2"/></actuator>',
            f'<actuator><dcmotor joint="{one}" resistance="2" motorconst="0.1" {armature}/>'
            "</actuator>",
            f'<actuator><motor joint="{one}" gear="2"/></actuator>',
            f'<tendon><fixed name="t"><joint joint="{one}" coef="2"/></fixed></tendon>'
            f'<actuator><motor tendon="t" {armature}/></actuator>',
            f'<tendon><fixed name="t" {armature}><joint joint="{one}" coef="1"/></fixed></tendon>',
            f'<tendon><fixed stiffness="1"><joint joint="{one}" coef="1"/></fixed></tendon>',
            f'<contact><exclude body1="world" body2="{body}"/></contact>',
            f'<sensor><subtreecom body="{body}"/></sensor>',
            '<keyframe><key time="1"/></keyframe>',
        ]
        return "\n".join(rng.sample(choices, 1)) if rng.random() < 0.6 else ""


INERTIAS = ("convex", "exact", "legacy", "shell")

CHANGES: list[files.Change] = [
    *files.ANYWHERE,
    files.replaced(r'\s(\w+)="', KEYS),
    files.replaced(r"<(\w+)", TAGS),
    files.replaced(r'type="(\w+)"', TYPES),
    files.renamed_everywhere(TAGS),
]


def made(rng: random.Random) -> bytes:
    """The bytes of a file: of the suites or made up, and then changed."""
    text = rng.choice(SUITE) if rng.random() < 0.15 else Maker(rng).text()
    return files.mutated(text, CHANGES, rng)


def made_with_loops(rng: random.Random) -> bytes:
    """A file that was made up and is left as it is."""
    return Maker(rng, loops=1.0).text().encode()


# ---- judged -------------------------------------------------------------------------------------


@contextmanager
def quiet() -> Iterator[None]:
    """MuJoCo's warnings would go to a file in the folder of the run."""
    mujoco.set_mju_user_warning(lambda text: None)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(None)


def judge(path: Path, rng: random.Random) -> str:
    """Either "refused" in words, or "agreed" with MuJoCo, "looped" with loops; else it raises."""
    try:
        model = sk.load(path, mimic="independent", search_paths=[SITE])
    except sk.ModelError as error:
        files.check_words(tuple(map(str, error.faults)), path)
        return "refused"
    with quiet():
        peer = mujoco.MjModel.from_xml_path(str(path))
        chance = np.random.default_rng(rng.randrange(2**32))
        if model.has_loops:
            compare_loops(model, peer, chance)
        compare(model.opened, peer, chance)
    return "looped" if model.has_loops else "agreed"


def compare(model: sk.Model, peer: mujoco.MjModel, chance: np.random.Generator) -> None:
    """Mass matrix, bias force, passive force and acceleration, in MuJoCo's layout."""
    peer.opt.disableflags |= int(OFF)
    data = mujoco.MjData(peer)
    q, v = model.random_state(chance)
    data.qpos[:], data.qvel[:] = sk.interop.to_mujoco_state(model, peer, q, v)
    mujoco.mj_forward(peer, data)
    turn = np.array([sk.interop.to_mujoco_force(model, peer, q, e) for e in np.eye(model.nv)]).T
    M = turn @ sk.mass_matrix(model, q) @ turn.T
    lengths = peer.body_pos, peer.body_ipos, peer.jnt_pos
    rounding = files.rounding_of(float(peer.body_mass.sum()), *lengths)
    files.same_mass_matrix(M, mass_matrix(peer, data), rounding)

    at_rest = np.zeros(peer.nv)
    vdot = sk.interop.from_mujoco_acceleration(model, peer, data.qpos, data.qvel, at_rest)
    bias = sk.interop.to_mujoco_force(model, peer, q, sk.inverse_dynamics(model, q, v, vdot))
    tau = passive_force(model, q, v)
    passive = sk.interop.to_mujoco_force(model, peer, q, tau)
    size = np.abs(data.qfrc_bias).max() + np.abs(M).max() + 1e11 * rounding
    files.close(bias, data.qfrc_bias, 1e-9 * size, "bias force")
    size = size + np.abs(data.qfrc_passive).max()
    files.close(passive, data.qfrc_passive, 1e-9 * size, "passive force")
    if np.linalg.cond(M) > files.SINGULAR:
        return

    net = data.qfrc_passive - data.qfrc_bias + data.qfrc_actuator
    active = sk.interop.from_mujoco_force(model, peer, data.qpos, data.qfrc_actuator)
    vdot = sk.forward_dynamics(model, q, v, tau + active)
    theirs = sk.interop.to_mujoco_acceleration(model, peer, q, v, vdot)
    M = mass_matrix(peer, data)
    allowed = 1e-7 * (size + np.abs(net).max()) + files.rounding_of_product(M, theirs)
    files.close(M @ theirs, net, allowed, "M times acceleration")


def mass_matrix(peer: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    M = np.zeros((peer.nv, peer.nv))
    for column, unit in enumerate(np.eye(peer.nv)):
        mujoco.mj_mulM(peer, data, M[column], unit)
    return M.T


def passive_force(model: sk.Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Springs and dampers of the model's joints, dry friction left out."""
    tau = np.zeros(model.nv)
    for name, given in model.joint_properties.items():
        at = model.v_slice(name)
        tau[at] -= given.damping * v[at]
        if given.stiffness:
            tau[at] -= given.stiffness * (q[model.q_slice(name)] - given.rest)
    return tau
