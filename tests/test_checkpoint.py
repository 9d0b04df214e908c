"""Checkpoints: bit-exact, two generations, and never half written."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skodyn.errors import LogError
from skodyn.io import checkpoint

ARRAYS: dict[str, Any] = {
    "q": np.array([0.1, -0.0, np.nan, np.inf, 5e-324, np.nextafter(1.0, 2.0)]),
    "memory": np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1),
    "empty": np.zeros((0, 7)),
    "scalar": np.float64(3.5),
    "counters": np.array([2**63 - 1, -(2**63)]),
    "flags": np.array([True, False]),
}


def test_bits_come_back(tmp_path: Path) -> None:
    meta = {"step": 2**63 - 1, "rows": np.int64(7), "t": 0.1 + 0.2, "text": "é\n", "none": None}
    checkpoint.save(tmp_path / "c", ARRAYS, meta)
    arrays, loaded, path, note = checkpoint.load(tmp_path / "c")
    assert list(arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        assert arrays[name].shape == array.shape
        assert arrays[name].tobytes() == array.tobytes()
        assert arrays[name].flags.writeable
    assert loaded == meta
    assert path == tmp_path / "c"
    assert note == ""


def test_a_generator_continues_where_it_was(tmp_path: Path) -> None:
    rng = np.random.default_rng(2**127 + 5)
    rng.normal(size=11)
    state = rng.bit_generator.state
    checkpoint.save(tmp_path / "c", {}, {"rng": state})
    other = np.random.default_rng()
    other.bit_generator.state = checkpoint.load(tmp_path / "c").meta["rng"]
    assert other.bit_generator.state == state
    np.testing.assert_array_equal(other.normal(size=100), rng.normal(size=100))


def test_objects_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="'a' has dtype object"):
        checkpoint.save(tmp_path / "c", {"a": np.array([{}])}, {})
    assert list(tmp_path.iterdir()) == []


def damage_cut(content: bytes) -> bytes:
    return content[:-1]


def damage_bit(content: bytes) -> bytes:
    return content[:200] + bytes([content[200] ^ 1]) + content[201:]


def damage_empty(_content: bytes) -> bytes:
    return b""


def damage_foreign(_content: bytes) -> bytes:
    return b"PK\x03\x04 something else"


@pytest.mark.parametrize("damage", [damage_cut, damage_bit, damage_empty, damage_foreign])
def test_a_damaged_generation_falls_back(tmp_path: Path, damage: Any) -> None:
    path = tmp_path / "c"
    for step in range(3):
        checkpoint.save(path, ARRAYS, {"step": step})
    path.write_bytes(damage(path.read_bytes()))
    loaded = checkpoint.load(path)
    assert loaded.meta["step"] == 1
    assert loaded.path == checkpoint.previous(path)
    assert "is damaged" in loaded.note
    assert "previous checkpoint is used" in loaded.note

    checkpoint.save(path, ARRAYS, {"step": 3})  # must not push the good one out by the damaged one
    assert checkpoint.load(path).meta["step"] == 3
    path.unlink()
    assert checkpoint.load(path).meta["step"] == 1
    checkpoint.previous(path).write_bytes(b"x")
    with pytest.raises(LogError, match=r"c does not exist, and .*previous is damaged"):
        checkpoint.load(path)


def test_a_failed_save_leaves_what_was_there(tmp_path: Path, monkeypatch: Any) -> None:
    path = tmp_path / "c"
    checkpoint.save(path, ARRAYS, {"step": 1})

    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint.os, "fsync", full)
    with pytest.raises(LogError, match="No space left on device"):
        checkpoint.save(path, ARRAYS, {"step": 2})
    assert checkpoint.load(path).meta["step"] == 1
    assert [p.name for p in tmp_path.iterdir()] == ["c"]
    with pytest.raises(LogError, match="No such file"):
        checkpoint.save(tmp_path / "none" / "c", {}, {})


ENDLESS = """
import sys
import numpy as np
from skodyn.io import checkpoint
path, step = sys.argv[1], int(sys.argv[2])
while True:
    checkpoint.save(path, {"x": np.full(2000, float(step))}, {"step": step})
    print(step, flush=True)
    step += 1
"""


def test_killed_at_random_moments(tmp_path: Path) -> None:
    path, rng, step = tmp_path / "c", random.Random(2), 0
    for _ in range(5):
        command = [sys.executable, "-c", ENDLESS, str(path), str(step)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            told = int(process.stdout.readline())
            time.sleep(rng.uniform(0.0, 0.1))
            process.send_signal(signal.SIGKILL)
            lines = process.stdout.read().splitlines()
        told = max([told, *map(int, filter(str.isdigit, lines))])
        loaded = checkpoint.load(path)
        step = loaded.meta["step"]
        assert step >= told
        np.testing.assert_array_equal(loaded.arrays["x"], np.full(2000, float(step)))


def test_the_header_is_plain_json(tmp_path: Path) -> None:
    checkpoint.save(tmp_path / "c", {"x": np.zeros(2)}, {"step": 1})
    line = (tmp_path / "c").read_bytes().split(b"\n")[1]
    assert json.loads(line) == {"meta": {"step": 1}, "arrays": [["x", "<f8", [2]]]}


def test_remove_forgets_both_generations(tmp_path: Path) -> None:
    for step in range(2):
        checkpoint.save(tmp_path / "c", {}, {"step": step})
    checkpoint.remove(tmp_path / "c")
    checkpoint.remove(tmp_path / "c")
    assert list(tmp_path.iterdir()) == []
