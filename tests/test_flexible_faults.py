"""Whatever is wrong with a flexible body is said at once, with file and line."""

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


def beam(**given):
    numbers = {"length": "5.0", "mass_per_length": "2.0", "bending_stiffness": "1500.0"} | given
    return f"beam = {{ {', '.join(f'{k} = {v}' for k, v in numbers.items() if v)} }}"


CASES = {
    "no beam": ("", "segments = 4", "line 13"),
    "length zero": (beam(length="0.0"), "segments = 4", "length is 0.0; give a number above 0"),
    "mass infinite": (beam(mass_per_length="inf"), "segments = 4", "mass_per_length is inf"),
    "stiffness negative": (
        beam(bending_stiffness="[1.0, -1.0]"), "segments = 4",
        "flexible.beam.bending_stiffness is [1.0, -1.0]; give a number above 0, or two",
    ),
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
