"""Compresses the files of a snapshot; large ones in a thread, because zlib releases the GIL."""

import zlib
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from reviewsd.snapshot import layout
from reviewsd.snapshot.layout import File, Writer

LARGE = 1 << 26
"""Bytes of a file that is compressed at the fastest level."""

_COMPRESS_FROM = 1_000  # bytes; contract 2
_CHUNK = 1 << 20


class Compressor:
    """Compresses files.

    Args:
        target: The folder of the files.
        threads: An executor with one thread.
    """

    def __init__(self, target: Path, threads: ThreadPoolExecutor) -> None:
        self._target, self._threads = target, threads
        self._followed: dict[str, _GzipWriter] = {}
        self._advances: list[Future[None]] = []
        self._begun: dict[str, Future[File | None]] = {}

    def follow(self, file: str, size: int) -> None:
        """Compress the written part of a file in the thread, once the file is large."""
        if size >= LARGE:
            if file not in self._followed:
                self._followed[file] = _GzipWriter(self._target, file, zlib.Z_BEST_SPEED)
            self._advances.append(self._threads.submit(self._followed[file].advance, size))

    def begin(self, file: str, size: int) -> None:
        """Compress a complete file, or its remaining part, in the thread."""
        followed = self._followed.get(file)
        self._begun[file] = self._threads.submit(_compress, self._target, file, size, followed)

    def compressed(self, file: str, size: int) -> File | None:
        """Return the gzip file of a file; None if it would not be smaller."""
        for advance in self._advances:
            advance.result()  # raises the thread's error
        if file in self._begun:
            return self._begun[file].result()
        return _compress(self._target, file, size)


class _GzipWriter:
    """Writes the gzip form of a file while the file is written.

    The output of zlib may depend on the size of its input chunks, so they are always the same.
    """

    def __init__(self, target: Path, file: str, level: int) -> None:
        self._plain = target / file
        self._read = 0
        # 16 selects gzip, without a timestamp.
        self._packer = zlib.compressobj(level, wbits=zlib.MAX_WBITS | 16)
        self._writer = Writer(target, file + layout.GZIP)

    def advance(self, size: int) -> None:
        """Compress the complete chunks of the first ``size`` bytes."""
        with self._plain.open("rb") as plain:
            plain.seek(self._read)
            while self._read + _CHUNK <= size:
                self._writer.write(self._packer.compress(plain.read(_CHUNK)))
                self._read += _CHUNK

    def close(self, size: int) -> File:
        """Compress the remaining bytes of the complete file."""
        self.advance(size)
        with self._plain.open("rb") as plain:
            plain.seek(self._read)
            self._writer.write(self._packer.compress(plain.read()))
        self._writer.write(self._packer.flush())
        return self._writer.close()


def _compress(
    target: Path, file: str, size: int, followed: _GzipWriter | None = None
) -> File | None:
    if size < _COMPRESS_FROM:
        return None
    level = zlib.Z_DEFAULT_COMPRESSION if size < LARGE else zlib.Z_BEST_SPEED
    compressed = (followed or _GzipWriter(target, file, level)).close(size)
    if compressed.size < size:
        return compressed
    (target / (file + layout.GZIP)).unlink()
    return None
