"""Stores the analyser's results for a block of reviews (insights.md 1).

A publication counts only changed blocks again, and analyses only the new texts in them.
"""

from collections.abc import Iterable, Mapping

import msgspec
from msgspec import Raw, Struct

from reviewsd.analysis.counts import Counts
from reviewsd.analysis.labels import Labels
from reviewsd.publish.block_file import BlocksReader


class KeptBlock(Struct, frozen=True, array_like=True):
    """The results for a block."""

    counts: Counts
    entries: memoryview
    """The entries of ``per_review``, separated by commas."""
    bounds: list[int]
    """Begin and end of each value in ``entries``."""
    labels: memoryview
    """Labels by ``label_key`` as MessagePack; only read for changed blocks."""


_encode = msgspec.msgpack.Encoder().encode
_decode_block = msgspec.msgpack.Decoder(KeptBlock).decode
_decode_encoded = msgspec.msgpack.Decoder(dict[str, Raw]).decode
_decode_labels = msgspec.msgpack.Decoder(Labels).decode


def encode(block: KeptBlock) -> bytes:
    """Encode a block for the file."""
    return _encode(block)


def decode(content: bytes | memoryview) -> KeptBlock:
    """Decode a block of the file."""
    return _decode_block(content)


def encode_labels(labels: Mapping[str, Labels]) -> memoryview:
    """Encode the labels of a block."""
    return memoryview(_encode(labels))


def labels_of_others(
    earlier: BlocksReader, keys: Iterable[bytes], digest: bytes
) -> "EncodedLabels":
    """Return the labels of blocks that are gone, if they were made with the same rules.

    Args:
        earlier: The blocks of the earlier publication.
        keys: The keys of the blocks of this publication.
        digest: Digest of the rules.
    """
    labels: dict[str, Raw] = {}
    if digest != earlier.digest:
        return EncodedLabels(labels)
    for key in earlier.keys() - set(keys):
        content = earlier.find(key)
        if content is not None:
            labels |= _decode_encoded(decode(content).labels)
    return EncodedLabels(labels)


class EncodedLabels:
    """Labels that are decoded on demand, because most are never looked up.

    Args:
        encoded: Encoded labels by key.
    """

    def __init__(self, encoded: Mapping[str, Raw]) -> None:
        self._encoded = encoded

    def get(self, key: str, /) -> Labels | None:
        """Return the labels of a key, or None."""
        labels = self._encoded.get(key)
        return None if labels is None else _decode_labels(labels)
