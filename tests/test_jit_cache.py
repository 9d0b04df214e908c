"""The kernel cache: never stale, hit when nothing changed, kept apart, and never in the way.

Each test runs a copy of the package in processes of its own. The copy gains one kernel, `probe`,
whose value comes from a helper in another file.
"""

import ast
import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest

import skodyn
from skodyn import jit, sources

PROBE = """
from skodyn.jit import kernel
from skodyn.spatial.linear3 import cross

@kernel
def probe(a, b):
    return cross(a, b)
"""

OTHER_PACKAGE = """
import numba

@numba.njit(cache=True)
def stranger(x):
    return 2.0 * x
"""

MAIN = """
import json, sys
import skodyn
from skodyn import jit
from skodyn.probe import probe

if "stranger" in sys.argv:
    from other_package import stranger
    assert stranger(1.0) == 2.0
value = probe((1.0, 2.0, 3.0), (4.0, 5.0, 6.0))
print(json.dumps({
    "value": value,
    "file": skodyn.__file__,
    "root": str(jit.cache_root()),
    "folder": str(jit.kernel_folder("skodyn.probe")),
    "hits": sum(probe.dispatcher.stats.cache_hits.values()),
    "misses": sum(probe.dispatcher.stats.cache_misses.values()),
}))
"""

CROSS = [-3.0, 6.0, -3.0]  # (1, 2, 3) × (4, 5, 6)


class Copy:
    """A copy of the package with the probe in it, and how to run it."""

    def __init__(self, folder):
        self.folder = folder
        self.package = folder / "path" / "skodyn"
        source = Path(skodyn.__file__).parent
        shutil.copytree(source, self.package, ignore=shutil.ignore_patterns("__pycache__"))
        (self.package / "probe.py").write_text(PROBE)
        (folder / "path" / "other_package.py").write_text(OTHER_PACKAGE)
        (folder / "main.py").write_text(MAIN)
        for name in ("home", "tmp"):
            (folder / name).mkdir()

    def run(self, *arguments, **settings):
        """What main.py reports; no cache setting of this session leaks into it."""
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("NUMBA_", "XDG_"))
        }
        environment |= {
            "PYTHONPATH": str(self.folder / "path"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HOME": str(self.folder / "home"),
            "TMPDIR": str(self.folder / "tmp"),
        }
        environment |= {name: str(value) for name, value in settings.items()}
        command = [sys.executable, str(self.folder / "main.py"), *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        report = SimpleNamespace(**json.loads(done.stdout))
        assert Path(report.file).parent == self.package
        report.root, report.folder = Path(report.root), Path(report.folder)
        return report

    def edit(self, file, old, new):
        path = self.package / file
        text = path.read_text()
        assert text.count(old) == 1
        path.write_text(text.replace(old, new))


@pytest.fixture
def copy(tmp_path):
    return Copy(tmp_path)


def files(folder):
    """Every file below a folder with the time of its last change."""
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_a_cached_kernel_is_reused_while_no_source_changes_and_never_after(copy, tmp_path):
    cache = tmp_path / "cache"
    first = copy.run(NUMBA_CACHE_DIR=cache)
    assert first.value == CROSS
    assert (first.hits, first.misses) == (0, 1)
    assert first.root == cache / "skodyn"
    assert first.root in first.folder.parents
    written = files(first.folder)
    assert {path.suffix for path in written} == {".nbi", ".nbc"}

    again = copy.run(NUMBA_CACHE_DIR=cache)
    assert again.value == CROSS
    assert (again.hits, again.misses) == (1, 0)
    assert files(cache) == written

    copy.edit("spatial/linear3.py", "fma(a[1], b[2], -(a[2] * b[1])),", "fma(a[1], b[2], a[2]),")
    edited = copy.run(NUMBA_CACHE_DIR=cache)
    assert edited.value == [15.0, 6.0, -3.0]  # 2·6 + 3: the new helper, not the cached one
    assert (edited.hits, edited.misses) == (0, 1)
    assert edited.folder != first.folder


def test_an_edit_that_no_kernel_can_reach_recompiles_nothing(copy, tmp_path):
    cache = tmp_path / "cache"
    copy.run(NUMBA_CACHE_DIR=cache)
    copy.edit("cli/__init__.py", "Multibody dynamics at compiled speed.", "Edited.")
    copy.edit("errors.py", "A graph that is not what was asked for", "Edited")
    again = copy.run(NUMBA_CACHE_DIR=cache)
    assert (again.hits, again.misses) == (1, 0)


NOT_COMPILED = {
    "skodyn.errors",
    "skodyn.faults",
    "skodyn.wording",
    "skodyn.jit.guards",
    "skodyn.jit.guarded_arguments",
}
"""Left out of the hashes: no code of a kernel is made of these."""


@cache
def imports_seen_by_python(module):
    """Modules of the package that a module's syntax tree imports, found without our reader."""
    path = Path(skodyn.__file__).parent.joinpath(*module.split(".")[1:])
    path = path.with_suffix(".py") if path.with_suffix(".py").exists() else path / "__init__.py"
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("skodyn"):
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= inner if inner <= sources._files().keys() else {node.module, *inner}
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names if alias.name.startswith("skodyn")}
    return {name for name in names - {"skodyn"} if name in sources._files()}


def every_module():
    root = Path(skodyn.__file__).parent
    for path in sorted(root.rglob("*.py")):
        parts = ("skodyn", *path.relative_to(root).with_suffix("").parts)
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_every_import_is_followed():
    for module in every_module():
        reached = sources.dependencies(module)
        for member in reached - {"skodyn"}:
            assert imports_seen_by_python(member) - NOT_COMPILED <= reached, (module, member)


def test_kernels_do_not_reach_checks_phrases_or_readers_of_files():
    for module in every_module():
        if module.startswith(("skodyn.kernels.", "skodyn.simulation.steppers.")):
            reached = sources.dependencies(module)
            assert not reached & NOT_COMPILED, module
            assert not [name for name in reached if name.startswith("skodyn.io")], module


def test_an_edit_of_what_is_not_compiled_makes_no_loop_of_an_integrator_stale():
    """Sessions, settings, logs, channels and descriptions of forces are Python."""
    from skodyn.simulation.methods import METHODS

    for method in METHODS.values():
        reached = sources.dependencies(method.loop.__module__)
        assert "skodyn.simulation.systems.system" in reached
        assert not {"skodyn.simulation", "skodyn.model.model", "skodyn.dynamics"} & reached


def test_other_packages_keep_their_own_cache(copy, tmp_path):
    cache = tmp_path / "cache"
    report = copy.run("stranger", NUMBA_CACHE_DIR=cache)
    strangers = {path for path in files(cache) if "stranger" in path.name}
    assert strangers
    assert not any(report.root in path.parents for path in strangers)
    assert all("stranger" not in path.name for path in files(report.folder))


def test_without_numba_cache_dir_the_cache_lies_in_the_folder_of_the_user(copy, tmp_path):
    report = copy.run("stranger", XDG_CACHE_HOME=tmp_path / "xdg")
    assert report.root == tmp_path / "xdg" / "skodyn"
    assert files(report.folder)
    assert not [path for path in files(tmp_path / "xdg") if "stranger" in path.name]
    beside_it = tmp_path / "path" / "__pycache__"  # numba's own default
    assert [path for path in files(beside_it) if "stranger" in path.name]

    at_home = copy.run()
    assert at_home.root == tmp_path / "home" / ".cache" / "skodyn"
    assert files(at_home.folder)


def test_nothing_is_written_into_a_read_only_package(copy, tmp_path):
    folders = [copy.package, *(path for path in copy.package.rglob("*") if path.is_dir())]
    before = files(copy.package)
    for folder in folders:
        folder.chmod(0o555)
    try:
        report = copy.run(NUMBA_CACHE_DIR=tmp_path / "cache")
    finally:
        for folder in folders:
            folder.chmod(0o755)
    assert report.value == CROSS
    assert files(copy.package) == before  # root may write anywhere, but nobody tried


def test_an_unusable_cache_folder_is_replaced_by_a_temporary_one(copy, tmp_path):
    blocked = tmp_path / "blocked"
    blocked.write_text("a plain file where a folder should be")
    folders = set()
    for _ in range(2):  # each process has its own, so that nobody else can have written it
        report = copy.run(NUMBA_CACHE_DIR=blocked)
        assert report.value == CROSS
        assert (report.hits, report.misses) == (0, 1)
        assert tmp_path / "tmp" in report.folder.parents
        assert not report.folder.exists(), "it goes with the process"
        folders.add(report.folder)
    assert len(folders) == 2
    assert blocked.read_text().startswith("a plain file")


def test_clear_cache_removes_every_version_and_counts_the_files(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    (tmp_path / "theirs.nbi").write_text("not ours")
    for version in ("1.0-a", "2.0-b"):
        folder = tmp_path / "skodyn" / version
        folder.mkdir(parents=True)
        (folder / "kernel.nbi").write_text("")
        (folder / "kernel.nbc").write_text("")
    assert jit.clear_cache() == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["theirs.nbi"]
    assert jit.clear_cache() == 0
