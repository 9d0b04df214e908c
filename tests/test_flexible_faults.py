"""Whatever is wrong with a flexible body is said at once, with file and line.

What is refused, and where that is tested (cases of CASES by their names; "matrices" is
test_from_matrices.py, "files" is test_flexible_files.py):

no beam and no file                   no beam
beam and file                         files: what_else_stands_beside_the_file
mass, com or inertia besides          mass_com_and_inertia; files: what_else_stands_beside_the_file
length, mass, stiffness not above 0,  length …, mass …, stiffness …, torsion …, axial …, young …,
or not finite, or too far apart       density …, too small, too large, too stiff …
modes negative, all zero, over 30     negative modes, all zero, too many
twist, stretch without stiffness      twist without stiffness, stretch without stiffness
damping below 0, of wrong length      damping …; matrices: faults_are_said_all_at_once
at on a rigid parent, unknown node    all_faults_come_at_once, at_names_a_node
node outside 0 … 1, called root, tip  a node outside, a node before, a node called …
no inertia about the axis             thin_beam, thin_beam_with_modes, twist without inertia
modes and segments                    modes and segments
stiffness, mass: symmetric, positive, matrices: faults_are_said_all_at_once,
size, m̂⊗I₃                            a_single_node_makes_a_matrix_indefinite
interfaces unknown, overlapping,      matrices: faults_are_said_all_at_once
fewer than three, in line
free-free modes elsewhere             modes_of_a_free_body_need_a_free_joint
file of another schema or version     files: whatever_is_no_body_is_refused_by_name
a mode that is rigid motion           matrices: a_mode_that_is_rigid_motion_is_refused
more modes than motions with mass     test_calculix_files.py: a_mass_that_is_singular_has_as_many
"""

import numpy as np
import pytest

import skodyn as sk

FINE = """
[bodies.hub]
parent = "world"
joint = { type = "revolute", axis = [0, 0, 1] }
mass = 1.0
inertia = [1, 1, 1]

[bodies.boom]
parent = "hub"

[bodies.boom.flexible]
BEAM
MORE

[bodies.camera]
parent = "boom"
at = "tip"
mass = 0.1
"""
BEAM = "beam = { length = 5.0, mass_per_length = 2.0, bending_stiffness = [1500.0, 1200.0] }"


def text(beam=BEAM, more="segments = 4"):
    return FINE.replace("BEAM", beam).replace("MORE", more)


def faults(tmp_path, given):
    path = tmp_path / "boom.toml"
    path.write_text(given)
    with pytest.raises(sk.ModelError) as refused:
        sk.load(path)
    return refused.value.faults


def test_the_file_is_fine_without_a_fault(tmp_path):
    path = tmp_path / "boom.toml"
    path.write_text(text())
    assert sk.load(path).n_bodies == 6


@pytest.mark.parametrize("parent", ["{ low = 0 }", "[1]", "3"])
def test_a_parent_that_is_no_name_is_one_fault(tmp_path, parent):
    (found,) = faults(tmp_path, text().replace('parent = "boom"', f"parent = {parent}"))
    assert "Body 'camera': parent is" in str(found)


def test_a_frame_in_a_body_that_is_no_name_is_one_fault(tmp_path):
    (found,) = faults(tmp_path, text() + '[frames.eye]\nbody = ["boom"]\nat = "tip"\n')
    assert "Frame 'eye': there is no body ['boom']" in str(found)


def beam(**given):
    numbers = {"length": "5.0", "mass_per_length": "2.0", "bending_stiffness": "1500.0"} | given
    return f"beam = {{ {', '.join(f'{k} = {v}' for k, v in numbers.items() if v)} }}"


def boxed(young="1e9", density="1e3"):
    sizes = "length = 1.0, section = { box = [0.1, 0.1] }"
    return f"beam = {{ {sizes}, young = {young}, density = {density} }}"


CASES = {
    "no beam": ("", "segments = 4", "line 13"),
    "length zero": (beam(length="0.0"), "segments = 4", "length is 0.0; give a number above 0"),
    "mass infinite": (beam(mass_per_length="inf"), "segments = 4", "mass_per_length is inf"),
    "stiffness negative": (
        beam(bending_stiffness="[1.0, -1.0]"), "segments = 4",
        "flexible.beam.bending_stiffness is [1.0, -1.0]; give a number above 0, or two",
    ),
    "length not a number": (beam(length="nan"), "segments = 4", "length is nan; give a number abo"),
    "length infinite": (beam(length="inf"), "segments = 4", "length is inf; give a number above 0"),
    "mass zero": (beam(mass_per_length="0.0"), "segments = 4", "mass_per_length is 0.0; give a"),
    "mass negative": (beam(mass_per_length="-1"), "modes = { y = 1 }", "mass_per_length is -1"),
    "stiffness zero": (beam(bending_stiffness="0.0"), "modes = { y = 1 }", "stiffness is 0.0; g"),
    "stiffness infinite": (beam(bending_stiffness="inf"), "modes = { y = 1 }", "stiffness is inf"),
    "stiffness not a number": (beam(bending_stiffness="[1, nan]"), "segments = 4", "is [1, nan]"),
    "torsion zero": (beam(torsion_stiffness="0.0"), "segments = 4", "torsion_stiffness is 0.0;"),
    "torsion infinite": (beam(torsion_stiffness="inf"), "segments = 4", "torsion_stiffness is in"),
    "axial negative": (beam(axial_stiffness="-2.0"), "segments = 4", "axial_stiffness is -2.0;"),
    "axial infinite": (beam(axial_stiffness="inf"), "segments = 4", "axial_stiffness is inf;"),
    "inertia negative": (beam(rotary_inertia="-1.0"), "segments = 4", "rotary_inertia is -1.0;"),
    "mass too small": (
        beam(mass_per_length="5e-324"), "modes = { y = 4 }",
        "flexible.beam has a mass of about 1e-323 kg; give ordinary SI values, together between",
    ),
    "mass too large": (
        beam(mass_per_length="1e200"), "segments = 4", "1e+200; give ordinary SI values, at most",
    ),
    "length too small": (beam(length="1e-50"), "segments = 4", "a length of about 1e-50 m; give"),
    "inertia too large": (beam(rotary_inertia="1e50"), "segments = 4", "rotary inertia of about"),
    "too stiff for its mass": (
        beam(mass_per_length="1e-20", bending_stiffness="1e40"), "modes = { y = 1 }",
        "a squared frequency of about 1e+57 /s²",
    ),
    "twist too stiff": (
        beam(torsion_stiffness="1e40", rotary_inertia="1e-20"), "modes = { twist = 1 }",
        "a squared frequency of about 1e+58 /s²",
    ),
    "stretch too soft": (
        beam(axial_stiffness="1e-50"), "modes = { y = 1 }", "a squared frequency of about 1e-52",
    ),
    "section too thin": (
        boxed().replace("0.1, 0.1", "0.1, 1e-59"), "segments = 4", "of about 1e-57 kg",
    ),
    "young zero": (boxed(young="0.0"), "segments = 4", "young is 0.0; give a number above 0"),
    "density infinite": (boxed(density="inf"), "segments = 4", "density is inf; give a number ab"),
    "stiffness missing": (beam(bending_stiffness=""), "segments = 4", "stiffness is missing"),
    "section and numbers": (
        beam(section="{ box = [0.1, 0.1] }"), "segments = 4", "both mass_per_length and section",
    ),
    "a tube inside out": (
        "beam = { length = 1.0, section = { tube = [0.04, 0.05] }, young = 1e9, density = 1e3 }",
        "segments = 4", "give an outer radius above the inner one",
    ),
    "modes and segments": (BEAM, "modes = { y = 1 }\nsegments = 3", "has both modes and segments"),
    "neither": (BEAM, "", "flexible.modes is missing"),
    "negative modes": (BEAM, "modes = { y = -1 }", "flexible.modes.y is -1; give a whole number"),
    "all zero": (BEAM, "modes = { y = 0, z = 0 }", "ask for at least one"),
    "too many": (BEAM, "modes = { y = 31 }", "give a whole number from 0 to 30"),
    "unknown direction": (BEAM, "modes = { twits = 1, y = 1 }", "did you mean 'twist'?"),
    "twist without stiffness": (BEAM, "modes = { twist = 1 }", "has no torsion stiffness"),
    "stretch without stiffness": (BEAM, "modes = { stretch = 1 }", "give axial_stiffness"),
    "damping negative": (BEAM, "segments = 4\ndamping = -0.1", "flexible.damping is -0.1"),
    "damping of the wrong length": (
        BEAM, "modes = { y = 3 }\ndamping = [0.1, 0.2]", "or 3 of them, one for each mode",
    ),
    "damping infinite": (BEAM, "modes = { y = 3 }\ndamping = inf", "flexible.damping is inf"),
    "damping not a number": (BEAM, "segments = 4\ndamping = nan", "flexible.damping is nan"),
    "damping of modes negative": (
        BEAM, "modes = { y = 2 }\ndamping = [0.1, -0.2]", "damping is [0.1, -0.2]",
    ),
    "damping of segments by a list": (
        BEAM, "segments = 4\ndamping = [0.1, 0.2]", "damping is [0.1, 0.2]",
    ),
    "a node before": (BEAM, "segments = 4\nnodes = { far = -0.1 }", "the length, from 0 to 1"),
    "a node nowhere": (BEAM, "segments = 4\nnodes = { far = nan }", "the length, from 0 to 1"),
    "a node called root": (BEAM, "segments = 4\nnodes = { root = 0.5 }", "nodes.root is always"),
    "a node outside": (BEAM, "segments = 4\nnodes = { far = 1.5 }", "the length, from 0 to 1"),
    "a node called tip": (BEAM, "segments = 4\nnodes = { tip = 0.5 }", "nodes.tip is always there"),
    "a force where there is no node": (
        BEAM, 'modes = { y = 3 }\nloaded = ["tipp"]', "did you mean 'tip'?",
    ),
    "loaded is no list": (BEAM, 'modes = { y = 3 }\nloaded = "tip"', "give a list of nodes"),
    "loaded segments": (BEAM, 'segments = 4\nloaded = ["tip"]', "bend under a force wherever"),
    "one segment": (BEAM, "segments = 1", "give a whole number from 2 to 1000"),
    "an unknown key": (BEAM, "segmens = 4", "did you mean 'segments'?"),
    "an unknown key of the beam": (beam(lenght="3.0"), "segments = 4", "did you mean 'length'?"),
    "twist without inertia": (
        beam(torsion_stiffness="3.0"), "segments = 4", "needs inertia about its axis",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_fault_names_body_line_and_remedy(name, tmp_path):
    beam_line, more, words = CASES[name]
    found = faults(tmp_path, text(beam_line, more))
    if name == "no beam":
        assert "flexible has no beam" in str(found[0])
    else:
        assert any(words in str(fault) for fault in found), [str(f) for f in found]
    assert all(fault.line >= 9 and "boom" in str(fault) for fault in found)
    assert len(found) == 1


def test_all_faults_come_at_once(tmp_path):
    given = text(
        beam(length="-1.0", mass_per_length="0.0"), 'segments = 4\ndamping = "a"\nnodes = { a = 2 }'
    )
    given = given.replace('at = "tip"', 'at = "tpi"').replace(
        'parent = "hub"', 'parent = "hub"\nmass = 3.0'
    )
    found = faults(tmp_path, given + '[frames.there]\nbody = "hub"\nat = "tip"\n')
    words = ("mass follows", "length is -1.0", "mass_per_length is 0.0", "damping is 'a'",
             "nodes.a is 2", "did you mean 'tip'?", "'hub' is rigid")  # fmt: skip
    assert len(found) == len(words)
    for one in words:
        assert sum(one in str(fault) for fault in found) == 1


def test_mass_com_and_inertia_follow_from_the_beam(tmp_path):
    besides = "mass = 3.0\ncom = [1, 0, 0]\ninertia = [1, 1, 1]"
    found = faults(tmp_path, text().replace('parent = "hub"', f'parent = "hub"\n{besides}'))
    first = text().split("\n").index('parent = "hub"') + 2
    assert [fault.line for fault in found] == [first, first + 1, first + 2]
    for key, fault in zip(("mass", "com", "inertia"), found, strict=True):
        assert f"Body 'boom': {key} follows from the flexible body; leave it out" in str(fault)


@pytest.mark.parametrize("more", ["segments = 4", "modes = { y = 1 }"])
def test_at_names_a_node_of_a_flexible_parent(tmp_path, more):
    (wrong,) = faults(tmp_path, text(more=more).replace('at = "tip"', 'at = "tipp"'))
    assert "at is 'tipp'; did you mean 'tip'?" in str(wrong)
    rigid = text(more=more).replace('parent = "boom"', 'parent = "hub"')
    (fault,) = faults(tmp_path, rigid)
    assert "at is 'tip', but 'hub' is rigid" in str(fault)
    assert fault.line == wrong.line == rigid.split("\n").index('at = "tip"') + 1


def test_modes_of_a_free_body_need_a_free_joint():
    builder = sk.ModelBuilder()
    bar = sk.Beam(1.0, 1.0, 1.0, rotary_inertia=1e-3, modes={"y": 2})
    builder.add_body("bar", joint=sk.Free(), flexible=bar)
    loose = builder.build().flexible["bar"]
    builder = sk.ModelBuilder()
    builder.add_body("bar", joint=sk.Free(), flexible=loose)
    assert builder.build().flexible["bar"] == loose
    for joint, carries in ((sk.Revolute(axis=(0, 1, 0)), False), (sk.Free(), True)):
        builder = sk.ModelBuilder()
        builder.add_body("bar", joint=joint, flexible=loose)
        if carries:
            builder.add_body("load", "bar", at="tip", mass=1.0, inertia=(1, 1, 1))
        with pytest.raises(sk.ModelError, match="Body 'bar': its modes move the root, but it doe"):
            builder.build()


def test_a_thin_beam_with_modes_cannot_turn_about_its_axis():
    for modes, joint, says in (
        ({"y": 1}, sk.Revolute(axis=(1, 0, 0)), "no inertia; give rotary_inertia"),
        ({"twist": 1}, sk.Fixed(), "needs inertia about its axis; give rotary_inertia"),
    ):
        builder = sk.ModelBuilder()
        thin = sk.Beam(1.0, 1.0, 1.0, torsion_stiffness=1.0, modes=modes)
        builder.add_body("rod", joint=joint, flexible=thin)
        with pytest.raises(sk.ModelError, match=says):
            builder.build()


def test_a_thin_beam_cannot_turn_about_its_axis():
    thin = sk.Beam(1.0, 1.0, 1.0, segments=3)
    for joint in (sk.Revolute(axis=(1, 0, 0)), sk.Free(), sk.Spherical(), sk.Universal()):
        builder = sk.ModelBuilder()
        builder.add_body("rod", joint=joint, flexible=thin)
        with pytest.raises(sk.ModelError, match="no inertia; give rotary_inertia"):
            builder.build()
    for joint in (sk.Revolute(axis=(0, 1, 0)), sk.Fixed(), sk.Revolute((1, 0, 0), armature=1.0)):
        builder = sk.ModelBuilder()
        builder.add_body("rod", joint=joint, flexible=thin)
        assert builder.build().n_bodies == 3


def test_what_cannot_be_fixed_to_a_flexible_body_is_refused():
    builder = sk.ModelBuilder()
    builder.add_body("rod", flexible=sk.Beam(1.0, 1.0, 1.0, segments=3))
    builder.add_body("arm", joint=sk.Revolute(), mass=1.0, inertia=(1, 1, 1))
    builder.add_loop("pin", "rod", "arm", sk.Revolute())
    builder.add_collision("rod", sk.Sphere(0.1))
    with pytest.raises(sk.ModelError) as refused:
        builder.build()
    assert "Loop 'pin': body 'rod' is flexible; name one of its pieces, 'rod.1'" in str(
        refused.value
    )
    assert "Collision shape of 'rod': body 'rod' is flexible" in str(refused.value)
    builder = sk.ModelBuilder()
    builder.add_body("rod", flexible=np.eye(3))
    with pytest.raises(sk.ModelError, match="give a Beam or a FlexibleBody"):
        builder.build()
