"""Writes the owner's reply to a review into reviews.json: ``reviewsctl reviews reply``."""

import datetime
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import structs

from reviewsctl.corrections.files import faults
from reviewsctl.corrections.output import STATES
from reviewsctl.files.folders import opened
from reviewsctl.importing import import_log
from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.review_merge import CHANGED, stamp
from reviewsctl.importing.reviews_file import REVIEWS, read, replace, rewrite, updated
from reviewsctl.importing.values import members, shown
from reviewsd.api.names import surname_in
from reviewsd.api.texts import merge_key, printable, words_of

if TYPE_CHECKING:
    from reviewsd.domain.reviews import Review

_NAME: Final = 3  # letters of a name that a reply is searched for


def text_of(argument: str) -> str:
    """Return the text of a reply, which ``-`` takes from standard input, without a byte order mark.

    Raises:
        ImportRefusedError: It is not UTF-8, or there is none on standard input.
    """
    try:
        if argument != "-":
            argument.encode()  # bytes that are not UTF-8 are half characters
            return argument.strip()
        text = sys.stdin.buffer.read().decode("utf-8-sig").replace("\r\n", "\n").strip()
    except UnicodeError as error:
        raise ImportRefusedError(
            f"the reply is not UTF-8: {error}",
            "Save it as UTF-8 in a file, then: reviewsctl reviews reply ID - < reply.txt",
        ) from error
    if not text:
        raise ImportRefusedError("there is no text on standard input")
    return text


def write(target: Path, review_id: str, text: str, now: datetime.datetime) -> None:
    """Write a reply of today, or remove it if the text is empty, and keep the version before.

    No value of it is logged, so the next import keeps it, as it keeps what is edited by hand.

    Args:
        target: The path of reviews.json.
        review_id: The review.
        text: The reply.
        now: When; its day in local time is that of the reply.

    Raises:
        ImportRefusedError: Another program has changed the file, or it cannot be written.
    """
    reply: Mapping[str, str] | None = None
    if text:
        reply = {"text": text, "date": now.astimezone().date().isoformat()}

    changes = {"owner_reply": reply, CHANGED: stamp(now)}
    with faults(target), opened(target.parent) as folder, folder.draft(target.name) as new:
        if (document := read(folder, target.name)) is None:
            raise ImportRefusedError(f"{target} is gone", "Bring it back: reviewsctl reviews undo")
        reviews = [
            updated(raw, changes) if members(document.value(raw)).get("id") == review_id else raw
            for raw in document.elements(REVIEWS)
        ]
        rewrite(new.file, document, reviews, {}, stamp(now))
        what = "your reply to" if text else "the removal of your reply to"
        change = import_log.Change(at=now, text=f"{what} {review_id}, {stamp(now)}")
        replace(new, structs.replace(import_log.load(folder)[0], change=change), now)


def effects_of(text: str, review: "Review", action: str, *, is_imported: bool) -> Iterator[str]:
    """Yield what readers see of a reply, or of one that was taken away.

    Args:
        text: The reply.
        review: The review, with its correction or without.
        action: The action of the correction.
        is_imported: Whether the export has a reply of its own, see ``has_imported_reply``.
    """
    if action in ("hide", "hide-text", "stars-only"):
        restore = f"reviewsctl reviews restore {review.id}"
        yield f"your page stays as it is, as the review is {STATES[action]}; to show it: {restore}"
    else:
        later = "" if is_imported else ", and after every later import"
        effect = "on your page" if text else "gone from your page"
        yield f"{effect} within seconds by a running daemon (reviewsctl reload waits for it){later}"
        if word := surname_in(text, review.author):
            yield (
                f"readers see {printable(word)!r} in it, which may be the surname of {printable(review.author)}"
            )
        names = set(words_of(review.author)) if action == "anonymize" else ()
        if shown_names := [word for word in words_of(text) if len(word) >= _NAME and word in names]:
            yield (
                f"readers see {shown(shown_names[0])} in it, a name of the author, who is anonymous on your page"
            )
    if is_imported:
        yield (
            f"the export of {printable(review.source)} has a reply of its own to this review: "
            "change it there, or the next import brings it back"
        )


def has_imported_reply(target: Path, review_id: str) -> bool:
    """Return whether the last import of a review had a reply to it."""
    with faults(target), opened(target.parent) as folder:
        written = import_log.load(folder)[0].of(merge_key(review_id))
    return written.differs("owner_reply", None)
