"""Files that CalculiX wrote, read as docs/howto-finite-elements.md says, against what it printed.

tests/data/calculix has a tapered bar (C3D20R) and a bent arm (C3D10): input files, matrices of
ccx 2.20, and in printed.json its own frequencies, displacements and mass properties. The functions
are those of the page itself. Where ccx is installed, the files are made anew as well.
"""

import ast
import json
import lzma
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import skodyn as sk
from pages import BLOCK, ROOT

pytest.importorskip("scipy.sparse")
DATA = Path(__file__).parent / "data" / "calculix"
PRINTED = json.loads((DATA / "printed.json").read_text())
PARTS = ["bar", "arm"]
DIGITS = 5.01e-7  # seven digits, rounded: half of the last one, relative to 0.1000000
LOADS = {"force": [500.0, 20.0, -30.0, 0, 0, 0], "torque": [0, 0, 0, 3.0, -2.0, 1.0]}


def page_functions():
    """Imports and functions of the page, without what it tries them on."""
    page, found = ROOT / "docs" / "howto-finite-elements.md", {}
    for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
        if block["language"] == "python":
            tree = ast.parse(block["text"])
            kept = (ast.Import, ast.ImportFrom, ast.FunctionDef)
            tree.body = [line for line in tree.body if isinstance(line, kept)]
            exec(compile(tree, page.name, "exec"), found)
    return found


PAGE = page_functions()
read_input, read_calculix, places = (PAGE[f] for f in ("read_input", "read_calculix", "places"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files as ccx leaves them."""
    folder = tmp_path_factory.mktemp("calculix")
    for file in DATA.iterdir():
        if file.suffix == ".xz":
            (folder / file.stem).write_bytes(lzma.decompress(file.read_bytes()))
        else:
            shutil.copy(file, folder)
    return folder


def read(folder, name):
    """What from_matrices takes, and nodes and numbers of the face TIP apart."""
    numbers, nodes, sets = read_input(folder / f"{name}_mesh.inp")
    stiffness, mass = read_calculix(folder / name, numbers)
    root, tip = (places(sets[face], numbers) for face in ("ROOT", "TIP"))
    return {"nodes": nodes, "stiffness": stiffness, "mass": mass, "root": root}, {"tip": tip}


def alike(found, printed):
    """To the digits that ccx printed; what ought to be zero, to roundings of the largest."""
    assert_allclose(found, printed, rtol=DIGITS, atol=1e-12 * np.abs(printed).max())


# ---- comparisons --------------------------------------------------------------------------------


def compare_mass(given, tip, printed):
    body, origin = sk.flexible.from_matrices(**given), given["nodes"][given["root"]].mean(axis=0)
    centre = body.first_moment / body.mass
    second = 0.5 * np.trace(body.inertia) * np.eye(3) - body.inertia
    second -= body.mass * np.outer(centre, centre)
    alike(body.mass, printed["mass"])
    alike(centre + origin, printed["centre_of_mass"])
    alike(second[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]], printed["second_moments"])


def compare_frequencies(given, tip, printed):
    alike(sk.flexible.from_matrices(**given, modes=14).frequencies[:10], printed["held_Hz"])


def flexibility(body):
    """Six motions of the tip under six loads there."""
    node = body.nodes["tip"]
    shapes = np.concatenate((node.translation, node.rotation))
    return shapes @ np.diag(1.0 / body.stiffness) @ shapes.T


def compare_deflections(given, tip, printed):
    soft = flexibility(sk.flexible.from_matrices(**given, interfaces=tip, modes=10))
    for name, load in LOADS.items():
        alike(soft @ load, printed[name])


COMPARISONS = [compare_mass, compare_frequencies, compare_deflections]


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("compare", COMPARISONS)
def test_a_part_is_what_calculix_printed(folder, name, compare):
    compare(*read(folder, name), PRINTED[name])


@pytest.mark.parametrize(("name", "modes", "left"), [("bar", 108, DIGITS), ("arm", 200, 1e-6)])
def test_a_rigid_tip_has_the_frequencies_of_calculix_from_above(folder, name, modes, left):
    """The more modes, the closer: of the bar all that there are, of the arm about two thirds."""
    given, tip = read(folder, name)
    above = []
    for count in (12, 30, modes):
        body = sk.flexible.from_matrices(**given, interfaces=tip, modes=count)
        above.append(body.frequencies[:10] / PRINTED[name]["rigid_tip_Hz"] - 1.0)
        assert (above[-1] > -DIGITS).all()
    few, more, most = (values.max() for values in above)
    assert few > more > most
    assert more < 2e-3
    assert most < left


# ---- faults that the comparisons must see -------------------------------------------------------


def turned(given, tip):
    """x, y, z of each node in another order."""
    order = (3 * np.arange(len(given["nodes"]))[:, None] + [1, 2, 0]).reshape(-1)
    return {key: given[key].tocsr()[order][:, order] for key in ("stiffness", "mass")}


def one_triangle(given, tip):
    """The lower triangle is lost, the rest taken for half of it."""
    return {"stiffness": given["stiffness"].multiply(0.5) + diagonal(given["stiffness"], 0.5)}


def diagonal(matrix, factor):
    return PAGE["sparse"].diags_array(factor * matrix.diagonal())


def shifted(given, tip):
    """Nodes one place further."""
    return {"nodes": np.roll(given["nodes"], 1, axis=0)}


def doubled(given, tip):
    """The diagonal counted twice, in both triangles."""
    return {key: given[key] + diagonal(given[key], 1.0) for key in ("stiffness", "mass")}


def other_root(given, tip):
    return {"root": given["root"][1:]}


FAULTS = {
    turned: "deflections", one_triangle: "frequencies deflections", shifted: "mass",
    doubled: "mass frequencies deflections", other_root: "frequencies deflections",
}  # fmt: skip


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_reader_with_a_fault_is_found_out(folder, name, fault):
    given, tip = read(folder, name)
    wrong = {**given, **fault(given, tip)}
    for word in FAULTS[fault].split():
        compare = globals()[f"compare_{word}"]
        with pytest.raises((AssertionError, sk.ModelError)):
            compare(wrong, tip, PRINTED[name])


@pytest.mark.parametrize("name", PARTS)
def test_rows_that_are_missing_or_of_other_nodes_are_refused(folder, name, tmp_path):
    numbers, _, _ = read_input(folder / f"{name}_mesh.inp")
    rows = (folder / f"{name}.dof").read_text().split()
    for changed, words in (
        (rows[:3] + rows[6:], r"lacks \d+\.1, and 2 rows more: take out boundary conditions"),
        ([*rows, "9901.1", "9901.2"], r"has 9901\.1, and 1 rows more, of nodes not in the mesh"),
    ):
        (tmp_path / f"{name}.dof").write_text("\n".join(changed))
        with pytest.raises(SystemExit, match=words):
            read_calculix(tmp_path / name, numbers)


def test_nodes_of_no_element_are_left_out(folder):
    assert "\n9001, " in (folder / "arm_mesh.inp").read_text()
    numbers, nodes, _ = read_input(folder / "arm_mesh.inp")
    assert 9001 not in numbers
    assert len(numbers) == len(nodes) == 117
    with pytest.raises(SystemExit, match=r"has \*INCLUDE, INPUT=.*: give a file with"):
        read_input(folder / "arm.inp")


# ---- masses of reduced integration --------------------------------------------------------------


@pytest.mark.parametrize(("name", "rank", "inside"), [("bar", 44, 34), ("arm", 111, 99)])
def test_a_mass_that_is_singular_has_as_many_modes_as_its_rank(folder, name, rank, inside):
    given, tip = read(folder, name)
    lumped = given["mass"].toarray()[::3, ::3]
    assert np.linalg.matrix_rank(lumped, hermitian=True) == rank < len(lumped)
    inner = np.setdiff1d(np.arange(len(lumped)), np.concatenate((given["root"], tip["tip"])))
    lumped = lumped[np.ix_(inner, inner)]
    assert np.linalg.matrix_rank(lumped, hermitian=True) == inside <= len(inner)
    most = 6 + 3 * inside
    if most < 200:
        with pytest.raises(sk.ModelError, match=f"modes is {most + 1}, but there are {most} sha"):
            sk.flexible.from_matrices(**given, interfaces=tip, modes=most + 1)
    body = sk.flexible.from_matrices(**given, interfaces=tip, modes=min(most, 200))
    for name_of, load in LOADS.items():
        alike(flexibility(body) @ load, PRINTED[name][name_of])


# ---- motion -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PARTS)
def test_a_part_swings_and_keeps_its_energy(folder, name):
    given, tip = read(folder, name)
    body = sk.flexible.from_matrices(**given, interfaces=tip, modes=8)
    builder = sk.ModelBuilder(gravity=(0, -9.81, 0))
    builder.add_body("part", joint=sk.Revolute(axis=(0, 0, 1)), flexible=body)
    builder.add_body("load", "part", at="tip", mass=0.2, inertia=(1e-4, 1e-4, 1e-4))
    model = builder.build()
    run = sk.simulate(
        model, model.neutral(), np.zeros(model.nv), duration=0.1, dt=5e-6, every=200,
        channels=["energy"],
    )  # fmt: skip
    assert run.status == "finished", run.message
    kinetic, potential = np.asarray(run.trajectory["energy"]).T
    assert kinetic.max() > 0.05
    assert np.abs(kinetic + potential - (kinetic + potential)[0]).max() < 1e-11 * kinetic.max()


# ---- with CalculiX ------------------------------------------------------------------------------


def installed():
    """Other versions may number or integrate in another way."""
    if shutil.which("ccx") is None:
        return ""
    said = subprocess.run(["ccx", "-v"], capture_output=True, text=True, check=False).stdout
    return "".join(re.findall(r"Version (\S+)", said))


def printed_frequencies(path):
    row = r"^ +\d+ +\S+ +\S+ +(\S+) +0\.0000000E\+00$"
    return [float(found) for found in re.findall(row, path.read_text(), re.M)]


@pytest.mark.skipif(installed() != "2.20", reason="CalculiX (ccx) 2.20 is not installed")
@pytest.mark.parametrize("name", PARTS)
def test_calculix_writes_these_files(folder, name, tmp_path):
    for file in DATA.glob(f"{name}*.inp"):
        shutil.copy(file, tmp_path)
    for job in (name, f"{name}_held", f"{name}_rigid"):
        subprocess.run(["ccx", job], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    assert (tmp_path / f"{name}.dof").read_text() == (folder / f"{name}.dof").read_text()
    for ending in ("sti", "mas"):
        new, old = (np.loadtxt(place / f"{name}.{ending}") for place in (tmp_path, folder))
        assert_allclose(new, old, rtol=1e-9, atol=1e-12 * np.abs(old[:, 2]).max())
    for job, key in (("held", "held_Hz"), ("rigid", "rigid_tip_Hz")):
        found = printed_frequencies(tmp_path / f"{name}_{job}.dat")
        assert_allclose(found, PRINTED[name][key], rtol=2.0 * DIGITS)
