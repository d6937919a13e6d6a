"""Our own shape: reviews.json (data-model.md), and what ``reviewsctl export`` writes.

Reviews are merged by id, as they are: members that nobody knows come along.
"""

import json
from collections.abc import Mapping

import msgspec

from reviewsctl.importing.examples import EXAMPLES
from reviewsctl.importing.format import Fields, Format, Head, Parser, Row, Rules, whole
from reviewsctl.importing.review import Entry, Review, RowRefusedError, RowSkippedError
from reviewsctl.importing.signature import RECOGNISED, Signature
from reviewsctl.importing.values import short_name, words

COLUMNS = (
    "id",
    "author",
    "author_avatar_url",
    "rating",
    "date",
    "text",
    "source",
    "source_url",
    "owner_reply_text",
    "owner_reply_date",
    "verified",
)
"""Of the CSV that is exported; an empty cell is null."""

_REQUIRED = ("id", "author", "rating", "date", "source", "verified")
_BOOLEANS: Mapping[str, bool] = {"true": True, "false": False}


def _likeness(head: Head) -> float:
    if head.shape == "table":
        return Signature(COLUMNS)(head)
    if not head.sample and "business" in head.around:
        return RECOGNISED
    return Signature(_REQUIRED)(head)


def _parser(head: Head, rules: Rules) -> Parser:
    decoder = msgspec.json.Decoder(Review)

    def read(row: Row) -> Entry:
        text = _json(row.fields) if head.shape == "table" else row.text
        try:
            if rules.short_names and isinstance(author := row.fields.get("author"), str):
                shortened = short_name(author) if author.strip() else author
                text = json.dumps({**json.loads(text), "author": shortened}, ensure_ascii=False)
            record = text.encode()
            review = decoder.decode(record)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
            raise RowRefusedError(f"not a review of ours: {error}") from None
        if review.id in EXAMPLES:
            raise RowSkippedError("examples of reviewsctl init")
        location = row.fields.get("location")
        place = str(whole(location)) if isinstance(location, str) else ""
        return Entry(key=review.id, source=review.source, place=place, record=record)

    return read


def _json(fields: Fields) -> str:
    """A row of the exported CSV as the review it was."""
    cells = {name.casefold(): words(value) for name, value in fields.items()}
    answer = {"text": cells["owner_reply_text"] or "", "date": cells["owner_reply_date"]}
    rating, verified = cells["rating"] or "", (cells["verified"] or "").casefold()
    review = {
        **{name: cells[name] for name in COLUMNS if not name.startswith("owner_reply")},
        "rating": int(rating) if rating.isascii() and rating.isdigit() else cells["rating"],
        "owner_reply": answer if cells["owner_reply_date"] else None,
        "verified": _BOOLEANS.get(verified, verified),
    }
    return json.dumps(review, ensure_ascii=False)


FORMAT = Format(
    name="reviewsd",
    title="reviewsd's own reviews.json or export",
    leaves="nothing",
    likeness=_likeness,
    verification="what the file says",
    parser=_parser,
)
