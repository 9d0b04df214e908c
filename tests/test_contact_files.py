"""What robot files say of contact: refused by name where it cannot be had, kept where it can."""

from __future__ import annotations

import numpy as np
import pytest

import skodyn as sk
from skodyn.io.model_record import model_text, read_model
from skodyn.model.contact.contact_pairs import find_pairs
from skodyn.model.shapes import Mesh, Points
from skodyn.scenario import parse_scenario
from skodyn.sweeps.scenario_data import normal_form, read_data

BODIES = """<mujoco><asset><mesh name="tetra" vertex="0 0 0  1 0 0  0 1 0  0 0 1"/></asset>
<worldbody>
  <geom name="floor" type="plane" size="1 1 1"/>
  <body name="a" pos="0 0 1"><freejoint/><geom name="ball" size="0.1" {ball}/></body>
  <body name="b" pos="0 0 2"><freejoint/><geom name="box" type="box" size=".1 .1 .1" {box}/></body>
  <body name="c" pos="0 0 3"><freejoint/><geom name="stone" type="mesh" mesh="tetra"/></body>
</worldbody>{more}</mujoco>"""
ALL = sk.Contact("*", "*", stiffness=1e4)


def loaded(tmp_path, ball="", box="", more="", **options):
    path = tmp_path / "m.xml"
    path.write_text(BODIES.format(ball=ball, box=box, more=more))
    return sk.load(path, **options)


def pairs(model, contact=ALL):
    return {
        frozenset((p.a.collision.name, p.b.collision.name)) for p in find_pairs(model, [contact])
    }


def test_margins_are_refused_by_the_contact_that_uses_them(tmp_path):
    model = loaded(tmp_path, ball='margin="0.01" gap="0.005"')
    with pytest.raises(sk.ModelError) as caught:
        find_pairs(model, [sk.Contact("a", "floor", stiffness=1e4)])
    said = [str(fault) for fault in caught.value.faults]
    assert len(said) == 2
    assert "shape 'a/ball' has margin 0.01 in its file" in said[0]
    assert 'load with ignore=["margin"]' in said[0]
    assert "gap 0.005" in said[1]
    assert pairs(model, sk.Contact("b", "floor", stiffness=1e4))  # which has none
    assert pairs(loaded(tmp_path, ball='margin="0.01"', ignore=["margin"]))


def test_bits_excludes_and_pairs_decide_who_meets(tmp_path):
    everybody = pairs(loaded(tmp_path, hulls=True))
    apart = frozenset(("ball", "box"))
    assert apart in everybody
    exclude = '<contact><exclude body1="a" body2="b"/></contact>'
    assert pairs(loaded(tmp_path, more=exclude, hulls=True)) == everybody - {apart}
    masked = {"ball": 'contype="2" conaffinity="2"', "box": 'contype="4" conaffinity="4"'}
    model = loaded(tmp_path, **masked)
    with pytest.raises(sk.ModelError, match="their file keeps them apart"):
        find_pairs(model, [sk.Contact("a", "b", stiffness=1.0)])
    pair = '<contact><pair geom1="ball" geom2="box"/></contact>'
    assert pairs(loaded(tmp_path, more=pair, **masked)) >= {apart}


def test_a_mesh_touches_by_the_corners_of_its_hull_if_asked_for(tmp_path):
    contact = sk.Contact("c", "floor", stiffness=1e4)
    plain, hull = loaded(tmp_path), loaded(tmp_path, hulls=True)
    assert "c" not in plain.collisions or isinstance(plain.collisions["c"][0].shape, Mesh)
    assert any(note.startswith("Geoms that cannot touch here: stone") for note in plain.notes)
    shape = hull.collisions["c"][0].shape
    assert isinstance(shape, Points)
    assert len(shape.points) == 4
    assert any("corners of their hulls: stone: 4 corners" in note for note in hull.notes)
    q = hull.neutral()
    gaps = sk.contact_gaps(hull, [contact], q)
    assert abs(gaps.gap.min() - 3.0) < 1e-6  # its corner at the origin of the file, a float there


def test_a_mesh_by_name_is_refused_with_a_remedy():
    b = sk.ModelBuilder()
    b.add_body("stone", joint=sk.Free(), mass=1.0, inertia=(1, 1, 1))
    b.add_collision("stone", Mesh("stone.stl", None))
    law = sk.Contact("stone", "floor", stiffness=1.0)
    found = "mesh on half space cannot be done, and the mesh 'stone.stl' is not found; load with"
    with pytest.raises(sk.ModelError, match=found):
        sk.contact_gaps(b.build(), [law], b.build().neutral(), ground=[sk.HalfSpace()])


@pytest.mark.parametrize("hulls", [False, True])
def test_a_mesh_that_is_not_found_is_refused_by_the_contact_that_uses_it(tmp_path, hulls):
    path = tmp_path / "r.urdf"
    path.write_text("""<robot name="r"><link name="stone"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry>
<mesh filename="stone.obj"/></geometry></collision></link></robot>""")
    law = sk.Contact("stone", "floor", stiffness=1.0)

    def refusal():
        model = sk.load(path, root="free", hulls=hulls)
        with pytest.raises(sk.ModelError) as caught:
            sk.contact_gaps(model, [law], model.neutral(), ground=[sk.HalfSpace()])
        return str(caught.value)

    said = refusal()
    assert "stone/mesh with floor: mesh on half space" in said
    assert "the mesh 'stone.obj' is not found; load with its folder in search_paths" in said
    if not hulls:
        (tmp_path / "stone.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\n")
        assert "load with hulls=True, for the corners of its hull" in refusal()


def test_surfaces_survive_logs_and_sweeps(tmp_path):
    model = loaded(tmp_path, ball='friction="0.7 0.01 0.001" contype="3"', hulls=True)
    again = read_model(model_text(model))
    assert again == model
    assert again.collisions["a"][0].surface == model.collisions["a"][0].surface
    text = f'duration = 0.1\n[model]\nfile = "{tmp_path}/m.xml"\nhulls = true\n'
    scenario = parse_scenario(text, tmp_path)
    assert read_data(normal_form(scenario)).model == scenario.model == model


def test_ignoring_contact_leaves_all_shapes_out(tmp_path):
    assert not loaded(tmp_path, ignore=["contact"]).collisions


def test_shapes_of_links_on_fixed_joints_come_along(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(
        """<robot name="r"><link name="base"/>
<link name="arm">
  <inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision name="tip/1"><origin xyz="0 0 1"/>
    <geometry><sphere radius="0.1"/></geometry></collision>
  <collision><geometry><box size="1 2 0"/></geometry></collision>
</link>
<link name="hand">
  <collision><geometry><capsule radius="0.1" length="0.2"/></geometry></collision>
</link>
<joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint>
<joint name="f" type="fixed"><parent link="arm"/><child link="hand"/>
  <origin xyz="0 1 0" rpy="0 0 1.5707963267948966"/></joint></robot>"""
    )
    model = sk.load(path)
    names = [one.name for one in model.collisions["arm"]]
    assert names == ["tip_1", "capsule"]
    np.testing.assert_allclose(model.collisions["arm"][1].translation, [0, 1, 0])
    assert any(
        note.startswith("<collision> of no size touches nothing: arm") for note in model.notes
    )


def test_cylinders_are_capsules_where_pinocchio_takes_them_so(tmp_path):
    """<collision_checking> of a link names them; who is not named stays as he is."""
    path = tmp_path / "r.urdf"
    path.write_text(
        """<robot name="r"><link name="base"/>
<link name="arm">
  <inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision name="round"><geometry><cylinder radius="0.1" length="0.3"/></geometry></collision>
  <collision name="flat"><geometry><cylinder radius="0.2" length="0.4"/></geometry></collision>
  <collision><geometry><cylinder radius="0.3" length="0.5"/></geometry></collision>
  <collision_checking><capsule name="round"/><capsule/><convex name="flat"/></collision_checking>
</link>
<joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint></robot>"""
    )
    model = sk.load(path)
    assert [one.shape for one in model.collisions["arm"]] == [
        sk.Capsule(0.1, 0.3), sk.Cylinder(0.2, 0.4), sk.Cylinder(0.3, 0.5)
    ]  # fmt: skip
    assert any("is the capsule that <collision_checking>" in note for note in model.notes)
