"""Logs with damaged or missing bytes, and logs that other programs or versions wrote: rows are
right, or the damage is named."""

from __future__ import annotations

import json
import random
from pathlib import Path

import h5py
import numpy as np
import pytest

from skodyn.errors import LogError
from skodyn.io import log_layout
from skodyn.io.log import LogWriter
from skodyn.io.log_layout import Layout
from skodyn.io.trajectory import open as open_trajectory
from test_log import EXTRA, MODEL, block

ROWS = 62
PROVENANCE = {"scenario": "é = 1\n", "seed": 3}
SCHEMA_1 = Path(__file__).parent / "data" / "log_schema_1.h5"


@pytest.fixture
def log(tmp_path, monkeypatch):
    """A log of a dozen pages that was resumed once, with room for more rows."""
    monkeypatch.setattr(log_layout, "_PAGE_BYTES", 5000)
    path = tmp_path / "a.h5"
    writer = LogWriter.create(path, EXTRA, MODEL, PROVENANCE, expected_rows=ROWS + 10)
    writer.append(block(0, 25))
    writer.flush()
    writer.close()
    writer = LogWriter.reopen(path, {"host": "b"})
    writer.append(block(25, ROWS))
    writer.finish("interrupted", "by hand", {"steps": 3})
    return path


def everything(path):
    """All that a reader can ask of a log."""
    traj = open_trajectory(path)
    said = (traj.status, traj.message, traj.summary, traj.provenance, traj.q_names, traj.v_names)
    with traj:
        rows = {name: traj[name].tobytes() for name in traj.channels}
        rows["some"] = traj[3:50:7].q.tobytes()
    return len(traj), json.dumps(said), rows, traj.model.content_hash, traj.joint_names


def outcome(path, whole):
    """'same', or the words in which the damage is named; anything else is a failure."""
    try:
        found = everything(path)
    except LogError as error:
        return str(error)
    assert found == whole
    return "same"


def flip_bytes(log, places, seed):
    whole, content = everything(log), log.read_bytes()
    rng, said = random.Random(seed), []
    for place in places:
        changed = bytearray(content)
        changed[place] ^= rng.randrange(1, 256)
        log.write_bytes(changed)
        said.append(outcome(log, whole))
    return said


def test_a_flipped_byte_is_harmless_or_named(log):
    size = log.stat().st_size
    said = flip_bytes(log, random.Random(5).sample(range(size), 250), seed=6)
    assert "same" in said  # in room for rows that are not there
    assert any("checksum differs" in words for words in said)
    assert any("not as skodyn wrote it" in words for words in said)


@pytest.mark.slow
def test_thousands_of_flipped_bytes_are_harmless_or_named(log):
    flip_bytes(log, random.Random(9).sample(range(log.stat().st_size), 6000), seed=7)


def test_a_flipped_byte_of_each_part_is_found(log):
    whole, content = everything(log), log.read_bytes()
    with log.open("rb") as file:
        layout = Layout.read(file.fileno())
    q = layout.channels["q"]
    parts = {
        "the first row": (q.data, "rows 0 to"),
        "the last row": (q.data + (ROWS - 1) * q.row, f"to {ROWS - 1} of channel 'q'"),
        "room for more": (q.data + ROWS * q.row, "same"),
        "a checksum": (layout.checks, "channel 't'"),
        "one copy of the state": (layout.state + 20, "same"),
        "the other copy": (layout.state + log_layout.STATE_BYTES + 20, "same"),
        "a length, which HDF5 alone looks at": (q.length, "same"),
        "a header": (q.length - 8, "not as skodyn wrote it"),
        "the first byte": (0, "not as skodyn wrote it"),
        "the footer": (layout.size + 20, "same"),  # HDF5 can do without it
        "the model": (content.index(b'"gravity"'), "not as skodyn wrote it"),
    }
    for part, (place, words) in parts.items():
        changed = bytearray(content)
        changed[place] ^= 4
        log.write_bytes(changed)
        assert words in outcome(log, whole), part


def test_rows_around_a_damaged_page_are_read(log):
    expected = block(0, ROWS)
    with log.open("r+b") as file:
        layout = Layout.read(file.fileno())
        page, v = layout.page, layout.channels["v"]
        file.seek(v.data + 2 * page * v.row)
        file.write(b"?")
    traj = open_trajectory(log)
    np.testing.assert_array_equal(traj.q, expected["q"])
    with pytest.raises(LogError, match=rf"rows {2 * page} to {3 * page - 1} of channel 'v'"):
        _ = traj.v
    np.testing.assert_array_equal(traj[: 2 * page].v, expected["v"][: 2 * page])
    np.testing.assert_array_equal(traj[3 * page :].v, expected["v"][3 * page :])


def test_a_damaged_page_is_not_vouched_for_by_a_resume(log):
    with log.open("r+b") as file:
        layout = Layout.read(file.fileno())
        q = layout.channels["q"]
        file.seek(q.data + (ROWS - 1) * q.row)
        file.write(b"?")
    writer = LogWriter.reopen(log)
    with pytest.raises(LogError, match="of channel 'q' are not as skodyn wrote them"):
        writer.truncate(ROWS)
    writer.close()


def cut_everywhere(log, sizes):
    whole, content = everything(log), log.read_bytes()
    with log.open("rb") as file:
        end = Layout.read(file.fileno()).size
    for size in sizes:
        log.write_bytes(content[:size])
        said = outcome(log, whole)
        assert said == "same" if size >= end else "cut short" in said or "not an HDF5" in said, said
        with pytest.raises(LogError):
            LogWriter.reopen(log)


def test_a_log_that_is_cut_short_says_so(log):
    size = log.stat().st_size
    cut_everywhere(log, [0, 1, 8, 100, size - 1, *random.Random(8).sample(range(size), 60)])


@pytest.mark.slow
def test_a_log_that_is_cut_short_anywhere_says_so(log):
    cut_everywhere(log, range(0, log.stat().st_size, 29))


# ---- other programs, other versions ---------------------------------------------------------


def test_plain_h5py_sees_exactly_the_rows_that_are_there(log):
    expected = block(0, ROWS)
    with h5py.File(log, "r") as file:
        for name in EXTRA:
            np.testing.assert_array_equal(file[name][:], expected[name])
        line = file["provenance/state"][0].decode()
        assert json.loads(line.split(" ", 1)[1])["status"] == "interrupted"


def test_a_log_without_rows_shows_one_that_was_never_written(tmp_path):
    LogWriter.create(tmp_path / "a.h5", EXTRA, MODEL, {}, expected_rows=5).close()
    assert len(open_trajectory(tmp_path / "a.h5")) == 0
    with h5py.File(tmp_path / "a.h5", "r") as file:
        assert file["step"][:].tolist() == [-1]
        assert np.isnan(file["q"][:]).all()


def test_a_log_that_was_annotated_or_packed_anew_is_read_and_not_continued(log, tmp_path):
    whole = everything(log)
    with h5py.File(log, "r") as file, h5py.File(tmp_path / "packed.h5", "w") as packed:
        packed.attrs.update(file.attrs)
        for name in file:
            file.copy(name, packed)
        del packed["q"]
        rows = file["q"][:]
        packed.create_dataset("q", data=rows, compression="gzip", shuffle=True)
    with h5py.File(log, "r+") as file:
        file.attrs["note"] = "the one with the loose screw " * 100
    for path in (log, tmp_path / "packed.h5"):
        assert everything(path) == whole
        with pytest.raises(LogError, match="can be read but not continued"):
            LogWriter.reopen(path)
    with h5py.File(tmp_path / "packed.h5", "r+") as file:
        file["v"][7, 2] += 1e-12
    with pytest.raises(LogError, match="of channel 'v' are not as skodyn wrote them"):
        _ = open_trajectory(tmp_path / "packed.h5").v


def test_a_log_of_schema_1_is_read_and_not_continued():
    traj = open_trajectory(SCHEMA_1)
    assert (len(traj), traj.status, traj.channels[-1]) == (11, "finished", "energy")
    assert traj.q[[0, 5, 10], 0].tolist() == [0.5, 0.05068633625953872, -0.4899115983664285]
    assert traj[::-5].t.tolist() == [1.0, 0.5, 0.0]
    assert traj.joint("pivot", "v").shape == (11, 1)
    assert traj.provenance["resumed"][0]["host"] == "a"
    assert traj.summary["steps"] == 10
    assert traj.model.joint_names == ("pivot",)
    with pytest.raises(LogError, match="can be read but not continued"):
        LogWriter.reopen(SCHEMA_1)


def test_more_resumptions_than_there_is_room_for_are_counted(log):
    for number in range(300):
        LogWriter.reopen(log, {"host": "x" * 200, "number": number}).close()
    told = open_trajectory(log).provenance
    assert told["resumed"][-1]["number"] == 299
    assert len(told["resumed"]) + told["resumed_left_out"] == 301
    assert len(open_trajectory(log)) == ROWS
