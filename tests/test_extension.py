"""A new integrator and a new force: one file each, like this one, and nothing else is compiled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import skodyn as sk
import test_sweep_lanes
from skodyn.jit import BEFORE_COMPILING, JIT_DISABLED, helper
from skodyn.kernels.status import OK
from skodyn.lanes import PartAtWidths, absolute, load_rows, parameter
from skodyn.model.layout import V_START
from skodyn.simulation.element_tools import add_torque
from skodyn.simulation.elements import Forces, OwnElement
from skodyn.simulation.force_tables import pack_forces
from skodyn.simulation.forces import FIRST, OFFSET
from skodyn.simulation.methods import METHODS, register
from skodyn.simulation.parts import element_part
from skodyn.simulation.session import Plan, run
from skodyn.simulation.settings import IntegratorSettings
from skodyn.simulation.steppers.tableaux import explicit_method
from skodyn.sweeps.lane_batch import LaneBatch
from test_steppers import flier, start

# ---- an integrator: J. C. Butcher's fifth-order method with six stages, by its tableau ----------

BUTCHER = explicit_method(
    "butcher5",
    rows=[
        [],
        [1 / 4],
        [1 / 8, 1 / 8],
        [0, -1 / 2, 1],
        [3 / 16, 0, 0, 9 / 16],
        [-3 / 7, 2 / 7, 12 / 7, -12 / 7, 8 / 7],
    ],
    weights=[7 / 90, 0, 32 / 90, 12 / 90, 32 / 90, 7 / 90],
    nodes=[0, 1 / 4, 1 / 4, 1 / 2, 3 / 4, 1],
)


# ---- tableaux of any number of stages: several steps of another method as one -------------------

KUTTA = ([[], [1 / 2], [-1, 2]], [1 / 6, 2 / 3, 1 / 6], [0, 1 / 2, 1])
RK4 = ([[], [1 / 2], [0, 1 / 2], [0, 0, 1]], [1 / 6, 1 / 3, 1 / 3, 1 / 6], [0, 1 / 2, 1 / 2, 1])


def three_times(tableau):
    """(rows, weights, nodes) of three steps of a third: thrice the stages."""
    rows, weights, nodes = tableau
    done = [w / 3 for w in weights]
    return (
        [done * k + [a / 3 for a in row] for k in range(3) for row in rows],
        done * 3,
        [(k + c) / 3 for k in range(3) for c in nodes],
    )


LONG = {
    "kutta9": explicit_method("kutta9", *three_times(KUTTA)),
    "rk12": explicit_method("rk12", *three_times(RK4)),
    "rk36": explicit_method("rk36", *three_times(three_times(RK4))),
}


@pytest.fixture(scope="module", autouse=True)
def registered():
    made = [BUTCHER, *LONG.values()]
    for method in made:
        register(method)
    yield
    for method in made:
        METHODS.remove(method.name)


# ---- a force: drag that grows with the square of a joint's speed --------------------------------


@helper
def drag(work, system, at, t, state, effects):
    """−c·|v|·v on one degree of freedom."""
    dof = system.codes[at + FIRST]
    v = load_rows(work, state.y, dof)
    c = parameter(work, system.numbers, system.codes[at + OFFSET])
    add_torque(work, effects.tau, dof, -(c * absolute(v) * v))
    return OK


@dataclass(frozen=True)
class QuadraticDrag(OwnElement):
    joint: str
    coefficient: float
    part: ClassVar[PartAtWidths] = element_part(drag)

    def pack(self, model):
        return int(model.indices[model.joint_index(self.joint)][V_START]), [self.coefficient]


# -------------------------------------------------------------------------------------------------


@pytest.fixture
def compiled():
    """The names of kernels that are compiled from now on."""
    names = []
    BEFORE_COMPILING.append(names.append)
    yield names
    BEFORE_COMPILING.remove(names.append)


def end_of(method, dt):
    model = flier()
    settings = IntegratorSettings(method, dt=dt)
    done = run(Plan(model, *start(model), 0.4, settings))
    assert done.status == "finished"
    return done.trajectory


def test_a_registered_method_has_its_order_on_every_manifold():
    exact = end_of("butcher5", 2e-3)
    errors = [np.abs(end_of("butcher5", dt).v[-1] - exact.v[-1]).max() for dt in (0.04, 0.02)]
    assert 4.6 < np.log2(errors[0] / errors[1]) < 5.6
    rk4 = np.abs(end_of("rk4", 0.02).v[-1] - exact.v[-1]).max()
    assert errors[1] < rk4 / 5


def hinges():
    """On hinges alone, several steps as one method are the steps, up to rounding."""
    made = sk.ModelBuilder()
    for k in range(5):
        parent = f"b{k - 1}" if k else "world"
        made.add_body(f"b{k}", parent, sk.Revolute((0, 1, 0.1 * k)), mass=1.0, com=(0.1, 0, -0.5),
                      inertia=(0.1, 0.1, 0.02), translation=(0, 0, -1))  # fmt: skip
    return made.build()


@pytest.mark.parametrize(("name", "divided"), [("rk12", 3), ("rk36", 9)])
def test_a_method_of_many_stages_is_as_good_as_its_steps(name, divided):
    model = hinges()
    q, v = np.linspace(-0.5, 0.5, 5), np.linspace(1.0, -1.0, 5)
    long, short = (
        run(Plan(model, q, v, 0.18, IntegratorSettings(method, dt=dt)))
        for method, dt in ((name, 0.018), ("rk4", 0.018 / divided))
    )
    assert long.status == short.status == "finished"
    assert np.abs(long.trajectory.q[-1] - short.trajectory.q[-1]).max() < 1e-12
    assert np.abs(long.trajectory.v[-1] - short.trajectory.v[-1]).max() < 1e-12


@pytest.mark.parametrize("name", LONG)
def test_a_method_of_many_stages_has_the_same_bits_in_lanes(name, monkeypatch):
    """Forces and integrals included; eleven runs: full groups and one that is filled up."""
    if JIT_DISABLED:  # plain Python takes minutes for as many steps
        monkeypatch.setattr(test_sweep_lanes, "STEPS", 4)
    runs = test_sweep_lanes.packed(11, name)
    outcomes = LaneBatch(runs, test_sweep_lanes.metrics()).run()
    assert outcomes.complete.all()
    for i in range(11):
        engine = test_sweep_lanes.alone(i, runs)
        assert (outcomes.q[i] == engine.q).all()
        assert (outcomes.v[i] == engine.v).all()


@pytest.mark.parametrize(
    ("rows", "weights", "nodes", "fault"),
    [
        ([[], [0.5]], [0.0, 1.0], [0.0], "has 1 nodes and 2 weights"),
        ([[]], [0.0, 1.0], [0.0, 0.5], "has 1 rows and 2 weights"),
        ([], [], [], "has 0 rows and 0 weights"),
        ([[], [0.5, 0.5]], [0.0, 1.0], [0.0, 1.0], "has 2 numbers in row 2; an explicit method"),
        ([[], [0.5]], [0.5, 0.6], [0.0, 0.5], "add up to 1.1; their sum must be 1"),
        ([[], [np.nan]], [0.0, 1.0], [0.0, 0.5], "has a number that is not finite"),
    ],
)
def test_a_tableau_that_is_none_is_refused(rows, weights, nodes, fault):
    with pytest.raises(sk.StateError, match=f"The (tableau|weights) of 'odd' {fault}"):
        explicit_method("odd", rows, weights, nodes)


def test_a_force_without_its_pack_or_part_says_what_to_write():
    @dataclass(frozen=True)
    class Nothing(OwnElement):
        pass

    @dataclass(frozen=True)
    class Half(OwnElement):
        part: ClassVar[PartAtWidths] = element_part(drag)

    model = wheel()
    for element, words in (
        (Nothing(), r"Nothing has no part; write part: ClassVar\[PartAtWidths\] = element_part"),
        (Half(), r"Half has no pack; write Half.pack\(self, model\) that returns"),
    ):
        with pytest.raises(NotImplementedError, match=words):
            pack_forces(model, Forces(elements=(element,)))


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
def test_nothing_is_compiled_for_a_tableau(compiled):
    end_of("rk4", 0.02)
    before = list(compiled)
    end_of("butcher5", 0.02)
    assert compiled == before
    assert METHODS["butcher5"].loop is METHODS["rk4"].loop


def test_a_name_is_given_once():
    with pytest.raises(sk.FaultsError, match="There is an integrator 'rk4' already"):
        register(explicit_method("rk4", rows=[[]], weights=[1.0], nodes=[0.0]))


def wheel():
    b = sk.ModelBuilder(gravity=(0, 0, 0))
    b.add_body("wheel", joint=sk.Revolute((0, 0, 1), name="axle"), mass=1.0, inertia=(1, 1, 2.0))
    b.add_body("other", joint=sk.Revolute((0, 0, 1), name="free"), mass=1.0, inertia=(1, 1, 2.0))
    return b.build()


def test_a_force_of_its_own_kind_acts_as_it_says():
    """ω̇ = −c|ω|ω/J has the solution ω₀/(1 + c ω₀ t/J)."""
    model, speed, c = wheel(), np.array([3.0, 3.0]), 0.7
    forces = Forces(elements=(QuadraticDrag("axle", c),))
    settings = IntegratorSettings("rk4", dt=1e-3)
    done = run(Plan(model, model.neutral(), speed, 2.0, settings, forces, channels=("energy",)))
    axle, free = model.v_slice("axle").start, model.v_slice("free").start
    assert abs(done.trajectory.v[-1, axle] - 3.0 / (1.0 + c * 3.0 * 2.0 / 2.0)) < 1e-12
    assert done.trajectory.v[-1, free] == 3.0
    assert abs(done.summary["energy_imbalance"]) < 1e-12  # its work is in the balance


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
def test_only_its_part_is_compiled_and_the_loop_stays_as_it_is(compiled):
    model = wheel()
    settings = IntegratorSettings("rk4", dt=1e-2)
    run(Plan(model, model.neutral(), np.ones(2), 0.1, settings))
    loop = METHODS["rk4"].loop.ready
    before = len(compiled)

    @dataclass(frozen=True)
    class Other(QuadraticDrag):
        part: ClassVar[PartAtWidths] = element_part(drag)

    run(
        Plan(
            model,
            model.neutral(),
            np.ones(2),
            0.1,
            settings,
            Forces(elements=(Other("free", 1.0),)),
        )
    )
    ours = [name for name in compiled[before:] if "apply_elements" not in name]
    assert [name.split(":")[-1] for name in ours] == ["drag_one"]
    assert METHODS["rk4"].loop.ready is loop
