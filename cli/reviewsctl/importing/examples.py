"""The reviews that ``reviewsctl init`` writes, so that a first start has something to show.

They are nobody's, so an import leaves none of them among those of customers.
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

EXAMPLES: Final = frozenset(each.id for each in _file.reviews)
"""Their ids."""

NO_NAME: Final = _file.business.name
"""What stands there until somebody says what the business is called."""
