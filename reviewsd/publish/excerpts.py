"""Excerpts of JSON objects of any size, for agents (mcp.md 5.4).

A language model accepts some 25,000 tokens, while texts and lists may have any length. An object that
is too large is shortened step by step: first unknown members are removed, then lists and texts are
shortened. Its last member, ``truncated``, lists what was shortened, and where the rest is.

Reviews in lists are excerpts too, made at publication: without null members, without the avatar, which
no language model can see, and without ``added_at``.
"""

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
from reviewsd.publish.documents import join_members

MAX_EXCERPT = 16_000
"""Bytes of the excerpt of one profile, entity or review."""

MAX_LISTED = 6_000
"""Bytes of a review in a list; the longest of Google (4,096 characters) usually fits."""

MAX_PART = 8_000
"""Bytes of a part of a review's text."""

_STEPS = ((100, 4_000), (20, 2_000), (20, 500), (5, 200), (0, 200))
"""Limits for items of a list and bytes of a text; the first that fits is used. A review id always fits."""

_MAX_NAME = 64  # characters of the name of an unknown member
_MAX_DEPTH = 4  # nested objects and lists; the data model has three
_MAX_NOTES = 5  # in ``truncated``; others are counted
_LONGEST_NUMBER = 40  # bytes

_NOTE = "truncated"
_LEFT_OUT = frozenset({"author_avatar_url", "added_at", _NOTE})
"""Members that are removed from listed reviews; ``truncated`` is ours."""

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
    location: str | UnsetType = UNSET
    truncated: Annotated[
        str | UnsetType, Meta(description="What is left out here; get_review has it")
    ] = UNSET


def listed(rendered: bytes) -> bytes:
    """Return the excerpt of a served review for lists."""
    members = {
        name: value
        for name, value in _members.decode(rendered).items()
        if value != _NULL and name not in _LEFT_OUT
    }
    rest = "get_review has more of it"
    return excerpt(_encode(members), MAX_LISTED, Listed.__struct_fields__, rest)


class PartOfReview(NamedTuple):
    """A review with a part of its text."""

    review: bytes
    next_offset: int | None
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
    """Return a review with a part of its text, and excerpts of its other members.

    Args:
        rendered: The served review.
        offset: The index of the first character of the part.
        rest: The text of ``truncated`` about the complete members.

    Raises:
        NoPartError: The text ends before the offset.
    """
    if not offset and len(rendered) <= MAX_EXCERPT:
        return PartOfReview(rendered, None)
    members = _members.decode(rendered)
    members.pop(_NOTE, None)
    text = "" if members["text"] == _NULL else _text.decode(members["text"])
    if offset and offset >= len(text):
        raise NoPartError(len(text))
    text_part = head(text[offset:], MAX_PART)
    end = offset + len(text_part)
    textless = _encode(members | {"text": None})
    result = _members.decode(excerpt(textless, MAX_LISTED, Review.__struct_fields__, rest))
    if members["text"] != _NULL:
        result["text"] = Raw(_encode(text_part))
    if len(text_part) < len(text):
        notes = [f"text: characters {offset:,} to {end:,} of {len(text):,}"]
        notes += [_text.decode(result.pop(_NOTE))] if _NOTE in result else []
        result[_NOTE] = Raw(_encode("; ".join(notes)))
    return PartOfReview(_encode(result), None if end == len(text) else end)


def excerpt(rendered: bytes, most: int, kept_names: Container[str], rest: str) -> bytes:
    """Return an object that fits into ``most`` bytes.

    Args:
        rendered: A compact JSON object.
        most: The limit. Only an object with very many members that are neither text nor list exceeds it.
        kept_names: The names of the members to keep, shortened if necessary.
        rest: The text of ``truncated`` about the complete object.
    """
    if len(rendered) <= most:
        return rendered
    members = _members.decode(rendered)
    members.pop(_NOTE, None)
    values = {name: bytes(value) for name, value in members.items() if name in kept_names}
    unknown = {name[:_MAX_NAME]: "left out" for name in members.keys() - values.keys()}
    shorter = _annotated(values, unknown, rest)
    for items, longest in _STEPS:
        if len(shorter) <= most:
            break
        notes: dict[str, str] = {}
        within = {
            name: _shortened(value, items, longest, (name,), notes)
            for name, value in values.items()
        }
        shorter = _annotated(within, notes | unknown, rest)
    return shorter


def _annotated(members: dict[str, bytes], notes: dict[str, str], rest: str) -> bytes:
    """Return an object with the notes in ``truncated``."""
    parts = [f"{path}: {note}" for path, note in sorted(notes.items())]
    if len(parts) > _MAX_NOTES:
        parts[_MAX_NOTES:] = [f"and {len(parts) - _MAX_NOTES} more"]
    return join_members((*members.items(), (_NOTE, _encode("; ".join((*parts, rest))))))


def _shortened(
    value: bytes, items: int, longest: int, path: tuple[str, ...], notes: dict[str, str]
) -> bytes:
    """Return a value with shortened lists and texts.

    Args:
        value: Compact JSON.
        items: Greatest number of items of a list, and of members of a nested object.
        longest: Greatest number of bytes of a text.
        path: The path of the value; items have the path of their list.
        notes: Collects what was shortened, by path.
    """
    first = value[:1]
    if first == b'"':
        if len(value) <= longest:
            return value
        text = _text.decode(value)
        beginning = head(text, longest)
        note = f"the first {len(beginning):,} of {len(text):,} characters"
        notes.setdefault(".".join(path), note)
        return _encode(beginning + _CUT)
    if first not in b"[{":
        return value if len(value) <= _LONGEST_NUMBER else b"null"
    if len(path) > _MAX_DEPTH:
        notes.setdefault(".".join(path), "left out")
        return b"null"
    if first == b"[":
        values = _items.decode(value)
        if len(values) > items:
            notes.setdefault(".".join(path), f"the first {items} of {len(values):,}")
        item_path = (*path, "each")
        parts = (
            _shortened(bytes(item), items, longest, item_path, notes) for item in values[:items]
        )
        return b"[" + b",".join(parts) + b"]"
    members = [
        (name, bytes(raw)) for name, raw in _members.decode(value).items() if len(name) <= _MAX_NAME
    ]
    return join_members(
        (name, _shortened(raw, items, longest, (*path, name), notes))
        for name, raw in members[:items]
    )


def whole_in(address: str) -> str:
    """Return the text of ``truncated`` about the complete document."""
    return f"the whole is in {address}"


def head(text: str, most: int) -> str:
    """Return the longest beginning of a text whose JSON string has at most ``most`` bytes inside its quotes."""
    text = text[:most]
    return text[: bisect(range(len(text)), most, key=lambda end: len(_encode(text[: end + 1])) - 2)]
