"""[ground], [shapes] and [contacts] in scenarios: read, refused with a line, swept in lanes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import skodyn as sk
from skodyn.jit import JIT_DISABLED
from skodyn.scenario import parse_scenario
from skodyn.scenario.running import run_scenario
from skodyn.simulation.elements import Forces
from skodyn.simulation.engine import Engine
from skodyn.simulation.force_tables import pack_forces
from skodyn.simulation.settings import IntegratorSettings
from skodyn.sweeps.lane_batch import LaneBatch, PackedRuns
from skodyn.sweeps.metrics import pack_metrics
from skodyn.sweeps.scenario_data import normal_form, read_data

FOLDER = Path(__file__).parent.parent / "scenarios"
BALL = """
duration = 0.3
[model]
[model.bodies.ball]
parent = "world"
joint = { type = "free" }
mass = 1.0
inertia = [0.004, 0.004, 0.004]
[initial.q]
ball = [1, 0, 0, 0, 0, 0, 0.2]
[initial.v]
ball = [0, 3, 0, 1, 0, -1]
[shapes.skin]
body = "ball"
type = "sphere"
radius = 0.1
[ground.floor]
type = "half_space"
normal = [0.1, 0, 1]
[contacts.skin]
a = "ball"
b = "floor"
stiffness = 2e4
dissipation = 0.5
friction = 0.4
[integrator]
dt = 5e-4
"""  # fmt: skip


def test_a_scenario_says_the_same_as_python():
    scenario = parse_scenario(BALL, FOLDER)
    b = sk.ModelBuilder(name=scenario.model.name)
    b.add_body("ball", joint=sk.Free(), mass=1.0, inertia=(0.004, 0.004, 0.004))
    b.add_collision("world", sk.HalfSpace(normal=(0.1, 0, 1)), name="floor")
    b.add_collision("ball", sk.Sphere(0.1), name="skin")
    assert scenario.model == b.build()
    law = sk.Contact("ball", "floor", stiffness=2e4, dissipation=0.5, friction=0.4, name="skin")
    assert scenario.forces.contacts == (law,)
    run = sk.simulate(b.build(), [1, 0, 0, 0, 0, 0, 0.2], [0, 3, 0, 1, 0, -1], duration=0.3,
                      dt=5e-4, contacts=[law])  # fmt: skip
    assert run.summary["contact_loss"] > 0.0


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('a = "ball"', 'a = "bal"', "fits no shape; did you mean 'ball'?"),
        ("stiffness = 2e4", "stifness = 2e4", "did you mean 'stiffness'?"),
        ("stiffness = 2e4", "stiffness = 0", "stiffness is 0; give a number above"),
        ("dissipation = 0.5", "restitution = 0.5", "give impact_speed in m/s, too"),
        ("dissipation = 0.5", "exponent = 2", "contacts.skin.exponent is 2; give 1 or 1.5"),
        ("normal = [0.1, 0, 1]", "normal = [0, 0, 0]", "of no length"),
        ('b = "floor"\nstiffness = 2e4', 'b = "floor"',
         "Contact 'skin': it has no stiffness; give a number above 0"),
        ("dissipation = 0.5", "restitution = 1.5", "contacts.skin.restitution is 1.5; give"),
        ("friction = 0.4", "static_friction = 0.4", "static_friction 0.4 has no effect without"),
        ("normal = [0.1, 0, 1]", "normal = [0.1, 0]", "normal is [0.1, 0]; give three"),
        ('type = "sphere"\nradius = 0.1', 'type = "box"\nsize = [1, 0, 1]',
         "size is [1, 0, 1]; give metres above 0"),
        ("radius = 0.1", "radius = 0", "radius is 0; give metres above 0"),
        ("[integrator]", '[contacts.more]\na = "*"\nb = "fl*"\nstiffness = 1e4\n[integrator]',
         "Contact 'more': Contact 'skin' has the pair ball/skin with floor already; give each"),
        ("radius = 0.1", "radius = -1", "radius is -1; give metres above 0"),
        ("radius = 0.1", "radus = 0.1", "did you mean 'radius'?"),
        ('body = "ball"', 'body = "bell"', "there is no such body; did you mean 'ball'?"),
        ('type = "half_space"', 'type = "plane"', "has type 'plane'; use one of box"),
        ('body = "ball"\ntype = "sphere"', 'type = "sphere"', "has no body; name the body"),
    ],
)  # fmt: skip
def test_faults_have_a_line_and_a_remedy(old, new, words):
    text = BALL.replace(old, new, 1)
    with pytest.raises(sk.ScenarioError) as caught:
        parse_scenario(text, FOLDER)
    line = text[: text.index(new)].count("\n") + 1
    assert words in str(caught.value)
    # that of the key, or of the table above it where a key is missing or names what is not there
    assert any(f":{line + more}:" in str(caught.value) for more in range(-2, 2))
    assert len(caught.value.faults) == 1 + ("static" in new)  # which has two


def test_the_normal_form_has_every_shape_and_contact_and_reads_back():
    scenario = parse_scenario(BALL, FOLDER)
    again = read_data(normal_form(scenario))
    assert again.model == scenario.model
    assert again.forces == scenario.forces


def test_the_balls_bounce_as_high_as_they_should(tmp_path):
    run = sk.run(FOLDER / "bouncing_balls.toml", log=tmp_path / "run.h5")
    assert run.status == "finished"
    assert run.summary["warnings"] == []
    for body, e in (("steel", 0.9), ("wood", 0.6), ("clay", 0.1)):
        z = run.trajectory.joint(body)[:, 2] - 0.1
        touch = int(np.argmax(z < 1e-3))
        apex = z[touch : touch + 80].max()
        assert abs(apex - e**2 * (4.4**2 / (2 * 9.81))) < 0.03 * e + 0.002


def test_the_ball_on_the_slope_rolls(tmp_path):
    run = sk.run(FOLDER / "ball_on_slope.toml", log=tmp_path / "run.h5")
    assert run.summary["warnings"] == []
    way = np.linalg.norm(run.q[-1, 4:7] - run.q[0, 4:7])
    assert abs(way / (0.5 * 5 / 7 * 9.81 * 0.5) - 1) < 2e-3


COUNT = 19


def hoppers(method):
    """Runs of one structure: friction, slope, stiffness, height and speed differ."""
    rng = np.random.default_rng(0)
    model = parse_scenario(BALL, FOLDER).model
    tables, starts = [], []
    for _ in range(COUNT):
        slope = sk.HalfSpace(normal=(rng.choice([0.0, 0.1, 0.2]), 0, 1))
        ball = model.collisions["ball"][0]
        floor = replace(model.collisions["world"][0], shape=slope)
        own = replace(model, collisions={"ball": (ball,), "world": (floor,)})
        law = sk.Contact("ball", "floor", stiffness=rng.uniform(5e3, 4e4), dissipation=0.5,
                         friction=rng.uniform(0.05, 0.9), torsional_friction=1e-3)  # fmt: skip
        forces = Forces(contacts=(law,))
        q = np.array([1.0, 0, 0, 0, 0, 0, rng.uniform(0.13, 0.4)])
        v = rng.normal(size=6)
        tables.append((own, forces, pack_forces(own, forces)))
        starts.append((q, v))
    settings = IntegratorSettings(method, dt=5e-4)
    first = tables[0]
    runs = PackedRuns(
        model.kernel_tree, first[2].codes, np.stack([model.parameters] * COUNT),
        np.stack([t.numbers for _, _, t in tables]), np.stack([q for q, _ in starts]),
        np.stack([v for _, v in starts]), first[2].n_integrals, model.n_bodies, settings, 400, 1,
        first[2].parts,
    )  # fmt: skip
    return runs, tables, starts


@pytest.mark.skipif(JIT_DISABLED, reason="plain Python has one width")
@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler"])
def test_lanes_have_the_bits_of_each_run_alone(method):
    """Contacts are open and closed, stick and slip side by side in one register."""
    runs, tables, starts = hoppers(method)
    outcomes = LaneBatch(runs, pack_metrics({}, tables[0][0], Path())).run()
    assert outcomes.complete.all()
    lost = []
    for i, ((model, forces, _), (q, v)) in enumerate(zip(tables, starts, strict=True)):
        engine = Engine(model, q, v, 400 * 5e-4, runs.settings, forces)
        while not engine.finished:
            engine.advance(1000)
        assert (outcomes.q[i] == engine.q).all()
        assert (outcomes.v[i] == engine.v).all()
        lost.append(engine.y[-2])
    assert min(lost) == 0.0 < max(lost)  # some have not touched yet


def test_a_sweep_over_friction_and_the_slope_is_each_run_alone(tmp_path):
    scenario = parse_scenario(BALL, FOLDER)
    grid = {
        "contacts.skin.friction": [0.1, 0.3, 0.5],
        "contacts.skin.stiffness": [1e4, 2e4],
        "ground.floor.normal.x": [0.0, 0.2],
        "bodies.ball.collisions.skin.radius": [0.08, 0.1],
    }
    metrics = {
        "x": {"of": "position.ball.x", "kind": "final"},
        "lost": {"of": "contact_loss", "kind": "final"},
    }
    done = sk.sweep(scenario, grid, out=tmp_path / "s.h5", metrics=metrics, engine="in-process")
    assert done.counts()["finished"] == 24
    assert len(np.unique(done.metric("x"))) == 24
    for run in (0, 7, 23):
        alone = run_scenario(parse_scenario(done.scenario_text(run), FOLDER), None)
        assert alone.q[-1, 4] == done.metric("x")[run]
        assert alone.summary["contact_loss"] == done.metric("lost")[run] > 0.0


def test_what_contacts_lose_is_a_quantity_of_runs_with_contacts_alone(tmp_path):
    text = BALL[: BALL.index("[contacts.skin]")] + BALL[BALL.index("[integrator]") :]
    with pytest.raises(sk.ScenarioError, match="'contact_loss'"):
        sk.sweep(parse_scenario(text, FOLDER), {"bodies.ball.mass": [1.0, 2.0]},
                 out=tmp_path / "s.h5", metrics={"lost": {"of": "contact_loss", "kind": "final"}},
                 engine="in-process")  # fmt: skip


def test_runs_of_a_sweep_that_begin_too_deep_are_refused_as_they_are_alone(tmp_path):
    """In lanes and one by one, whether the start, the floor or the shape is to blame."""
    metrics = {"lost": {"of": "contact_loss", "kind": "final"}}
    text = BALL.replace("duration = 0.3", "duration = 0.01")
    short, adaptive, euler = (
        parse_scenario(text.replace("dt = 5e-4", method), FOLDER)
        for method in ("dt = 5e-4", 'method = "dormand_prince"',
                       'method = "semi_implicit_euler"\ndt = 5e-4')
    )  # fmt: skip
    cases = [
        (short, {"initial.q.ball.pz": [0.2, 0.04, 0.06], "contacts.skin.friction": [0.1, 0.4]}),
        (short, {"ground.floor.point.z": [0.0, 0.16], "bodies.ball.mass": [1.0, 2.0]}),
        (short, {"bodies.ball.collisions.skin.radius": [0.1, 0.19, 0.45]}),
        (adaptive, {"initial.q.ball.pz": [0.2, 0.04]}),
        (euler, {"integrator.dt": [5e-4, 5e-3]}),
        (euler, {"contacts.skin.tangential_damping": [1.0, 80.0]}),
    ]
    for number, (scenario, grid) in enumerate(cases):
        out = tmp_path / f"s{number}.h5"
        done = sk.sweep(scenario, grid, out=out, metrics=metrics, engine="in-process")
        seen = set()
        for run in range(len(done.status)):
            own = parse_scenario(done.scenario_text(run), FOLDER)
            if done.status[run] == 3:
                with pytest.raises(sk.StateError) as caught:
                    run_scenario(own, None)
                assert done.reason(run) == str(caught.value)
                words = (
                    "semi_implicit_euler needs" if scenario is euler else "'ball/floor' begins 0."
                )
                assert words in done.reason(run)
            else:
                alone = run_scenario(own, None)
                assert done.metric("lost")[run] == alone.summary["contact_loss"]
                assert (done.q[run] == alone.q[-1]).all()
            seen.add(int(done.status[run]))
        assert seen == {1, 3}
