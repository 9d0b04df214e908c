"""The public surface: what it consists of, and that docstrings say what signatures say.

Docstrings are in numpydoc form. Their examples run here, with `np` and `sk` at hand, in a folder
where scenarios/ is.
"""

from __future__ import annotations

import doctest
import inspect
import re
import types
from pathlib import Path

import numpy as np
import pytest

import api_snapshot
import skodyn as sk

ROOT = Path(__file__).parent.parent
SECTIONS = ("Parameters", "Attributes", "Returns", "Raises", "See Also", "Notes", "Examples")


def public_functions():
    found = {name: getattr(sk, name) for name in sk.__all__}
    found |= {f"examples.{name}": getattr(sk.examples, name) for name in sk.examples.__all__}
    return {name: value for name, value in found.items() if inspect.isfunction(value)}


FUNCTIONS = public_functions()


IN_FORM = ("sko", "interop", "estimation")  # the others have short docstrings
OF_MODULES = {
    f"{module}.{name}": getattr(getattr(sk, module), name)
    for module in IN_FORM
    for name in getattr(sk, module).__all__
    if inspect.isfunction(getattr(getattr(sk, module), name))
}


def public_classes():
    found = {name: getattr(sk, name) for name in sk.__all__}
    return {name: value for name, value in found.items() if inspect.isclass(value)}


CLASSES = public_classes()


def sections(text):
    """A docstring by its underlined headings; what comes before the first is under ''."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", text, flags=re.M)
    return dict(zip(["", *parts[1::2]], parts[::2], strict=True))


def entries(section):
    """The names at the margin of a section: `a, b : type`."""
    heads = re.findall(r"^(?=\S)([^:\n]+?)(?: : .*)?$", section, flags=re.M)
    return [name.strip().lstrip("*") for head in heads for name in head.split(",")]


@pytest.mark.parametrize("name", FUNCTIONS | OF_MODULES)
def test_parameters_of_a_docstring_are_those_of_the_signature_in_their_order(name):
    function = (FUNCTIONS | OF_MODULES)[name]
    documented = entries(sections(inspect.getdoc(function)).get("Parameters", ""))
    assert documented == list(inspect.signature(function).parameters)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_docstring_says_what_is_returned_and_has_an_example(name):
    text = inspect.getdoc(FUNCTIONS[name])
    found = sections(text)
    assert set(found) - {""} <= set(SECTIONS)
    assert [s for s in SECTIONS if s in found] == [s for s in found if s]
    assert "Returns" in found
    assert ">>> " in found["Examples"]
    first = text.partition("\n")[0]
    assert first.endswith(".")
    assert len(first) <= 96


@pytest.mark.parametrize("name", FUNCTIONS)
def test_names_in_docstrings_exist(name):
    found = sections(inspect.getdoc(FUNCTIONS[name]))
    for raised in entries(found.get("Raises", "")):
        assert issubclass(getattr(sk, raised), sk.SkodynError)
    for other in entries(found.get("See Also", "")):
        assert hasattr(sk, other), other


WITH_EXAMPLES = FUNCTIONS | {
    name: thing for name, thing in (CLASSES | OF_MODULES).items() if ">>> " in (thing.__doc__ or "")
}


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_of_a_docstring_run(name, monkeypatch):
    monkeypatch.chdir(ROOT)
    test = doctest.DocTestParser().get_doctest(
        inspect.getdoc(WITH_EXAMPLES[name]), {"np": np, "sk": sk}, name, None, 0
    )
    said = []
    outcome = doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    assert outcome.attempted > 0
    assert outcome.failed == 0, "".join(said)


@pytest.mark.parametrize("name", CLASSES)
def test_parameters_of_a_class_are_those_of_its_constructor(name):
    found = sections(CLASSES[name].__doc__ and inspect.cleandoc(CLASSES[name].__doc__))
    if "Parameters" in found:
        documented = entries(found["Parameters"])
        assert documented == list(inspect.signature(CLASSES[name]).parameters)


@pytest.mark.parametrize("name", CLASSES)
def test_everything_public_of_a_class_has_a_docstring(name):
    cls = CLASSES[name]
    own = [base for base in cls.__mro__ if base.__module__.startswith("skodyn")]
    members = {m for base in own for m in vars(base) if not m.startswith("_")}
    members -= {*getattr(cls, "__dataclass_fields__", ()), *getattr(cls, "_fields", ())}
    kinds = (types.FunctionType, types.MethodType, property)
    missing = [
        member for member in sorted(members)
        if (isinstance(value := getattr(cls, member), kinds) or hasattr(value, "func"))
        and not inspect.getdoc(value)
    ]  # fmt: skip
    assert missing == []


def test_the_public_surface_is_the_one_on_record():
    """`python tests/api_snapshot.py` renews the record; CHANGELOG.md says what changed."""
    assert api_snapshot.surface() == api_snapshot.FILE.read_text()


def test_public_modules_list_what_is_public():
    modules = [getattr(sk, n) for n in sk.__all__ if isinstance(getattr(sk, n), types.ModuleType)]
    for module in modules:
        assert all(hasattr(module, name) for name in module.__all__)
        assert not any(name.startswith("_") for name in module.__all__)
