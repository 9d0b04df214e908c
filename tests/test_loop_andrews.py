"""Andrews' squeezing mechanism: seven bodies, three loops that share a pin, a torque and a spring.

Parameters, start and solution are those of the Test Set for IVP Solvers (F. Mazzia, C. Magherini,
problem "Andrews' squeezing mechanism", after E. Hairer, G. Wanner, Solving Ordinary Differential
Equations II, section VII.7), IFToMM's A03. Its angles are the coordinates of the tree as it stands.
"""

import numpy as np
import pytest

import skodyn as sk

# body: mass, inertia, centre of mass in its own axes
BODIES = {
    "K1": (0.04325, 2.194e-6, (0.00092, 0.0)),
    "K2": (0.00365, 4.410e-7, (-0.0115, 0.0)),
    "K3": (0.02373, 5.255e-6, (0.01043, -0.01874)),
    "K5": (0.07050, 1.169e-5, (0.02308, 0.00916)),
    "K4": (0.00706, 5.667e-7, (0.0, -(0.02 - 0.01421))),
    "K7": (0.05498, 1.912e-5, (-0.00449, -0.01228)),
    "K6": (0.00706, 5.667e-7, (0.02 - 0.01421, 0.0)),
}
# body: parent, place of its hinge, angle of the test set
A, B, C = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)
HINGES = {
    "K1": ("world", (0.0, 0.0), "beta"),
    "K2": ("K1", (0.007, 0.0), "theta"),
    "K3": ("world", B, "gamma"),
    "K5": ("world", A, "delta"),
    "K4": ("K5", (0.04, 0.0), "phi"),
    "K7": ("world", A, "epsilon"),
    "K6": ("K7", (0.0, -0.04), "omega"),
}
ENDS = {"K3": (0.0, -0.035), "K4": (0.0, -0.02), "K6": (0.02, 0.0)}  # all meet the end of K2
TORQUE, STIFFNESS, LENGTH, HOOK = 0.033, 4530.0, 0.07785, (0.02, -0.018)

ANGLES = ("beta", "theta", "gamma", "phi", "delta", "omega", "epsilon")
START = (
    -0.0617138900142764496, 0.0, 0.455279819163070380, 0.222668390165885885, 0.487364979543842550,
    -0.222668390165885885, 1.23054744454982119,
)  # fmt: skip
FIRST = (14222.4439199541139, -10666.8329399655854, 0.0, 0.0, 0.0, 0.0, 0.0)
AT_30_MS = (
    15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948,
    0.5244099658805304, 0.5347301163226948, 1.048080741042263,
)  # fmt: skip
RATES = (
    1139.920302151208, -1424.379294994111, 11.03291221937134, 19.29337464421385,
    0.5735699284790808, -19.29337464421385, 0.3231791658026955,
)  # fmt: skip
ACCELERATIONS = (
    -24631.76316945196, 51850.37701610329, 324102.5686413781, 566749.3645176213,
    16743.62929479361, -566749.3645176222, 9826.520791458422,
)  # fmt: skip


@pytest.fixture(scope="module")
def model():
    b = sk.ModelBuilder(gravity=(0, 0, 0))
    hinge = (0, 0, 1)
    for name, (parent, place, angle) in HINGES.items():
        mass, inertia, com = BODIES[name]
        b.add_body(
            name, parent, sk.Revolute(hinge, name=angle), translation=(*place, 0), mass=mass,
            com=(*com, 0), inertia=(0.6 * inertia, 0.6 * inertia, inertia),
        )  # fmt: skip
    for name, end in ENDS.items():
        b.add_loop(
            f"pin of {name}", "K2", name, sk.Revolute(hinge), translation_a=(-0.028, 0, 0),
            translation_b=(*end, 0),
        )  # fmt: skip
    return b.build()


def packed(model, values):
    found = np.empty(model.nv)
    for name, value in zip(ANGLES, values, strict=True):
        found[model.v_slice(name)] = value
    return found


def forces(model, gamma):
    """The torque on the crank and the spring's on γ, as the test set writes it."""
    x = HOOK[0] * np.cos(gamma) - HOOK[1] * np.sin(gamma) + B[0]
    y = HOOK[0] * np.sin(gamma) + HOOK[1] * np.cos(gamma) + B[1]
    length = np.hypot(x - C[0], y - C[1])
    pull = -STIFFNESS * (length - LENGTH) / length
    torque = pull * ((x - B[0]) * (y - C[1]) - (y - B[1]) * (x - C[0]))
    return packed(model, [TORQUE, 0, torque, 0, 0, 0, 0])


def test_it_has_one_freedom_left_of_seven(model):
    (group,) = model.groups
    assert (group.dofs, group.rank, group.mobility) == (7, 6, 1)


def test_first_accelerations(model):
    q = packed(model, START)
    assert np.abs(sk.loop_error(model, q)).max() < 1e-16
    vdot = sk.forward_dynamics(model, q, np.zeros(7), forces(model, START[2]))
    assert np.abs(vdot - packed(model, FIRST)).max() < 1e-9 * FIRST[0]


def test_accelerations_at_30_ms(model):
    """Those of the test set leave 2e-3 m/s² of Gv̇ + γ (its solver has index 3), ours rounding."""
    q, v = packed(model, AT_30_MS), packed(model, RATES)
    vdot = sk.forward_dynamics(model, q, v, forces(model, AT_30_MS[2]))
    assert np.abs(vdot / packed(model, ACCELERATIONS) - 1).max() < 3e-6


def test_the_crank_has_gone_round_twice_and_a_half_after_30_ms(model):
    spring = sk.PointSpring(
        "K3", "world", STIFFNESS, length=LENGTH, point_a=(*HOOK, 0), point_b=(*C, 0)
    )
    drive = sk.TorqueTable("beta", [0.0, 1.0], [TORQUE, TORQUE])
    run = sk.simulate(
        model, packed(model, START), np.zeros(7), duration=0.03, dt=0.03, rtol=1e-12, atol=1e-12,
        integrator="dormand_prince", elements=[spring, drive], max_speed=1e6, first_step=1e-6,
    )  # fmt: skip
    end = run.trajectory
    # ends of runs with 1e-12 and 1e-13 are 4e-12 apart, and both 1.4e-9 from the test set's
    assert np.abs(end.q[-1] - packed(model, AT_30_MS)).max() < 2e-9
    assert np.abs(end.v[-1] - packed(model, RATES)).max() < 8e-7
    assert run.summary["loop_error_max"] < 1e-15
