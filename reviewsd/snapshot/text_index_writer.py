"""Writes the texts of all reviews, and the index of each segment (``snapshot.suffix_array``).

Indexes are made in two threads while the next reviews are written: libdivsufsort and numpy release the GIL.
The name of an index has a digest of its texts, and the number of older reviews, so that an index of the last
snapshot with the same name is reused, and segments with equal texts have an index each.
"""

import hashlib
import os
from array import array
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import accumulate
from pathlib import Path
from typing import Self

import pyroaring

from reviewsd.snapshot import layout as names
from reviewsd.snapshot import suffix_array
from reviewsd.snapshot.layout import File, SegmentFile, Writer, open_manifest
from reviewsd.snapshot.numbering import divided, fitting

SMALLEST = 64  # reviews in a segment with an index; the texts of smaller ones are scanned

_SEPARATOR = bytes([suffix_array.SEPARATOR])
_THREADS = 2  # each uses up to 11 times the memory of the texts of a segment


def _folded(text: str | None) -> bytes:
    """Return the text of a review as the column of texts has it."""
    return _SEPARATOR if text is None else text.casefold().encode() + _SEPARATOR


class SegmentsWriter:
    """Writes the texts of a number of reviews, newest first; a context manager, which ends its threads.

    ``earlier`` is the folder of the last snapshot, if there is one.
    """

    def __init__(self, folder: Path, reviews: int, earlier: Path | None = None) -> None:
        self._folder, self._earlier = folder, earlier
        manifest = None if earlier is None else open_manifest(earlier)
        self._earlier_files = {} if manifest is None else manifest.files
        self._texts = Writer(folder, names.TEXTS)
        self._sizes = array("Q")
        self._offsets = array("Q", [0])
        self._older = reviews  # reviews older than the segments whose indexing has started
        self._coming = divided(reviews)[::-1]
        """Sizes of the segments that are still to fill, the next one last."""
        self._threads = ThreadPoolExecutor(max_workers=_THREADS)
        self._segments: list[tuple[int, Future[tuple[str, File | None]]]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(cancel_futures=True)

    def extend(self, texts: Iterable[str | None]) -> None:
        """Add the texts of reviews."""
        parts = [*map(_folded, texts)]
        while parts:
            some = parts[: self._coming[-1] - len(self._sizes)]
            self._texts.write(b"".join(some))
            self._sizes.extend(map(len, some))
            self._offsets.extend(accumulate(map(len, some), initial=self._offsets.pop()))
            parts = parts[len(some) :]
            if len(self._sizes) == self._coming[-1]:
                self._coming.pop()
                self._index()

    def _index(self) -> None:
        """Start to index the reviews since the last call."""
        self._texts.flush()
        sizes, self._sizes = self._sizes, array("Q")
        begin = self._texts.size - sum(sizes)
        for count in fitting(sizes):
            some, sizes = sizes[:count], sizes[count:]
            self._older -= count
            future = self._threads.submit(self._write_index, begin, some, self._older)
            self._segments.append((count, future))
            begin += sum(some)

    def _write_index(self, begin: int, sizes: "array[int]", older: int) -> tuple[str, File | None]:
        """Write the index of a segment, in a thread; return its name and file, None if it is small."""
        if len(sizes) < SMALLEST:
            return "", None
        with (self._folder / names.TEXTS).open("rb") as file:
            texts = os.pread(file.fileno(), sum(sizes), begin)
        digest = hashlib.sha256(texts, usedforsecurity=False)
        digest.update(pyroaring.__croaring_version__.encode())  # its format is part of the file
        name = f"suffixes-{older}-{digest.hexdigest()[:32]}.column"
        return name, self._reuse(name) or suffix_array.write(self._folder, name, texts, sizes)

    def _reuse(self, name: str) -> File | None:
        """Link an index of the last snapshot; return None if it is missing or damaged."""
        file = self._earlier_files.get(name)
        if file is None or self._earlier is None:
            return None
        try:
            with (self._earlier / name).open("rb") as content:
                if hashlib.file_digest(content, "sha256").hexdigest() != file.sha256:
                    return None
            (self._folder / name).hardlink_to(self._earlier / name)
        except OSError:  # such as a file system without hard links
            return None
        return file

    def close(
        self, progress: Callable[[int, int], None]
    ) -> tuple[tuple[SegmentFile, ...], dict[str, File]]:
        """Finish the files; return the segments and all files.

        ``progress`` is called with the number of finished indexes and of all.
        """
        offsets = names.write(self._folder, names.TEXT_OFFSETS, self._offsets.tobytes())
        files = {names.TEXTS: self._texts.close(), names.TEXT_OFFSETS: offsets}
        segments = []
        for done, (count, future) in enumerate(self._segments, start=1):
            name, file = future.result()
            progress(done, len(self._segments))
            if file is not None:
                files[name] = file
            segments.append(SegmentFile(reviews=count, index=None if file is None else name))
        return tuple(segments), files
