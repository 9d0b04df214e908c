"""<loop> and <coupling> of URDF+, Drake's ball constraint: what they become, and their faults."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation

import skodyn as sk
from skodyn.cli import main

WEIGHT = """<inertial><origin xyz="0.3 0 0"/><mass value="1"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.2"/></inertial>"""


def link(name: str) -> str:
    return f'<link name="{name}">{WEIGHT}</link>'


def joint(name: str, parent: str, child: str, place: str, kind: str = "continuous") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><origin {place}/><parent link="{parent}"/>'
        f'<child link="{child}"/><axis xyz="0 0 1"/></joint>'
    )


TREE = "\n".join(
    [
        '<link name="base"/>',
        *map(link, ("crank", "coupler", "rocker", "rotor")),
        '<link name="tip"/>',
        joint("j1", "base", "crank", 'xyz="0 0 0.2" rpy="0 0 0.3"'),
        joint("j2", "crank", "coupler", 'xyz="0.5 0 0"'),
        joint("j3", "base", "rocker", 'xyz="1 0 0.2"'),
        joint("spin", "base", "rotor", 'xyz="0 0 0.1"'),
        joint("f", "coupler", "tip", 'xyz="0.7 0 0" rpy="0 0 0.4"', "fixed"),
    ]
)
LOOP = (
    '<loop name="pin" type="{kind}">\n'
    '<predecessor link="tip"><origin xyz="0.2 0.1 0"/></predecessor>'
    '<successor link="rocker"><origin xyz="0.6 0 0" rpy="0 0 0.5"/></successor>{axis}</loop>'
)
PIN = LOOP.format(kind="revolute", axis='<axis xyz="0 0 2"/>')
GEAR = """<coupling name="gear"><predecessor link="crank"/><successor link="rotor"/>
<ratio value="6"/></coupling>"""
BALL = """<drake:ball_constraint><drake:ball_constraint_body_A name="tip"/>
<drake:ball_constraint_body_B name="rocker"/><drake:ball_constraint_p_AP value="0.2 0.1 0"/>
<drake:ball_constraint_p_BQ value="0.6 0 0"/></drake:ball_constraint>"""


@pytest.fixture
def write(tmp_path: Path):
    def _write(more: str, tree: str = TREE) -> Path:
        path = tmp_path / "r.urdf"
        path.write_text(f'<robot name="r">\n{tree}\n{more}\n</robot>\n')
        return path

    return _write


def frames(path: Path, model: sk.Model, q: np.ndarray):
    """Pinocchio's frames A, in `tip`, and B, in `rocker`, in the world."""
    peer = pin.buildModelFromUrdf(str(path))
    data = peer.createData()
    pin.framesForwardKinematics(
        peer, data, sk.interop.to_pinocchio_state(model, peer, q, np.zeros(model.nv))[0]
    )
    tip, rocker = (data.oMf[peer.getFrameId(name)] for name in ("tip", "rocker"))
    turned = Rotation.from_euler("xyz", [0, 0, 0.5]).as_matrix()
    a = tip * pin.SE3(np.eye(3), np.array([0.2, 0.1, 0.0]))
    return a, rocker * pin.SE3(turned, np.array([0.6, 0.0, 0.0]))


# ---- loops --------------------------------------------------------------------------------------


@pytest.mark.parametrize("root", ["fixed", "free"])
@pytest.mark.parametrize("merged", [True, False])
@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic", "planar", "fixed"])
def test_every_type_of_loop_joins_the_frames_it_names(write, kind, merged, root):
    axis = '<axis xyz="0 1 0"/>' if kind == "prismatic" else '<axis xyz="0 0 2"/>'
    path = write(LOOP.format(kind=kind, axis="" if kind == "fixed" else axis))
    model = sk.load(path, merge_fixed=merged, root=root)
    (loop,) = model.loops.values()
    names = {"continuous": "revolute"}
    assert loop.joint.type_name == names.get(kind, kind)
    assert (loop.body_a, loop.body_b) == ("coupler" if merged else "tip", "rocker")
    q = model.neutral()
    rng = np.random.default_rng(2)
    for name in ("j1", "j2", "j3"):
        q[model.q_slice(name)] = rng.normal()
    rotations, positions = sk.forward_kinematics(model, q)
    for end, theirs in zip(
        ("a", "b"), frames(write(""), sk.load(path).opened, q[-4:]), strict=True
    ):
        k = model.body_index(getattr(loop, f"body_{end}"))
        turn, shift = getattr(loop, f"rotation_{end}"), getattr(loop, f"translation_{end}")
        np.testing.assert_allclose(rotations[k] @ turn, theirs.rotation, atol=1e-14)
        np.testing.assert_allclose(
            positions[k] + rotations[k] @ shift, theirs.translation, atol=1e-14
        )


def test_a_four_bar_closes_and_moves(write):
    model = sk.load(write(PIN))
    start = sk.assemble(model, model.neutral())
    assert (start.rows, start.rank, start.mobility) == (5, 2, 2)  # the rotor is free
    v = sk.project_velocity(model, start.q, np.ones(model.nv))
    vdot = sk.forward_dynamics(model, start.q, v, np.zeros(model.nv))
    assert np.isfinite(vdot).all()


def test_the_axis_is_x_unless_given(write):
    loop = sk.load(write(LOOP.format(kind="prismatic", axis=""))).loops["pin"]
    assert tuple(loop.joint.axis) == (1.0, 0.0, 0.0)
    model = sk.load(write(LOOP.format(kind="fixed", axis='<axis xyz="0 0 1"/>')))
    assert "<axis> of a fixed loop means nothing and is not used: pin." in model.notes


def test_ball_constraints_of_drake_are_points(write):
    model = sk.load(write(BALL + BALL))
    assert model.loop_names == ("ball_constraint", "ball_constraint_2")
    loop = model.loops["ball_constraint"]
    assert isinstance(loop.joint, sk.Spherical)
    q = np.array([0.3, -0.2, 0.7, 0.1])
    a, b = frames(write(""), model.opened, q)
    np.testing.assert_allclose(
        sk.loop_error(model, q)[:3], b.translation - a.translation, atol=1e-14
    )


def test_a_massless_link_may_be_on_a_cycle_only(write):
    tree = TREE.replace(link("coupler"), '<link name="coupler"/>')
    model = sk.load(write(PIN, tree))
    assert model.loop_names == ("pin",)
    with pytest.raises(sk.ModelError, match=r"Link 'coupler' has no <inertial>, and nothing that"):
        sk.load(write("", tree))


# ---- couplings ----------------------------------------------------------------------------------


def test_a_coupling_is_a_ratio_of_angles(write):
    model = sk.load(write(GEAR))
    coupling = model.couplings["gear"]
    assert dict(zip(coupling.joints, coupling.factors, strict=True)) == {"j1": 6.0, "spin": -1.0}
    assert coupling.offset == 0.0
    start = sk.assemble(model, [0.4, 0.0, 0.0, 0.0], hold=["j1"])
    assert start.q[model.q_slice("spin")] == pytest.approx(6 * 0.4)


def test_an_angle_is_the_sum_of_those_on_the_way(write):
    belt = GEAR.replace('"crank"', '"tip"').replace('<ratio value="6"/>', "")
    coupling = sk.load(write(belt)).couplings["gear"]
    found = dict(zip(coupling.joints, coupling.factors, strict=True))
    assert found == {"j1": 1.0, "j2": 1.0, "spin": -1.0}  # ratio 1, fixed joints left out
    own = GEAR.replace('"crank"', '"coupler"').replace('"rotor"', '"side"')
    tree = TREE + link("side") + joint("j4", "crank", "side", 'xyz="0 0 0"')
    coupling = sk.load(write(own, tree)).couplings["gear"]
    assert set(coupling.joints) == {"j2", "j4"}  # from the link that carries both


def test_mimics_beside_loops_are_couplings(write):
    mimic = '<mimic joint="j1" multiplier="-3" offset="0.2"/></joint>'
    spin = joint("spin", "base", "rotor", 'xyz="0 0 0.1"')
    tree = TREE.replace(spin, spin.replace("</joint>", mimic))
    assert set(sk.load(write("", tree)).mimics) == {"spin"}
    model = sk.load(write(PIN, tree))
    assert not model.mimics
    coupling = model.couplings["spin"]
    assert (coupling.joints, coupling.coefficients) == (("spin", "j1"), (0.2, -3.0))
    assert "Joints that follow another stay in the state, tied by couplings: spin." in model.notes
    free = sk.load(write(PIN, tree), mimic="independent")
    assert not free.couplings
    named = sk.load(write(PIN.replace('"pin"', '"spin"'), tree))
    assert list(named.couplings) == ["spin_2"]


def test_independent_is_noted(write):
    tree = TREE.replace('name="j1"', 'name="j1" independent="true"')
    notes = sk.load(write(PIN, tree)).notes
    assert "independent is not used: skodyn solves for whatever it can: j1." in notes


def test_check_takes_a_robot_with_loops(write, capsys):
    assert main(["check", str(write(PIN + GEAR))]) == 0
    assert "valid" in capsys.readouterr().out


# ---- faults -------------------------------------------------------------------------------------

FLOATING = TREE.replace(
    joint("spin", "base", "rotor", 'xyz="0 0 0.1"'),
    joint("spin", "base", "rotor", 'xyz="0 0 0.1"', "floating"),
)
SLIDING = TREE.replace(
    joint("j2", "crank", "coupler", 'xyz="0.5 0 0"'),
    joint("j2", "crank", "coupler", 'xyz="0.5 0 0"', "prismatic").replace(
        "</joint>", '<limit lower="0" upper="1" effort="1" velocity="1"/></joint>'
    ),
)
COORDINATE = "but a joint that closes a loop has no coordinate; cut the loop at another joint."
KINDS = "revolute, continuous, prismatic, planar, fixed"
LEAVE = 'remove it, or load with ignore=["extension"] to leave it out.'
NOT_HERE = f"which skodyn does not have; {LEAVE}"
BALL_A = '<drake:ball_constraint_body_A name="tip"/>'
BALL_P = '<drake:ball_constraint_p_AP value="0.2 0.1 0"/>'
FAULTS = {  # (text, in this line of it, sentence), or with another tree
    "no name": (PIN.replace(' name="pin"', ""), 1, "A <loop> has no name; give it one."),
    "no type": (
        PIN.replace(' type="revolute"', ""), 1, f"Loop 'pin' has no type; give one of {KINDS}.",
    ),
    "type": (
        PIN.replace("revolute", "revolut"), 1,
        "Loop 'pin' has type 'revolut'; did you mean 'revolute'?",
    ),
    "free": (
        PIN.replace("revolute", "floating"), 1,
        f"Loop 'pin' has type 'floating'; give one of {KINDS}.",
    ),
    "twice": (PIN + "\n" + PIN, 3, "Loop 'pin' is there twice, first in line {}; rename one."),
    "name of a loop": (
        PIN + "\n" + GEAR.replace('"gear"', '"pin"'), 3,
        "Coupling 'pin' has the name of a loop; rename one of them.",
    ),
    "one end": (
        '<loop name="pin" type="fixed"><predecessor link="tip"/></loop>', 1,
        "Loop 'pin' has no <successor>; write <successor link=\"NAME\"/>.",
    ),
    "end without a link": (
        PIN.replace(' link="tip"', ""), 2, "Loop 'pin': <predecessor> has no link; name a link.",
    ),
    "unknown link": (
        PIN.replace('"tip"', '"tp"'), 1,
        "Loop 'pin': its predecessor 'tp' is not a link; did you mean 'tip'?",
    ),
    "unknown link of a coupling": (
        GEAR.replace('"rotor"', '"motor"'), 1,
        "Coupling 'gear': its successor 'motor' is not a link; did you mean 'rotor'?",
    ),
    "one link": (
        PIN.replace('"tip"', '"rocker"'), 1,
        "Loop 'pin' joins 'rocker' and 'rocker', which cannot move against each other; remove it, "
        "or name other links.",
    ),
    "links that are one": (
        PIN.replace('"rocker"', '"coupler"'), 1,
        "Loop 'pin' joins 'tip' and 'coupler', which cannot move against each other; remove it, or "
        "name other links.",
    ),
    "axis without length": (
        PIN.replace("0 0 2", "0 0 0"), 2,
        "Loop 'pin': <axis> has xyz '0 0 0', which has no length; give a direction such as "
        '"0 0 1".',
    ),
    "place": (
        PIN.replace("0.2 0.1 0", "0.2 inf 0"), 2,
        "Loop 'pin': <origin> has xyz '0.2 inf 0'; give three numbers with blanks between them, "
        "finite and at most 1e60.",
    ),
    "limit": (
        PIN.replace("</loop>", "<limit/></loop>"), 2, f"Loop 'pin' has <limit>, {COORDINATE}",
    ),
    "friction": (
        PIN.replace("</loop>", '<dynamics damping="1"/></loop>'), 2,
        f"Loop 'pin' has <dynamics>, {COORDINATE}",
    ),
    "unknown tag": (
        PIN.replace("</loop>", "<spring/></loop>"), 2,
        f"Loop 'pin' has <spring> in <loop>, {NOT_HERE}",
    ),
    "unknown attribute": (
        PIN.replace("<loop ", '<loop armature="1" '), 1,
        f"Loop 'pin' has armature in <loop>, {NOT_HERE}",
    ),
    "coupling in a joint": (
        "", "j1", f"Joint 'j1' has <coupling> in <joint>, {NOT_HERE}",
        TREE.replace('"j1" type="continuous">', '"j1" type="continuous"><coupling/>'),
    ),
    "no ratio": (
        GEAR.replace(' value="6"', ""), 2,
        "Coupling 'gear': <ratio> has no value; give a number.",
    ),
    "ratio in words": (
        GEAR.replace('"6"', '"six"'), 2,
        "Coupling 'gear': <ratio> has value 'six'; give a number.",
    ),
    "ratio of nothing": (
        GEAR.replace('"6"', '"0"'), 2,
        "Coupling 'gear': <ratio> has value 0, so that the successor never moves; give another "
        "number.",
    ),
    "ratio of joints": (
        GEAR.replace("<coupling ", '<coupling joint="j1" '), 1,
        f"Coupling 'gear' has joint in <coupling>, {NOT_HERE}",
    ),
    "coupling of a link with what it carries": (
        GEAR.replace('"rotor"', '"coupler"'), 1,
        "Coupling 'gear': 'crank' cannot move against what carries 'coupler', so that no ratio "
        "ties them; name other links.",
    ),
    "coupling of a floating joint": (
        GEAR, 1,
        "Coupling 'gear': joint 'spin' on the way to 'rotor' is floating and has more than one "
        "coordinate; name other links.",
        FLOATING,
    ),
    "angles and lengths": (
        GEAR.replace('"crank"', '"coupler"'), 1,
        "Coupling 'gear': the joints on the way to 'coupler' turn and slide, and their sum means "
        "nothing; name other links.",
        SLIDING,
    ),
    "ball without a body": (
        BALL.replace(BALL_A, ""), 1,
        "Loop 'ball_constraint' has no <drake:ball_constraint_body_A>; write "
        "<drake:ball_constraint_body_A name=…/>.",
    ),
    "ball without a point": (
        BALL.replace(BALL_P, ""), 1,
        "Loop 'ball_constraint' has no <drake:ball_constraint_p_AP>; write "
        "<drake:ball_constraint_p_AP value=…/>.",
    ),
    "ball at two numbers": (
        BALL.replace("0.2 0.1 0", "0.2 0.1"), 2,
        "Loop 'ball_constraint': <drake:ball_constraint_p_AP> has value '0.2 0.1'; give three "
        "numbers with blanks between them.",
    ),
    "ball of no link": (
        BALL.replace('"tip"', '"tp"'), 1,
        "Loop 'ball_constraint': its predecessor 'tp' is not a link; did you mean 'tip'?",
    ),
    "loop joint": (
        '<loop_joint name="l" type="revolute"/>', 1,
        f"The robot has <loop_joint> in <robot>, {NOT_HERE}",
    ),
    "loop constraint": (
        '<loop_constraint name="l"/>', 1, f"The robot has <loop_constraint> in <robot>, {NOT_HERE}",
    ),
    "constraint": (
        '<constraint name="l" type="rolling"/>', 1,
        f"The robot has <constraint> in <robot>, {NOT_HERE}",
    ),
    "weld of Drake": (
        "<drake:weld_constraint/>", 1,
        f"The robot has <drake:weld_constraint> in <robot>, {NOT_HERE}",
    ),
    "loop for Gazebo": (
        '<gazebo><joint name="x" type="revolute"/></gazebo>', 1,
        f"The robot has <joint> in <gazebo>, {NOT_HERE}",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FAULTS)
def test_a_faulty_loop_is_refused_with_its_line(write, case):
    text, line, sentence, *tree = FAULTS[case]
    path = write(text, *tree)
    start = 2 + len((tree[0] if tree else TREE).split("\n"))
    if line == "j1":  # in the tree
        line = path.read_text()[: path.read_text().index("<coupling/>")].count("\n") + 2 - start
    with pytest.raises(sk.ModelError) as caught:
        sk.load(path)
    found = [
        fault.removeprefix(f"{path.parent}{os.sep}") for fault in map(str, caught.value.faults)
    ]
    assert found == [f"r.urdf:{start + line - 1}: {sentence.format(start)}"]


def test_all_faults_are_found_at_once(write):
    text = (
        PIN.replace('"tip"', '"tp"')
        + "\n"
        + GEAR.replace('"6"', '"0"')
        + "\n"
        + BALL.replace(BALL_P, "")
    )
    with pytest.raises(sk.ModelError) as caught:
        sk.load(write(text))
    assert len(caught.value.faults) == 3


def test_what_closes_a_loop_of_joints_may_be_a_loop(write):
    tree = TREE + joint("again", "coupler", "rocker", 'xyz="0 0 0"')
    with pytest.raises(sk.ModelError, match="remove one, or write it as a <loop>"):
        sk.load(write("", tree))
