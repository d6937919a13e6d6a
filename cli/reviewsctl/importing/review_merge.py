"""The rules by which a review of the file gets the values of the same review in an export.

- A member that the export does not have stays, and so does one that is empty in it, unless the platform
  documents that it then has none, and an import wrote what is there.
- Where both carry times, the newer one wins: of the review, and of its reply.
- A shortened name stays short, unless full names are asked for. A full one stays full where an owner's own export has it
  short, unless short names are asked for.
"""

import datetime
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Final

import msgspec

from reviewsctl.importing.damage import damaged
from reviewsctl.importing.import_log import Written, digest
from reviewsctl.importing.outcomes import Fate, Fates
from reviewsctl.importing.review import MEMBERS, Entry
from reviewsctl.importing.values import is_short_form, members
from reviewsd.api.texts import author_key, is_nameless, plain_text

ADDED, CHANGED = "added_at", "changed_at"
STAMPS: Final = (ADDED, CHANGED)
"""Times that imports write into a review (data-model.md 1.3); what an export has of them changes nothing."""

_AUTHOR: Final = "author"
_PORTRAIT: Final = "author_avatar_url"
_REPLY: Final = "owner_reply"
_Stamp = Annotated[datetime.datetime, msgspec.Meta(tz=True)]

Review = Mapping[str, object]
"""A review, as JSON has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """The outcome for a review that is there."""

    changes: Review
    """The members that get another value."""
    fates: Fates
    log_row: Written
    """The new row of the import log."""


def merge_review(
    old: Review,
    new: Review,
    entry: Entry,
    unstated: Collection[str],
    last_written: Written,
    *,
    export_is_older: bool,
    names: str | None,
) -> Merged:
    """Decide which members of a review get the values of an export.

    Args:
        old: The review that is there.
        new: The same in the export.
        entry: The row it is from.
        unstated: The members that the export says nothing of.
        last_written: What imports last wrote of it.
        export_is_older: Whether the export is older than the last import.
        names: ``full`` if a shortened name becomes the full one, ``short`` if a full one becomes the shortened one, and
            None if neither does.
    """
    is_older = 0 < entry.edited < last_written.edited or _stamped_before(new, old)
    changes: dict[str, object] = {}
    exported: dict[str, object] = {}
    fates: dict[Fate, tuple[str, ...]] = {}
    for name, value in _stated(new, unstated, entry.replied, last_written, is_older=is_older):
        there = old.get(name)
        if name == _PORTRAIT and Fate.SHORT_NAME in fates:
            continue  # it would show who has the short name
        is_removed = value is None and there is not None
        if is_removed and export_is_older:
            continue
        kept = _kept_name(there, value, names) if name == _AUTHOR else None
        if kept is not None:
            fates |= {kept: ()} if there != value else {}
            continue
        if name in entry.weak and _outweighs(name, there, value, last_written):
            continue
        exported[name] = value
        if is_removed and not last_written.has(name, there):
            if name == _REPLY:
                fates[Fate.REPLY_KEPT] = ()
        elif there != value:
            changes[name] = value
    if wrong := damaged(old, changes):
        fates[Fate.DAMAGED] = wrong
    by_hand = tuple(name for name in changes if last_written.differs(name, old.get(name)))
    return Merged(
        changes=changes,
        fates=fates | dict(_fates(changes, by_hand, is_older=is_older)),
        log_row=Written(
            max(entry.edited, last_written.edited),
            max(entry.replied, last_written.replied),
            b"".join(
                digest(exported[name]) if name in exported else last_written.digest(name)
                for name in MEMBERS
            ),
            entry.has_own_id or last_written.has_own_id,
        ),
    )


_WITHDRAWN: Final = (
    *("author", "author_avatar_url", "text", "source_url", "owner_reply"),
    "location",  # of which the log says nothing
)
"""Members that an owner may take out of his table, in a row or as a column."""


def emptied(
    old: Review, new: Review, unstated: Collection[str], last_written: Written
) -> tuple[str, ...]:
    """Return the members that a table has nothing for, and that the file has as an import wrote them.

    The arguments are those of ``merge_review``.
    """
    return tuple(
        name
        for name in _WITHDRAWN
        if (name not in new or name in unstated)
        and old.get(name) not in (None, new.get(name))
        and (name not in MEMBERS or last_written.has(name, old.get(name)))
    )


def _fates(
    changes: Review, by_hand: tuple[str, ...], *, is_older: bool
) -> Iterator[tuple[Fate, tuple[str, ...]]]:
    if not changes:
        yield Fate.UNCHANGED, ()
        if is_older:
            yield Fate.OLDER, ()
        return
    yield Fate.CHANGED, tuple(changes)
    if {_AUTHOR, "date"} <= changes.keys():
        yield Fate.ANOTHER, ()
    if by_hand:
        yield Fate.OVERWRITTEN, by_hand
    if _REPLY in changes and changes[_REPLY] is None:
        yield Fate.REPLY_REMOVED, ()


def _stated(
    new: Review, unstated: Collection[str], replied: int, last_written: Written, *, is_older: bool
) -> Iterator[tuple[str, object]]:
    """Iterate over the members that the row has and that are no older than what imports wrote."""
    for name, value in new.items():
        if name == "id" or name in STAMPS or name in unstated:
            continue
        has_times = name == _REPLY and replied > 0 and last_written.replied > 0
        if not (replied < last_written.replied if has_times else is_older):
            yield name, value


def _outweighs(name: str, there: object, value: object, last_written: Written) -> bool:
    """Return whether a member that is there stays, as the row has it in part only."""
    if name == _REPLY:  # the day is made up; the text is not
        return isinstance(there, dict) and there.get("text") == members(value).get("text")
    return last_written.differs(name, there)  # the operator knows this one


def stamped(review: Review, now: datetime.datetime) -> dict[str, object]:
    """Return the stamps of a review that is new in the file; those it has stay if they can be.

    It may have been exported by another reviewsd.
    """
    past = {
        name: review[name]
        for name in STAMPS
        if (when := moment(review.get(name))) is not None and when <= now
    }
    return past if ADDED in past else {ADDED: stamp(now)}


def stamp(when: datetime.datetime) -> str:
    """Return a time as reviews.json has it."""
    return when.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def moment(value: object) -> datetime.datetime | None:
    """Return the time that a stamp says; None if it is no RFC 3339 time with an offset."""
    try:
        return msgspec.convert(value, _Stamp)
    except msgspec.ValidationError:
        return None


def _stamped_before(new: Review, old: Review) -> bool:
    """Return whether the file has a later stamp than an export of reviewsd itself."""
    here = _last_stamp(new)
    there = None if here is None else _last_stamp(old)
    return here is not None and there is not None and here < there


def _last_stamp(review: Review) -> datetime.datetime | None:
    stamps = (moment(review[name]) for name in (CHANGED, ADDED) if name in review)
    return next(filter(None, stamps), None)


def _kept_name(there: object, value: object, names: str | None) -> Fate | None:
    """Return that the name of the file stays, as it is the short or full form of that of the row; else None."""
    if names != "full" and is_short_form(there, value):
        return Fate.SHORT_NAME
    if names is None and is_short_form(value, there):
        return Fate.FULL_NAME
    return None


def alike_number(review: Review) -> int:
    """Return a number that reviews with one author, day, rating and text share, within one process; 0 if it is invalid.

    Names count by their short form, since imports may shorten them.
    """
    author, others = review.get("author"), (review.get("date"), review.get("rating"))
    if not isinstance(author, str) or not all(isinstance(part, str | int) for part in others):
        return 0
    return hash((author_key(author), *others, _plain_text(review)))


def is_double(review: Review, record: Review) -> bool:
    """Return whether a row with the ``alike_number`` of a review is of another source.

    Stars alone of an author without a name have no doubles.
    """
    says_enough = bool(_plain_text(record)) or not is_nameless(str(record.get("author")))
    return says_enough and record.get("source") != review.get("source")


def is_copy(review: Review, row: Entry) -> bool:
    """Return whether a row with the ``alike_number`` of a review is that review under another id.

    Stars alone have no copies: a customer may rate two locations on one day.
    """
    location, second = review.get("location"), row.place
    is_one_tools = isinstance(location, str) and (
        location[:4] == second[:4] or (location.isdigit() and second.isdigit())
    )
    is_of_two = is_one_tools and location != second
    is_of_source = row.record.get("source") == review.get("source")
    return bool(_plain_text(review)) and is_of_source and not is_of_two


def _plain_text(review: Review) -> str:
    text = review.get("text")
    return plain_text(text) if isinstance(text, str) else ""
