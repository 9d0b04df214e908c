"""A batch is its states one by one, bit for bit, wherever a state lands and whoever computes it."""

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from numba.core.registry import cpu_target
from numba.core.runtime import _nrt_python, rtsys

import adapters
import naive
import skodyn as sk
from skodyn import jit
from skodyn.dynamics.driver import _split
from skodyn.jit import shipped
from skodyn.kernels.finite_rows import finite_rows

NODES = [(0, (0.1, 0.2, 0.3)), (3, (0.0, -1.0, 0.0)), (3, (1.0, 0.0, 0.5)), (7, (0.0, 0.0, 0.0))]
FUNCTIONS = {
    "forward_dynamics": lambda m, s, **o: sk.forward_dynamics(m, s.q, s.v, s.x, s.f, **o),
    "inverse_dynamics": lambda m, s, **o: sk.inverse_dynamics(m, s.q, s.v, s.x, s.f, **o),
    "bias_force": lambda m, s, **o: sk.bias_force(m, s.q, s.v, s.f, **o),
    "gravity_force": lambda m, s, **o: sk.gravity_force(m, s.q, **o),
    "mass_matrix": lambda m, s, **o: sk.mass_matrix(m, s.q, **o),
    "mass_matrix_inverse": lambda m, s, **o: sk.mass_matrix_inverse(m, s.q, **o),
    "mass_matrix_solve": lambda m, s, **o: sk.mass_matrix_solve(m, s.q, s.x, **o),
    "mass_matrix_logdet": lambda m, s, **o: sk.mass_matrix_logdet(m, s.q, **o),
    "forward_kinematics": lambda m, s, **o: sk.forward_kinematics(m, s.q, **o),
    "velocities": lambda m, s, **o: sk.velocities(m, s.q, s.v, **o),
    "jacobian": lambda m, s, **o: sk.jacobian(m, s.q, *NODES[1], **o),
    "jacobian_dot_v": lambda m, s, **o: sk.jacobian_dot_v(m, s.q, s.v, *NODES[1], **o),
    "operational_space_compliance": lambda m, s, **o: sk.operational_space_compliance(
        m, s.q, NODES, **o
    ),
    "joint_forces": lambda m, s, **o: sk.joint_forces(m, s.q, s.v, s.x, s.f, **o),
    "energy": lambda m, s, **o: sk.energy(m, s.q, s.v, **o),
    "momentum": lambda m, s, **o: sk.momentum(m, s.q, s.v, **o),
    "centroidal momentum": lambda m, s, **o: sk.momentum(m, s.q, s.v, about="com", **o),
    "center_of_mass": lambda m, s, **o: sk.center_of_mass(m, s.q, **o),
    "forward_dynamics_derivatives": lambda m, s, **o: sk.forward_dynamics_derivatives(
        m, s.q, s.v, s.x, s.f, **o
    ),
    "inverse_dynamics_derivatives": lambda m, s, **o: sk.inverse_dynamics_derivatives(
        m, s.q, s.v, s.x, s.f, **o
    ),
    "linearize": lambda m, s, **o: sk.linearize(m, s.q, s.v, s.x, s.f, **o),
    "coriolis_matrix": lambda m, s, **o: sk.coriolis_matrix(m, s.q, s.v, **o),
    "christoffel_symbols": lambda m, s, **o: sk.christoffel_symbols(m, s.q, **o),
    "mass_matrix_logdet_gradient": lambda m, s, **o: sk.mass_matrix_logdet_gradient(m, s.q, **o),
    "fixman_potential": lambda m, s, **o: sk.fixman_potential(m, s.q, 0.7, **o),
    "sample_velocity": lambda m, s, **o: sk.sample_velocity(m, s.q, 0.7, Drawn(s.x), **o),
}
DERIVATIVES = {"forward_dynamics_derivatives": 3, "inverse_dynamics_derivatives": 2}  # matrices
WITH_FORCES = (
    "forward_dynamics", "inverse_dynamics", "bias_force", "joint_forces", *DERIVATIVES, "linearize",
)  # fmt: skip
WITH_OUT = (
    "forward_dynamics", "inverse_dynamics", "bias_force", "gravity_force", "mass_matrix",
    "mass_matrix_inverse", "mass_matrix_solve", "jacobian", "operational_space_compliance",
    "coriolis_matrix", "mass_matrix_logdet_gradient",
)  # fmt: skip
# array arguments of the kernel of one state; numba makes a small header for each on entry
HOT = {"forward_dynamics": 6, "inverse_dynamics": 6, "mass_matrix": 3}
STATES = 19  # two registers of eight numbers full, and some that overlap
BATCH_ARGUMENTS = 8 + 4  # of the kernel, and of the look at whether they are finite
MANY = 601
compiled_only = pytest.mark.skipif(jit.JIT_DISABLED, reason="plain Python runs no lanes")


class Drawn(np.random.Generator):
    """A generator whose noise is given: rows belong to states, in a batch and alone."""

    def __init__(self, noise):
        super().__init__(np.random.PCG64(0))
        self.noise = noise

    def standard_normal(self, shape):
        assert shape == self.noise.shape
        return self.noise


def states_of(model, rng, count):
    pairs = [model.random_state(rng) for _ in range(count)]
    q, v = (np.array(column) for column in zip(*pairs, strict=True))
    x = rng.normal(size=(count, model.nv))
    return SimpleNamespace(q=q, v=v, x=x, f=rng.normal(size=(count, model.n_bodies, 6)))


def pick(states, rows):
    return SimpleNamespace(**{name: table[rows] for name, table in vars(states).items()})


def parts(result):
    """A result as a tuple of arrays; some functions return several."""
    return tuple(np.asarray(r) for r in (result if isinstance(result, tuple) else (result,)))


def same(first, second):
    for a, b in zip(parts(first), parts(second), strict=True):
        assert a.shape == b.shape
        assert a.tobytes() == b.tobytes()


@pytest.fixture(scope="module")
def model():
    """Every joint type at least once, several bases."""
    bodies = naive.random_bodies(np.random.default_rng(5), 14)
    made = adapters.build(bodies)
    assert {joint.type_name for joint in made.joints} == set(naive.KINDS)
    assert (made.parent == -1).sum() > 1
    return made


@pytest.fixture(scope="module")
def states(model):
    return states_of(model, np.random.default_rng(6), STATES)


@pytest.fixture(scope="module")
def one_by_one(model, states):
    """Results of every function for each state on its own."""
    return {
        name: [parts(call(model, pick(states, row))) for row in range(STATES)]
        for name, call in FUNCTIONS.items()
    }


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("count", [*range(1, 10), 12, 15, 16, 17, STATES])
def test_a_batch_is_its_states_one_by_one(model, states, one_by_one, name, count):
    for threads in (None, 1, 2, 3):
        found = parts(FUNCTIONS[name](model, pick(states, slice(0, count)), threads=threads))
        expected = [np.array(part) for part in zip(*one_by_one[name][:count], strict=True)]
        same(found, tuple(expected))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_result_does_not_depend_on_place_or_neighbours(model, states, one_by_one, name):
    rows = np.random.default_rng(7).permutation(np.repeat(np.arange(STATES), 3))
    found = FUNCTIONS[name](model, pick(states, rows), threads=2)
    expected = [np.array([one_by_one[name][r][i] for r in rows]) for i in range(len(parts(found)))]
    same(found, tuple(expected))


@compiled_only
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_batch_large_enough_for_several_threads(model, states, one_by_one, name):
    """So few states are one range of rows whatever `threads` says; these are several."""
    rows = np.arange(MANY) % STATES
    assert len(_split(MANY, model.n_bodies, 2)) > 2
    for threads in (1, 2, 3):
        found = parts(FUNCTIONS[name](model, pick(states, rows), threads=threads))
        expected = [np.array([one[i] for one in one_by_one[name]]) for i in range(len(found))]
        same(found, tuple(part[rows] for part in expected))


@pytest.mark.parametrize("kind", naive.KINDS)
def test_every_joint_type_alone(kind):
    bodies = naive.random_bodies(np.random.default_rng(8), 3, kinds=[kind], branching=0.0)
    model = adapters.build(bodies)
    states = states_of(model, np.random.default_rng(9), 11)
    for name in (
        "forward_dynamics", "inverse_dynamics", "mass_matrix", "velocities", *DERIVATIVES,
        "coriolis_matrix", "mass_matrix_logdet_gradient",
    ):  # fmt: skip
        singles = [parts(FUNCTIONS[name](model, pick(states, row))) for row in range(11)]
        found = FUNCTIONS[name](model, states)
        same(found, tuple(np.array(part) for part in zip(*singles, strict=True)))


@pytest.mark.parametrize("name", WITH_FORCES)
def test_external_forces_may_be_shared_by_all_states(model, states, name):
    shared = SimpleNamespace(**(vars(states) | {"f": states.f[0]}))
    spread = SimpleNamespace(**(vars(states) | {"f": np.tile(states.f[0], (STATES, 1, 1))}))
    same(FUNCTIONS[name](model, shared), FUNCTIONS[name](model, spread))
    one = FUNCTIONS[name](model, SimpleNamespace(**(vars(pick(states, 4)) | {"f": states.f[0]})))
    same(tuple(part[4] for part in parts(FUNCTIONS[name](model, shared))), one)


@pytest.mark.parametrize("name", WITH_OUT)
@pytest.mark.parametrize("count", [None, 1, 3, 9, STATES])
def test_out_is_filled_and_returned(model, states, name, count):
    chosen = pick(states, 0 if count is None else slice(0, count))
    expected = FUNCTIONS[name](model, chosen)
    out = np.full(expected.shape, np.nan)
    assert FUNCTIONS[name](model, chosen, out=out) is out
    same(out, expected)
    spread = np.full((*expected.shape[:-1], 2 * expected.shape[-1]), np.nan)[..., ::2]
    assert FUNCTIONS[name](model, chosen, out=spread) is spread
    same(spread, expected)


@pytest.mark.parametrize("name", DERIVATIVES)
@pytest.mark.parametrize("count", [None, 1, 3, 9, STATES])
def test_out_receives_all_matrices_of_a_derivative(model, states, name, count):
    chosen = pick(states, 0 if count is None else slice(0, count))
    expected = parts(FUNCTIONS[name](model, chosen))
    shape = (*expected[0].shape[:-2], DERIVATIVES[name], model.nv, model.nv)
    for out in (np.full(shape, np.nan), np.full((*shape, 2), np.nan)[..., 0]):
        found = FUNCTIONS[name](model, chosen, out=out)
        assert all(np.shares_memory(part, out) for part in found)
        same(found, expected)
        same(tuple(np.moveaxis(out, -3, 0)), expected)


@pytest.mark.parametrize("count", [1, 4, 5, 8, 9, STATES])
@pytest.mark.parametrize("field", ["v", "x"])
def test_a_result_may_replace_an_argument(model, states, count, field):
    """A batch computes some of its last rows twice, and must not read what it has written."""
    for name in ("forward_dynamics", "inverse_dynamics"):
        chosen = pick(states, slice(0, count))
        expected = FUNCTIONS[name](model, chosen)
        changed = SimpleNamespace(**{key: a.copy() for key, a in vars(chosen).items()})
        target = getattr(changed, field)
        assert FUNCTIONS[name](model, changed, out=target, threads=1) is target
        same(target, expected)


def test_one_argument_serves_all_states(model, states):
    q, v, x = states.q, states.v, states.x
    for name in ("forward_dynamics", "inverse_dynamics"):
        function = getattr(sk, name)
        same(function(model, q, v, x[2]), function(model, q, v, np.tile(x[2], (STATES, 1))))
        same(function(model, q[1], v, x), function(model, np.tile(q[1], (STATES, 1)), v, x))
        same(function(model, q[1], v[2], x[:1]), function(model, q[1:2], v[2:3], x[:1]))
        same(function(model, q[1], v[2], x[3], states.f), function(model, *(
            np.tile(a, (STATES, 1)) for a in (q[1], v[2], x[3])), states.f))  # fmt: skip
    same(sk.energy(model, q[0], v), sk.energy(model, np.tile(q[0], (STATES, 1)), v))


@pytest.fixture
def _counted_allocations():
    """numba counts what compiled code allocates."""
    rtsys.initialize(cpu_target.target_context)
    counting = _nrt_python.memsys_stats_enabled()
    _nrt_python.memsys_enable_stats()
    yield
    if not counting:
        _nrt_python.memsys_disable_stats()


@compiled_only
@pytest.mark.usefixtures("_counted_allocations")
def test_allocations_are_counted():
    """The counter does count: without this the next test could not fail."""
    allocating = numba.njit(lambda n: np.zeros(n).sum())
    allocating(3)
    before = rtsys.get_allocation_stats()
    allocating(3)
    assert rtsys.get_allocation_stats().alloc - before.alloc == 1


@compiled_only
@pytest.mark.usefixtures("_counted_allocations")
@pytest.mark.parametrize("name", HOT)
def test_a_hot_call_allocates_nothing_in_compiled_code(model, states, name):
    chosen = pick(states, 0)
    out = np.empty_like(FUNCTIONS[name](model, chosen))
    batch = np.empty_like(FUNCTIONS[name](model, states))
    FUNCTIONS[name](model, chosen, out=out)
    FUNCTIONS[name](model, states, out=batch, threads=1)
    before = rtsys.get_allocation_stats()
    for _ in range(10):
        FUNCTIONS[name](model, chosen, out=out)
        FUNCTIONS[name](model, states, out=batch, threads=1)
    after = rtsys.get_allocation_stats()
    held = shipped.opened()
    by_launch = held is not None and held.holds(finite_rows.name)  # which makes none
    headers = 0 if by_launch else 10 * (HOT[name] + BATCH_ARGUMENTS)
    assert after.alloc - before.alloc == headers
    assert after.free - before.free == headers


@compiled_only
def test_a_single_state_leaves_nothing_behind_for_the_next(model, states, one_by_one):
    """Workspaces are used again: what one algorithm leaves in them must not reach another."""
    for row, name in [(r, n) for r in range(STATES) for n in FUNCTIONS]:
        same(FUNCTIONS[name](model, pick(states, row)), one_by_one[name][row])


@compiled_only
def test_many_threads_may_use_one_model(model, one_by_one, states):
    jobs = [(name, row) for name in FUNCTIONS for row in range(STATES)] * 5

    def work(job):
        name, row = job
        return parts(FUNCTIONS[name](model, pick(states, row)))

    with ThreadPoolExecutor(8) as pool:
        for (name, row), found in zip(jobs, pool.map(work, jobs), strict=True):
            same(found, one_by_one[name][row])


@compiled_only
def test_many_threads_may_run_batches_of_one_model(model, states):
    expected = sk.forward_dynamics(model, states.q, states.v, states.x, threads=1)

    def work(threads):
        return sk.forward_dynamics(model, states.q, states.v, states.x, threads=threads)

    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(work, [1, 2, 3, None] * 10):
            same(found, expected)
