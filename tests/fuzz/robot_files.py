"""Robot files, changed by chance: what people and disks do to the text of URDF and MJCF.

Everything follows from a seed, so that a number names a file for ever.
"""

from __future__ import annotations

import os
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from time_limit import time_limit

NUMBERS = [
    "0", "-0", "+1", "-1", "1e0", "1E-3", "1e5", ".5", "5.", "1d3", "0x10", "1,5", "1_0", "1e",
    "nan", "-inf", "inf", "1e308", "1e-300", "-1e-300", "1e40", "1e400", "١", "1.0f", "1.5e+00",
]  # fmt: skip
VECTORS = [
    "0 0 0", "0 0 1", "0 0 -2", "1 1 1", "1 2", "1 2 3 4", "0\t0\t1", " 0  1 0 ", "0\n1 0", "1,0,0",
    "1e-13 0 1", "1e-4 0 1", "0x1 0 0", "1e200 0 1", "nan 0 1", "0 0 1 ", "0 0 1;",
]  # fmt: skip
WORDS = [
    "", " ", "true", "false", "auto", "world", "&amp;", "&lt;&#0;", "&x;", "../../etc/passwd",
    "\u202e", "🤖", "a b", "TRUE", "1",
]  # fmt: skip

MOST_SECONDS = 60.0
"""Of the processor, for one file."""

SINGULAR = 1e12
"""A mass matrix of this condition has no acceleration to speak of."""

Change = Callable[[str, random.Random], str]


def spot(pattern: str, text: str, rng: random.Random) -> tuple[int, int]:
    """Where the first group of a pattern matches, at a place taken by chance; (0, 0) if nowhere."""
    found = [match.span(1) for match in re.finditer(pattern, text)]
    return rng.choice(found) if found else (0, 0)


def replaced(pattern: str, choices: list[str]) -> Change:
    """A change that puts one of these words in place of the group of a pattern."""

    def change(text: str, rng: random.Random) -> str:
        start, end = spot(pattern, text, rng)
        return text[:start] + rng.choice(choices) + text[end:] if end else text

    return change


VALUE = r'="([^"]*)"'
NUMBER = r'[" ]([-+]?\d+\.?\d*(?:e-?\d+)?)(?=[" ])'
VECTOR = r'="([-+.\de]+(?: [-+.\de]+)+)"'

other_word = replaced(VALUE, WORDS)
other_notation = replaced(NUMBER, NUMBERS)
other_vector = replaced(VECTOR, VECTORS)


def other_number(text: str, rng: random.Random) -> str:
    start, end = spot(NUMBER, text, rng)
    number = rng.choice([f"{rng.gauss(0, 1):.6g}", f"{10 ** rng.uniform(-6, 4):.3g}", "0", "-0"])
    return text[:start] + number + text[end:] if end else text


def other_sign(text: str, rng: random.Random) -> str:
    start, end = spot(NUMBER, text, rng)
    word = text[start:end]
    return text[:start] + (word[1:] if word[:1] == "-" else f"-{word}") + text[end:]


def value_from_elsewhere(text: str, rng: random.Random) -> str:
    start, end = spot(VALUE, text, rng)
    other = spot(VALUE, text, rng)
    return text[:start] + text[slice(*other)] + text[end:]


def renamed_everywhere(tags: list[str]) -> Change:
    def change(text: str, rng: random.Random) -> str:
        start, end = spot(r"<(\w+)", text, rng)
        old, new = text[start:end], rng.choice(tags)
        return re.sub(rf"(</?){re.escape(old)}\b", rf"\g<1>{new}", text) if old else text

    return change


def attribute_lost(text: str, rng: random.Random) -> str:
    start, end = spot(r'(\s\w+="[^"]*")', text, rng)
    return text[:start] + text[end:]


def line_lost(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    del lines[rng.randrange(len(lines))]
    return "\n".join(lines)


def lines_repeated(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    start, place = rng.randrange(len(lines)), rng.randrange(len(lines))
    return "\n".join(lines[:place] + lines[start : start + rng.randrange(1, 12)] + lines[place:])


def element_lost(text: str, rng: random.Random) -> str:
    start, end = spot(r"(<\w+[^<>]*/>)", text, rng)
    return text[:start] + text[end:]


def element_repeated(text: str, rng: random.Random) -> str:
    start, end = spot(r"(<\w+[^<>]*/>)", text, rng)
    place = spot(r"(<\w+[^<>]*/>)", text, rng)[1]
    return text[:place] + text[start:end] + text[place:]


def character_changed(text: str, rng: random.Random) -> str:
    place = rng.randrange(len(text)) if text else 0
    return text[:place] + rng.choice("<>\"'&/= \n\t1a\x01") + text[place + 1 :]


def cut_off(text: str, rng: random.Random) -> str:
    return text[: rng.randrange(len(text) + 1)]


ANYWHERE: list[Change] = [
    other_word, other_notation, other_notation, other_vector, other_number, other_number,
    other_number, other_sign, other_sign, value_from_elsewhere, value_from_elsewhere,
    attribute_lost, attribute_lost, line_lost, lines_repeated, element_lost, element_repeated,
    element_repeated, character_changed, cut_off,
]  # fmt: skip


def mutated(text: str, changes: list[Change], rng: random.Random) -> bytes:
    """The text with up to four changes, and now and then some bytes that are no text."""
    for _ in range(rng.choice((0, 0, 1, 1, 1, 1, 2, 3))):
        text = rng.choice(changes)(text, rng)
    data = text.encode(errors="surrogatepass")
    if rng.random() < 0.02:
        place = rng.randrange(len(data) + 1)
        data = data[:place] + rng.randbytes(rng.randrange(1, 4)) + data[place:]
    return data


# ---- running ------------------------------------------------------------------------------------


@contextmanager
def said_on_stderr() -> Iterator[list[str]]:
    """What C code writes to stderr, as the one entry of a list."""
    said: list[str] = []
    with tempfile.TemporaryFile() as file:
        saved = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            yield said
        finally:
            os.dup2(saved, 2)
            os.close(saved)
            file.seek(0)
            said.append(file.read().decode(errors="replace"))


def check_words(faults: Sequence[str], path: Path) -> None:
    """A refusal names the file in each of its sentences, which fit on a line."""
    assert faults
    for fault in faults:
        assert fault.startswith(str(path)), fault
        assert fault.isprintable(), fault


def close(ours: np.ndarray, theirs: np.ndarray, scale: np.ndarray | float, what: str) -> None:
    """Equal, up to roundings in numbers as large as the scale."""
    off = np.abs(np.asarray(ours) - theirs)
    assert np.all(off <= scale), f"{what} differs by {off.max():g}:\n{ours}\n{theirs}"


def same_mass_matrix(ours: np.ndarray, theirs: np.ndarray, rounding: float) -> None:
    """Entry by entry, so that a small rotor is seen beside a heavy robot."""
    size = np.sqrt(np.abs(np.diag(theirs)))
    scale = 1e-9 * np.outer(size, size) + 1e-12 * np.abs(theirs).max(initial=0.0)
    close(ours, theirs, scale + rounding, "mass matrix")


def rounding_of_product(matrix: np.ndarray, x: np.ndarray) -> np.ndarray:
    """What is lost in matrix · x, where a nearly singular one makes a huge x."""
    return 1e-15 * np.abs(matrix) @ np.abs(x)


def rounding_of(mass: float, *lengths: np.ndarray) -> float:
    """What is lost where a mass lies far from its joint and the square of that cancels."""
    reach = sum(float(np.abs(some).sum()) for some in lengths)
    return 1e-14 * mass * reach**2


def campaign(
    folder: Path,
    name: str,
    make: Callable[[random.Random], bytes],
    judge: Callable[[Path, random.Random], str],
    *,
    seed: int,
    count: int,
    seconds: float = float("inf"),
) -> Counter[str]:
    """How many files ended in which way; a file that breaks a promise is kept in the folder."""
    ends: Counter[str] = Counter()
    until = time.monotonic() + seconds
    for number in range(count):
        if time.monotonic() > until:
            break
        rng = random.Random(f"{seed}/{number}")
        path = folder / name
        path.write_bytes(make(rng))
        try:
            with time_limit(MOST_SECONDS):
                ends[judge(path, rng)] += 1
        except BaseException as error:
            kept = path.with_stem(f"finding_{seed}_{number}")
            kept.write_bytes(path.read_bytes())
            error.add_note(f"the file is {kept}")
            raise
    return ends
