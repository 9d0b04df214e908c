"""The front page: every public name, found when it is asked for, and nothing before."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import get_args

import pytest

import skodyn as sk
from api_snapshot import STUB, stub


def test_the_stub_for_type_checkers_has_the_table_of_names():
    assert STUB.read_text() == stub(), "run: python tests/api_snapshot.py"
    imports = [node for node in ast.parse(stub()).body if isinstance(node, ast.ImportFrom)]
    assert {a.asname: node.module for node in imports for a in node.names} == sk._MODULE_OF
    assert set(sk.__all__) == {*sk._MODULE_OF, "__version__"}


def test_every_public_name_is_there():
    for name in sk.__all__:
        assert getattr(sk, name) is not None
        assert name in dir(sk)
    with pytest.raises(AttributeError, match="module 'skodyn' has no attribute 'simulat'"):
        _ = sk.simulat


def test_a_name_that_was_changed_works_and_warns(monkeypatch):
    monkeypatch.setitem(sk._RENAMED, "load_model", ("load", "0.9"))
    with pytest.warns(DeprecationWarning, match=r"sk.load_model is called sk.load now"):
        assert sk.load_model is sk.load


def test_every_exception_and_warning_is_public():
    raised = re.compile(r"^class ([A-Z]\w*)\(.*(?:Error|Warning|Exception).*\):", re.M)
    found = {
        name for path in Path(sk.__file__).parent.rglob("*.py")
        for name in raised.findall(path.read_text())
    }  # fmt: skip
    assert len(found) > 10
    assert sorted(found - set(sk.__all__)) == []


def test_the_command_line_and_python_sweep_on_the_same_engine(capsys):
    from skodyn.cli import main
    from skodyn.sweeps.engines import DEFAULT_ENGINE, ENGINES

    with pytest.raises(SystemExit):
        main(["sweep", "run", "--help"])
    listed = re.sub(r"\s+", " ", capsys.readouterr().out)
    assert f"{DEFAULT_ENGINE} (default)" in listed
    assert inspect.signature(sk.sweep).parameters["engine"].default == DEFAULT_ENGINE
    assert set(get_args(sk.typing.EngineName)) == set(ENGINES)


def test_names_of_types_are_the_words_that_are_known():
    from skodyn.simulation.methods import METHODS

    assert set(get_args(sk.typing.IntegratorName)) <= set(METHODS)


def modules_of_the_package():
    found = pkgutil.walk_packages(sk.__path__, "skodyn.")
    return [entry.name for entry in found if not entry.name.endswith("__main__")]


@pytest.mark.parametrize("path", modules_of_the_package())
def test_no_function_has_the_name_of_a_module_beside_it(path):
    package, _, name = path.rpartition(".")
    importlib.import_module(path)
    assert isinstance(getattr(importlib.import_module(package), name), ModuleType)


def test_importing_the_package_imports_neither_numpy_nor_numba_nor_h5py():
    code = "import sys, skodyn; print(sorted({'numpy', 'numba', 'h5py'} & set(sys.modules)))"
    assert said_by(code) == "[]"


def test_a_call_with_code_that_is_ready_does_not_import_numba(tmp_path):
    """Ready code is what the checks build before the tests; without it the compiler is needed."""
    code = """
import sys, skodyn as sk
from skodyn.kernels.forward_dynamics import forward_dynamics
from skodyn.jit import shipped
model = sk.load("scenarios/models/double_pendulum.toml")
ready = shipped.find(forward_dynamics) is not None
sk.forward_dynamics(model, [0.1, 0.2], [0.0, 0.0], [0.0, 0.0])
print(ready == ("numba" not in sys.modules))
"""
    assert said_by(code) == "True"


def said_by(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        cwd=Path(__file__).parents[1],
    )  # fmt: skip
    return done.stdout.strip()
