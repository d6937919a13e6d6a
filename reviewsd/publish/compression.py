"""The gzip forms of a snapshot's files; those of large ones are made in a thread: zlib needs no interpreter."""

import zlib
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from reviewsd.snapshot import layout
from reviewsd.snapshot.layout import File, Writer

LARGE = 1 << 26
"""Bytes; from here on the best compression takes longer than it saves."""

_COMPRESS_FROM = 1_000  # bytes; contract 2
_CHUNK = 1 << 20


class Compressor:
    """Compresses files.

    Args:
        target: Where they are.
        threads: Has one thread.
    """

    def __init__(self, target: Path, threads: ThreadPoolExecutor) -> None:
        self._target, self._threads = target, threads
        self._followed: dict[str, _GzipWriter] = {}
        self._advances: list[Future[None]] = []
        self._begun: dict[str, Future[File | None]] = {}

    def follow(self, file: str, size: int) -> None:
        """Compress in the thread what has been written of a file; from when it is large."""
        if size >= LARGE:
            if file not in self._followed:
                self._followed[file] = _GzipWriter(self._target, file, zlib.Z_BEST_SPEED)
            self._advances.append(self._threads.submit(self._followed[file].advance, size))

    def begin(self, file: str, size: int) -> None:
        """Compress a file, or what is left of it, in the thread."""
        followed = self._followed.get(file)
        self._begun[file] = self._threads.submit(_compress, self._target, file, size, followed)

    def compressed(self, file: str, size: int) -> File | None:
        """The gzip form beside a file, None where it would not be smaller."""
        for each in self._advances:
            each.result()  # its error, if there was one
        if file in self._begun:
            return self._begun[file].result()
        return _compress(self._target, file, size)


class _GzipWriter:
    """Writes the gzip form of a file while the file is written.

    What zlib makes may depend on the parts that it is given. They are the same however far the file has been written.
    """

    def __init__(self, target: Path, file: str, level: int) -> None:
        self._plain = target / file
        self._read = 0
        # 16: gzip, without a time in it
        self._packer = zlib.compressobj(level, wbits=zlib.MAX_WBITS | 16)
        self._writer = Writer(target, file + layout.GZIP)

    def advance(self, size: int) -> None:
        """So many bytes are written."""
        with self._plain.open("rb") as plain:
            plain.seek(self._read)
            while self._read + _CHUNK <= size:
                self._writer.write(self._packer.compress(plain.read(_CHUNK)))
                self._read += _CHUNK

    def close(self, size: int) -> File:
        """All of them are."""
        self.advance(size)
        with self._plain.open("rb") as plain:
            plain.seek(self._read)
            self._writer.write(self._packer.compress(plain.read()))
        self._writer.write(self._packer.flush())
        return self._writer.close()


def _compress(
    target: Path, file: str, size: int, followed: _GzipWriter | None = None
) -> File | None:
    """The gzip form beside a file, None where it would not be smaller."""
    if size < _COMPRESS_FROM:
        return None
    level = zlib.Z_DEFAULT_COMPRESSION if size < LARGE else zlib.Z_BEST_SPEED
    compressed = (followed or _GzipWriter(target, file, level)).close(size)
    if compressed.size < size:
        return compressed
    (target / (file + layout.GZIP)).unlink()
    return None
