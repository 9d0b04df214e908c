"""The command line: what it prints where, and how it ends."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import skodyn as sk
from skodyn import jit, precompile, progress
from skodyn.cli import main
from skodyn.io import load
from skodyn.jit import build, folders, shipped
from skodyn.model.drawing import LIMIT, draw

ROOT = Path(__file__).parent.parent
MODELS = ROOT / "scenarios" / "models"
PENDULUM = str(MODELS / "double_pendulum.toml")


@pytest.fixture
def faulty(tmp_path: Path) -> str:
    path = tmp_path / "faulty.toml"
    path.write_text('[bodies.a]\nparent = "wrld"\nmass = -1\ninertia = [1, 1, 5]\n')
    return str(path)


@pytest.fixture
def repairable(tmp_path: Path) -> Path:
    path = tmp_path / "repairable.toml"
    path.write_text('[bodies.a]\nparent = "world"\nmass = 1\ninertia = [1, 1, 5]\n')
    return path


# ---- info ---------------------------------------------------------------------------------------


def test_info_draws_the_tree(capsys: Any):
    assert main(["info", PENDULUM]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out == (
        f"double pendulum: 2 bodies, nq 2, nv 2, 2 kg, gravity (0, 0, -9.81), "
        f"hash {load(PENDULUM).content_hash[:12]}\n"
        "world\n"
        "└─ upper    shoulder: revolute axis (0, 1, 0)  1 dof  1 kg\n"
        "   ↳ lower  elbow: revolute axis (0, 1, 0)     1 dof  1 kg\n"
        "frames\n"
        "   tip  in lower  at (0, 0, -1)\n"
    )


def test_info_as_json_holds_the_model(capsys: Any):
    path = MODELS / "every_joint.toml"
    assert main(["info", str(path), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    model = load(path)
    assert (data["nq"], data["nv"], data["hash"]) == (model.nq, model.nv, model.content_hash)
    assert [body["name"] for body in data["bodies"]] == list(model.body_names)
    helical = next(b["joint"] for b in data["bodies"] if b["joint"]["type"] == "helical")
    assert helical["pitch"] == 0.01
    assert slice(*helical["q"]) == model.q_slice("thread")


# ---- drawing ------------------------------------------------------------------------------------


def tree(parents: list[int]) -> sk.Model:
    builder = sk.ModelBuilder(name="tree")
    for k, parent in enumerate(parents):
        joint = sk.Revolute(name=f"j{k}")
        above = "world" if parent < 0 else f"b{parent}"
        builder.add_body(f"b{k}", above, joint, mass=1.0, inertia=(1, 1, 1))
    return builder.build()


def branches(text: str) -> list[str]:
    """The first column of the bodies in a drawing."""
    return [re.split(r" +j\d+:", line)[0] for line in text.splitlines() if ": revolute" in line]


def test_branches_indent_and_chains_do_not():
    assert branches(draw(tree([-1, 0, 1, 2, 2, 4, 0, -1]))) == [
        "├─ b0",
        "│  ├─ b1",
        "│  │  ↳ b2",
        "│  │  ├─ b3",
        "│  │  └─ b4",
        "│  │     ↳ b5",
        "│  └─ b6",
        "└─ b7",
    ]


def test_a_long_chain_is_cut_and_says_so():
    model = tree(list(range(-1, 999)))
    text = draw(model)
    assert len(branches(text)) == LIMIT
    assert f"… {1000 - LIMIT} more below" in text
    assert text.splitlines()[-1].startswith(
        f"… {1000 - LIMIT} bodies left out; `skodyn info --all`"
    )


def test_everything_is_drawn_when_asked():
    text = draw(tree(list(range(-1, 999))), everything=True)
    assert len(branches(text)) == 1000
    assert "…" not in text
    assert max(map(len, text.splitlines())) < 100


def test_a_cut_keeps_the_first_levels_with_their_branches():
    model = tree([-1, *(k // 2 for k in range(999))])
    drawn = branches(draw(model))
    assert len(drawn) == LIMIT
    assert {f"b{k}" for k in range(LIMIT)} == {line.split()[-1] for line in drawn}


def test_a_deep_comb_does_not_indent_without_end():
    text = draw(tree([-1, *((k - 1) // 2 * 2 for k in range(1, 2001))]), everything=True)
    assert len(branches(text)) == 2001
    assert max(map(len, text.splitlines())) < 150
    assert "┄ (on b1998) b2000" in text


def test_drawing_does_not_recurse():
    model = tree(list(range(-1, 9_999)))
    assert draw(model, everything=True).count("\n") == 10_001


# ---- check --------------------------------------------------------------------------------------


def test_check_says_sound(capsys: Any):
    assert main(["check", PENDULUM]) == 0
    assert capsys.readouterr().out == f"{PENDULUM}: valid (2 bodies, nq 2, nv 2)\n"


@pytest.mark.parametrize("name", ["double_pendulum", "sweep_double_pendulum"])
def test_info_of_a_scenario_draws_the_model_that_it_simulates(capsys, name):
    assert main(["info", PENDULUM]) == 0
    drawn = capsys.readouterr().out
    assert main(["info", f"scenarios/{name}.toml"]) == 0
    assert capsys.readouterr().out == drawn
    assert main(["info", f"scenarios/{name}.toml", "--root", "free"]) == 2
    assert "options of robots are for models; leave them out" in capsys.readouterr().err


def test_view_of_a_scenario_with_a_sweep_shows_its_start(tmp_path):
    page = tmp_path / "start.html"
    assert main(["view", "scenarios/sweep_cart_gains.toml", "--html", str(page)]) == 0
    assert "cart" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("command", ["check", "info"])
def test_faults_go_to_stderr_with_exit_code_2(command: str, faulty: str, capsys: Any):
    assert main([command, faulty]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("3 faults in this model:\n")
    assert [f"faulty.toml:{line}: " in err for line in (2, 3, 4)] == [True] * 3


def test_a_missing_file_is_a_sentence(capsys: Any):
    assert main(["info", "none.toml"]) == 2
    assert capsys.readouterr().err == "none.toml: there is no such file; check the path.\n"


def test_check_repair_shows_changes_and_writes_nothing(repairable: Path, capsys: Any):
    before = repairable.read_bytes()
    assert main(["check", str(repairable), "--repair"]) == 0
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("would repair: Body 'a': inertia violates the triangle inequality")
    assert "replaced [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 5.0]] by [[" in first
    assert last.endswith("valid after 1 repair; nothing was written")
    assert repairable.read_bytes() == before


def test_check_repair_of_a_sound_model_repairs_nothing(capsys: Any):
    assert main(["check", PENDULUM, "--repair"]) == 0
    assert "repair" not in capsys.readouterr().out


# ---- cache --------------------------------------------------------------------------------------


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: Any) -> Path:
    """A cache of two versions of the sources: ours with one file, another with two."""
    shipped.opened()  # it asks for the folder once, which must not be this one
    ours, other = tmp_path / "skodyn" / "ours", tmp_path / "skodyn" / "other"
    for folder, count in ((ours, 1), (other, 2)):
        folder.mkdir(parents=True)
        for k in range(count):
            (folder / f"{k}.nbc").write_bytes(b"x" * 500_000)
    monkeypatch.setattr(folders, "cache_root", lambda: tmp_path / "skodyn")
    monkeypatch.setattr(folders, "cache_folder", lambda: ours)
    return tmp_path / "skodyn"


def test_cache_info_counts_files_and_other_versions(cache: Path, capsys: Any):
    assert main(["cache", "info"]) == 0
    first, *rest = capsys.readouterr().out.splitlines()
    assert first.startswith("kernels ")
    assert rest == [
        f"folder  {cache / 'ours'}",
        "files   1",
        "size    0.5 MB",
        "other version  other: 2 files, 1.0 MB",
    ]


def test_cache_clear_removes_every_version(cache: Path, capsys: Any):
    assert main(["cache", "clear"]) == 0
    assert capsys.readouterr().out == f"removed 3 files from {cache}\n"
    assert not cache.exists()


@pytest.fixture
def three_kernels(monkeypatch: Any) -> list[str]:
    """As if the package had no more than these."""
    names = ["model.manifold:integrate", "model.manifold:difference", "sko.solve:solve_sweep"]
    kernels = {name: build.all_kernels()[name] for name in names}
    monkeypatch.setattr(build, "all_kernels", lambda: kernels)
    return names


@pytest.mark.skipif(bool(shipped.why_not() or not build.linker()), reason="no C compiler")
def test_cache_warm_builds_an_object_that_holds_every_kernel_and_says_so(
    three_kernels: list[str], tmp_path: Path, capsys: Any, monkeypatch: Any
):
    monkeypatch.setattr(precompile, "missing", lambda: three_kernels)
    monkeypatch.setattr(folders, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    assert main(["cache", "warm", "--jobs", "1"]) == 0
    said = capsys.readouterr()
    path = shipped.object_path(tmp_path / "objects", shipped.level())
    assert said.out.startswith(f"every kernel is ready in {path}: ")
    assert said.err.splitlines()[-1].startswith("kernels: 100 %, 3 of 3, 0:00:00 left  ")
    held = shipped.read(path)
    assert held is not None
    assert sorted(held.listed["kernels"]) == sorted(three_kernels)
    assert all(map(held.holds, three_kernels))


@pytest.mark.parametrize("workers", [1, 2])
def test_without_a_c_compiler_numba_compiles_every_kernel(
    workers: int, three_kernels: list[str], monkeypatch: Any
):
    monkeypatch.setattr(build, "linker", lambda: None)
    told: list[tuple[int, int, str]] = []
    assert precompile.precompile(lambda *seen: told.append(seen), workers) is None
    assert [done for done, _, _ in told] == [1, 2, 3]
    assert sorted(name for _, _, name in told) == sorted(three_kernels)


def test_cache_warm_has_nothing_to_do_twice(capsys: Any, monkeypatch: Any):
    monkeypatch.setattr(precompile, "missing", list)
    assert main(["cache", "warm"]) == 0
    assert capsys.readouterr().out == "every kernel is ready\n"


def test_cache_warm_without_the_compiler_says_so(capsys: Any, monkeypatch: Any):
    monkeypatch.setattr(jit, "JIT_DISABLED", True)
    assert main(["cache", "warm"]) == 0
    assert "nothing is compiled" in capsys.readouterr().out


# ---- the program itself -------------------------------------------------------------------------


def test_version(capsys: Any):
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"skodyn {sk.__version__}\n"


@pytest.mark.parametrize(
    "arguments", [["inf"], ["info"], ["info", "a", "b"], ["cache"], ["info", "a", "--al"]]
)
def test_wrong_arguments_end_with_2_and_usage(arguments: list[str], capsys: Any):
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert "usage: skodyn" in capsys.readouterr().err


def test_every_example_of_the_help_is_understood(capsys: Any):
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    out = capsys.readouterr().out
    examples = re.findall(r"^  skodyn (.*?)   *\S", out, re.MULTILINE)
    assert len(examples) == len(re.findall(r"^  skodyn ", out, re.MULTILINE)) > 10
    for example in examples:
        if "arm.toml" in example and "plot" not in example:  # that writes a file
            assert main(example.replace("arm.toml", PENDULUM).split()) == 0


def test_an_interrupt_is_not_a_traceback(monkeypatch: Any, capsys: Any):
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("skodyn.cli.load", interrupted)
    assert main(["info", PENDULUM]) == 130
    assert capsys.readouterr().err == "interrupted\n"


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "skodyn", *arguments],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, **environment},
        check=False,
    )


def test_python_m_skodyn_is_the_same_program_and_an_ascii_terminal_is_no_crash():
    done = run("info", PENDULUM, PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert done.stderr == ""
    assert "?? upper    shoulder: revolute" in done.stdout


def test_a_reader_that_leaves_early_causes_no_traceback(tmp_path: Path):
    bodies = "".join(f'[bodies.b{k}]\nparent = "world"\n' for k in range(3000))
    path = tmp_path / "many.toml"
    path.write_text(bodies)
    command = [sys.executable, "-m", "skodyn", "info", str(path), "--all"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        program.stdout.readline()
        program.stdout.close()
        assert program.stderr.read() == b""
    assert program.returncode == 141


# ---- README -------------------------------------------------------------------------------------


def block(marker: str) -> str:
    """The fenced block between a marker and the end of it in README.md."""
    text = (ROOT / "README.md").read_text()
    (found,) = re.findall(rf"<!-- {marker} -->\n```\w+\n(.*?)```\n<!-- end -->", text, re.DOTALL)
    return found


def test_the_commands_of_the_readme_name_things_that_exist(tmp_path: Path, monkeypatch: Any):
    monkeypatch.chdir(tmp_path)  # a run writes its log where it is started
    program = block("main-command").split(".venv/bin/skodyn ")[1].split()
    assert main([program[0], str(ROOT / program[1])]) == 0
    assert (ROOT / block("test-command").split()[-1]).is_file()


def test_skodyn_alone_prints_its_help(capsys):
    assert main([]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("usage: skodyn")
    assert err == ""


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_completion_prints_a_script_that_knows_every_command(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(word in script for word in ("sweep", "identities", "overwrite"))


def test_completion_in_bash_completes_a_command(tmp_path, capsys):
    assert main(["completion", "bash"]) == 0
    script = tmp_path / "skodyn.bash"
    script.write_text(capsys.readouterr().out)
    typed = "COMP_WORDS=(skodyn swe); COMP_CWORD=1; COMP_LINE='skodyn swe'; COMP_POINT=10"
    ask = f"source {script}; {typed}; _shtab_skodyn; printf '%s ' \"${{COMPREPLY[@]}}\""
    done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["sweep"]


def test_completion_without_shtab_names_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 2
    assert "pip install 'skodyn[completion]'" in capsys.readouterr().err
