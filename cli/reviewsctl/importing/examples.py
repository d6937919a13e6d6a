"""The reviews that ``reviewsctl init`` writes, so that a first start has something to show.

They are of no customer, so an import leaves them out.
"""

from pathlib import Path
from typing import Final

import msgspec

_SHIPPED: Final = Path(__file__).parent.parent / "shipped" / "reviews.json"


class _Example(msgspec.Struct):
    id: str


class _Business(msgspec.Struct):
    name: str


class _File(msgspec.Struct):
    business: _Business
    reviews: list[_Example]


_file = msgspec.json.decode(_SHIPPED.read_bytes(), type=_File)

EXAMPLES: Final = frozenset(review.id for review in _file.reviews)
"""The ids of the examples."""

NO_NAME: Final = _file.business.name
"""The name of the business until the operator sets one."""
