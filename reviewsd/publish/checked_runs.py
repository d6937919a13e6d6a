"""Runs of reviews that an earlier publication has found valid, with what it learnt of them.

A run is known by the digest of its text (``domain.dataset``): whoever has looked at these bytes by these rules
need not do so again. Kept in the folder of the snapshot (``layout.CHECKED_RUNS``).
"""

from pathlib import Path
from typing import Self

import msgspec

from reviewsd.domain.records import RunFacts
from reviewsd.publish.block_file import BlocksReader, BlocksWriter
from reviewsd.publish.review_blocks import Earlier
from reviewsd.snapshot import layout

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(RunFacts).decode


class CheckedRuns:
    """Those of the last snapshot, and those of the next. A context.

    Args:
        earlier: The last snapshot.
        target: The folder of the next.
    """

    def __init__(self, earlier: Earlier, target: Path) -> None:
        reader = BlocksReader(earlier.folder / layout.CHECKED_RUNS)
        self._reader = reader if reader.digest == earlier.rules else None
        self._rules = earlier.rules
        self._file = (target / layout.CHECKED_RUNS).open("xb")
        self._writer = BlocksWriter(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.finish(self._rules)
        self._file.close()

    def find(self, key: bytes) -> RunFacts | None:
        """The facts of the run whose text has that digest."""
        content = None if self._reader is None else self._reader.find(key)
        try:
            return None if content is None else _decode(content)
        except msgspec.MsgspecError:  # of another version
            return None

    def keep(self, key: bytes, facts: RunFacts) -> None:
        """Note those of a valid run."""
        self._writer.add(key, _encode(facts))
