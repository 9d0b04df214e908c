"""What a message tells a person to type exists: names in Python, commands, options, extras."""

from __future__ import annotations

import argparse
import ast
import dataclasses
import importlib
import inspect
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import skodyn as sk
from skodyn.cli import _parser

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "src" / "skodyn").rglob("*.py"))
NOT_REMEDIES = ("__repr__", "plain.py", "compiled.py", "page.py", "server.py")


def docstrings(tree: ast.AST) -> set[int]:
    bodies = [node.body for node in ast.walk(tree) if isinstance(getattr(node, "body", None), list)]
    lines = [line for body in bodies for line in body if isinstance(line, ast.Expr)]
    return {id(line.value) for line in lines}


def messages(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every text of a module but its docstrings; what is filled in reads as X."""
    skipped = docstrings(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == "__repr__":
            skipped |= {id(inner) for inner in ast.walk(node)}
        if isinstance(node, ast.JoinedStr):
            skipped |= {id(part) for part in node.values}
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, "".join(_constant(part) for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def _constant(part: ast.expr) -> str:
    return str(part.value) if isinstance(part, ast.Constant) else "X"


def subcommands(parser: argparse.ArgumentParser) -> dict[str, Any]:
    found = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    return dict(found[0].choices) if found else {}


def options_of(parser: argparse.ArgumentParser) -> set[str]:
    found = {option for action in parser._actions for option in action.option_strings}
    return found.union(*(options_of(p) for p in subcommands(parser).values()))


def check_dotted(words: str) -> None:
    """As a person types it after `import skodyn` or `import skodyn as sk`."""
    found: Any = sk
    for name in words.split(".")[1:]:
        found = getattr(found, name)


def check_call(words: str) -> None:
    """A call with keywords: the function exists and takes them."""
    name, _, given = words.partition("(")
    check_dotted(name)
    takes = inspect.signature(getattr(sk, name.split(".")[1])).parameters
    for keyword in re.findall(r"(\w+)=", given):
        assert keyword in takes, f"{name} does not take {keyword}"


def check_command(words: str) -> None:
    parser = _parser()
    for word in words.split()[1:]:
        if word.startswith("--"):
            assert word in options_of(parser), f"{words}: there is no {word}"
        elif known := subcommands(parser):
            assert word in known, f"{words}: there is no command {word}"
            parser = known[word]


def check_option(words: str) -> None:
    assert words in options_of(_parser()), f"there is no {words}"


def check_extra(words: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert words in project["optional-dependencies"]


def check_keyword(words: str) -> None:
    """Some public function takes it."""
    public = [getattr(sk, name) for name in sk.__all__]
    calls = [one for one in public if inspect.isfunction(one) or inspect.isclass(one)]
    calls += [m for c in calls if inspect.isclass(c) for m in vars(c).values()]
    takes = {n for c in calls if inspect.isfunction(c) for n in inspect.signature(c).parameters}
    takes |= set(inspect.signature(dataclasses.dataclass).parameters)  # of whoever extends skodyn
    assert words in takes, f"nothing takes {words}="


def check_method(words: str) -> None:
    owner, name = words.split(".")
    known = {"LogWriter": "skodyn.io.log", "Model": "skodyn.model.model"}
    assert hasattr(getattr(importlib.import_module(known[owner]), owner), name)


def check_of_model(words: str) -> None:
    assert hasattr(sk.Model, words) or words in sk.Model.__dataclass_fields__


PATTERNS = [  # what a person may be told to type, and how it is looked up
    (r"\b(skodyn\.\w[\w.]*\w)", check_dotted),
    (r"\b(sk\.\w[\w.]*\w)\b(?!\()", check_dotted),
    (r"\b(sk\.\w+\([^)]*)\)", check_call),
    (r"[`'](skodyn [^`']+)[`']", check_command),
    (r"(?:with|finish): (skodyn [a-z ]+)", check_command),
    (r"(?<![\w-])(--[a-z][a-z-]+)", check_option),
    (r"skodyn\[(\w+)\]", check_extra),
    (r"\b([a-z_]+)=True\b", check_keyword),
    (r"\b(LogWriter\.\w+|Model\.\w+)", check_method),
    (r"`model\.(\w+)`", check_of_model),
]


def remedies() -> Iterator[Any]:
    for path in SOURCES:
        if path.name in NOT_REMEDIES:
            continue
        for line, text in messages(ast.parse(path.read_text())):
            if " " not in text:  # the name of a module or a key, not a sentence
                continue
            for pattern, check in PATTERNS:
                for words in re.findall(pattern, text):
                    where = f"{path.relative_to(ROOT / 'src')}:{line} {words}"
                    yield pytest.param(check, words, id=where)


REMEDIES = list(remedies())


@pytest.mark.parametrize(("check", "words"), REMEDIES)
def test_what_a_message_tells_to_type_exists(check, words):
    check(words)


def test_every_kind_of_remedy_occurs():
    used = {parameter.values[0] for parameter in REMEDIES}
    assert used >= {
        check_dotted, check_call, check_command, check_option, check_extra, check_keyword,
        check_method, check_of_model,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (check_dotted, "skodyn.simulate.session.resume"),
        (check_call, "sk.sweep(…, resum=True"),
        (check_command, "skodyn cach warm"),
        (check_command, "skodyn info --al"),
        (check_option, "--fource"),
        (check_extra, "xaray"),
        (check_keyword, "overwrit"),
        (check_method, "LogWriter.repoen"),
        (check_of_model, "uncuopled"),
    ],
)
def test_a_remedy_that_does_not_exist_is_noticed(check, words):
    with pytest.raises((AttributeError, AssertionError)):
        check(words)
