"""What macOS lacks is taken away: affinity, fallocate, forks, /proc; processes are spawned.

What Windows lacks, too: bytes at places of a file, locks, folders that can be opened.
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
import os, sys
for name in ("pwrite", "pread", "preadv", "pwritev", "fchmod", "fdatasync", "killpg", "getpgid"):
    delattr(os, name)
for name in ("fcntl", "resource", "termios", "tty", "pwd", "grp"):
    sys.modules[name] = None
of_file = os.open
def opened(path, *a, **k):
    if os.path.isdir(path):
        raise PermissionError(13, "Permission denied", str(path))
    return of_file(path, *a, **k)
os.open = opened
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


def test_commands_without_what_windows_lacks_work_or_say_one_sentence(tmp_path):
    models = Path("scenarios/models").resolve().as_posix()
    text = SCENARIO.format(models=models)
    (tmp_path / "many.toml").write_text(text)
    (tmp_path / "one.toml").write_text(text[: text.index("[sweep.grid]")])
    sk.run(tmp_path / "one.toml", tmp_path / "old.h5")
    without = PROGRAM.partition("if __name__")[0] + WINDOWS + EACH
    works = [
        "check|one.toml",
        f"info|{models}/double_pendulum.toml",
        f"identities|{models}/double_pendulum.toml",
        "sweep|run|many.toml|-o|many.h5|--engine|threads|--workers|1",
        "sweep|status|many.h5",
        "plot|many.h5|-o|many.png",
        "cache|info",
    ]
    refused = [
        "run|one.toml|-o|one.h5",
        "run|one.toml|-o|one.h5|--resume",
        "resume|old.h5",
        "resume|old.h5|--until|0.04",
        "info|old.h5",
        "plot|old.h5|-o|old.png",
        "view|old.h5|--html|old.html",
    ]
    done = commands(tmp_path, [*works, *refused], without)
    assert done.returncode == 0, done.stderr[-2000:]
    codes = [line[2:] for line in done.stdout.splitlines() if line.startswith("= ")]
    said = [part.partition("\n")[::2] for part in done.stderr.split("> ")[1:]]
    assert [line for line, _ in said] == [*works, *refused]
    assert codes == ["0"] * len(works) + ["2"] * len(refused), done.stderr
    assert "Traceback" not in done.stderr
    for _, sentence in said[len(works) :]:
        assert "which this system lacks; use Linux or macOS" in sentence
        assert len(sentence.strip().splitlines()) == 1
    assert not (tmp_path / "one.h5").exists()
    assert sk.open_sweep(tmp_path / "many.h5").q.shape == (3, 2)
