"""Plans: designs, parameters by path, what is refused, and packing against reading in full."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import skodyn as sk
from skodyn.scenario import parse_scenario, read_scenario
from skodyn.scenario.running import plan_of
from skodyn.simulation import Controller
from skodyn.sweeps.designs import Listed, Product, Sampled, Span, Together
from skodyn.sweeps.packing import Packer, Refused, Variant
from skodyn.sweeps.paths import places
from skodyn.sweeps.plan import make_plan, read_plan
from skodyn.sweeps.running import plan_sweep
from skodyn.sweeps.scenario_data import normal_form, read_data

ROOT = Path(__file__).parent.parent
SCENARIOS = [p for p in sorted((ROOT / "scenarios").glob("*.toml")) if "sweep" not in p.stem]

TEXT = """
duration = 0.02
seed = 3
[model]
[model.bodies.base]
parent = "world"
joint = { type = "free" }
mass = 2.0
inertia = [0.2, 0.3, 0.4]
[model.bodies.arm]
parent = "base"
joint = { type = "revolute", axis = [0.6, 0, 0.8], name = "hinge" }
translation = [0.1, 0.2, 0.3]
rotation = [0.5, 0.5, 0.5, 0.5]
mass = 1.0
com = [0.1, 0.05, -0.3]
inertia = [0.05, 0.06, 0.07]
[model.bodies.rod]
parent = "arm"
joint = { type = "helical", axis = [0, 1, 0], pitch = 0.1, name = "screw" }
translation = [0, 0, -0.5]
mass = 0.4
com = [0, 0, -0.2]
inertia = [0.01, 0.01, 0.01]
[initial]
q_noise = 0.01
v_noise = 0.02
[initial.v]
hinge = 0.5
[joints.hinge]
damping = 0.1
stiffness = 1.0
[joints.screw]
damping = 0.2
[controllers.pd]
type = "servo"
joint = "hinge"
kp = 2.0
kd = 0.1
[controllers.shake]
type = "sinusoid"
joint = "screw"
amplitude = 1.0
frequency = 5.0
[controllers.table]
type = "torque_table"
joint = "screw"
times = [0.0, 0.01, 0.03]
torques = [0.0, 1.0, 0.5]
[forces.push]
type = "wrench"
body = "rod"
force = [1.0, 0, 0]
point = [0.1, 0, 0]
[forces.rope]
type = "point_spring"
body_a = "world"
body_b = "rod"
stiffness = 3.0
[integrator]
method = "rk4"
dt = 0.001
"""

VARIED = {
    "bodies.base.mass": (1.0, 3.0),
    "bodies.arm.mass": (0.5, 2.0),
    "bodies.arm.com.z": (-0.4, -0.1),
    "bodies.arm.inertia.xy": (-0.004, 0.004),
    "bodies.arm.inertia.zz": (0.065, 0.08),
    "bodies.arm.translation.y": (-0.2, 0.2),
    "bodies.arm.joint.armature": (0.0, 0.02),
    "bodies.rod.translation.z": (-0.7, -0.3),
    "gravity.z": (-20.0, -1.0),
    "initial.q.hinge": (-1.0, 1.0),
    "initial.q.base.px": (-1.0, 1.0),
    "initial.v.base.wy": (-1.0, 1.0),
    "initial.v_noise": (0.0, 0.1),
    "joints.hinge.stiffness": (0.5, 5.0),
    "joints.screw.damping": (0.0, 1.0),
    "controllers.pd.kp": (1.0, 9.0),
    "controllers.shake.frequency": (1.0, 9.0),
    "controllers.table.torques.1": (-2.0, 2.0),
    "forces.push.force.x": (-2.0, 2.0),
    "forces.rope.stiffness": (1.0, 9.0),
}


def scenario():
    return parse_scenario(TEXT, ROOT)


def random_table(varied, count=20, **more):
    spans = {path: list(span) for path, span in varied.items()}
    return {"designs": [{"kind": "random", "count": count, "seed": 5, "parameters": spans}], **more}


def assert_packed_as_read_in_full(plan, sets=None):
    packer = Packer(plan.study)
    rows = plan.design.points(np.arange(plan.count))
    seen, found = [], 0
    for chosen, variant, runs in packer.pack(rows):
        assert not isinstance(variant, Refused), variant
        found += 1
        seen += chosen.tolist()
        for i, row in enumerate(chosen.tolist()):
            data = packer.scenario_data(rows[row])
            full = Variant(data)
            assert (runs.parameters[i] == full.parameters).all()
            assert (runs.numbers[i] == full.numbers).all()
            s = packer.scenario(rows[row])
            assert (runs.q[i] == s.q0).all()
            assert (runs.v[i] == s.v0).all()
            assert runs.settings == s.integrator
    assert sorted(seen) == list(range(plan.count))
    assert sets is None or found == sets


# ---- the normal form ----------------------------------------------------------------------------


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda p: p.stem)
def test_the_normal_form_of_a_scenario_is_the_same_run(path):
    given = read_scenario(path)
    again = read_data(normal_form(given))
    before, after = plan_of(given).identity(), plan_of(again).identity()
    if given.model.joint_properties:  # of a robot file; here they stand in [joints]
        assert before.pop("model") != after.pop("model")
        assert (given.model.parameters == again.model.parameters).all()
    assert before == after


def test_every_path_leads_to_a_place_in_the_normal_form():
    given = scenario()
    data = normal_form(given)
    known = places(given, data)
    assert set(VARIED) < set(known)
    for path in ("integrator.dt", "duration", "seed", "bounds.max_speed", "bodies.rod.joint.pitch"):
        assert path in known


# ---- packing ------------------------------------------------------------------------------------


def test_packed_runs_are_those_read_in_full_to_the_last_bit():
    plan = make_plan(scenario(), random_table(VARIED))
    assert set(plan.study.ranges) == set(VARIED)  # none of them needs the scenario read anew
    assert_packed_as_read_in_full(plan, sets=1)


def test_parameters_that_change_the_layout_are_read_anew():
    table = random_table({"bodies.arm.mass": (1.0, 2.0)}, count=4)
    table["grid"] = {
        "integrator.dt": [0.001, 0.002],
        "integrator.method": ["rk4", "semi_implicit_euler"],
        "controllers.pd.ki": [0.0, 1.0],
    }
    plan = make_plan(scenario(), table)
    assert set(plan.study.ranges) == {"bodies.arm.mass"}
    assert plan.scan.variants == 8
    assert_packed_as_read_in_full(plan, sets=8)


def test_whole_values_and_quaternions_can_be_listed():
    half = math.sqrt(0.5)
    poses = [[1, 0, 0, 0, 0, 0, 0], [half, half, 0, 0, 1.0, 2.0, 3.0]]
    table = {"grid": {"initial.q.base": poses, "bodies.rod.joint.axis": [[0, 1, 0], [1, 0, 0]]}}
    plan = make_plan(scenario(), table)
    assert plan.count == 4
    assert_packed_as_read_in_full(plan)


def test_values_that_conflict_only_in_some_runs_are_read_in_full():
    """lower and upper cannot be tried one by one here, but every listed pair is sound."""
    columns = {"joints.screw.lower": [-2.0, 0.5, 3.0], "joints.screw.upper": [-1.0, 1.0, 4.0]}
    plan = make_plan(scenario(), {"designs": [{"kind": "list", "parameters": columns}]})
    assert_packed_as_read_in_full(plan)


def test_replicas_differ_in_their_seed():
    plan = make_plan(scenario(), {"replicas": 5, "grid": {"bodies.arm.mass": [1.0, 2.0]}})
    assert plan.count == 10
    assert_packed_as_read_in_full(plan, sets=1)
    assert len(np.unique(plan.design.points(np.arange(10))[:, 1])) == 5


def test_equal_runs_have_equal_ids_and_others_do_not():
    def ids(table):
        return sk.sweep(scenario(), engine="in-process", **table).ids.tolist()

    one = ids({"parameters": {"bodies.arm.mass": [1.0, 2.0], "joints.screw.damping": [0.2, 0.3]}})
    other = ids({"parameters": {"joints.screw.damping": [0.3, 0.2], "bodies.arm.mass": [2.0, 1.0]}})
    assert len(set(one)) == 4
    assert set(one) == set(other)
    assert ids({"parameters": {"bodies.arm.mass": [2.0]}})[0] == one[2]  # damping 0.2 is the base


# ---- designs ------------------------------------------------------------------------------------


def test_a_product_varies_its_last_factor_fastest_and_together_goes_side_by_side():
    a, b = Listed({"a": [1, 2]}), Listed({"b": [10, 20, 30]})
    points = Product((a, b)).points(np.arange(6))
    assert points.tolist() == [[1, 10], [1, 20], [1, 30], [2, 10], [2, 20], [2, 30]]
    c = Listed({"c": [7, 8, 9]})
    assert Together((b, c)).points(np.arange(3)).tolist() == [[10, 7], [20, 8], [30, 9]]


@pytest.mark.parametrize("method", ["random", "latin_hypercube", "sobol"])
def test_any_point_of_a_sample_is_the_same_whichever_are_asked_for(method):
    spans = {"a": Span(-1.0, 3.0), "b": Span(0.01, 100.0, "log"), "c": Span(5.0, 0.5, "normal")}
    design = Sampled(spans, method, 10_000, seed=4)
    whole = design.points(np.arange(10_000))
    some = np.array([9_999, 0, 4_096, 17])
    assert (Sampled(spans, method, 10_000, seed=4).points(some) == whole[some]).all()
    assert whole.min(axis=0)[0] >= -1.0
    assert whole.max(axis=0)[0] <= 3.0
    assert np.median(whole[:, 1]) == pytest.approx(1.0, rel=0.1)
    assert whole[:, 2].mean() == pytest.approx(5.0, abs=0.05)
    assert whole[:, 2].std() == pytest.approx(0.5, rel=0.05)
    assert not (Sampled(spans, method, 10_000, seed=5).points(some) == whole[some]).all()


def test_a_latin_hypercube_has_one_point_in_each_slice():
    design = Sampled({"a": Span(0.0, 1.0), "b": Span(0.0, 1.0)}, "latin_hypercube", 100)
    slices = np.sort((design.points(np.arange(100)) * 100).astype(int), axis=0)
    assert (slices == np.arange(100)[:, None]).all()


def test_points_come_from_a_csv_file(tmp_path):
    (tmp_path / "s.toml").write_text(TEXT)
    (tmp_path / "points.csv").write_text("bodies.arm.mass,controllers.pd.kp\n1,2\n1.5,3\n")
    plan = plan_sweep(tmp_path / "s.toml", {"kind": "list", "file": "points.csv"})
    assert plan.design.points(np.arange(2)).tolist() == [[1.0, 2.0], [1.5, 3.0]]


def test_a_million_runs_are_planned_in_little_memory():
    import tracemalloc

    table = random_table({"bodies.arm.mass": (0.5, 2.0), "initial.q.hinge": (-1, 1)}, 1_000_000)
    tracemalloc.start()
    plan = make_plan(scenario(), table)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert plan.count == 1_000_000
    assert most < 50e6


# ---- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({}, "varies nothing"),
        ({"gird": {}, "grid": {"bodies.arm.mass": [1]}}, "did you mean 'grid'?"),
        ({"grid": {"bodies.amr.mass": [1]}}, "did you mean 'bodies.arm.mass'?"),
        ({"grid": {"bodies.arm": [1]}}, "name one of its numbers"),
        ({"grid": {"bodies.arm.mass": 3}}, "give a list of values"),
        ({"grid": {"bodies.arm.mass": {"from": 1, "to": 2}}}, "count from 1"),
        ({"grid": {"bodies.arm.mass": [1.0, math.nan]}}, "run 1: bodies.arm.mass is"),
        ({"grid": {"bodies.arm.mass": [1.0, -1.0]}}, "mass is -1, which is negative"),
        ({"grid": {"joints.hinge.damping": [-0.1]}}, "at least 0"),
        ({"grid": {"bodies.arm.inertia.xx": [0.05, 5.0]}}, "triangle inequality"),
        ({"grid": {"integrator.dt": [0.001, 0.0013]}}, "which is 15.3846154 times"),
        ({"grid": {"integrator.method": ["rk5"]}}, "did you mean 'rk4'?"),
        ({"grid": {"seed": [1.5]}}, "seed is 1.5"),
        ({"grid": {"joints.hinge.lower": [0.0, 1.0], "joints.hinge.upper": [0.5, 2.0]}}, "below"),
        ({"replicas": 0}, "from 1"),
        ({"grid": {"bodies.arm.mass": [1]}, "logs": "some"}, "none, failed, all"),
        ({"grid": {"bodies.arm.mass": [1]}, "logs": [1]}, "below 1"),
        ({"grid": {"bodies.arm.mass": [1]}, "sample_every": 0}, "sample_every"),
        ({"grid": {"bodies.arm.mass": [1]}, "metrics": {"m": {"kind": "maxi"}}}, "'max'"),
        ({"grid": {"bodies.arm.mass": [1]}, "metrics": {"m": {"kind": "max", "of": "q.hing"}}},
         "did you mean 'q.hinge'?"),
        ({"grid": {"bodies.arm.mass": [1]}, "metrics": {"m": {"kind": "crossing", "of": "work"}}},
         "level"),
        ({"grid": {"bodies.arm.mass": [1]}, "metrics": {"m": {"kind": "max", "of": "no.py:f"}}},
         "there is no file"),
        ({"designs": [{"kind": "sobul"}]}, "did you mean 'sobol'?"),
        ({"designs": [{"kind": "random", "count": 5, "parameters": {"seed": [3, 1]}}]},
         "low below"),
        ({"designs": [{"kind": "list", "parameters": {"gravity.x": [1], "gravity.y": [1, 2]}}]},
         "as many for each"),
        ({"designs": [{"kind": "together", "designs": [
            {"kind": "list", "parameters": {"gravity.x": [1]}},
            {"kind": "random", "count": 2, "parameters": {"gravity.y": [1, 2]}}]}]},
         "[1, 2] points"),
        ({"grid": {"gravity.x": [1]}, "designs": [{"kind": "grid", "parameters":
            {"gravity.x": [2]}}]}, "varied twice"),
        ({"grid": {"gravity.x": {"from": 0, "to": 1, "count": 10**6},
                   "gravity.y": {"from": 0, "to": 1, "count": 10**4}}}, "is the most"),
    ],
)  # fmt: skip
def test_a_bad_table_is_refused_with_a_remedy(table, words):
    with pytest.raises(sk.ScenarioError) as caught:
        make_plan(scenario(), table)
    assert words in str(caught.value)


def test_all_faults_come_at_once():
    table = {
        "grid": {"bodies.arm.mass": [1.0, -1.0, math.nan], "joints.hinge.damping": [math.inf]},
        "metrics": {"m": {"kind": "max", "of": "q.hing"}, "n": {"kind": "crossing", "of": "work"}},
        "sample_every": -1,
    }
    with pytest.raises(sk.ScenarioError) as caught:
        make_plan(scenario(), table)
    text = str(caught.value)
    for words in ("run 2: bodies.arm.mass", "joints.hinge.damping is", "q.hing", "level", "sample"):
        assert words in text


def test_replicas_without_anything_random_are_refused():
    quiet = parse_scenario(TEXT.replace("q_noise = 0.01\nv_noise = 0.02\n", ""), ROOT)
    with pytest.raises(sk.ScenarioError, match="nothing random"):
        make_plan(quiet, {"replicas": 3})


def test_a_scenario_with_a_sweep_is_no_single_run(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(TEXT + '[sweep.grid]\n"bodies.arm.mass" = [1.0, 2.0]\n')
    with pytest.raises(sk.ScenarioError, match="skodyn sweep run"):
        read_scenario(path)
    assert read_plan(path).count == 2
    path.write_text(TEXT)
    with pytest.raises(sk.ScenarioError, match="nothing to vary"):
        read_plan(path)


def test_a_controller_written_in_python_is_refused():
    scenario = parse_scenario(TEXT, ROOT)
    forces = replace(scenario.forces, elements=(Controller(lambda t, q, v, p, tau: None),))
    with pytest.raises(sk.ScenarioError, match="function of this process"):
        make_plan(replace(scenario, forces=forces), {"grid": {"bodies.arm.mass": [1.0, 2.0]}})
