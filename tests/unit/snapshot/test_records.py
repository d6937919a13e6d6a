"""Records joined from a file (contract 3, mcp.md 5.4)."""

import json
from array import array
from itertools import accumulate

import pytest

from reviewsd.snapshot.records import KEPT, Excerpts

SMALL = [b'{"id":"%d","text":"a \\"b\\" \\\\"}' % number for number in range(5)]
LARGE = [b'{"text":"%b"}' % (b'\\"%d' % number * (KEPT // 10)) for number in range(5)]


def of(records: list[bytes]) -> Excerpts:
    """A file that has something before its records, and after them."""
    content = b"before" + b",".join(records) + b"after"
    begins = accumulate((len(each) + 1 for each in records), initial=len(b"before"))
    return Excerpts(memoryview(content), array("Q", begins))


@pytest.mark.parametrize("records", [SMALL, LARGE], ids=["kept", "mapped"])
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
    found = of(records)
    expected = b",".join(records[each] for each in positions)
    assert expected == bytes(found.joined(positions))
    assert expected == b"".join(found.pieces(positions))
    assert expected.decode() == json.loads(b'"%b"' % found.escaped(positions))
    assert [records[each] for each in positions] == [bytes(found.at(each)) for each in positions]
