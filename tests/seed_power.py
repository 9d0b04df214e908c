"""How many random systems does it take to find a fault? Planted ones, in the dense twin.

    python tests/seed_power.py        # a few minutes

Every sum, sign, transpose and small number in the functions of tests/naive.py is changed, one at a
time; the first of the systems of tests/test_dynamics_twin.py whose results differ has found it.
CONTRIBUTING.md says what came out, and how many seeds the tests take for it.
"""

from __future__ import annotations

import ast
import copy
import types
from pathlib import Path

import numpy as np

import naive

SOURCE = ast.parse(Path(naive.__file__).read_text())
LEFT_ALONE = {"random_unit", "random_joint", "random_inertia", "random_bodies", "random_state"}
LEFT_ALONE |= {"matrix_exp", "left_jacobian", "integrate", "difference", "quaternion_log"}
LEFT_ALONE |= {"base_to_tips", "path_to_base", "offsets"}  # loops that a fault never ends
LAST = 210


def places(tree):
    """Every node that can be changed, with its function."""
    for function in tree.body:
        if isinstance(function, ast.FunctionDef) and function.name not in LEFT_ALONE:
            for node in ast.walk(function):
                number = isinstance(node, ast.Constant) and type(node.value) in (int, float)
                if number or isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Attribute)):
                    yield function.name, node


def change(node):
    """The node changed in place; None where it has no natural fault."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        node.op = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node.op = ast.UAdd()
    elif isinstance(node, ast.Attribute) and node.attr == "T":
        node.attr = "real"
    elif isinstance(node, ast.Constant) and node.value in (1, 2, 0.5):
        node.value = {1: 2, 2: 1, 0.5: 1.0}[node.value]
    else:
        return None
    return ast.unparse(node)


def mutants():
    for number, (name, node) in enumerate(places(SOURCE)):
        tree = copy.deepcopy(SOURCE)
        changed = change(list(places(tree))[number][1])
        if changed:
            module = types.ModuleType("mutant")
            exec(compile(tree, "naive.py", "exec"), module.__dict__)
            yield f"{name}, line {node.lineno}: {changed}", module


def system(seed):
    """The one of test_dynamics_twin.Case."""
    rng = np.random.default_rng([2024, seed])
    options = {"branching": (0.0, 0.5, 0.9)[seed % 3], "massless": float(seed % 2)}
    options["rotors"] = (0.0, 0.0, 0.0, 0.7)[seed % 4]
    bodies = naive.random_bodies(rng, 1 + seed % 15, **options)
    gravity = rng.normal(scale=6.0, size=3)
    q, v = naive.random_state(rng, bodies)
    x, f = rng.normal(scale=3.0, size=len(v)), rng.normal(scale=3.0, size=(len(bodies), 6))
    return bodies, q, v, x, gravity, f


def results(twin, bodies, q, v, x, gravity, f):
    tip, point = len(bodies) - 1, np.array([0.3, -0.2, 0.5])
    yield from twin.forward_kinematics(bodies, q)
    yield twin.mass_matrix(bodies, q)
    yield twin.velocities(bodies, q, v)
    yield twin.inverse_dynamics(bodies, q, v, x, gravity, f)
    yield twin.joint_forces(bodies, q, v, x, gravity, f)
    yield twin.gravity_force(bodies, q, gravity)
    yield twin.coriolis_accelerations(bodies, q, v)
    yield twin.gyroscopic_forces(bodies, q, v)
    yield twin.jacobian(bodies, q, tip, point)
    yield twin.jacobian_dot_v(bodies, q, v, tip, point)
    yield twin.kinetic_energy(bodies, q, v)
    yield twin.potential_energy(bodies, q, gravity)
    yield twin.momentum(bodies, q, v)
    yield twin.centroidal_momentum(bodies, q, v)
    yield twin.centre_of_mass(bodies, q)
    yield twin.forward_dynamics(bodies, q, v, x, gravity, f)
    yield twin.mass_matrix_logdet(bodies, q)
    yield twin.operational_space_compliance(bodies, q, [(0, point), (tip, -point)])


def finds(seed, right, twin):
    with np.errstate(all="ignore"):
        try:
            got = list(results(twin, *system(seed)))
            return any(
                a.shape != b.shape or not np.allclose(a, b, rtol=1e-7, atol=1e-9)
                for a, b in zip(map(np.asarray, got), map(np.asarray, right), strict=True)
            )
        except Exception:
            return True


def main():
    right = [list(results(naive, *system(seed))) for seed in range(LAST)]
    first = {}
    for name, twin in mutants():
        first[name] = next((s for s in range(LAST) if finds(s, right[s], twin)), None)
    found = sorted((seed, name) for name, seed in first.items() if seed is not None)
    print(f"{len(first)} faults, {len(found)} found; the last to be found, by seed:")
    for seed, name in found[-12:]:
        print(f"{seed:4d}  {name}")
    print(
        "not found by any:", *(name for name, seed in first.items() if seed is None), sep="\n      "
    )


if __name__ == "__main__":
    main()
