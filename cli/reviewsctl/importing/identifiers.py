"""By what a row that is not taken may be known, so that ``--replace`` keeps the review it is of."""

from collections.abc import Iterator

from reviewsctl.importing.format import Columns, Row
from reviewsctl.importing.platforms.column_names import GUESSES
from reviewsctl.importing.platforms.columns import flat
from reviewsctl.importing.values import normal, word

_ADDRESSES = ("name", "url")  # Google's name of a review; Facebook's address
_LONG = 500  # characters


def identifiers(row: Row, columns: Columns) -> Iterator[str]:
    """Values of a row of any format that may be its id: a fault in it hides which of them is."""
    mapped = normal(columns.mapped.get("id", ""))
    for name, value in flat(row.fields).items():
        whole, last = normal(name), normal(name.rpartition(".")[2])
        named = last.endswith("id") or last in GUESSES["id"] or last in _ADDRESSES
        text = word(value) if named or whole == mapped else None
        if text is not None and len(text) <= _LONG:
            yield text
            if "/" in text:
                yield text.rpartition("/")[2]
