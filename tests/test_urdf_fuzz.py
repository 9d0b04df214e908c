"""Mutations of real robots: whatever the file, a sound model or a sentence; never anything else.

What loads must also be what the file says. Pinocchio reads the same file, and where it can, mass
matrix and gravity of both must agree.
"""

from __future__ import annotations

import os
import random
import re
import signal
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import skodyn as sk

ROBOTS = Path(pin.__file__).parents[4] / "share" / "example-robot-data" / "robots"
SEEDS = [
    "double_pendulum_description/urdf/double_pendulum.urdf",
    "double_pendulum_description/urdf/double_pendulum_simple.urdf",
    "hextilt_description/urdf/hextilt_flying_arm_5.urdf",
    "iris_description/robots/iris.urdf",
    "kinova_description/robots/kinova.urdf",
    "panda_description/urdf/panda.urdf",
    "so_arm_description/urdf/so100.urdf",
    "ur_description/urdf/ur5_robot.urdf",
    "bolt_description/robots/bolt.urdf",
]
TEXTS = [(ROBOTS / name).read_text() for name in SEEDS]
WORDS = [
    "0", "-1", "1e308", "-1e-300", "nan", "inf", "1e", "0x10", "", " ", "0 0 0", "0 0 1", "1 2",
    "١", "world", "base_link", "fixed", "planar", "floating", "continuous", "prismatic", "revolute",
    "&amp;", "&lt;&#0;", "&x;", "../../etc/passwd", "package://a/b", "\u202e", "🤖", "1,5",
]  # fmt: skip
TAGS = ["link", "joint", "mimic", "limit", "axis", "inertial", "origin", "mass", "visual", "robot"]


def mutated(text: str, rng: random.Random) -> bytes:
    """The text with one to four changes of the kinds that people and disks make."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        text = rng.choice(CHANGES)(text, rng)
    data = text.encode()
    if rng.random() < 0.1:
        place = rng.randrange(len(data) + 1)
        data = data[:place] + rng.randbytes(rng.randrange(1, 4)) + data[place:]
    return data


def _spot(pattern: str, text: str, rng: random.Random) -> tuple[int, int]:
    found = [match.span(1) for match in re.finditer(pattern, text)]
    return rng.choice(found) if found else (0, 0)


def other_value(text: str, rng: random.Random) -> str:
    start, end = _spot(r'="([^"]*)"', text, rng)
    return text[:start] + rng.choice(WORDS) + text[end:]


def other_number(text: str, rng: random.Random) -> str:
    start, end = _spot(r'[" ](-?\d+\.?\d*(?:e-?\d+)?)[" ]', text, rng)
    number = rng.choice([f"{rng.gauss(0, 1):.6g}", f"{10 ** rng.uniform(-9, 9):.3g}", "0", "-0"])
    return text[:start] + number + text[end:]


def value_from_elsewhere(text: str, rng: random.Random) -> str:
    start, end = _spot(r'="([^"]*)"', text, rng)
    other = _spot(r'="([^"]*)"', text, rng)
    return text[:start] + text[slice(*other)] + text[end:]


def other_key(text: str, rng: random.Random) -> str:
    start, end = _spot(r'(\w+)="', text, rng)
    return text[:start] + rng.choice(["name", "xyz", "value", "link", "izz", "q"]) + text[end:]


def other_tag(text: str, rng: random.Random) -> str:
    start, end = _spot(r"<(\w+)", text, rng)
    return text[:start] + rng.choice(TAGS) + text[end:]


def renamed_everywhere(text: str, rng: random.Random) -> str:
    start, end = _spot(r"<(\w+)", text, rng)
    old, new = text[start:end], rng.choice(TAGS)
    return re.sub(rf"(</?){re.escape(old)}\b", rf"\g<1>{new}", text) if old else text


def line_lost(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    del lines[rng.randrange(len(lines))]
    return "\n".join(lines)


def lines_repeated(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    start, place = rng.randrange(len(lines)), rng.randrange(len(lines))
    return "\n".join(lines[:place] + lines[start : start + rng.randrange(1, 12)] + lines[place:])


def element_lost(text: str, rng: random.Random) -> str:
    start, end = _spot(r"(<\w+[^<>]*/>)", text, rng)
    return text[:start] + text[end:]


def character_changed(text: str, rng: random.Random) -> str:
    place = rng.randrange(len(text)) if text else 0
    return text[:place] + rng.choice("<>\"'&/= \n\t1a\x01") + text[place + 1 :]


def cut_off(text: str, rng: random.Random) -> str:
    return text[: rng.randrange(len(text) + 1)]


CHANGES = [
    other_value, other_value, other_number, other_number, other_number, value_from_elsewhere,
    value_from_elsewhere, other_key, other_tag, renamed_everywhere, line_lost, lines_repeated,
    element_lost, element_lost, character_changed, cut_off,
]  # fmt: skip


@contextmanager
def no_hang(seconds: int = 60):
    """An alarm instead of a test that never ends."""

    def ring(*_):
        raise AssertionError("the reader hangs")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def silenced():
    """Pinocchio's parser complains on the C side of stderr."""
    saved, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(null)


def attempt(path: Path, data: bytes, root: str) -> tuple[sk.Model | None, bool]:
    """(the model if it loads, whether Pinocchio agreed); a refusal must be in words."""
    path.write_bytes(data)
    model, faults = None, ()
    with no_hang():
        try:
            model = sk.load(path, root=root, mimic="independent")
        except sk.ModelError as error:
            faults = error.faults
    assert (model is None) == bool(faults)
    assert all(fault.startswith(str(path)) and fault.isprintable() for fault in faults), faults
    return model, model is not None and agrees_with_pinocchio(model, path, root)


def agrees_with_pinocchio(model: sk.Model, path: Path, root: str) -> bool:
    """Whether Pinocchio reads the file too; then it must say the same."""
    if any(joint.type_name == "planar" for joint in model.joints):
        return False  # Pinocchio does not look at the normal of a planar joint
    if re.search(rb'="[^"]*[\t\r\n]', path.read_bytes()):
        return False  # XML says a tab is a blank; urdfdom drops the whole <inertial> without a word
    try:
        with silenced():
            free = [pin.JointModelFreeFlyer()] if root == "free" else []
            peer = pin.buildModelFromUrdf(str(path), *free)
    except (ValueError, RuntimeError):
        return False
    peer.gravity.linear = model.gravity
    q, v = model.random_state(np.random.default_rng(0))
    pin_q, _ = sk.interop.to_pinocchio_state(model, peer, q, v)
    turn = np.array([sk.interop.to_pinocchio_force(model, peer, q, e) for e in np.eye(model.nv)])
    data = peer.createData()
    M = np.triu(pin.crba(peer, data, pin_q))
    M = M + M.T - np.diag(np.diag(M))
    np.testing.assert_allclose(
        turn.T @ sk.mass_matrix(model, q) @ turn, M, rtol=0, atol=1e-9 * np.abs(M).max()
    )
    held = pin.computeGeneralizedGravity(peer, data, pin_q)
    ours = sk.interop.to_pinocchio_force(model, peer, q, sk.gravity_force(model, q))
    np.testing.assert_allclose(ours, held, rtol=0, atol=1e-9 * max(1.0, np.abs(held).max()))
    return True


def run(tmp_path: Path, seed: int, count: int) -> tuple[int, int]:
    """(how many loaded, in how many of them Pinocchio agreed)."""
    rng = random.Random(seed)
    loaded = agreed = 0
    for number in range(count):
        data = mutated(rng.choice(TEXTS), rng)
        root = rng.choice(("fixed", "free"))
        try:
            model, same = attempt(tmp_path / "fuzz.urdf", data, root)
        except BaseException:
            (tmp_path / f"culprit_{seed}_{number}.urdf").write_bytes(data)
            raise
        loaded += model is not None
        agreed += same
    return loaded, agreed


def test_500_mutations_end_in_a_model_or_a_sentence(tmp_path):
    loaded, agreed = run(tmp_path, seed=2026, count=500)
    assert 100 < loaded < 450
    assert agreed > 100


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_20000_mutations_end_in_a_model_or_a_sentence(tmp_path, seed):
    loaded, agreed = run(tmp_path, seed, count=1000)
    assert 200 < loaded < 900
    assert agreed > 200
