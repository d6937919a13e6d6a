"""Excerpts: what agents are given of values that may have any size (mcp.md 5.4).

A language model takes some 25,000 tokens of an answer, while the data may hold texts and lists of any
length. An excerpt is the same JSON object made smaller step by step, until it fits: first members go
that the data model does not name, then long lists end earlier, long texts too. What does so is said in
its last member, ``truncated``, with where the rest is. An object that fits is left as it is.

The reviews that lists give are excerpts of another kind as well: what is null is left out, the avatar,
which no language model can see, and when it was added. They are made once, at publication.
"""

import datetime
from bisect import bisect
from collections.abc import Container
from typing import Annotated, NamedTuple

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from reviewsd.domain.reviews import (
    Date,
    OwnerReply,
    Rating,
    Review,
    ReviewId,
    Text,
    Timestamp,
    Url,
)
from reviewsd.publish.documents import RenderedReview, join_members

MAX_EXCERPT = 16_000
"""Bytes of what is told of one thing: a profile, an entity, a review."""

MAX_LISTED = 6_000
"""Bytes of one of many reviews: the longest that Google takes (4,096 characters) fits as a rule."""

MAX_PART = 8_000
"""Bytes of a part of a review's text, where it comes in parts."""

_STEPS = ((100, 4_000), (20, 2_000), (20, 500), (5, 200), (0, 200))
"""Items of a list, bytes of a text: the first step that makes the excerpt fit is taken. The id of a
review is never longer than that."""

_MAX_NAME = 64  # characters of the name of a member that is not known
_MAX_DEPTH = 4  # of objects and lists in each other; the data model has three
_MAX_NOTES = 5  # in ``truncated``; what else is left out is counted
_LONGEST_NUMBER = 40  # bytes

_NOTE = "truncated"
_LEFT_OUT = frozenset({"author_avatar_url", "added_at", _NOTE})
"""Of listed reviews. Nobody else may say what is truncated."""

_NULL = Raw(b"null")
_CUT = "…"

_members = msgspec.json.Decoder(dict[str, Raw])
_items = msgspec.json.Decoder(list[Raw])
_text = msgspec.json.Decoder(str)
_encode = msgspec.json.Encoder().encode


class Listed(Struct, frozen=True, kw_only=True):
    """One of many reviews, as agents are given it: members that are null are left out."""

    id: Annotated[ReviewId, Meta(description="For get_review")]
    author: Text
    rating: Annotated[Rating, Meta(description="Stars")]
    date: Date
    text: Annotated[
        str | UnsetType, Meta(description="Verbatim; absent for a rating without words")
    ] = UNSET
    source: Annotated[Text, Meta(description="Where it was written, e.g. google")]
    source_url: Url | UnsetType = UNSET
    owner_reply: OwnerReply | UnsetType = UNSET
    verified: bool
    changed_at: Timestamp | UnsetType = UNSET
    truncated: Annotated[
        str | UnsetType, Meta(description="What is left out here; get_review has it")
    ] = UNSET


def listed(rendered: RenderedReview, typed: Review) -> bytes:
    """The excerpt of a review for lists of them."""
    if rendered.plain and len(rendered.content) <= MAX_LISTED:  # so it is nearly always
        return _encode(
            Listed(
                id=typed.id,
                author=typed.author,
                rating=typed.rating,
                date=typed.date,
                text=typed.text or UNSET,
                source=typed.source,
                source_url=typed.source_url or UNSET,
                owner_reply=typed.owner_reply or UNSET,
                verified=typed.verified,
                changed_at=typed.changed_at.astimezone(datetime.UTC) if typed.changed_at else UNSET,
            )
        )
    kept = {
        name: value
        for name, value in _members.decode(rendered.content).items()
        if value != _NULL and name not in _LEFT_OUT
    }
    return excerpt(_encode(kept), MAX_LISTED, Listed.__struct_fields__, "get_review has more of it")


class PartOfReview(NamedTuple):
    """A review with a part of its text."""

    review: bytes
    following: int | None
    """The character at which the next part begins; None at the end."""


class NoPartError(Exception):
    """The text ends before the part.

    Attributes:
        length: Characters of the text.
    """

    def __init__(self, length: int) -> None:
        self.length = length
        super().__init__(str(length))


def part(rendered: bytes, offset: int, rest: str) -> PartOfReview:
    """A review of which any member may be too long, with its text from a character on.

    Args:
        rendered: The review as it is served.
        offset: The number of that character; 0 is the first.
        rest: Where the whole of the other members is, in words.

    Raises:
        NoPartError: The text has no such character.
    """
    if not offset and len(rendered) <= MAX_EXCERPT:
        return PartOfReview(rendered, None)
    members = _members.decode(rendered)
    members.pop(_NOTE, None)
    text = "" if members["text"] == _NULL else _text.decode(members["text"])
    if offset and offset >= len(text):
        raise NoPartError(len(text))
    shown = head(text[offset:], MAX_PART)
    end = offset + len(shown)
    others = excerpt(_encode(members | {"text": None}), MAX_LISTED, Review.__struct_fields__, rest)
    kept = _members.decode(others)
    if members["text"] != _NULL:
        kept["text"] = Raw(_encode(shown))
    if len(shown) < len(text):
        said = [f"text: characters {offset:,} to {end:,} of {len(text):,}"]
        said += [_text.decode(kept.pop(_NOTE))] if _NOTE in kept else []
        kept[_NOTE] = Raw(_encode("; ".join(said)))
    return PartOfReview(_encode(kept), None if end == len(text) else end)


def excerpt(rendered: bytes, most: int, known: Container[str], rest: str) -> bytes:
    """An object that fits into a number of bytes.

    Args:
        rendered: A compact JSON object.
        most: That many bytes. Only an object of very many members that are neither text nor list
            keeps more.
        known: The names of the members that stay, shortened if they must be.
        rest: Where the whole is, in words.
    """
    if len(rendered) <= most:
        return rendered
    members = _members.decode(rendered)
    members.pop(_NOTE, None)
    kept = {name: bytes(value) for name, value in members.items() if name in known}
    unknown = {name[:_MAX_NAME]: "left out" for name in members.keys() - kept.keys()}
    shorter = _annotated(kept, unknown, rest)
    for items, longest in _STEPS:
        if len(shorter) <= most:
            break
        notes: dict[str, str] = {}
        within = {
            name: _shortened(value, items, longest, (name,), notes) for name, value in kept.items()
        }
        shorter = _annotated(within, notes | unknown, rest)
    return shorter


def _annotated(members: dict[str, bytes], notes: dict[str, str], rest: str) -> bytes:
    """An object that says what is left out of it."""
    said = [f"{path}: {note}" for path, note in sorted(notes.items())]
    if len(said) > _MAX_NOTES:
        said[_MAX_NOTES:] = [f"and {len(said) - _MAX_NOTES} more"]
    return join_members((*members.items(), (_NOTE, _encode("; ".join((*said, rest))))))


def _shortened(
    value: bytes, items: int, longest: int, path: tuple[str, ...], notes: dict[str, str]
) -> bytes:
    """A value without what is too long in it.

    Args:
        value: Compact JSON.
        items: How many a list keeps, and an object below the top.
        longest: Bytes of a text.
        path: Where it is; what is one of a list is where the list is.
        notes: What has been left out, by path.
    """
    first = value[:1]
    if first == b'"':
        if len(value) <= longest:
            return value
        whole = _text.decode(value)
        kept = head(whole, longest)
        notes.setdefault(".".join(path), f"the first {len(kept):,} of {len(whole):,} characters")
        return _encode(kept + _CUT)
    if first not in b"[{":
        return value if len(value) <= _LONGEST_NUMBER else b"null"
    if len(path) > _MAX_DEPTH:
        notes.setdefault(".".join(path), "left out")
        return b"null"
    if first == b"[":
        given = _items.decode(value)
        if len(given) > items:
            notes.setdefault(".".join(path), f"the first {items} of {len(given):,}")
        inside = (*path, "each")
        parts = (_shortened(bytes(each), items, longest, inside, notes) for each in given[:items])
        return b"[" + b",".join(parts) + b"]"
    members = [
        (name, bytes(each))
        for name, each in _members.decode(value).items()
        if len(name) <= _MAX_NAME
    ]
    return join_members(
        (name, _shortened(each, items, longest, (*path, name), notes))
        for name, each in members[:items]
    )


def whole_in(address: str) -> str:
    """Where the rest is, as ``truncated`` says it."""
    return f"the whole is in {address}"


def head(text: str, most: int) -> str:
    """The beginning of a text whose JSON has at most so many bytes between its quotes."""
    text = text[:most]
    return text[: bisect(range(len(text)), most, key=lambda end: len(_encode(text[: end + 1])) - 2)]
