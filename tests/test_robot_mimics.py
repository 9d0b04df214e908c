"""Mimic joints of real robots: the state has none, and the motion is that of the reduced system.

With q = G s + g of the uncoupled robot, read here from the file by other means, everything must be
Gᵀ M G, Gᵀ τ and so on, to rounding.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import skodyn as sk

ROBOTS = Path(pin.__file__).parents[4] / "share" / "example-robot-data" / "robots"
EPSILON = np.finfo(float).eps
NAMES = [
    "baxter_description/urdf/baxter.urdf",
    "panda_description/urdf/panda.urdf",
    "talos_data/robots/talos_full_v2.urdf",
    "talos_data/robots/talos_full_v2_box.urdf",
    "tiago_pro_description/robots/tiago_pro.urdf",
]


def followed(path: Path) -> dict[str, tuple[str, float, float]]:
    """Joint -> (source that moves by itself, multiplier, offset), chains multiplied out."""
    direct = {}
    for joint in ElementTree.parse(path).getroot().iter("joint"):
        mimic = joint.find("mimic")
        if mimic is not None and joint.get("type") != "fixed":
            numbers = float(mimic.get("multiplier", 1)), float(mimic.get("offset", 0))
            direct[joint.get("name")] = (mimic.get("joint"), *numbers)
    found = {}
    for name, (source, multiplier, offset) in direct.items():
        while source in direct:
            source, more, shift = direct[source]
            multiplier, offset = multiplier * more, offset + multiplier * shift
        found[name] = (source, multiplier, offset)
    return found


def coupling(model: sk.Model, full: sk.Model, mimics: dict) -> tuple[np.ndarray, np.ndarray]:
    """G and g of robots whose joints have one coordinate each."""
    G, g = np.zeros((full.nv, model.nv)), np.zeros(full.nv)
    for name in full.joint_names:
        source, multiplier, offset = mimics.get(name, (name, 1.0, 0.0))
        G[full.v_slice(name), model.v_slice(source)] = multiplier
        g[full.v_slice(name)] = offset
    return G, g


def near(ours, theirs, tolerance=1e-12):
    scale = max(1.0, np.abs(theirs).max(initial=0.0))
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance * scale)


@pytest.mark.parametrize("name", NAMES)
def test_a_robot_with_mimics_is_the_reduced_system(name):
    model, full = (sk.load(ROBOTS / name, mimic=m) for m in ("exact", "independent"))
    mimics = followed(ROBOTS / name)
    assert mimics
    assert model.nv == full.nv - len(mimics)
    G, g = coupling(model, full, mimics)
    rng = np.random.default_rng(4)
    q, v = model.random_state(rng)
    tau, vdot = rng.normal(size=(2, model.nv))
    M = G.T @ sk.mass_matrix(full, G @ q + g) @ G
    near(sk.mass_matrix(model, q), M)
    needed = G.T @ sk.inverse_dynamics(full, G @ q + g, G @ v, G @ vdot)
    near(sk.inverse_dynamics(model, q, v, vdot), needed)
    bias = G.T @ sk.bias_force(full, G @ q + g, G @ v)
    wanted = np.linalg.solve(M, tau - bias)
    near(sk.forward_dynamics(model, q, v, tau), wanted, 200 * np.linalg.cond(M) * EPSILON)
    k = model.body_index(model.body_names[-1])
    ours, theirs = sk.forward_kinematics(model, q), sk.forward_kinematics(full, G @ q + g)
    near(ours[1][k], theirs[1][full.body_index(model.body_names[-1])])


def test_the_fingers_of_the_panda_stay_together_for_ten_seconds():
    model = sk.load(ROBOTS / "panda_description/urdf/panda.urdf", stops=True)
    hold = [sk.Servo(name, 60.0, 6.0) for name in model.joint_names if "finger" not in name]
    run = sk.simulate(
        model, model.neutral(), np.full(model.nv, 0.2), duration=10.0, dt=1e-3, every=100,
        elements=hold,
    )  # fmt: skip
    assert run.status == "finished"
    hand = model.frames["panda_hand"]
    apart = []
    for q in run.trajectory.q:
        rotations, positions = sk.forward_kinematics(model, q)
        at = model.body_index(hand.body)
        palm = positions[at] + rotations[at] @ hand.translation
        across = rotations[at] @ hand.rotation
        fingers = [
            across.T @ (positions[model.body_index(f"panda_{side}finger")] - palm)
            for side in ("left", "right")
        ]
        apart.append(fingers[0][1] + fingers[1][1])
    assert np.ptp(run.trajectory.joint("panda_finger_joint1")) > 1e-3
    assert np.abs(apart).max() < 1e-12


def test_a_linear_equality_of_mjcf_is_a_mimic(tmp_path):
    path = tmp_path / "m.xml"
    path.write_text("""<mujoco><worldbody>
      <body name="a"><joint name="j" axis="0 1 0" ref="20"/><geom size="0.1" pos="0.3 0 0"/>
        <body name="b" pos="1 0 0"><joint name="k" axis="0 0 1"/><geom size="0.1" pos="0.2 0 0"/>
        </body></body>
      <body name="c"><joint name="l" ref="10"/><geom size="0.1" pos="0.3 0 0"/></body>
    </worldbody><equality>
      <joint joint1="k" joint2="l" polycoef="0.2 -1.5 0 0 0"/>
      <joint joint1="l" joint2="j" polycoef="0.1 2 0 0 0"/>
    </equality></mujoco>""")
    model = sk.load(path)
    peer = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(peer)
    s = np.array([0.4])
    drawn = {"j": s[0], "l": 0.1 + 2 * s[0], "k": 0.2 - 1.5 * (0.1 + 2 * s[0])}
    for name, value in drawn.items():
        data.joint(name).qpos = value + peer.qpos0[peer.joint(name).qposadr]
    mujoco.mj_forward(peer, data)
    assert np.abs(data.efc_pos[:2]).max() < 1e-12  # MuJoCo's constraints hold there too
    G = np.zeros((3, 1))
    for name, slope in (("j", 1.0), ("l", 2.0), ("k", -3.0)):
        G[peer.joint(name).dofadr] = slope
    M = np.zeros((3, 3))
    for row, unit in enumerate(np.eye(3)):
        mujoco.mj_mulM(peer, data, M[row], unit)
    near(sk.mass_matrix(model, s), G.T @ M @ G)
    near(sk.bias_force(model, s, np.zeros(1)), G.T @ data.qfrc_bias)
