"""What macOS lacks is taken away: affinity, fallocate, forks, /proc; processes are spawned.

What Windows lacks, too: bytes at places of a file, POSIX locks, folders that can be opened, files
that are renamed, replaced or removed while somebody has them open, bytes in files that were not
opened as binary.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import skodyn as sk

SCENARIO = """
duration = 0.02
[model]
file = "{models}/double_pendulum.toml"
[integrator]
dt = 0.001
[sweep.grid]
"initial.q.elbow" = [0.1, 0.2, 0.3]
[sweep.metrics.far]
kind = "max"
of = "v.elbow"
"""

PROGRAM = """
import multiprocessing, os, pathlib, platform, sys
for name in ("sched_getaffinity", "posix_fallocate", "fork", "register_at_fork"):
    delattr(os, name)
text = pathlib.Path.read_text
def read_text(self, *a, **k):
    if str(self).startswith("/proc"):
        raise FileNotFoundError(self)
    return text(self, *a, **k)
pathlib.Path.read_text = read_text
multiprocessing.set_start_method("spawn", force=True)
if __name__ == "__main__":
    from skodyn.cli import main
    for line in sys.argv[1:]:
        code = main(line.split("|"))
        if code:
            sys.exit(f"{line}: {code}")
    print("all done")
"""


WINDOWS = """
import errno, fcntl, os, subprocess, sys, tempfile, types
flock, flags = fcntl.flock, (fcntl.LOCK_UN, fcntl.LOCK_EX | fcntl.LOCK_NB)
for name in ("pwrite", "pread", "preadv", "pwritev", "fchmod", "fdatasync", "killpg", "getpgid"):
    delattr(os, name)
for name in ("fcntl", "resource", "termios", "tty", "pwd", "grp"):
    sys.modules[name] = None

msvcrt = sys.modules["msvcrt"] = types.ModuleType("msvcrt")
msvcrt.LK_UNLCK, msvcrt.LK_NBLCK = 0, 2
def locking(fd, mode, size):
    assert os.lseek(fd, 0, os.SEEK_CUR) > os.fstat(fd).st_size  # others may read all there is
    try:
        flock(fd, flags[mode // 2])
    except BlockingIOError:
        raise PermissionError(errno.EACCES, "Permission denied") from None
msvcrt.locking = locking

do = {name: getattr(os, name) for name in ("open", "read", "write", "replace", "rename", "unlink")}
os.O_BINARY, as_text = 1 << 30, set()
tempfile._bin_openflags |= os.O_BINARY
def opened(path, how, *a, **k):
    if os.path.isdir(path):
        raise PermissionError(13, "Permission denied", str(path))
    handle = do["open"](path, how & ~os.O_BINARY, *a, **k)
    (as_text.discard if how & os.O_BINARY else as_text.add)(handle)
    return handle
os.open = opened
def in_bytes(name):
    def call(handle, *a):
        assert handle not in as_text, "newlines would be changed"
        return do[name](handle, *a)
    return call
os.read, os.write = in_bytes("read"), in_bytes("write")
def of_closed(name):
    def call(*paths, **k):
        for path in paths:
            if os.path.basename(path).startswith("tmp"):  # of Python itself
                continue
            for number in os.listdir("/proc/self/fd"):
                there = f"/proc/self/fd/{number}"
                if os.path.exists(there) and os.path.exists(path) and os.path.samefile(there, path):
                    raise PermissionError(13, "The process cannot access the file", str(path))
        return do[name](*paths, **k)
    return call
os.replace, os.rename, os.unlink = map(of_closed, ("replace", "rename", "unlink"))
"""

EACH = """
if __name__ == "__main__":
    from skodyn.cli import main
    for line in sys.argv[1:]:
        print(f"> {line}", flush=True)
        print(f"> {line}", file=sys.stderr, flush=True)
        print(f"= {main(line.split('|'))}", flush=True)
"""


def commands(
    folder: Path, lines: list[str], program_text: str = PROGRAM
) -> subprocess.CompletedProcess[str]:
    program = folder / "program.py"
    program.write_text(program_text)
    command = [sys.executable, str(program), *lines]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env={**os.environ}, check=False
    )


def test_commands_work_without_what_macos_lacks(tmp_path):
    folder = tmp_path / "a folder with spaces, é"
    folder.mkdir()
    models = Path("scenarios/models").resolve().as_posix()
    text = SCENARIO.format(models=models)
    (folder / "many.toml").write_text(text)
    (folder / "one.toml").write_text(text[: text.index("[sweep.grid]")])
    lines = [
        "check|one.toml",
        f"info|{models}/double_pendulum.toml",
        "run|one.toml|-o|one.h5",
        "run|one.toml|-o|one.h5|--resume",
        "resume|one.h5|--until|0.04",
        "info|one.h5",
        "sweep|run|many.toml|-o|many.h5|--engine|processes|--workers|2",
        "cache|info",
    ]
    done = commands(folder, lines)
    assert done.returncode == 0, done.stderr[-2000:] + done.stdout[-500:]
    assert done.stdout.endswith("all done\n")
    assert sk.open(folder / "one.h5").t[-1] == 0.04
    alone = sk.sweep(folder / "many.toml", out=folder / "here.h5", workers=1)
    spawned = sk.open_sweep(folder / "many.h5")
    assert spawned.q.shape == (3, 2)
    assert (spawned.q == alone.q).all()


def test_commands_work_without_what_windows_lacks(tmp_path):
    """A log is written, resumed, made larger, read and drawn, to the bits that it has here."""
    models = Path("scenarios/models").resolve().as_posix()
    text = SCENARIO.format(models=models)
    (tmp_path / "many.toml").write_text(
        text.replace("[sweep.grid]", '[sweep]\nlogs = "all"\n[sweep.grid]')
    )
    one = text[: text.index("[sweep.grid]")]
    (tmp_path / "one.toml").write_text(one)
    (tmp_path / "long.toml").write_text(one.replace("0.02", "0.04"))
    sk.run(tmp_path / "one.toml", tmp_path / "old.h5")
    without = PROGRAM.partition("if __name__")[0] + WINDOWS + EACH
    lines = [
        "check|one.toml",
        f"info|{models}/double_pendulum.toml",
        f"identities|{models}/double_pendulum.toml",
        "run|one.toml|-o|one.h5",
        "run|one.toml|-o|one.h5|--resume",
        "resume|one.h5",
        "resume|one.h5|--until|0.04",
        "resume|old.h5|--until|0.04",
        "run|one.toml|-o|new.h5",
        "run|long.toml|-o|new.h5|--overwrite",
        "info|new.h5",
        "plot|new.h5|-o|new.png",
        "view|new.h5|--html|new.html",
        "sweep|run|many.toml|-o|many.h5|--engine|threads|--workers|1",
        "sweep|run|many.toml|-o|apart.h5|--engine|processes|--workers|2",
        "sweep|status|many.h5",
        "plot|many.h5|-o|many.png",
        "cache|info",
    ]
    done = commands(tmp_path, lines, without)
    assert done.returncode == 0, done.stderr[-2000:]
    codes = [line[2:] for line in done.stdout.splitlines() if line.startswith("= ")]
    assert codes == ["0"] * len(lines), done.stderr
    assert "Traceback" not in done.stderr
    whole = sk.run(tmp_path / "long.toml")
    for name in ("one", "old", "new"):
        assert (sk.open(tmp_path / f"{name}.h5").q == whole.q).all(), name
    here = sk.sweep(tmp_path / "many.toml", out=tmp_path / "here.h5", workers=1)
    for name in ("many", "apart"):
        assert (sk.open_sweep(tmp_path / f"{name}.h5").q == here.q).all(), name
    assert len(list(tmp_path.glob("many-runs/*.h5"))) == 3
    assert not list(tmp_path.rglob("*.new"))


ONE_WRITER = """
if __name__ == "__main__":
    from pathlib import Path
    import skodyn as sk
    from skodyn.io import disk
    from skodyn.io.log import LogWriter
    assert not disk.is_written("one.h5")
    writer = LogWriter.reopen("one.h5")
    assert disk.is_written("one.h5")
    for attempt in (
        lambda: LogWriter.reopen("one.h5"),
        lambda: sk.run("one.toml", "one.h5", overwrite=True),
    ):
        try:
            attempt()
        except sk.LogError as error:
            print(error)
    reader = sk.open("one.h5")  # a reader does not keep a writer away
    assert len(reader.t) == 21
    reader.close()
    writer.close()
    assert not disk.is_written("one.h5")
    LogWriter.reopen("one.h5").close()
    before, reader = Path("one.h5").read_bytes(), open("one.h5", "rb")  # of another program
    try:
        sk.run("one.toml", "one.h5", overwrite=True)
    except sk.LogError as error:
        print(error)
    assert Path("one.h5").read_bytes() == before
    reader.close()
    print(sk.run("one.toml", "one.h5", overwrite=True).status)
"""


def test_one_writer_at_a_time_without_posix_locks(tmp_path):
    models = Path("scenarios/models").resolve().as_posix()
    text = SCENARIO.format(models=models)
    (tmp_path / "one.toml").write_text(text[: text.index("[sweep.grid]")])
    sk.run(tmp_path / "one.toml", tmp_path / "one.h5")
    without = PROGRAM.partition("if __name__")[0] + WINDOWS + ONE_WRITER
    done = commands(tmp_path, [], without)
    assert done.returncode == 0, done.stderr[-2000:]
    busy = "one.h5 is in use by a run or an open reader; end that first or choose a new name."
    assert done.stdout.splitlines() == [busy] * 3 + ["finished"]
    assert not (tmp_path / "one.h5.new").exists()
