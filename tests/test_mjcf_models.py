"""Every MJCF model of dm_control and gymnasium against MuJoCo itself, or refused by name."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import mujoco
import numpy as np
import pytest

import skodyn as sk
from skodyn.io.robots.options import IGNORABLE

EPSILON = np.finfo(float).eps
SITE = Path(find_spec("gymnasium").origin).parents[1]
FILES = sorted(
    str(path.relative_to(SITE))
    for package in ("dm_control", "gymnasium")
    for path in (SITE / package).rglob("*.xml")
)
BITS = mujoco.mjtDisableBit
OFF = int(
    BITS.mjDSBL_CONTACT
    | BITS.mjDSBL_ACTUATION
    | BITS.mjDSBL_LIMIT
    | BITS.mjDSBL_FRICTIONLOSS
    | BITS.mjDSBL_EQUALITY
)

NOTHING_MOVES = "Nothing in this model can move"
NOT_COMPILED = "MuJoCo cannot compile it"
NOT_A_MODEL = "the outermost element is <element>"
WALKERS = "dm_control/locomotion/walkers/assets"

REFUSED = {  # whatever is ignored
    "dm_control/composer/arena.xml": NOTHING_MOVES,
    "dm_control/entities/props/duplo/duplo2x4.xml": NOTHING_MOVES,
    f"{WALKERS}/build_fruitfly/assets/drosophila.xml": NOT_COMPILED,
    f"{WALKERS}/build_fruitfly/assets/drosophila_defaults.xml": NOTHING_MOVES,
    f"{WALKERS}/build_fruitfly/floor.xml": NOT_COMPILED,
    f"{WALKERS}/build_fruitfly/fruitfly.xml": NOT_COMPILED,
    f"{WALKERS}/dog_v2/dog_base.xml": NOTHING_MOVES,
    f"{WALKERS}/dog_v2/scene.xml": NOT_COMPILED,
    "dm_control/mjcf/schema.xml": NOT_A_MODEL,
    "dm_control/mjcf/test_assets/arena.xml": NOTHING_MOVES,
    "dm_control/mjcf/test_assets/attribute_test_schema.xml": NOT_A_MODEL,
    "dm_control/mjcf/test_assets/included.xml": NOTHING_MOVES,
    "dm_control/mjcf/test_assets/included_with_invalid_filenames.xml": NOT_COMPILED,
    "dm_control/mjcf/test_assets/lego_brick.xml": NOTHING_MOVES,
    "dm_control/mjcf/test_assets/model_with_assetdir.xml": NOTHING_MOVES,
    "dm_control/mjcf/test_assets/model_with_assets.xml": NOTHING_MOVES,
    "dm_control/mjcf/test_assets/model_with_include.xml": NOTHING_MOVES,
    "dm_control/mjcf/test_assets/model_with_invalid_filenames.xml": NOT_COMPILED,
    "dm_control/mjcf/test_assets/model_with_nameless_assets.xml": NOTHING_MOVES,
    "dm_control/mjcf/test_assets/model_with_separators.xml": NOTHING_MOVES,
    "dm_control/mjcf/test_assets/test_model.xml": NOT_COMPILED,
    "dm_control/mujoco/testing/assets/model_with_assets.xml": NOT_COMPILED,
    "dm_control/mujoco/testing/assets/sphere.xml": NOTHING_MOVES,
    "dm_control/suite/common/materials.xml": NOTHING_MOVES,
    "dm_control/suite/common/skybox.xml": NOTHING_MOVES,
    "dm_control/suite/common/visual.xml": NOTHING_MOVES,
    "dm_control/suite/lqr.xml": NOTHING_MOVES,
    "dm_control/third_party/kinova/common.xml": NOTHING_MOVES,
}
IGNORED = {  # what has to be left out for these to load
    f"{WALKERS}/fruitfly_v2/floor.xml": {"fluid"},
    f"{WALKERS}/fruitfly_v2/fruitfly.xml": {"fluid"},
    "dm_control/suite/ball_in_cup.xml": {"tendon"},
    "dm_control/suite/fish.xml": {"fluid", "tendon"},
    "dm_control/suite/manipulator.xml": {"equality"},
    "dm_control/suite/quadruped.xml": {"equality"},
    "dm_control/suite/stacker.xml": {"equality"},
    "dm_control/suite/swimmer.xml": {"fluid"},
    "gymnasium/envs/mujoco/assets/swimmer.xml": {"fluid"},
}
OUTSIDE = {f"{WALKERS}/dog_v2/dog.xml", f"{WALKERS}/dog_v2/scene.xml"}  # meshes in a sister folder
LARGE = {f"{WALKERS}/fruitfly_v2/floor.xml", f"{WALKERS}/dog_v2/dog.xml",
         f"{WALKERS}/build_fruitfly/assets/drosophila_fused.xml"}  # fmt: skip


def marked(names: list[str]) -> list:
    """The large ones are left to the slow run."""
    return [pytest.param(n, marks=[pytest.mark.slow] if n in LARGE else []) for n in names]


def options(name: str) -> dict:
    return {"search_paths": [SITE / "dm_control"]} if name in OUTSIDE else {}


@pytest.mark.parametrize("name", [n for n in FILES if n in REFUSED])
def test_a_refused_model_is_refused_for_its_reason(name):
    with pytest.raises(sk.ModelError) as caught:
        sk.load(SITE / name, ignore=IGNORABLE, **options(name))
    assert [REFUSED[name] in fault for fault in map(str, caught.value.faults)] == [True]


def test_the_tables_speak_of_files_that_exist():
    assert {*REFUSED, *IGNORED, *OUTSIDE, *LARGE} <= set(FILES)


@pytest.mark.parametrize("name", marked(sorted(IGNORED)))
def test_what_skodyn_does_not_have_is_refused_by_name(name):
    with pytest.raises(sk.ModelError) as caught:
        sk.load(SITE / name, **options(name))
    kinds = {kind for kind in IGNORABLE if f'ignore=["{kind}"]' in str(caught.value)}
    assert kinds == IGNORED[name]


def test_files_outside_the_search_paths_are_not_opened():
    with pytest.raises(sk.ModelError, match="is outside the search paths; add its folder"):
        sk.load(SITE / WALKERS / "dog_v2" / "dog.xml")


@pytest.mark.parametrize("name", marked([n for n in FILES if n not in REFUSED]))
def test_a_model_moves_as_in_mujoco(name):
    ignore = IGNORED.get(name, set())
    model = sk.load(SITE / name, ignore=sorted(ignore), **options(name))
    peer = compiled(name)
    peer.opt.disableflags |= OFF
    switch_off(peer, ignore)
    data = mujoco.MjData(peer)
    rng = np.random.default_rng(FILES.index(name))
    for _ in range(2):
        compare(model, peer, data, *model.random_state(rng))


def compiled(name):
    """MuJoCo's own model; its warnings would go to a file in the folder of the run."""
    mujoco.set_mju_user_warning(lambda text: None)
    try:
        return mujoco.MjModel.from_xml_path(str(SITE / name))
    finally:
        mujoco.set_mju_user_warning(None)


def switch_off(peer, ignored):
    if "fluid" in ignored:
        peer.opt.density = peer.opt.viscosity = 0.0
    if "tendon" in ignored:
        peer.tendon_stiffness[:] = 0.0
        peer.tendon_damping[:] = 0.0


def near(ours, theirs, tolerance=1e-11):
    scale = max(1.0, np.abs(theirs).max(initial=0.0))
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance * scale)


def compare(model, peer, data, q, v):
    """Mass matrix, bias force and acceleration, in MuJoCo's layout."""
    data.qpos[:], data.qvel[:] = sk.interop.to_mujoco_state(model, peer, q, v)
    mujoco.mj_forward(peer, data)
    turn = np.array([sk.interop.to_mujoco_force(model, peer, q, e) for e in np.eye(model.nv)]).T
    M = turn @ sk.mass_matrix(model, q) @ turn.T
    near(M, mass_matrix(peer, data))

    at_rest = np.zeros(peer.nv)
    vdot = sk.interop.from_mujoco_acceleration(model, peer, data.qpos, data.qvel, at_rest)
    bias = sk.inverse_dynamics(model, q, v, vdot)
    near(sk.interop.to_mujoco_force(model, peer, q, bias), data.qfrc_bias)

    tau = passive_force(model, q, v)
    near(sk.interop.to_mujoco_force(model, peer, q, tau), data.qfrc_passive)
    vdot = sk.forward_dynamics(model, q, v, tau)
    ours = sk.interop.to_mujoco_acceleration(model, peer, q, v, vdot)
    near(ours, data.qacc, 200 * np.linalg.cond(M) * EPSILON)


def mass_matrix(peer, data):
    M = np.zeros((peer.nv, peer.nv))
    for column, unit in enumerate(np.eye(peer.nv)):
        mujoco.mj_mulM(peer, data, M[column], unit)
    return M.T


def passive_force(model, q, v):
    """Springs and dampers of the model's joints, dry friction left out."""
    tau = np.zeros(model.nv)
    for name, given in model.joint_properties.items():
        at = model.v_slice(name)
        tau[at] -= given.damping * v[at]
        if given.stiffness:
            tau[at] -= given.stiffness * (q[model.q_slice(name)] - given.rest)
    return tau


# ---- details ------------------------------------------------------------------------------------


def written(tmp_path: Path, inside: str, name: str = "m.xml") -> Path:
    path = tmp_path / name
    path.write_text(f"<mujoco>{inside}</mujoco>")
    return path


TWO = """
<option gravity="0 0 -1.62"/>
<worldbody>
  <geom name="floor" type="plane" size="1 1 1"/>
  <body name="arm" pos="0 0 1" euler="0 0 90">
    <joint name="lift" type="slide" axis="0 0 1" pos="0.3 0 0" armature="0.2"/>
    <joint name="turn" axis="0 1 0" pos="0.1 0.2 0" ref="30" stiffness="3" springref="45"
           damping="0.4" frictionloss="0.05" range="-90 60" limited="true"/>
    <geom name="rod" type="capsule" size="0.05 0.2" pos="0.5 0 0" rgba="1 0 0 1"/>
    <body name="tool" pos="1 0 0"><geom type="box" size="0.1 0.1 0.2"/></body>
    <body name="tip" pos="1 0 0"><joint name="ball" type="ball"/><geom size="0.1"/></body>
  </body>
</worldbody>
"""


def test_several_joints_of_a_body_become_a_chain_with_its_frame(tmp_path):
    path = written(tmp_path, TWO)
    model = sk.load(path)
    assert model.body_names == ("arm/lift", "arm", "tip")
    assert model.joint_names == ("lift", "turn", "ball")
    assert model.gravity.tolist() == [0, 0, -1.62]
    assert model.joints[0].armature == 0.2
    assert model.frames["arm"].body == "arm"
    np.testing.assert_allclose(model.frames["arm"].translation, [-0.1, -0.2, 0])
    peer = mujoco.MjModel.from_xml_path(str(path))
    peer.opt.disableflags |= OFF
    data = mujoco.MjData(peer)
    q, v = model.random_state(np.random.default_rng(1))
    compare(model, peer, data, q, v)
    rotations, positions = sk.forward_kinematics(model, q)
    k = model.body_index("arm")
    origin = positions[k] + rotations[k] @ model.frames["arm"].translation
    near(origin, data.body("arm").xpos)
    tool = model.frames["tool"]
    near(positions[k] + rotations[k] @ tool.translation, data.body("tool").xpos)


def test_passive_forces_and_limits_count_from_the_drawn_pose(tmp_path):
    model = sk.load(written(tmp_path, TWO))
    turn = model.joint_properties["turn"]
    assert (turn.stiffness, turn.damping, turn.friction) == (3, 0.4, 0.05)
    assert turn.rest == pytest.approx(np.radians(15))
    assert model.limits["turn"].lower == pytest.approx(np.radians(-120))
    assert model.limits["turn"].upper == pytest.approx(np.radians(30))
    assert np.isinf(turn.lower)
    stopped = sk.load(written(tmp_path, TWO), stops=True).joint_properties["turn"]
    assert stopped.upper == pytest.approx(np.radians(30))
    assert any("smooth friction" in note and "turn" in note for note in model.notes)


def test_geoms_become_shapes_in_the_axes_of_their_body(tmp_path):
    model = sk.load(written(tmp_path, TWO))
    rod, tool = model.visuals["arm"]
    assert rod.color == (1, 0, 0, 1)
    assert (rod.shape.radius, rod.shape.length) == (0.05, 0.4)
    np.testing.assert_allclose(rod.translation, [0.4, -0.2, 0])
    assert tool.shape.size == pytest.approx((0.2, 0.2, 0.4))
    assert any("cannot be drawn: floor" in note for note in model.notes)


def test_a_mesh_is_drawn_where_mujoco_has_its_vertices():
    folder = SITE / "dm_control/third_party/kinova"
    model = sk.load(folder / "jaco_arm.xml")
    peer = mujoco.MjModel.from_xml_path(str(folder / "jaco_arm.xml"))
    g = next(g for g in range(peer.ngeom) if peer.geom_type[g] == mujoco.mjtGeom.mjGEOM_MESH)
    m = int(peer.geom_dataid[g])
    body = peer.body(int(peer.geom_bodyid[g])).name
    frame = model.frames.get(body)
    visual = next(
        v for v in model.visuals[frame.body if frame else body] if v.shape.path is not None
    )
    triangles = np.frombuffer(visual.shape.path.read_bytes()[84:], dtype=np.dtype(
        [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")]))  # fmt: skip
    corners = triangles["corners"].reshape(-1, 3) * visual.shape.scale
    ours = corners @ visual.rotation.T + visual.translation
    if frame:
        ours = (ours - frame.translation) @ frame.rotation
    start, count = int(peer.mesh_vertadr[m]), int(peer.mesh_vertnum[m])
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, peer.geom_quat[g])
    theirs = peer.mesh_vert[start : start + count] @ turn.reshape(3, 3).T + peer.geom_pos[g]
    np.testing.assert_allclose(ours.min(axis=0), theirs.min(axis=0), atol=1e-6)
    np.testing.assert_allclose(ours.max(axis=0), theirs.max(axis=0), atol=1e-6)


HINGES = """
<worldbody>
  <body name="a"><joint name="j" {extra}/><geom name="g" size="0.1"/>
    <body name="b" pos="1 0 0"><joint name="k"/><geom name="h" size="0.1"/></body>
  </body>
</worldbody>
"""


@pytest.mark.parametrize(
    ("inside", "words"),
    [
        (
            HINGES + '<tendon><fixed name="t" stiffness="2"><joint joint="j" coef="1"/></fixed>'
            "</tendon>",
            "Tendon 't' has stiffness",
        ),
        ('<option density="1000"/>' + HINGES, "fluid of density 1000"),
        ('<option viscosity="2"/>' + HINGES, "fluid of viscosity 2"),
        (
            '<worldbody><body name="a" gravcomp="1"><joint/><geom size="1"/></body></worldbody>',
            "Body 'a' has gravcomp 1",
        ),
        (
            '<worldbody><body name="a"><joint name="s" type="ball" stiffness="3"/>'
            '<geom size="1"/></body></worldbody>',
            "Joint 's' has stiffness 3 on a quaternion",
        ),
        (
            '<worldbody><body name="a"><joint name="r" type="free" armature="1"/>'
            '<geom size="1"/></body></worldbody>',
            "Joint 'r' is free and has armature 1",
        ),
        (
            '<worldbody><body name="a"><joint type="ball"/><joint type="slide"/>'
            '<geom size="1"/></body></worldbody>',
            "'a' has a ball joint before another",
        ),
        (
            '<worldbody><body name="a"><joint name="s" type="ball"/><geom size="1"/></body>'
            '</worldbody><actuator><motor name="m" joint="s" armature="2"/></actuator>',
            "Actuator 'm' has armature 2 and does not act on one hinge or slide",
        ),
        (
            HINGES + '<actuator><motor name="m" joint="j" damping="1 2"/></actuator>',
            "Actuator 'm' has a damper that is not linear",
        ),
        (HINGES.replace("{extra}", 'stiffness="-2"'), "Joint 'j': stiffness is -2; give a number"),
        (HINGES.replace("{extra}", 'damping="-2"'), "Joint 'j': damping is -2; give a number"),
        (HINGES.replace("{extra}", 'pos="0 inf 0"'), "Joint 'j' has pos [0.0, inf, 0.0]; give"),
        (
            '<worldbody><body name="a"><joint/><geom size="1"/><geom name="far" mass="0" size="1" '
            'pos="nan 0 0"/></body></worldbody>',
            "Geom 'far' has pos [nan, 0.0, 0.0]; give finite numbers",
        ),
        (
            '<worldbody><body name="a" euler="10 20 30"><joint/><geom size="1"/>'
            '<site name="far" pos="0 -inf 0"/></body></worldbody>',
            "Site 'far' has pos [0.0, -inf, 0.0]; give finite numbers",
        ),
        ("<worldbody><geom size='1'/></worldbody>", "Nothing in this model can move"),
        (
            '<worldbody><body><joint/><geom size="-1"/></body></worldbody>',
            "MuJoCo cannot compile it",
        ),
        ('<include file="../../../../etc/passwd"/>', "is outside the search paths"),
    ],
)
def test_a_model_that_cannot_be_honoured_is_refused_in_words(tmp_path, inside, words):
    path = written(tmp_path, inside.replace("{extra}", ""))
    with pytest.raises(sk.ModelError) as caught:
        sk.load(path)
    assert len(caught.value.faults) == 1
    assert words in str(caught.value)
    assert str(path) in str(caught.value)
    if "ignore=[" in str(caught.value):
        kind = str(caught.value).split('ignore=["')[1].split('"')[0]
        assert any(f"as asked for ({kind})" in n for n in sk.load(path, ignore=[kind]).notes)


def test_rotors_and_dampers_of_actuators_act_through_their_gears(tmp_path):
    actuators = """<actuator>
      <motor joint="j" gear="-3" armature="0.2" damping="0.5"/>
      <position joint="j" kp="5" armature="0.1"/>
      <motor jointinparent="k" gear="2" armature="0.3"/>
    </actuator>"""
    path = written(tmp_path, HINGES.format(extra='armature="1" damping="2"') + actuators)
    model = sk.load(path)
    assert [joint.armature for joint in model.joints] == pytest.approx([1 + 1.8 + 0.1, 1.2])
    assert model.joint_properties["j"].damping == pytest.approx(2 + 4.5)
    peer = mujoco.MjModel.from_xml_path(str(path))
    peer.opt.disableflags |= OFF
    compare(model, peer, mujoco.MjData(peer), np.array([0.3, 0.4]), np.array([1.0, -2.0]))


def test_one_switch_turns_all_constraints_off(tmp_path):
    equality = '<equality><joint joint1="j" joint2="k" polycoef="0 1 0 0 0"/></equality>'
    text = HINGES.format(extra='frictionloss="2" limited="true" range="-1 1"') + equality
    contact = '<contact><pair geom1="g" geom2="h"/></contact>'
    off = '<option><flag constraint="disable"/></option>'
    model = sk.load(written(tmp_path, off + text + contact), stops=True)
    assert model.nv == 2
    assert not model.joint_properties
    assert not model.limits


def test_a_switched_off_constraint_is_only_noted(tmp_path):
    path = written(
        tmp_path,
        HINGES.replace("{extra}", "")
        + '<equality><weld name="w" body1="b" active="false"/></equality>',
    )
    assert any("switched off: w" in note for note in sk.load(path).notes)


def test_a_warning_of_mujoco_is_a_note_and_no_file(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    seen = []
    mujoco.set_mju_user_warning(seen.append)
    try:
        cheetah = SITE / "gymnasium/envs/mujoco/assets/half_cheetah.xml"
        notes = sk.load(cheetah).notes
        assert mujoco.get_mju_user_warning() is not None  # whoever listened before does so again
    finally:
        mujoco.set_mju_user_warning(None)
    assert any(note.startswith("MuJoCo warns: ") for note in notes)
    assert seen == []
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr().out == ""


def test_nameless_bodies_and_joints_get_names_that_the_converters_know(tmp_path):
    inside = '<worldbody><body><joint/><joint axis="1 0 0"/><geom size="1"/></body></worldbody>'
    path = written(tmp_path, inside)
    model = sk.load(path)
    assert model.body_names == ("body_1/body_1/0", "body_1")
    assert model.joint_names == ("body_1/0", "body_1/1")
    peer = mujoco.MjModel.from_xml_path(str(path))
    q, v = sk.interop.to_mujoco_state(model, peer, [1.0, 2.0], [3.0, 4.0])
    assert (q.tolist(), v.tolist()) == ([1, 2], [3, 4])


def test_an_xml_file_with_a_robot_is_urdf(tmp_path):
    text = """<robot name="r"><link name="a"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
    path = tmp_path / "r.xml"
    path.write_text(text)
    assert sk.load(path, root="free").body_names == ("a",)


def test_options_of_other_formats_are_refused(tmp_path):
    path = written(tmp_path, HINGES.replace("{extra}", ""))
    with pytest.raises(sk.ModelError, match="an MJCF model takes no option root"):
        sk.load(path, root="free")


def test_without_mujoco_the_extra_is_named(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(sk.ModelError, match=r"pip install 'skodyn\[mjcf\]'"):
        sk.load(written(tmp_path, HINGES.replace("{extra}", "")))


def test_a_linear_equality_of_two_joints_is_a_mimic(tmp_path):
    file = tmp_path / "m.xml"
    equality = '<equality><joint joint1="j" joint2="k" polycoef="0.1 -2 0 0 0"/></equality>'
    file.write_text(f"<mujoco>{HINGES.format(extra='')}{equality}</mujoco>")
    model = sk.load(file)
    assert dict(model.mimics) == {"j": sk.Mimic("k", -2.0, 0.1)}
    assert sk.load(file, mimic="independent").nv == 2
