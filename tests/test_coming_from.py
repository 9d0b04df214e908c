"""docs/coming-from.md: what stands side by side in its table of calls gives the same results."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

import skodyn as sk

PAGE = (Path(__file__).parent.parent / "docs" / "coming-from.md").read_text()
TABLE = PAGE.partition("<!-- calls -->\n")[2].partition("<!-- end -->")[0]
ROWS = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in TABLE.splitlines()[2:]]
ARM = """<robot name="arm">
<link name="base"/>
{links}
</robot>"""
LINK = """<link name="{name}"><inertial><origin xyz="{com}" rpy="0 0 0"/><mass value="{mass}"/>
<inertia ixx="0.02" iyy="0.03" izz="0.012" ixy="0.001" ixz="-0.002" iyz="0.003"/></inertial></link>
<joint name="{joint}" type="revolute"><parent link="{parent}"/><child link="{name}"/>
<origin xyz="{place}" rpy="0.3 -0.2 0.1"/><axis xyz="{axis}"/>
<limit lower="-3" upper="3" effort="100" velocity="10"/></joint>"""
KEYS = ("name", "joint", "parent", "place", "axis", "com", "mass")
LINKS = [
    ("upper", "shoulder", "base", "0 0 0.5", "0 0 1", "0.1 0 0.2", 2.0),
    ("lower", "elbow", "upper", "0.3 0 0.1", "0 1 0", "0.2 0.05 0", 1.5),
    ("hand", "wrist", "lower", "0.4 0.1 0", "1 0 0", "0.05 0 0.1", 0.7),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("arm")
    links = [LINK.format(**dict(zip(KEYS, link, strict=True))) for link in LINKS]
    (path / "arm.urdf").write_text(ARM.format(links="\n".join(links)))
    return path


def given():
    rng = np.random.default_rng(4)
    return {"np": np} | {name: rng.normal(size=3) for name in ("q", "v", "a", "tau")}


def of_pinocchio(pin):
    model = pin.buildModelFromUrdf("arm.urdf")
    return given() | {"pin": pin, "model": model, "data": model.createData()}


def of_mujoco(mujoco):
    m = mujoco.MjModel.from_xml_path("arm.urdf")
    names = given() | {"mujoco": mujoco, "m": m, "d": mujoco.MjData(m)}
    names["d"].qpos[:], names["d"].qvel[:] = names["q"], names["v"]
    return names


def of_skodyn():
    return given() | {"sk": sk, "model": sk.load("arm.urdf")}


def value(cell, names):
    """The last expression of the code in a cell."""
    (code,) = re.findall(r"`([^`]+)`", cell)
    tree = ast.parse(code)
    last = ast.Expression(tree.body.pop().value)
    exec(compile(tree, "cell", "exec"), names)
    return np.array(eval(compile(last, "cell", "eval"), names), dtype=float)


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_calls_in_a_row_give_the_same(row, folder, monkeypatch):
    pin, mujoco = (pytest.importorskip(name) for name in ("pinocchio", "mujoco"))
    monkeypatch.chdir(folder)
    _, theirs, mujocos, ours = row
    expected = value(ours, of_skodyn())
    assert (theirs, mujocos) != ("—", "—")
    for cell, make in ((theirs, lambda: of_pinocchio(pin)), (mujocos, lambda: of_mujoco(mujoco))):
        if cell != "—":
            np.testing.assert_allclose(value(cell, make()), expected, rtol=1e-9, atol=1e-11)


def test_the_table_is_long_and_mostly_filled():
    cells = [cell for row in ROWS for cell in row[1:]]
    assert len(ROWS) > 20
    assert sum(cell == "—" for cell in cells) < len(cells) / 4
    assert all(len(row) == 4 for row in ROWS)
