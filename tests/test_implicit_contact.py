"""One step of implicit_contact against its dense twin and against the reference."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import adapters
import implicit_contact_twin as twin
import naive
import skodyn as sk
from skodyn.dynamics.contact_functions import with_ground
from skodyn.jit import JIT_DISABLED
from skodyn.simulation.contact.implicit_newton import PASSES
from skodyn.simulation.elements import Forces, Servo
from skodyn.simulation.engine import Engine
from skodyn.simulation.settings import IntegratorSettings

REFERENCE = json.loads(
    (Path(__file__).parent / "data" / "contact" / "one_implicit_step.json").read_text()
)
SMALL, GRAVITY = 2e-10, adapters.GRAVITY


def engine(model, q, v, forces, h, **settings):
    """A run of one step."""
    chosen = IntegratorSettings("implicit_contact", dt=h, **settings)
    return Engine(model, np.asarray(q, float), np.asarray(v, float), h, chosen, forces)


# ---- the reference ------------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(len(REFERENCE["steps"])))
def test_the_twin_and_the_step_agree_with_the_reference(number):
    """It has F of the start of the step alone, so the second pass is left out."""
    given, result = (REFERENCE["steps"][number][key] for key in ("given", "result"))
    law = {key: given[key] for key in ("k", "c", "mu", "kt")} | {"d": given["dt"], "p": 1}
    point = twin.Point(law, given["gap"], np.array([0.0, 0, 1]), np.eye(3), np.zeros((3, 3)),
                       np.array([*given["s"], 0.0]), np.zeros(3), np.zeros(3))  # fmt: skip
    mass, weight = given["mass"], given["mass"] * np.array(given["gravity"])
    v, limits = twin.solve(mass * np.eye(3), weight, np.array(given["v"]), [point], [{}] * 3,
                           np.zeros(3), given["h"], passes=1)  # fmt: skip
    end = twin.ends([point], limits, v, given["h"])[0]
    assert np.abs(v - result["velocity"]).max() < 1e-14
    assert abs(end["normal_force"] - result["normal_force"]) < 1e-10
    assert np.abs(end["s"][:2] - result["bristle"]).max() < 1e-18

    b = sk.ModelBuilder(gravity=given["gravity"])
    for name, parent, axis in (
        ("x", "world", (1, 0, 0)),
        ("y", "x", (0, 1, 0)),
        ("z", "y", (0, 0, 1)),
    ):
        heavy = {"mass": mass, "inertia": (1, 1, 1)} if name == "z" else {}
        b.add_body(name, parent, sk.Prismatic(axis), **heavy)
    b.add_collision("z", sk.Points([(0, 0, 0)]))
    contact = sk.Contact("z", "floor", stiffness=given["k"], dissipation=given["c"],
                         friction=given["mu"], tangential_stiffness=given["kt"],
                         tangential_damping=given["dt"])  # fmt: skip
    model = with_ground(b.build(), [sk.HalfSpace()])
    run = engine(model, [0, 0, given["gap"]], given["v"], Forces(contacts=(contact,)), given["h"],
                 tolerance=1e-13)  # fmt: skip
    run._system.method[PASSES] = 1.0
    run.y[3:5] = given["s"]
    assert run.advance(1).status == 0
    tolerance = REFERENCE["suggested_tolerance"]
    assert np.abs(run.v - result["velocity"]).max() < tolerance
    assert np.abs(run.y[3:5] - result["bristle"]).max() < tolerance * 1e-3
    assert run.q[2] == given["gap"] + given["h"] * run.v[2]


# ---- random trees -------------------------------------------------------------------------------


class Scene:
    """A random tree whose bodies carry balls near a slanting floor, with all that joints can have.

    Everything the twin needs comes from tests/naive.py.
    """

    def __init__(self, seed, n=7, touching=True, pairs=0):
        rng = self.rng = np.random.default_rng(seed)
        self.h = float(rng.choice([2e-3, 1e-2, 3e-2]))
        self.bodies = naive.random_bodies(rng, n, branching=0.6, rotors=0.4)
        self.q, self.v = naive.random_state(rng, self.bodies)
        made = adapters.builder(self.bodies)
        self.add_balls(made, range(n) if touching else (), pairs)
        self.finish(made)

    gravity, motions = np.array(GRAVITY), ()

    @staticmethod
    def joint_name(k):
        return f"b{k}"

    def packed(self):
        """q and v as the model orders them."""
        return (
            adapters.to_packed_q(self.model, self.bodies, self.q),
            adapters.to_packed_v(self.model, self.bodies, self.v),
        )

    def add_balls(self, made, touching, pairs):
        """Balls near the floor, one on each of these bodies, and pairs of balls far above it."""
        rng, n = self.rng, len(self.bodies)
        self.normal = naive.random_unit(rng)
        self.balls, self.laws = [], []
        rotations, places = naive.forward_kinematics(self.bodies, self.q)
        for k in touching:
            x = rng.normal(size=3)
            x += self.normal * (0.4 + rng.uniform(-0.15, 0.05) - self.normal @ x)
            centre = rotations[k].T @ (x - places[k])
            self.balls.append((k, centre, x))
            made.add_collision(f"b{k}", sk.Sphere(0.4), translation=centre)
            self.laws.append(self.law(rng))
        self.between = []
        for number in range(pairs):
            a, b = (int(x) for x in rng.choice(n, 2, replace=False))
            x = rng.normal(size=3) + 50.0 * self.normal  # far above the floor
            y = x - naive.random_unit(rng) * (0.8 + rng.uniform(-0.15, 0.05))
            for k, place, side in ((a, x, "a"), (b, y, "b")):
                centre = rotations[k].T @ (place - places[k])
                made.add_collision(
                    f"b{k}", sk.Sphere(0.4), translation=centre, name=f"{side}{number}"
                )
            self.between.append((a, b, x, y))
            self.laws.append(self.law(rng))

    def finish(self, made):
        """The model with its floor, and the forces of its joints."""
        self.model = with_ground(made.build(), [sk.HalfSpace(normal=self.normal)])
        self.slices = naive.offsets(self.bodies)[1]
        self.joints, self.servos = self.forces_of_joints(self.rng)

    @staticmethod
    def law(rng):
        law = {"k": float(rng.uniform(100, 5000)), "c": float(rng.choice([0.0, 0.4])),
               "p": float(rng.choice([1.0, 1.5])), "mu": float(rng.choice([0.0, 0.3, 1.0])),
               "kt": float(rng.uniform(100, 3000)), "d": float(rng.uniform(2, 60))}  # fmt: skip
        if law["mu"] and rng.random() < 0.5:
            law |= {"torsion": float(rng.choice([0.0, 0.05])) / law["mu"],
                    "rolling": 0.1 / law["mu"]}  # fmt: skip
        if law["mu"] and rng.random() < 0.3:
            law |= {"mu_s": 1.5 * law["mu"], "slip_speed": 0.3}
        return law

    def names(self):
        """(a, b) of every contact."""
        floor = [(f"b{k}/sphere", "floor") for k, _, _ in self.balls]
        both = [(f"b{a}/a{i}", f"b{b}/b{i}") for i, (a, b, _, _) in enumerate(self.between)]
        return floor + both

    def contact(self, names, law):
        more = {"adjacent": True} if names[1] != "floor" else {}
        if law["mu"]:
            more |= {"friction": law["mu"], "tangential_stiffness": law["kt"],
                    "tangential_damping": law["d"]}  # fmt: skip
            for word, key in (("torsional_friction", "torsion"), ("rolling_friction", "rolling")):
                if law.get(key):
                    more[word] = law[key] * law["mu"]
            if "mu_s" in law:
                more |= {"static_friction": law["mu_s"], "slip_speed": law["slip_speed"]}
        return sk.Contact(*names, stiffness=law["k"], dissipation=law["c"],
                          exponent=law["p"], **more)  # fmt: skip

    def forces_of_joints(self, rng):
        """(twin's table per degree of freedom, sk.Servo list); also self.properties."""
        tables, servos, self.properties = [{} for _ in self.v], [], {}
        for k, body in enumerate(self.bodies):
            kind, s = body["joint"]["kind"], self.slices[k]
            if kind == "fixed":
                continue
            given = {"damping": float(rng.uniform(0, 3)), "friction": float(rng.choice([0.0, 2.0])),
                     "friction_speed": 0.05}  # fmt: skip
            if kind not in ("spherical", "free"):
                given |= {"stiffness": float(rng.uniform(0, 400)), "rest": 0.1}
            if s.stop - s.start == 1:
                x = self.q[naive.offsets(self.bodies)[0][k].start]
                given |= {"stop_stiffness": 500.0, "stop_damping": 5.0,
                          "lower": x + float(rng.choice([-5.0, -0.002, 0.05])),
                          "upper": x + float(rng.choice([0.1, 6.0]))}  # fmt: skip
                for _ in range(int(rng.integers(0, 3))):
                    servo = {"kp": float(rng.choice([-3.0, 200.0])),
                             "kd": float(rng.uniform(-1, 9)), "target": 0.3, "speed": 0.2,
                             "limit": float(rng.choice([3.0, np.inf]))}  # fmt: skip
                    tables[s.start].setdefault("servos", []).append(servo)
                    servos.append(Servo(self.joint_name(k), kp=servo["kp"], kd=servo["kd"],
                                        target=0.3, target_velocity=0.2,
                                        limit=servo["limit"]))  # fmt: skip
            self.properties[self.joint_name(k)] = sk.JointProperties(**given)
            for i in range(s.start, s.stop):
                tables[i] |= given
        return tables, tuple(servos)

    def coordinates(self):
        """q of every degree of freedom; zero where a joint has a quaternion."""
        x = np.zeros(len(self.v))
        for q_slice, v_slice in zip(*naive.offsets(self.bodies)[:2], strict=True):
            if q_slice.stop - q_slice.start == v_slice.stop - v_slice.start:
                x[v_slice] = self.q[q_slice]
        return x

    def points(self, bristles):
        found, laws = [], iter(zip(self.laws, bristles, strict=True))
        for k, _, x in self.balls:
            law, (s, zeta) = next(laws)
            gap = self.normal @ x - 0.4
            place = x - self.normal * (0.4 + 0.5 * gap)
            rows = self.rows_at(k, place)
            found.append(twin.Point(law, gap, self.normal, rows[3:], rows[:3], s, zeta,
                                    np.zeros(3)))  # fmt: skip
        for a, b, x, y in self.between:
            law, (s, zeta) = next(laws)
            distance = np.linalg.norm(x - y)
            n, gap = (x - y) / distance, distance - 0.8
            place = x - n * (0.4 + 0.5 * gap)
            rows = self.rows_at(a, place) - self.rows_at(b, place)
            rate = (self.rows_at(a, x)[3:] - self.rows_at(b, y)[3:]) @ self.v
            spin = (self.rows_at(a, x)[:3] + self.rows_at(b, y)[:3]) @ self.v
            turn = np.cross(n, rate) / distance + 0.5 * (n @ spin) * n
            found.append(twin.Point(law, gap, n, rows[3:], rows[:3], s, zeta, self.h * turn))
        return found

    def rows_at(self, k, place):
        """Rows of [ω; v] of body k at a point of the world."""
        rotations, places = naive.forward_kinematics(self.bodies, self.q)
        return naive.jacobian(self.bodies, self.q, k, rotations[k].T @ (place - places[k]))


def of_axes_that_stay(scene):
    """v̇ of free joints whose velocities do not change in the world."""
    vdot = np.zeros_like(scene.v)
    for s in free_joints(scene):
        vdot[s.start + 3 : s.stop] = -np.cross(scene.v[s][:3], scene.v[s][3:])
    return vdot


def solve(scene, points, held=None):
    """v⁺ of the twin: velocities of free joints along the axes of the start."""
    vdot = of_axes_that_stay(scene)
    force = -naive.inverse_dynamics(scene.bodies, scene.q, scene.v, vdot, scene.gravity)
    mass = naive.mass_matrix(scene.bodies, scene.q)
    found = twin.solve(
        mass, force, scene.v, points, scene.joints, scene.coordinates(), scene.h, held=held
    )  # fmt: skip
    return *found, mass


def free_joints(scene):
    return [
        s for body, s in zip(scene.bodies, scene.slices, strict=True)
        if body["joint"]["kind"] == "free"
    ]  # fmt: skip


def at_the_end(scene, v):
    """The same velocities along the axes of the end."""
    v = v.copy()
    for s in free_joints(scene):
        turn = naive.quaternion_matrix(naive.quaternion_exp(scene.h * v[s][:3]))
        v[s.start + 3 : s.stop] = turn.T @ v[s][3:]
    return v


def run_of(scene, bristles, **settings):
    contacts = tuple(
        scene.contact(names, law) for names, law in zip(scene.names(), scene.laws, strict=True)
    )
    forces = Forces(scene.properties, scene.servos, contacts=contacts, motions=scene.motions)
    q, v = scene.packed()
    run = engine(scene.model, q, v, forces, scene.h, **settings)
    at, places = len(v), {}
    for number, law in enumerate(scene.laws):
        turns = bool(law.get("torsion") or law.get("rolling"))
        size = 0 if not law["mu"] else 6 if turns else 3
        places[number] = slice(at, at + size)
        run.y[at : at + size] = np.concatenate(bristles[number])[:size]
        at += size
    return run, places


@pytest.mark.parametrize("seed", range(30))
def test_a_step_is_that_of_the_twin(seed):
    """Random trees, every joint, rotors, springs, stops, servos, and contacts of every law."""
    compare(Scene(seed))


@pytest.mark.parametrize("seed", range(20))
def test_contacts_between_two_bodies_are_those_of_the_twin(seed):
    """Beside contacts with the ground, and alone."""
    compare(Scene(200 + seed, pairs=1 + seed % 4, touching=seed % 3 > 0))


def random_bristles(scene):
    rng = scene.rng
    bristles = [(1e-3 * rng.normal(size=3), 1e-3 * rng.normal(size=3)) for _ in scene.laws]
    for pair, law in zip(bristles, scene.laws, strict=True):
        if not law.get("torsion") and not law.get("rolling"):
            pair[1][:] = 0.0
        if not law["mu"]:
            pair[0][:] = 0.0
    return bristles


def compare(scene):
    bristles = random_bristles(scene)
    points = scene.points(bristles)
    v, limits, mass = solve(scene, points)
    ends = twin.ends(points, limits, v, scene.h)
    run, places = run_of(scene, bristles, tolerance=1e-13)
    assert run.advance(1).status == 0
    found = adapters.from_packed_v(scene.model, scene.bodies, run.v)
    scale = np.abs(v).max() * np.linalg.cond(mass)
    assert np.abs(found - at_the_end(scene, v)).max() < 1e-12 * scale + SMALL
    compare_ends(run, places, ends, scale)


def compare_ends(run, places, ends, scale):
    """Bristles, work and loss of all contacts."""
    for number, end in enumerate(ends):
        wanted = np.concatenate((end["s"], end["zeta"]))
        had = run.y[places[number]]
        assert np.abs(had - wanted[: had.size]).max(initial=0.0) < 1e-11 * scale + 1e-12
    work, loss = run.y[-3:-1]
    size = sum(abs(end["work"]) + abs(end["loss"]) for end in ends)
    assert abs(work - sum(end["work"] for end in ends)) < 1e-8 * size
    assert abs(loss - sum(end["loss"] for end in ends)) < 1e-8 * size
    if not JIT_DISABLED:
        assert any(np.abs(end["force"]).max() > 0 for end in ends)


@pytest.mark.parametrize("seed", range(6))
def test_without_contacts_it_is_implicit_euler_for_joints(seed):
    scene = Scene(100 + seed, touching=False)
    v, _, mass = solve(scene, [])
    run, _ = run_of(scene, [], tolerance=1e-13)
    assert run.advance(1).status == 0
    found = adapters.from_packed_v(scene.model, scene.bodies, run.v)
    assert (
        np.abs(found - at_the_end(scene, v)).max()
        < 1e-12 * np.abs(v).max() * np.linalg.cond(mass) + SMALL
    )


# ---- prescribed motions -------------------------------------------------------------------------


class DrivenScene(Scene):
    """The same where some joints of one coordinate are shaken."""

    def finish(self, made):
        super().finish(made)
        single = [k for k, s in enumerate(self.slices) if s.stop - s.start == 1]
        self.driven = single[::2]
        self.motions = tuple(self.motion(k) for k in self.driven)

    def motion(self, k):
        """A sine that begins with the state; its speed at the end is kept."""
        rate, phase = 2 * np.pi * 3.0, 0.5
        q, v = self.q[naive.offsets(self.bodies)[0][k]][0], self.v[self.slices[k]][0]
        size = v / (rate * np.cos(phase))
        return sk.SineMotion(self.joint_name(k), size, 3.0, phase, q - size * np.sin(phase))

    def held(self):
        """Rows of the driven velocities, and what makes them those of the end."""
        dofs = [self.slices[k].start for k in self.driven]
        end = [m.amplitude * 6 * np.pi * np.cos(6 * np.pi * self.h + 0.5) for m in self.motions]
        return np.eye(len(self.v))[dofs], (self.v[dofs] - end) / self.h


@pytest.mark.parametrize("seed", range(10))
def test_driven_joints_are_those_of_the_twin(seed):
    """Velocities and the work of all forces, the drives' among them."""
    scene = DrivenScene(300 + seed, pairs=seed % 3)
    assert scene.driven
    bristles = random_bristles(scene)
    points = scene.points(bristles)
    v, limits, mass = solve(scene, points, scene.held())
    run, places = run_of(scene, bristles, tolerance=1e-15)
    assert run.advance(1).status == 0
    found = adapters.from_packed_v(scene.model, scene.bodies, run.v)
    scale = np.abs(v).max() * np.linalg.cond(mass)
    assert np.abs(found - at_the_end(scene, v)).max() < 1e-12 * scale + 2e-9
    compare_ends(run, places, twin.ends(points, limits, v, scene.h), scale)
    vdot = of_axes_that_stay(scene)
    bias = naive.inverse_dynamics(scene.bodies, scene.q, scene.v, vdot, scene.gravity)
    bias -= naive.armatures(scene.bodies) * vdot  # which rotors of free joints count as a force
    terms = v * (mass @ (v - scene.v) + scene.h * bias)
    assert abs(run.y[-1] - terms.sum()) < 1e-9 * np.abs(terms).max() * max(scale, 1.0)


# ---- joints that follow others ------------------------------------------------------------------


class FollowingScene(Scene):
    """The same where joints of one coordinate follow others, one of them a follower."""

    def add_balls(self, made, touching, pairs):
        q_slices, slices = naive.offsets(self.bodies)[:2]
        single = [k for k, s in enumerate(slices) if s.stop - s.start == 1]
        self.couples = [(k, single[0], r) for k, r in zip(single[1:3], (-1.5, 0.4), strict=False)]
        if len(single) > 4:
            self.couples.append((single[4], single[3], 2.0))
        for k, source, r in self.couples:
            self.v[slices[k]] = r * self.v[slices[source]]
            offset = self.q[q_slices[k]] - r * self.q[q_slices[source]]
            made.add_mimic(f"b{k}", f"b{source}", r, float(offset[0]))
        super().add_balls(made, touching, pairs)

    def packed(self):
        every = self.model.uncoupled
        full = (
            adapters.to_packed_q(every, self.bodies, self.q),
            adapters.to_packed_v(every, self.bodies, self.v),
        )
        q, v = np.empty(self.model.nq), np.empty(self.model.nv)
        followers = {f"b{k}" for k, _, _ in self.couples}
        for name in (f"b{k}" for k in range(len(self.bodies))):
            if name not in followers:
                q[self.model.q_slice(name)] = full[0][every.q_slice(name)]
                v[self.model.v_slice(name)] = full[1][every.v_slice(name)]
        return q, v

    def held(self):
        """Rows that are zero while joints follow."""
        rows = np.zeros((len(self.couples), len(self.v)))
        for row, (k, source, r) in zip(rows, self.couples, strict=True):
            row[self.slices[k]], row[self.slices[source]] = 1.0, -r
        return rows, np.zeros(len(rows))


@pytest.mark.parametrize("seed", [0, *range(2, 13)])  # 401 has no two joints of one coordinate
def test_joints_that_follow_are_those_of_the_twin(seed):
    """Springs, stops, servos and contacts act on joints that follow as on others."""
    scene = FollowingScene(400 + seed, pairs=seed % 3)
    assert scene.couples
    bristles = random_bristles(scene)
    points = scene.points(bristles)
    v, limits, mass = solve(scene, points, scene.held())
    run, places = run_of(scene, bristles, tolerance=1e-15)
    assert run.advance(1).status == 0
    every = scene.model.expand_v(run.v)
    found = adapters.from_packed_v(scene.model.uncoupled, scene.bodies, every)
    scale = np.abs(v).max() * np.linalg.cond(mass)
    assert np.abs(found - at_the_end(scene, v)).max() < 1e-12 * scale + 2e-9
    compare_ends(run, places, twin.ends(points, limits, v, scene.h), scale)
