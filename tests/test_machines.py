"""Other processors give the same bits: what goes into a model does not depend on NumPy's libraries,
nor on the version of Python.

A BLAS chooses its routines by the processor and can be told to take those of an older one, and so
can NumPy. Each such choice packs every model again, in a process of its own.
"""

from __future__ import annotations

import builtins
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

import skodyn as sk
from skodyn.dynamics.nodes import node_table
from skodyn.model.flexible.flexible_packing import flexible_numbers
from skodyn.model.packing import place_bodies
from skodyn.model.products import _fma, applied, dot, norm, product, square, total
from skodyn.scenario import read_scenario
from skodyn.simulation.elements import Forces, PointSpring, Wrench
from skodyn.simulation.force_tables import pack_forces

SCENARIOS = Path(__file__).parent.parent / "scenarios"
FILES = sorted(p for p in (SCENARIOS / "models").glob("*") if p.suffix in (".toml", ".urdf"))
SHAPES = "SKODYN_TEST_SHAPES"  # a file with a flexible body
ROBOT = """
<mujoco>
  <worldbody>
    <body name="a" pos="0.1 0.2 0.3" quat="0.9 0.3 0.2 0.1">
      <joint name="first" type="hinge" axis="1 2 3" pos="0.1 0.3 0.2"/>
      <geom type="box" size="0.1 0.2 0.3" pos="0.1 0.1 0.3" quat="0.8 0.1 0.3 0.4"/>
      <body name="b" pos="0.3 0.1 0.7" quat="0.7 0.2 0.4 0.1">
        <geom type="capsule" size="0.1 0.3" quat="0.5 0.4 0.3 0.2"/>
        <body name="c" pos="0.2 0.2 0.1" quat="0.6 0.1 0.1 0.5">
          <joint name="second" type="slide" axis="3 1 2"/>
          <geom type="ellipsoid" size="0.1 0.2 0.4"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def slanted() -> sk.Model:
    """Nothing in it is parallel to anything; every number is written out."""
    b = sk.ModelBuilder()
    turn = (0.8, 0.36, 0.3, 0.3747)
    turn = tuple(x / norm(turn) for x in turn)
    inertia = [[0.31, 0.02, -0.013], [0.02, 0.27, 0.017], [-0.013, 0.017, 0.41]]
    for k in range(7):
        joint = [sk.Revolute((1, 2, 3)), sk.Prismatic((3, -1, 2)), sk.Helical((2, 1, 7), pitch=0.3),
                 sk.Universal((1, 2, 0.5), (0.3, 1, 2)), sk.Free(), sk.Spherical(),
                 sk.Revolute((0.1, 0.7, -0.3))][k]  # fmt: skip
        b.add_body(f"b{k}", f"b{k - 1}" if k else "world", joint, rotation=turn,
                   translation=(0.1, 0.37, 0.71), mass=1.3, com=(0.13, 0.29, 0.07),
                   inertia=inertia)  # fmt: skip
    return b.build()


def packed() -> dict[str, str]:
    """A hash of every model as kernels see it, of forces on it, and of a point given to them."""
    models = {path.name: sk.load(path) for path in FILES} | {"slanted": slanted()}
    # shapes of flexible bodies are found by LAPACK: left out of the promise
    models = {name: model for name, model in models.items() if not model.flexible}
    if find_spec("mujoco"):
        with tempfile.TemporaryDirectory() as folder:
            robot = Path(folder) / "robot.xml"
            robot.write_text(ROBOT)
            models["MJCF"] = sk.load(robot)
    found = {}
    for name, model in models.items():
        hashed = hashlib.sha256(model.parameters.tobytes() + model.content_hash.encode())
        for frame in model.frames.values():
            hashed.update(frame.rotation.tobytes() + frame.translation.tobytes())
        body = model.body_names[-1]
        pushed = Wrench(body, (0.1, 0.7, 0.3), (0.2, 0.3, 0.9), (0.3, 0.1, 0.7), frame="body")
        held = PointSpring(body, "world", 3.0, point_a=(0.7, 0.1, 0.3))
        hashed.update(pack_forces(model, Forces(elements=(pushed, held))).numbers.tobytes())
        hashed.update(node_table(model, [(body, (0.7, 0.1, 0.3))]).tobytes())  # of a Jacobian
        found[name] = hashed.hexdigest()
    if SHAPES in os.environ:  # found once, and kept in a file
        strip = sk.flexible.load(os.environ[SHAPES])
        builder = sk.ModelBuilder()
        builder.add_body("strip", "world", sk.Revolute((1, 2, 3)), flexible=strip)
        bent = builder.build()
        hashed = hashlib.sha256(bent.parameters.tobytes() + bent.content_hash.encode())
        hashed.update(flexible_numbers(bent).tobytes() + bent.kernel_tree.tobytes())
        found["strip of a file"] = hashed.hexdigest()
    for path in sorted(SCENARIOS.glob("*.toml")):
        found_start = "assemble = true" in path.read_text()  # by LAPACK: left out of the promise
        if not path.name.startswith("sweep") and not found_start:
            scenario = read_scenario(path)
            if scenario.model.flexible:
                continue
            acting = pack_forces(scenario.model, scenario.forces).numbers
            hashed = hashlib.sha256(scenario.q0.tobytes() + scenario.v0.tobytes())
            hashed.update(acting.tobytes())
            found[path.name] = hashed.hexdigest()
    return found


def elsewhere(**environment: str) -> dict[str, str]:
    done = subprocess.run(
        [sys.executable, __file__], env={**os.environ, **environment},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


def supported() -> str:
    """What NumPy would choose its loops by on this processor."""
    return " ".join(name for name in __cpu_dispatch__ if __cpu_features__.get(name))


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    path = tmp_path_factory.mktemp("shapes") / "strip.h5"
    sk.load(SCENARIOS / "models/strip.toml").flexible["strip"].save(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SHAPES, str(path))
        yield packed()


OLDER = ["Prescott", "Nehalem", *(["Haswell"] if __cpu_features__["FMA3"] else [])]


@pytest.mark.parametrize("processor", OLDER)
def test_every_model_is_packed_to_the_same_bits_by_the_blas_of_another_processor(here, processor):
    assert elsewhere(OPENBLAS_CORETYPE=processor) == here


def test_every_model_is_packed_to_the_same_bits_without_numpys_faster_loops(here):
    assert elsewhere(NPY_DISABLE_CPU_FEATURES=supported()) == here


def carrying_sum(terms, /, start=0):
    """The sum of Python 3.12 and later: what each addition of floats rounds away is added at last
    (A. Neumaier, ZAMM 54, 1974)."""
    given = [start, *terms]
    if {type(x) for x in given} - {int, float} or float not in map(type, given):
        return plain_sum(given[1:], start)
    whole, lost = 0.0, 0.0
    for x in map(float, given):
        new = whole + x
        lost += (whole - new) + x if abs(whole) >= abs(x) else (x - new) + whole
        whole = new
    return whole + lost


plain_sum = sum


def test_every_model_is_packed_to_the_same_bits_by_the_sum_of_another_python(here, monkeypatch):
    assert carrying_sum([1e100, 1.0, -1e100]) == 1.0
    monkeypatch.setattr(builtins, "sum", carrying_sum)
    assert packed() == here


@pytest.mark.skipif(
    "openblas" not in np.show_config("dicts")["Build Dependencies"]["blas"]["name"]
    or "Haswell" not in OLDER,
    reason="NumPy has another BLAS, or the processor no fused multiply-add",
)
def test_the_choice_of_a_blas_is_heard():
    """Otherwise nothing is tested above: a product of NumPy's own does change."""
    program = (
        "import numpy as np\n"
        "a = np.random.default_rng(1).normal(size=(2, 500, 3, 3))\n"
        "print(hash((a[0] @ a[1]).tobytes()))"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, check=True,
            env={**os.environ, "PYTHONHASHSEED": "0", "OPENBLAS_CORETYPE": name},
        ).stdout
        for name in ("Prescott", "Haswell")
    }  # fmt: skip
    assert len(said) == 2


# ---- the products themselves --------------------------------------------------------------------


def fused(a: float, b: float, c: float) -> float:
    return float(Fraction(a) * Fraction(b) + Fraction(c))


def samples(shape: tuple[int, ...], seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=shape) * 2.0 ** rng.integers(-30, 30, size=shape)


def test_a_fused_multiply_add_is_rounded_once():
    a, b, c = samples((3, 4000), 1)
    c[::4] = -a[::4] * b[::4]  # what is left is the error of the product
    c[1::4] = -a[1::4] * b[1::4] * (1 + 2.0**-52)
    c[2::4] = a[2::4] * b[2::4] * 2.0**53  # ties
    expected = [fused(*row) for row in zip(a.tolist(), b.tolist(), c.tolist(), strict=True)]
    assert _fma(a, b, c).tolist() == expected


def test_a_product_is_two_fused_multiply_adds_for_each_number():
    a, b = samples((2, 40, 3, 3), 2)
    a[::3, 0, 1] = 0.0
    expected = [
        [
            [fused(x[i][2], y[2][j], fused(x[i][1], y[1][j], x[i][0] * y[0][j])) for j in range(3)]
            for i in range(3)
        ]
        for x, y in zip(a.tolist(), b.tolist(), strict=True)
    ]
    assert product(a, b).tolist() == expected
    assert product(a[0], b[0]).tolist() == expected[0]


def test_sums_have_their_order():
    a, x = samples((40, 3, 3), 3), samples((40, 3), 4)
    for matrix, vector, found in zip(a.tolist(), x.tolist(), applied(a, x).tolist(), strict=True):
        assert found == [(r[0] * vector[0] + r[1] * vector[1]) + r[2] * vector[2] for r in matrix]
    for (x0, x1, x2), found in zip(x.tolist(), square(x).tolist(), strict=True):
        assert found == (x0 * x0 + x2 * x2) + x1 * x1
        assert dot((x0, x1, x2), (x1, x2, x0)) == (x0 * x1 + x1 * x2) + x2 * x0
        assert total((x0, x1, x2)) == (x0 + x1) + x2


def test_a_body_is_placed_to_the_same_bits_alone_and_among_others():
    """As in a sweep, which places one body in many versions."""
    a, b, c = (np.linalg.qr(samples((9, 3, 3), seed))[0] for seed in (5, 6, 7))
    columns = {"rotation": b, "translation": samples((9, 3), 8)}
    together, alone = np.zeros((9, 64)), np.zeros((9, 64))
    place_bodies(together, a, columns, c)
    for k in range(9):
        one = {name: column[k : k + 1] for name, column in columns.items()}
        place_bodies(alone[k : k + 1], a[k : k + 1], one, c[k : k + 1])
    assert together.tobytes() == alone.tobytes()


if __name__ == "__main__":
    print(json.dumps(packed()))
