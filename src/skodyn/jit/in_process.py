"""Parts compiled in this process: object code, kept on disk and loaded by LLVM.

numba's own cache knows entry points from Python only. A file holds the code behind its hash, so
that a damaged one is compiled anew and never run.
"""

from __future__ import annotations

import hashlib
from importlib import metadata
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
from numba.core.compiler_lock import global_compiler_lock

from skodyn.jit import processor
from skodyn.jit.entry import emit, machine_for, symbol_of
from skodyn.jit.folders import kernel_folder, put_in_one_stroke
from skodyn.jit.functions import BEFORE_COMPILING, Part

__all__ = ["address_of"]

_HASH = 32


def address_of(part: Part) -> int:
    """Compile a part, or load it from the cache; its address in this process."""
    ours = part.py_func.__module__.startswith("skodyn.")  # others' sources have no known hash
    code = _kept(_path(part)) if ours else None
    if code is None:
        for tell in BEFORE_COMPILING:
            tell(part.name)
        code = emit(part, _machine()).code
        if ours:
            put_in_one_stroke(hashlib.sha256(code).digest() + code, _path(part))
    return int(_loaded(code, symbol_of(part)))


def _path(part: Part) -> Path:
    """A file for this source, this processor and these compilers."""
    made_by = [metadata.version(name) for name in ("numba", "llvmlite")]
    key = "|".join((processor.name(), processor.features(), *made_by))
    digest = hashlib.sha256(key.encode()).hexdigest()[:16]
    return kernel_folder(part.py_func.__module__) / f"{symbol_of(part)}-{digest}.o"


def _kept(path: Path) -> bytes | None:
    try:
        data = path.read_bytes()
    except OSError:
        return None
    code = data[_HASH:]
    return code if hashlib.sha256(code).digest() == data[:_HASH] else None


def _machine() -> Any:
    return machine_for(processor.name(), processor.features(), jit=True)


_ENGINES: list[Any] = []  # they own the code


@global_compiler_lock  # type: ignore[untyped-decorator]
def _loaded(code: bytes, symbol: str) -> int:
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _ENGINES.append(engine)
    return int(engine.get_function_address(symbol))
