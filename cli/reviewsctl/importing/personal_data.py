"""Notes on personal data that readers see in the texts and replies of an import."""

from collections.abc import Iterable
from typing import Final

import msgspec

from reviewsctl.importing.import_log import NOTHING, ImportLog
from reviewsctl.importing.review import Entry
from reviewsctl.importing.values import has_contact
from reviewsd.api.names import surname_in
from reviewsd.api.texts import first_of

_SHOWN: Final = 3  # reviews in a note


def notes_of_replies(staged: Iterable[Entry], log: ImportLog) -> list[str]:
    """Return the note on new replies that may have a surname that is shortened."""
    notes = []
    for entry in staged:
        if b'"owner_reply"' not in entry.record:
            continue
        record = msgspec.json.decode(entry.record)
        reply = record.get("owner_reply") or {}
        has_surname = surname_in(reply.get("text", ""), record["author"])
        if has_surname and not log.reviews.get(entry.key, NOTHING).has(
            "owner_reply", record["owner_reply"]
        ):
            notes.append(record["date"])  # no name, as a sync writes notes to the journal
    if not notes:
        return []
    days = first_of(notes, _SHOWN)
    return [
        f"replies that may have the surname of a shortened name: {len(notes):,} ({days}); correct it there, as readers see it"
    ]


class _Text(msgspec.Struct):
    """The members of a record that a note on its text has."""

    id: str
    date: str
    text: str | None = None


def notes_of_contacts(staged: Iterable[Entry], log: ImportLog) -> list[str]:
    """Return the note on new texts that have a phone number or an e-mail address."""
    decode, found = msgspec.json.Decoder(_Text).decode, []
    for entry in staged:
        review = decode(entry.record)
        written = log.reviews.get(entry.key, NOTHING)
        if review.text and has_contact(review.text) and not written.has("text", review.text):
            found.append(f"{review.date}, {review.id}")
    if not found:
        return []
    title = "texts with a phone number or an e-mail address, which readers see"
    remedy = "reviewsctl reviews hide ID --reason personal-data --text"
    which = f"{len(found):,} ({first_of(found, _SHOWN)})"
    return [f"{title}: {which}; to leave the stars alone: {remedy}"]
