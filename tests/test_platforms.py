"""What macOS lacks is taken away: affinity, fallocate, forks, /proc; processes are spawned."""

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


def commands(folder: Path, lines: list[str]) -> subprocess.CompletedProcess[str]:
    program = folder / "program.py"
    program.write_text(PROGRAM)
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
