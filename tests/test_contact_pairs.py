"""Which shapes meet, by which law, and everything that is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import contact_twin as twin
import skodyn as sk
from skodyn.model.contact.contact_pairs import find_pairs
from skodyn.model.contact.contact_tables import pack_contacts
from skodyn.model.contact.contacts import dissipation_for, law_of, restitution_of

REFERENCES = Path(__file__).parent / "data" / "contact"


def robot():
    """A trunk with two legs of two bodies, a sphere on each foot and two on the trunk."""
    b = sk.ModelBuilder()
    b.add_body("trunk", joint=sk.Free(), mass=1.0, inertia=(1, 1, 1))
    b.add_collision("trunk", sk.Sphere(0.1), name="front")
    b.add_collision("trunk", sk.Sphere(0.1), name="back")
    for side in ("left", "right"):
        b.add_body(f"{side}_thigh", "trunk", sk.Revolute(), mass=1.0, inertia=(1, 1, 1))
        b.add_body(f"{side}_foot", f"{side}_thigh", sk.Revolute(), mass=1.0, inertia=(1, 1, 1))
        b.add_collision(f"{side}_foot", sk.Sphere(0.02))
        b.add_collision(f"{side}_thigh", sk.Ellipsoid((0.1, 0.1, 0.2)))
    b.add_collision("world", sk.HalfSpace(), name="floor")
    b.add_collision("world", sk.Sphere(1.0), name="rock")
    return b.build()


def pairs(*contacts):
    return [(p.a.words, p.b.words) for p in find_pairs(robot(), contacts)]


def contact(a, b, **more):
    return sk.Contact(a, b, **{"stiffness": 1e4, **more})


def test_patterns_name_bodies_shapes_and_ground():
    feet = [("left_foot/sphere", "floor"), ("right_foot/sphere", "floor")]
    assert pairs(contact("*_foot", "floor")) == feet
    assert pairs(contact(["left_foot", "right*foot"], "world/floor")) == feet
    assert pairs(contact("trunk/f*", "rock")) == [("trunk/front", "rock")]
    assert pairs(contact("trunk", "rock")) == [("trunk/front", "rock"), ("trunk/back", "rock")]


def test_each_pair_is_there_once_and_never_within_a_body_or_across_a_joint():
    found = pairs(contact(["*_foot", "trunk"], ["*_foot", "trunk"]))
    assert found == [
        ("left_foot/sphere", "right_foot/sphere"),
        ("left_foot/sphere", "trunk/front"), ("left_foot/sphere", "trunk/back"),
        ("right_foot/sphere", "trunk/front"), ("right_foot/sphere", "trunk/back"),
    ]  # fmt: skip


def test_labels_are_short_where_they_can_be():
    tables = pack_contacts(robot(), [contact("*_foot", "floor"), contact("trunk", "floor")])
    assert tables.labels == (
        "left_foot/floor", "right_foot/floor", "trunk/front/floor", "trunk/back/floor",
    )  # fmt: skip


FAULTS = [
    ([contact("*_hand", "floor")], "a '*_hand' fits no shape; name a body with a shape"),
    ([contact("left_fot", "floor")], "did you mean 'left_foot'?"),
    ([contact([], "floor")], "a is []; give a name, a pattern or a list"),
    ([contact(3, "floor")], "a is 3; give a name"),
    ([contact("*_foot", "floor"), contact("left_foot", "*oor", name="two")],
     "Contact 'two': Contact of '*_foot' with 'floor' has the pair left_foot/sphere with floor"),
    ([contact("left_thigh", "rock")], "ellipsoid on sphere cannot be done; cover one of them"),
    ([contact("trunk/front", "trunk/back")], "are on one body; name two that can move apart"),
    ([contact("floor", "rock")], "both belong to the ground; name a body that moves"),
    ([contact("trunk", "left_thigh")], "are connected by a joint"),
    ([contact("trunk", "floor", exponent=2)], "exponent is 2; give 1 (stiffness in N/m) or 1.5"),
    ([contact("trunk", "floor", stiffness=0)], "stiffness is 0; give a number above 0"),
    ([contact("trunk", "floor", stiffness="hard")], "stiffness is 'hard'; give a finite number"),
    ([contact("trunk", "floor", dissipation=-1.0)], "dissipation is -1.0; give a number from 0"),
    ([contact("trunk", "floor", restitution=1.2, impact_speed=1.0)], "above 0, up to 1"),
    ([contact("trunk", "floor", restitution=0.0, impact_speed=1.0)], "restitution is 0.0; give"),
    ([contact("trunk", "floor", restitution=0.5, dissipation=1.0, impact_speed=1.0)],
     "restitution 0.5 and dissipation 1.0 say the same thing; give one of them"),
    ([contact("trunk", "floor", restitution=0.5)], "give impact_speed in m/s, too"),
    ([contact("trunk", "floor", impact_speed=0.5)], "no effect without restitution"),
    ([contact("trunk", "floor", friction=0.5, static_friction=0.4, slip_speed=0.1)],
     "static_friction 0.4 is below friction 0.5"),
    ([contact("trunk", "floor", friction=0.5, static_friction=0.6)], "give slip_speed in m/s"),
    ([contact("trunk", "floor", friction=0.5, slip_speed=0.6)], "without static_friction"),
    ([contact("trunk", "floor", tangential_stiffness=1e4)], "no effect without friction"),
    ([contact("trunk", "floor", tangential_damping=1e4)], "no effect without friction"),
    ([contact("trunk", "floor", rolling_friction=1e-3)], "no effect without friction"),
    ([contact("trunk", "floor", torsional_friction=1e-3)],
     "torsional_friction 0.001 has no effect without friction; give friction, too"),
    ([contact("trunk", "floor", static_friction=0.4, slip_speed=0.1)],
     "static_friction 0.4 has no effect without friction"),
    ([contact("trunk", "floor", stiffness=None)], "it has no stiffness; give a number above"),
    ([contact("trunk", "floor", restitution=-0.5, impact_speed=1.0)], "restitution is -0.5; give"),
    ([contact("trunk", "floor", restitution=0.5, impact_speed=0.0)], "impact_speed is 0.0; give"),
    ([contact("trunk", "floor", friction=float("nan"))], "friction is nan; give a finite number"),
    ([contact("trunk", "floor", exponent=1.5, friction=0.5)], "needs tangential_stiffness in N/m"),
    ([contact("trunk", "floor", adjacent=1)], "adjacent is 1; give True or False"),
    (["trunk"], "'trunk' is not a contact; give Contact(a, b, stiffness=…)"),
]  # fmt: skip


@pytest.mark.parametrize(("contacts", "words"), FAULTS)
def test_bad_input_gets_one_sentence_with_value_and_remedy(contacts, words):
    with pytest.raises(sk.ModelError) as caught:
        pack_contacts(robot(), contacts)
    assert words in str(caught.value)


def test_all_faults_come_at_once():
    with pytest.raises(sk.ModelError) as caught:
        pack_contacts(robot(), [contact("x", "floor", exponent=3), contact("trunk", "y")])
    assert len(caught.value.faults) == 3


def test_adjacent_bodies_touch_if_asked_to():
    b = sk.ModelBuilder()
    b.add_body("a", joint=sk.Free(), mass=1.0, inertia=(1, 1, 1))
    b.add_body("b", "a", sk.Revolute(), mass=1.0, inertia=(1, 1, 1))
    for name in "ab":
        b.add_collision(name, sk.Sphere(0.1))
    model = b.build()
    assert len(find_pairs(model, [contact("a", "b", adjacent=True)])) == 1


def test_more_than_a_thousand_pairs_are_refused():
    b = sk.ModelBuilder()
    for i in range(46):
        b.add_body(f"b{i}", joint=sk.Free(name=f"j{i}"), mass=1.0, inertia=(1, 1, 1))
        b.add_collision(f"b{i}", sk.Sphere(0.1))
    with pytest.raises(sk.ModelError, match="1035 pairs of shapes would be looked at"):
        find_pairs(b.build(), [contact("*", "*")])


def test_a_ground_of_ones_own_has_names():
    model = robot()
    found = sk.contact_gaps(
        model, [contact("trunk/front", "wall")], model.neutral(),
        ground={"wall": sk.HalfSpace((1.0, 0, 0), (-1, 0, 0))},
    )  # fmt: skip
    assert abs(found.gap[0] - 0.9) < 1e-15
    for ground, words in (([sk.HalfSpace()], ""), ({"floor": sk.HalfSpace()}, "'floor' already"),
                          (3, "ground is 3; give"), ([sk.Sphere(0)], "radius is 0")):  # fmt: skip
        if words:
            with pytest.raises(sk.ModelError, match=words):
                sk.contact_gaps(model, [contact("trunk/front", "rock")], model.neutral(),
                                ground=ground)  # fmt: skip
        else:
            half = sk.contact_gaps(model, [contact("trunk/front", "half_space")], model.neutral(),
                                   ground=ground)  # fmt: skip
            assert half.labels == ("trunk/half_space",)


def test_states_of_another_size_are_refused():
    model, law = robot(), [contact("trunk", "floor", friction=0.5)]
    with pytest.raises(sk.StateError, match="give 11 finite numbers"):
        sk.contact_gaps(model, law, [1.0, 2.0])
    with pytest.raises(sk.StateError, match="bristles is"):
        sk.contact_forces(model, law, model.neutral(), np.zeros(model.nv), [0.0])
    with pytest.raises(sk.StateError, match="give as many"):
        sk.contact_forces(model, law, model.neutral(), np.zeros((2, model.nv)))
    with pytest.raises(sk.StateError, match="trunk"):
        sk.contact_gaps(model, law, 2.0 * model.neutral())


# ---- restitution --------------------------------------------------------------------------------


def test_restitution_is_the_closed_form_both_ways():
    table = json.loads((REFERENCES / "bouncing_ball.json").read_text())["restitution_table"]
    for row in table:
        x, e = row["c_times_v"], row["restitution"]
        assert abs(restitution_of(x, 1.0) - e) < 1e-14
        assert abs(twin.restitution(x) - e) < 1e-14
        # e is flat in c·v where hardly anything comes back
        assert abs(restitution_of(dissipation_for(e, 2.0), 2.0) - e) < 1e-12
    law, faults = law_of(contact("a", "b", restitution=1.0, impact_speed=3.0))
    assert not faults
    assert law.dissipation == 0.0
