"""Files as logs need them: bytes at known places, and one writer at a time.

Every change of a log or a checkpoint goes through `os.open`, `os.pwrite`, `os.replace` and
`os.unlink`: tests/test_kill_points.py records them, and plays every beginning of the list again.

Windows has no `os.pwrite` and `os.pread`, opens files as text unless told otherwise, has locks of
its own, and gives no other name to a file that is open: what differs there is all in this file.
"""

from __future__ import annotations

import contextlib
import errno
import os
import threading
import zlib
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows knows no such locks
    fcntl = None  # type: ignore[assignment]

msvcrt: Any
try:
    import msvcrt
except ImportError:
    msvcrt = None

__all__ = [
    "checksum",
    "claim",
    "discard",
    "give_name",
    "lock",
    "open_file",
    "read_at",
    "read_into",
    "release",
    "renames_open_files",
    "reserve",
    "write_at",
]

_CANNOT = (errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL, errno.ENOLCK)  # some file systems
_LOCKED_BYTE = 2**43 - 2  # behind every log: on Windows nobody else can read what is locked
_SEEKING = threading.Lock()  # where a handle has one place for all threads; there are no forks


def renames_open_files() -> bool:
    """False on Windows."""
    return hasattr(os, "pwrite")


def open_file(path: str | os.PathLike[str], flags: int) -> int:
    """A handle to the bytes of a file, whatever they are."""
    return os.open(path, flags | getattr(os, "O_BINARY", 0), 0o666)


def write_at(handle: int, data: Any, offset: int) -> None:
    """Write all bytes of a buffer to a place in a file."""
    rest = memoryview(data).cast("B")
    write = os.pwrite if hasattr(os, "pwrite") else _seek_and_write
    while rest:
        written = write(handle, rest, offset)
        rest, offset = rest[written:], offset + written


def _seek_and_write(handle: int, data: Any, offset: int) -> int:
    with _SEEKING:
        os.lseek(handle, offset, os.SEEK_SET)
        return os.write(handle, data)


def _seek_and_read(handle: int, size: int, offset: int) -> bytes:
    with _SEEKING:
        os.lseek(handle, offset, os.SEEK_SET)
        return os.read(handle, size)


def read_at(handle: int, size: int, offset: int) -> bytes:
    """The bytes at a place; fewer, if the file ends before."""
    parts = []
    read = os.pread if hasattr(os, "pread") else _seek_and_read
    while size > 0 and (part := read(handle, size, offset)):
        parts.append(part)
        size, offset = size - len(part), offset + len(part)
    return b"".join(parts)


def checksum(array: Any, before: int = 0) -> int:
    """CRC-32 of the bytes of a contiguous array, going on from those before."""
    return zlib.crc32(memoryview(array).cast("B"), before) if array.size else before


def read_into(handle: int, array: Any, offset: int) -> bool:
    """Fill a contiguous array from a place; False if the file ends before."""
    rest = memoryview(array).cast("B") if array.size else memoryview(b"")
    read = _read_to if hasattr(os, "preadv") else _seek_and_read_to
    while rest:
        count = read(handle, rest, offset)
        if count == 0:
            return False
        rest, offset = rest[count:], offset + count
    return True


def _read_to(handle: int, rest: memoryview, offset: int) -> int:
    return os.preadv(handle, [rest], offset)


def _seek_and_read_to(handle: int, rest: memoryview, offset: int) -> int:
    found = _seek_and_read(handle, len(rest), offset)
    rest[: len(found)] = found
    return len(found)


def reserve(handle: int, size: int, offset: int) -> None:
    """Take disk space now, so that a later write to this place cannot find the disk full."""
    try:
        os.posix_fallocate(handle, offset, size)
    except (AttributeError, OSError) as error:
        if getattr(error, "errno", errno.ENOSYS) not in _CANNOT:
            raise


def lock(handle: int) -> None:
    """Be the only writer of an open file, or raise BlockingIOError. HDF5 honours the lock too, but
    on Windows."""
    if fcntl is None:
        _lock_byte(handle)
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError as error:
        if error.errno not in _CANNOT:
            raise


def _lock_byte(handle: int) -> None:
    """Windows: a byte behind the end, which nobody else can lock while this handle is open."""
    if msvcrt is None:
        return
    try:
        with _SEEKING:
            os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EDEADLK):
            raise BlockingIOError(errno.EWOULDBLOCK, "locked by another process") from error
        if error.errno not in _CANNOT:
            raise


def _unlock(handle: int) -> None:
    if fcntl is not None:
        fcntl.flock(handle, fcntl.LOCK_UN)
    elif msvcrt is not None:
        with _SEEKING:
            os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)


def is_written(path: str | os.PathLike[str]) -> bool:
    """Does a living process have a file locked for writing? True where nobody can tell."""
    if fcntl is None and msvcrt is None:
        return True
    handle = open_file(path, os.O_RDONLY)
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        else:
            _lock_byte(handle)
            _unlock(handle)
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
        _unlock(handle)
    except OSError as error:
        if error.errno not in _CANNOT:
            raise
    finally:
        os.close(handle)


def claim(path: Path) -> int:
    """The handle of a locked file for one writer; what a killed process left there is reused."""
    handle = open_file(path, os.O_RDWR | os.O_CREAT)
    try:
        lock(handle)
        if not path.exists() or not os.path.samestat(os.fstat(handle), path.stat()):
            raise BlockingIOError(errno.EWOULDBLOCK, "just renamed by another process")
    except BaseException:
        os.close(handle)  # the lock may be another's
        raise
    return handle


def give_name(handle: int, temporary: Path, path: Path) -> int:
    """Put a claimed file into the place of another; its handle, open and locked."""
    if renames_open_files():
        os.replace(temporary, path)
        return handle
    release(handle)
    try:
        os.replace(temporary, path)
    except PermissionError as error:
        raise BlockingIOError(errno.EWOULDBLOCK, "open elsewhere") from error
    handle = open_file(path, os.O_RDWR)
    try:
        lock(handle)
    except BaseException:
        os.close(handle)
        raise
    return handle


def discard(handle: int, temporary: Path) -> None:
    """Remove a claimed file that is not complete."""
    if renames_open_files():
        temporary.unlink(missing_ok=True)
        release(handle)
        return
    with contextlib.suppress(OSError):  # it may have been closed to be renamed
        if os.path.samestat(os.fstat(handle), temporary.stat()):
            release(handle)
    temporary.unlink(missing_ok=True)
