"""What is kept of a block of reviews that the analyser has read and counted (insights.md 1).

So a publication looks only at the blocks in which something has changed, and reads only the texts that
are new to them.
"""

from collections.abc import Iterable, Mapping

import msgspec
from msgspec import Raw, Struct

from reviewsd.analysis.counts import Counts
from reviewsd.analysis.labels import Labels
from reviewsd.publish.block_file import BlocksReader


class KeptBlock(Struct, frozen=True, array_like=True):
    """A block that was read and counted."""

    counts: Counts
    entries: memoryview
    """Of ``per_review``, with commas between them."""
    bounds: list[int]
    """Where the value of each begins and ends in them."""
    labels: memoryview
    """By ``label_key``, MessagePack: needed only where the block has changed."""


_encode = msgspec.msgpack.Encoder().encode
_decode_block = msgspec.msgpack.Decoder(KeptBlock).decode
_decode_encoded = msgspec.msgpack.Decoder(dict[str, Raw]).decode
_decode_labels = msgspec.msgpack.Decoder(Labels).decode


def encode(block: KeptBlock) -> bytes:
    """A block as it stands in the file."""
    return _encode(block)


def decode(content: bytes | memoryview) -> KeptBlock:
    """The same back."""
    return _decode_block(content)


def encode_labels(labels: Mapping[str, Labels]) -> memoryview:
    """The labels of a block, as it has them."""
    return memoryview(_encode(labels))


def labels_of_others(kept: BlocksReader, keys: Iterable[bytes], digest: bytes) -> "EncodedLabels":
    """The labels of all blocks but those of these keys, if they were made with the same rules."""
    found: dict[str, Raw] = {}
    if digest != kept.digest:
        return EncodedLabels(found)
    for key in kept.keys() - set(keys):
        content = kept.find(key)
        if content is not None:
            found |= _decode_encoded(decode(content).labels)
    return EncodedLabels(found)


class EncodedLabels:
    """Labels that are decoded when they are asked for: a million others may be asked for by none.

    Args:
        encoded: Each, by key.
    """

    def __init__(self, encoded: Mapping[str, Raw]) -> None:
        self._encoded = encoded

    def get(self, key: str, /) -> Labels | None:
        """Those of a key; None where there are none."""
        found = self._encoded.get(key)
        return None if found is None else _decode_labels(found)
