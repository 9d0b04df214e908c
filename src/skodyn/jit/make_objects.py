"""python -m skodyn.jit.make_objects FOLDER VERSION LEVEL…: what a wheel's build runs.

A level is 3 or 4, or "native" for that of this processor.
"""

from __future__ import annotations

import sys
from pathlib import Path

from skodyn.cores import core_count
from skodyn.jit import shipped
from skodyn.jit.build import build_object


def main(folder: str, version: str, *levels: str) -> None:
    for name in levels:
        level = shipped.level() if name == "native" else int(name)
        if level == 0:
            print("no objects are made for this processor: kernels are compiled when first used")
            continue
        path = build_object(Path(folder), level, core_count(), _say, version)
        print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


def _say(done: int, total: int, name: str) -> None:
    print(f"{done} of {total}  {name}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
