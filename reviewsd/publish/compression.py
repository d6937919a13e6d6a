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
        self._begun: dict[str, Future[File | None]] = {}

    def begin(self, file: str, size: int) -> None:
        """Compress a complete file in the thread, while others are made."""
        self._begun[file] = self._threads.submit(compress, self._target, file, size)

    def compressed(self, file: str, size: int) -> File | None:
        """Return the gzip file of a file; None if it would not be smaller."""
        if file in self._begun:
            return self._begun[file].result()
        return compress(self._target, file, size)


def compress(target: Path, file: str, size: int) -> File | None:
    """Write the gzip form of a file of the folder; None if it would not be smaller."""
    if size < _COMPRESS_FROM:
        return None
    level = zlib.Z_DEFAULT_COMPRESSION if size < LARGE else zlib.Z_BEST_SPEED
    # 16 selects gzip, without a timestamp.
    packer = zlib.compressobj(level, wbits=zlib.MAX_WBITS | 16)
    writer = Writer(target, file + layout.GZIP)
    with (target / file).open("rb") as plain:
        while chunk := plain.read(_CHUNK):
            writer.write(packer.compress(chunk))
    writer.write(packer.flush())
    compressed = writer.close()
    if compressed.size < size:
        return compressed
    (target / (file + layout.GZIP)).unlink()
    return None
