"""Records joined from a file (contract 3, mcp.md 5.4)."""

import json
from array import array
from itertools import accumulate

import pytest

from reviewsd.snapshot.records import MAX_CACHED_BYTES, Excerpts

SMALL = [b'{"id":"%d","text":"a \\"b\\" \\\\"}' % number for number in range(5)]
LARGE = [b'{"text":"%b"}' % (b'\\"%d' % number * (MAX_CACHED_BYTES // 10)) for number in range(5)]


def of(records: list[bytes]) -> Excerpts:
    """Return the records of a file with other content before and after them."""
    content = b"before" + b",".join(records) + b"after"
    begins = accumulate((len(record) + 1 for record in records), initial=len(b"before"))
    return Excerpts(memoryview(content), array("Q", begins))


@pytest.mark.parametrize("records", [SMALL, LARGE], ids=["cached", "mapped"])
@pytest.mark.parametrize(
    "positions",
    [
        (),
        (0,),
        (4,),
        (1, 2),
        (0, 2, 4),
        (0, 1, 2, 3, 4),
        (3, 1, 0),
        (1, 0, 3),
        (0, 2, 1, 3),
        (1, 4, 0),
    ],
)
def test_records_are_joined_by_commas(records: list[bytes], positions: tuple[int, ...]) -> None:
    excerpts = of(records)
    expected = b",".join(records[at] for at in positions)
    assert expected == bytes(excerpts.joined(positions))
    assert expected == b"".join(excerpts.pieces(positions))
    assert expected.decode() == json.loads(b'"%b"' % excerpts.escaped(positions))
    assert [records[at] for at in positions] == [bytes(excerpts.at(at)) for at in positions]
