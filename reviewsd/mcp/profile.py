"""Who the business is, for what a server says of itself (mcp.md 4)."""

import msgspec

from reviewsd.publish import fragments
from reviewsd.snapshot.snapshots import Snapshot


def head(snapshot: Snapshot) -> dict[str, msgspec.Raw]:
    """``business``, ``aggregate_rating`` and ``review_count`` (the reviews in the data set)."""
    (row,) = snapshot.sections.rows(fragments.BUSINESS)
    return _members.decode(snapshot.sections.fragment(row))


_members = msgspec.json.Decoder(dict[str, msgspec.Raw])
