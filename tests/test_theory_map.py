"""docs/theory.md maps the five documents to the code: nothing missing, nothing made up.

NUMBERS lists what the documents number: equations, lemmas, corollaries, algorithms, listings,
definitions and steps in numbered lists, footnotes with a definition, and the titles of slides that
state something. The documents themselves are not in the repository.
"""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "theory.md").read_text()

COMING: set[str] = set()
"""Modules and test files that the page names and that do not exist yet; leave empty if all do."""


def equations(last, *lettered):
    """The numbers 1 to last; where an equation has letters, one for each."""
    letters = {int(text[:-1]): text[-1] for text in lettered}
    found = []
    for number in range(1, last + 1):
        end = letters.get(number)
        parts = [""] if end is None else map(chr, range(ord("a"), ord(end) + 1))
        found += [f"{number}{part}" for part in parts]
    return found


def named(kind, *numbers):
    return [f"{kind} {number}" for number in numbers]


SLIDES = """
Inter-body spatial force decompositions
Terminal body model
Composite body model
Tip body's articulated body inertia
Conditions to be met
Acceleration relationships
Solving for generalized accel at the hinge
Identity HG = I
Value of α(k) induced by α(k+1)
τ(k) and τ̄(k) are projections
More τ(k) projection properties
Crossing the hinge with P(k)
Identity P⁺(k)
ATBI expression P(k+1)
Defining ψ(k+1, k)
ATBI Riccati Equation
Riccati vs Lyapunov Equations
O(N) recursive gather algorithm for ATBIs
P(k) is not a spatial inertia
Comparison with P⁺(k)
Comparison with other inertias
Special case: Locked hinge (0 dof)
Special case: Uncoupled hinge (6 dof)
Allowing non-zero generalized forces
Moving to the inboard side of the hinge
Innovation term ε(k)
Moving to (k+1) body frame
O(N) recursive gather algorithm for the residual forces
Generalized accelerations
Body spatial accelerations
ATBI residual for hinge special cases
Articulated body model
The optimal estimation problem
Role of ℰ_φ and φ
Optimal Kalman filter
Correspondence to dynamics
Optimal Kalman smoother
Key covariance quantities
""".strip().splitlines()

NUMBERS = {
    "Jain 2011-II": [
        *equations(63, "58g"),
        *named("Lemma", *range(1, 13)),
        *named("Corollary", "3.1", "6.1"),
        *named("Algorithm", "3.1", "4.1", "4.2", "4.3", "6.1"),
        *named("Step", *(f"8.1.{k}" for k in range(1, 5))),
        *named("Case", "8.2.1", "8.2.2"),
    ],
    "Jain 2012-I": [
        *equations(45),
        *named("Lemma", *range(1, 10)),
        *named("Corollary", "3.1", "4.1", "6.1"),
        "Assumption 1",
        *named("Definition", *(f"2.1.{k}" for k in range(1, 8))),
        *named("Definition", *(f"2.4.{k}" for k in range(1, 6))),
        *named("Footnote", *range(1, 7)),
    ],
    "SOA slides": SLIDES,
    "PyCraft": [*equations(48, "41d", "44f"), *named("Listing", *range(1, 24))],
    "Wang & Chirikjian": equations(19),
}


def rows():
    """(document, its numbers, names of code, names of tests) of every row."""
    for section in re.split(r"^## ", PAGE, flags=re.M)[1:]:
        title, _, body = section.partition("\n")
        for line in body.splitlines():
            cells = [cell.strip() for cell in line.strip("| ").split(" | ")]
            if line.startswith("|") and cells[0] != "number" and not cells[0].startswith("---"):
                code, tests = (re.findall(r"`([^`]+)`", cell) for cell in cells[2:4])
                yield title.strip(), numbers_of(title.strip(), cells[0]), code, tests


def numbers_of(document, cell):
    """'Lemma 3, 11, 41a–41c' as a list."""
    if document == "SOA slides":
        return [cell]
    found = []
    for part in cell.split(", "):
        ends = re.fullmatch(r"(\d+)([a-g])–\1([a-g])", part)
        if ends:
            letters = map(chr, range(ord(ends[2]), ord(ends[3]) + 1))
            found += [ends[1] + letter for letter in letters]
        else:
            found.append(part)
    return found


ROWS = list(rows())
CODE = sorted({name for _, _, code, _ in ROWS for name in code})
TESTS = sorted({name for _, _, _, tests in ROWS for name in tests})


def find(name):
    """The module, class or function of a dotted name."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        module = ".".join(parts[:cut])
        try:
            found = importlib.import_module(module)
        except ModuleNotFoundError as missing:
            if missing.name is None or not f"{module}.".startswith(f"{missing.name}."):
                raise
            continue
        for part in parts[cut:]:
            found = getattr(found, part)
        return found
    raise AssertionError(f"no module of {name} exists")


def is_coming(name):
    return any(re.match(rf"{re.escape(entry)}(\.|::|$)", name) for entry in COMING)


@pytest.mark.parametrize("document", NUMBERS)
def test_every_number_of_a_document_has_exactly_one_row(document):
    listed = [number for where, numbers, _, _ in ROWS if where == document for number in numbers]
    assert sorted(set(NUMBERS[document]) - set(listed)) == []
    assert sorted(set(listed) - set(NUMBERS[document])) == []
    assert len(listed) == len(set(listed))


def test_every_row_names_code_and_a_test():
    assert len(ROWS) > 100
    assert [numbers for _, numbers, code, tests in ROWS if not (code and tests)] == []


def test_every_function_that_the_map_names_exists():
    missing = []
    for name in CODE:
        try:
            find(name)
        except (AssertionError, AttributeError):
            missing += [] if is_coming(name) else [name]
    assert missing == []


def test_every_test_that_the_map_names_exists():
    missing = []
    for name in TESTS:
        file, _, function = name.partition("::")
        path = ROOT / file
        text = path.read_text() if path.is_file() else ""
        if not text or (function and f"\ndef {function}(" not in text):
            missing += [] if is_coming(name) else [name]
    assert missing == []


def test_what_is_said_to_be_coming_is_not_there_yet():
    there = [name for name in COMING if not name.startswith("tests/") and can_be_found(name)]
    there += [name for name in COMING if (ROOT / name).is_file()]
    assert there == [], "remove these from COMING"


def can_be_found(name):
    try:
        find(name)
    except (AssertionError, AttributeError):
        return False
    return True


def test_names_that_do_not_exist_are_noticed():
    for name in ("skodyn.sko.riccati_equation.ricatti", "skodyn.nowhere.function"):
        assert not can_be_found(name)
    assert can_be_found("skodyn.sko.composite_body.mass_matrix_sweep")
