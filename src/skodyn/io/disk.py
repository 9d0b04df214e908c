"""Files as logs need them: bytes at known places, and one writer at a time.

Every change of a log or a checkpoint goes through `os.open`, `os.pwrite`, `os.replace` and
`os.unlink`: tests/test_kill_points.py records them, and plays every beginning of the list again.
"""

from __future__ import annotations

import errno
import os
import zlib
from pathlib import Path
from typing import Any

from skodyn.errors import LogError

try:
    import fcntl
except ImportError:  # Windows knows no such locks
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "checksum",
    "claim",
    "lock",
    "read_at",
    "read_into",
    "release",
    "require_places",
    "reserve",
    "write_at",
]

NO_PLACES = (
    "Logs are written and read at places of a file (pwrite, pread), which this system lacks; use "
    "Linux or macOS, on Windows for example by WSL, or keep runs in memory: sk.simulate and "
    "sk.run without log."
)
_CANNOT = (errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL, errno.ENOLCK)  # some file systems


def require_places() -> None:
    """Raise LogError on systems that have no logs: Windows."""
    if not hasattr(os, "pwrite"):
        raise LogError(NO_PLACES)


def write_at(handle: int, data: Any, offset: int) -> None:
    """Write all bytes of a buffer to a place in a file."""
    rest = memoryview(data).cast("B")
    while rest:
        written = os.pwrite(handle, rest, offset)
        rest, offset = rest[written:], offset + written


def read_at(handle: int, size: int, offset: int) -> bytes:
    """The bytes at a place; fewer, if the file ends before."""
    require_places()
    parts = []
    while size > 0 and (part := os.pread(handle, size, offset)):
        parts.append(part)
        size, offset = size - len(part), offset + len(part)
    return b"".join(parts)


def checksum(array: Any, before: int = 0) -> int:
    """CRC-32 of the bytes of a contiguous array, going on from those before."""
    return zlib.crc32(memoryview(array).cast("B"), before) if array.size else before


def read_into(handle: int, array: Any, offset: int) -> bool:
    """Fill a contiguous array from a place; False if the file ends before."""
    rest = memoryview(array).cast("B") if array.size else memoryview(b"")
    while rest:
        count = os.preadv(handle, [rest], offset)
        if count == 0:
            return False
        rest, offset = rest[count:], offset + count
    return True


def reserve(handle: int, size: int, offset: int) -> None:
    """Take disk space now, so that a later write to this place cannot find the disk full."""
    try:
        os.posix_fallocate(handle, offset, size)
    except (AttributeError, OSError) as error:
        if getattr(error, "errno", errno.ENOSYS) not in _CANNOT:
            raise


def lock(handle: int) -> None:
    """Be the only writer of an open file, or raise BlockingIOError. HDF5 honours the lock too."""
    if fcntl is None:
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError as error:
        if error.errno not in _CANNOT:
            raise


def is_written(path: str | os.PathLike[str]) -> bool:
    """Does a living process have a file locked for writing? True where nobody can tell."""
    if fcntl is None:
        return True
    handle = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError as error:
        if error.errno not in _CANNOT:
            raise
        return True
    finally:
        os.close(handle)
    return False


def release(handle: int) -> None:
    """Close a locked file. A child forked meanwhile has it open, and would keep the lock."""
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_UN)
    except OSError as error:
        if error.errno not in _CANNOT:
            raise
    finally:
        os.close(handle)


def claim(path: Path) -> int:
    """The handle of a locked file for one writer; what a killed process left there is reused."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        lock(handle)
        if not path.exists() or not os.path.samestat(os.fstat(handle), path.stat()):
            raise BlockingIOError(errno.EWOULDBLOCK, "just renamed by another process")
    except BaseException:
        os.close(handle)  # the lock may be another's
        raise
    return handle
