"""Writes the texts of all reviews, and the index of each segment of them (``snapshot.suffix_array``).

Indexes are made in two threads, while the next reviews are written: libdivsufsort and numpy leave the
interpreter to others. An index is named by what it is made of, so that one of the last snapshot that has the same
name is taken over: of a million reviews, ten new ones change one segment of sixteen.
"""

import hashlib
import os
from array import array
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import accumulate
from pathlib import Path
from types import TracebackType
from typing import Self

import pyroaring

from reviewsd.http1.representation import Buffer
from reviewsd.snapshot import layout as names
from reviewsd.snapshot import suffix_array
from reviewsd.snapshot.layout import File, SegmentFile, Writer, open_manifest
from reviewsd.snapshot.numbering import divided, fitting

SMALLEST = 64
"""Reviews of a segment from which on it has an index: the texts of fewer are looked at."""

_SEPARATOR = bytes([suffix_array.SEPARATOR])
_PIECE = 1 << 20  # bytes

_THREADS = 2
"""Each takes up to 11 times the bytes of the texts of a segment."""


def folded(text: str | None) -> bytes:
    """A review's text as it stands in the column of texts."""
    return _SEPARATOR if text is None else text.casefold().encode() + _SEPARATOR


class SegmentsWriter:
    """Collects texts, newest first. It must be left as a context, so that its threads end.

    Args:
        folder: Where the files are made.
        reviews: How many will come.
        earlier: The folder of the last snapshot, where there is one.
    """

    def __init__(self, folder: Path, reviews: int, earlier: Path | None = None) -> None:
        self._folder, self._earlier = folder, earlier
        manifest = None if earlier is None else open_manifest(earlier)
        self._known = {} if manifest is None else manifest.files
        self._texts = Writer(folder, names.TEXTS)
        self._sizes = array("Q")
        self._offsets = array("Q", [0])
        self._coming = divided(reviews)[::-1]  # reviews of the segments that are not full
        self._threads = ThreadPoolExecutor(max_workers=_THREADS)
        self._indexes: dict[str, Future[File]] = {}  # the same texts have one
        self._made: list[tuple[int, Future[tuple[str, File | None]]]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._threads.shutdown(cancel_futures=True)

    def extend(self, texts: Buffer, sizes: "array[int]") -> None:
        """Those of the next reviews.

        Args:
            texts: ``folded``, one after the other.
            sizes: Bytes of each.
        """
        while sizes:
            some = sizes[: self._coming[-1] - len(self._sizes)]
            size = sum(some)
            self._offsets.extend(accumulate(some, initial=self._offsets.pop()))
            self._texts.write(texts[:size])
            self._sizes.extend(some)
            texts, sizes = texts[size:], sizes[len(some) :]
            if len(self._sizes) == self._coming[-1]:
                self._coming.pop()
                self._index()

    def _index(self) -> None:
        """Have the reviews indexed that have come since the last time."""
        self._texts.flush()
        sizes, self._sizes = self._sizes, array("Q")
        begin = self._texts.size - sum(sizes)
        for count in fitting(sizes):
            some, sizes = sizes[:count], sizes[count:]
            future = self._threads.submit(self._indexed, begin, some)
            self._made.append((count, future))
            begin += sum(some)

    def _indexed(self, begin: int, sizes: "array[int]") -> tuple[str, File | None]:
        """Make the index of a segment, in a thread; None where it is small."""
        if len(sizes) < SMALLEST:
            return "", None
        with (self._folder / names.TEXTS).open("rb") as file:
            texts = os.pread(file.fileno(), sum(sizes), begin)
        digest = hashlib.sha256(texts, usedforsecurity=False)
        digest.update(pyroaring.__croaring_version__.encode())  # its bytes are in the file
        name = f"suffixes-{digest.hexdigest()[:32]}.column"
        own: Future[File] = Future()
        first = self._indexes.setdefault(name, own)
        if first is own:
            try:
                made = self._taken_over(name)
                own.set_result(made or suffix_array.write(self._folder, name, texts, sizes))
            except BaseException as error:  # noqa: BLE001  raised below, and to the other thread
                own.set_exception(error)
        return name, first.result()

    def _taken_over(self, name: str) -> File | None:
        """The index of that name, from the last snapshot, if it is as it was written."""
        file = self._known.get(name)
        if file is None or self._earlier is None:
            return None
        digest = hashlib.sha256(usedforsecurity=False)
        try:
            with (self._earlier / name).open("rb") as content:
                while piece := content.read(_PIECE):
                    digest.update(piece)
            if digest.hexdigest() != file.sha256:
                return None
            (self._folder / name).hardlink_to(self._earlier / name)
        except OSError:  # a file system without such links, for one
            return None
        return file

    def close(
        self, progress: Callable[[int, int], None]
    ) -> tuple[tuple[SegmentFile, ...], dict[str, File]]:
        """Write everything; returns the segments and all files.

        Args:
            progress: Told how many indexes of how many are made.

        Raises:
            SortError: Texts cannot be sorted (``snapshot.suffix_array``).
        """
        offsets = names.write(self._folder, names.TEXT_OFFSETS, self._offsets.tobytes())
        files = {names.TEXTS: self._texts.close(), names.TEXT_OFFSETS: offsets}
        segments = []
        for done, (count, future) in enumerate(self._made):
            progress(done, len(self._made))
            name, file = future.result()
            if file is not None:
                files[name] = file
            segments.append(SegmentFile(reviews=count, index=None if file is None else name))
        return tuple(segments), files
