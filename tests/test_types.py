"""What a type checker sees of skodyn from outside: a type for every result, and words that fit."""

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import get_overloads

import pytest

import skodyn as sk
from pages import BLOCK

HERE = Path(__file__).parent
ROOT = HERE.parent
USE = HERE / "data" / "typed_use.py"


def checked(*files, strict=True):
    """What mypy says of a user's files, with none of this project's settings."""
    pytest.importorskip("mypy")
    options = ["--config-file=", "--follow-imports=silent", "--cache-dir", ".mypy_cache/outside"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, *(["--strict"] if strict else []), *files],
        cwd=ROOT,
        env=os.environ | {"MYPYPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout


@pytest.fixture(scope="module")
def revealed():
    code, said = checked(str(USE))
    assert code == 0, said
    return dict(re.findall(r':(\d+): note: Revealed type is "(.*)"', said))


def test_no_result_is_any(revealed):
    lines = USE.read_text().splitlines()
    assert len(revealed) == sum(line.startswith("reveal_type") for line in lines)
    for number, found in revealed.items():
        known = re.sub(r"tuple\[Any, \.\.\.\]", "shape", found)  # NumPy has no shapes to tell,
        known = known.replace("ndarray[Any,", "ndarray[shape,")  # up to 2.1 in these words
        assert "Any" not in known, f"{lines[int(number) - 1]} is {found}"


def public_results():
    """(name, annotation of the result) of every public function, method and property."""
    for name in sk.__all__:
        thing = getattr(sk, name)
        yield from results_of(name, thing)
        if inspect.ismodule(thing) and thing is not sk.extension:  # its helpers are numba's
            for part in thing.__all__:
                yield from results_of(f"{name}.{part}", getattr(thing, part))


def results_of(name, thing):
    if inspect.isfunction(thing) and not get_overloads(thing):
        yield name, thing.__annotations__["return"]
    for part, value in vars(thing).items() if inspect.isclass(thing) else ():
        found = getattr(value, "fget", None) or getattr(value, "func", None) or value
        found = getattr(found, "__func__", found)
        if inspect.isfunction(found) and not part.startswith("_") and not get_overloads(found):
            yield f"{name}.{part}", found.__annotations__.get("return", "nothing")


def test_every_public_function_and_method_says_what_it_returns():
    found = dict(public_results())
    assert len(found) > 200
    vague = {name for name, said in found.items() if re.search(r"\bAny\b|^nothing$", said)}
    assert vague == set()


def test_a_result_that_depends_on_the_argument_has_the_type_of_the_argument(revealed):
    lines = USE.read_text().splitlines()
    of = {line.partition("#")[2].strip(): revealed[str(k)] for k, line in enumerate(lines, 1)
          if "  # " in line and str(k) in revealed}  # fmt: skip
    assert of["one state"] == "tuple[float, float]"
    assert "float |" not in of["a batch"]
    assert "float |" in of["whichever q is"]


WRONG = {
    'sk.momentum(model, q, v, about="centre")': "origin",
    'sk.sweep("study.toml", engine="thraeds")': "threads",
    'sk.load("arm.urdf", root="floating")': "free",
    "sk.forward_dynamics(model, q, v)": "tau",
    "sk.mass_matrix(q, model)": "Model",
}


def test_wrong_calls_are_seen_before_they_run(tmp_path):
    file = tmp_path / "wrong.py"
    begin = USE.read_text().partition("\nreveal_type")[0].splitlines()
    file.write_text("\n".join([*begin, *WRONG]))
    code, text = checked(str(file))
    assert code == 1
    for number, said in enumerate(WRONG.values(), len(begin) + 1):
        found = [line for line in text.splitlines() if f":{number}: error" in line]
        assert any(said in line for line in found), text


def test_examples_of_the_pages_have_no_wrong_types(tmp_path):
    files = []
    for page in ("README.md", "docs/functions.md", "docs/tutorial.md"):
        blocks = [b["text"] for b in BLOCK.finditer((ROOT / page).read_text())
                  if b["language"] == "python"]  # fmt: skip
        files.append(tmp_path / f"{Path(page).stem.lower()}_page.py")
        files[-1].write_text("\n".join(blocks))
    code, text = checked(*map(str, files), strict=False)
    assert code == 0, text
