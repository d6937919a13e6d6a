"""Renders datasets as JSON documents (data-model.md 1 and 2, contract 1).

Known members come first in the order of their struct; absent ones get their default. Unknown members
follow, sorted by name. White space is removed, and numbers keep their spelling. So the bytes
do not depend on the order of members in the file. Below the top level, insights are not changed.
"""

import datetime
import functools
import types
import typing
from collections.abc import Mapping
from types import MappingProxyType

import msgspec
from msgspec import UNSET, Raw, Struct

from reviewsd.domain import times
from reviewsd.domain.dataset import Dataset
from reviewsd.domain.insights import NOT_FILLED_IN, Insights
from reviewsd.domain.insights_file import InsightsFile
from reviewsd.domain.reviews import AggregateRating, Business, OwnerReply, Review, aggregate
from reviewsd.http1.representation import Buffer

_members = msgspec.json.Decoder(dict[str, Raw])
_items = msgspec.json.Decoder(list[Raw])
_encode = msgspec.json.Encoder().encode


def complete(
    raw: bytes | Raw, kind: object = None, computed: Mapping[str, Raw] = MappingProxyType({})
) -> bytes:
    """Return a JSON value in its canonical form, with absent members of structs filled in.

    A member with the default UNSET stays absent.

    Args:
        raw: Valid JSON.
        kind: The type of the value; None if the data model does not know it.
        computed: Complete values for absent and null members of a struct, instead of defaults.
    """
    text = bytes(raw).strip()
    match text[:1]:
        case b"{":
            return _complete_object(text, _struct(kind), computed)
        case b"[":
            item = _item(kind)
            return b"[" + b",".join(complete(part, item) for part in _items.decode(text)) + b"]"
        case b'"':
            return _encode(msgspec.json.decode(text))
    return text


def _complete_object(text: bytes, kind: type[Struct] | None, computed: Mapping[str, Raw]) -> bytes:
    members = _members.decode(text)
    parts = []
    for name, field_kind, default in _fields(kind) if kind is not None else ():
        raw = members.pop(name, None)
        value = bytes(computed.get(name, b""))
        if raw is None or (value and bytes(raw) == b"null"):
            rendered = value or default
        else:
            inner = _members.decode(value) if value.startswith(b"{") else {}
            rendered = complete(raw, field_kind, inner)
        if rendered:
            parts.append((name, rendered))
    parts += ((name, complete(members[name])) for name in sorted(members))
    return join_members(parts)


def join_members(members: typing.Iterable[tuple[str, bytes]]) -> bytes:
    """Return a JSON object of rendered values, in their order."""
    return b"{" + b",".join(_encode(name) + b":" + value for name, value in members) + b"}"


def render_review(raw: bytes, typed: Review) -> bytes:
    """Render a review (data-model.md 1.3).

    Every known member is present except unset stamps, ``location`` and ``owner_reply.undated``.
    """
    if typed.text == "" or not (_in_utc(typed.added_at) and _in_utc(typed.changed_at)):
        typed = _canonical(typed)
    content = _encode(typed)
    if content == raw:
        return content
    members = _members.decode(raw)
    extra = members.keys() - _REVIEW_NAMES
    if typed.owner_reply is not None:
        extra |= _members.decode(members["owner_reply"]).keys() - _REPLY_NAMES
    if not extra:
        return content
    if typed.text is None:
        members.pop("text", None)
    members |= {name: Raw(_encode(stamp)) for name, stamp in times.stamps(typed).items()}
    return complete(_encode(members), Review)


def _in_utc(stamp: times.Stamp) -> bool:
    return not stamp or stamp.tzinfo is datetime.UTC


def _canonical(typed: Review) -> Review:
    """Return a review with None for an empty text, and stamps in UTC."""
    stamps = {name: stamp.astimezone(datetime.UTC) for name, stamp in times.stamps(typed).items()}
    return msgspec.structs.replace(typed, text=typed.text or None, **stamps)


_REVIEW_NAMES = frozenset(Review.__struct_encode_fields__)
_REPLY_NAMES = frozenset(OwnerReply.__struct_encode_fields__)


def render_business(dataset: Dataset) -> bytes:
    """Return the business with every known member."""
    return complete(dataset.members["business"], Business)


def render_aggregate_rating(dataset: Dataset) -> bytes:
    """Return the aggregate of the file, with absent members computed (data-model.md 1.2)."""
    raw = dataset.members.get("aggregate_rating", Raw(b"{}"))
    computed = _encode(aggregate(dataset.stars))
    return complete(raw, AggregateRating, _members.decode(computed))


def updated_at(dataset: Dataset) -> str | None:
    """Return the time of the last change, RFC 3339 in UTC, from the data alone (contract 3)."""
    raw = dataset.members.get("updated_at", Raw(b"null"))
    moment = msgspec.json.decode(raw, type=datetime.datetime | None) or dataset.updated_at
    corrected = dataset.withheld.latest
    if moment is not None and corrected is not None:
        moment = max(moment, corrected)
    return None if moment is None else times.spelled(moment)


def render_withheld(dataset: Dataset) -> bytes | None:
    """Return the count of withheld reviews for readers; None without any."""
    if not dataset.withheld.count:
        return None
    reasons = dict(dataset.withheld.reasons)
    return _encode({"count": dataset.withheld.count, "reasons": reasons})


def reviews_head(dataset: Dataset) -> bytes:
    """Return ``/reviews.json`` up to the first review."""
    head_members = {
        "business": render_business(dataset),
        "aggregate_rating": render_aggregate_rating(dataset),
        "withheld": render_withheld(dataset),
        "updated_at": _encode(updated_at(dataset)),
    }
    members = ((name, value) for name, value in head_members.items() if value is not None)
    return join_members(members)[:-1] + b',"reviews":['


def reviews_tail(dataset: Dataset) -> bytes:
    """Return ``/reviews.json`` after the last review: unknown members, and the removed reviews."""
    rendered_names = {"business", "aggregate_rating", "withheld", "updated_at", "removed"}
    extra = {
        name: complete(raw) for name, raw in dataset.members.items() if name not in rendered_names
    }
    if dataset.removed:
        removed = [{"id": review.id, "at": times.spelled(review.at)} for review in dataset.removed]
        extra["removed"] = _encode(removed)
    return b"]" + (b"," if extra else b"") + join_members(sorted(extra.items()))[1:]


def render_insights(file: InsightsFile, dataset: Dataset) -> typing.Iterator[bytes | memoryview]:
    """Yield ``/insights.json`` in parts, with absent top-level members filled in (data-model.md 2)."""
    return (part for _, part in insights_parts(file, dataset))


def insights_parts(
    file: InsightsFile, dataset: Dataset
) -> typing.Iterator[tuple[str | None, bytes | memoryview]]:
    """Yield ``/insights.json`` in parts: each entry of ``per_review`` with its id, other parts with None.

    ``per_review`` of made insights is one part, the only one that is no bytes.
    """
    omitted = omitted_members(file)
    names = [name for name in _INSIGHTS_NAMES if name not in omitted]
    yield None, b"{"
    for index, name in enumerate([*names, *sorted(file.members.keys() - set(_INSIGHTS_NAMES))]):
        yield None, b"," * (index > 0) + _encode(name) + b":"
        if name == "per_review" and file.bounds is not None:
            yield None, memoryview(file.members[name])
        elif name == "per_review" and name in file.members:
            yield None, b"{"
            for number, (review_id, raw) in enumerate(_members.decode(file.members[name]).items()):
                yield None, b"," * (number > 0) + _encode(review_id) + b":"
                yield review_id, _compact(raw)
            yield None, b"}"
        else:
            yield None, insights_member(file, dataset, name)
    yield None, b"}"


def omitted_members(file: InsightsFile) -> frozenset[str]:
    """Return the known top-level members that are neither in the file nor filled in (insights.md 5)."""
    counted = {"review_count"} if "per_review" in file.members else set()
    return NOT_FILLED_IN - file.members.keys() - counted


def insights_member(file: InsightsFile, dataset: Dataset, name: str) -> bytes:
    """Return the value of one top-level member, without white space or filled in.

    Args:
        file: The insights.
        dataset: The dataset of the insights.
        name: The name of a member.

    Raises:
        ValueError: The member is one of ``omitted_members``.
    """
    raw = file.members.get(name)
    if raw is not None:
        return _compact(raw)
    match name:
        case "generated_at":
            return _encode(updated_at(dataset))
        case "review_count":
            return _encode(file.analysed)
    if name in omitted_members(file):
        raise ValueError(f"{name} is omitted")
    return {member: default for member, _, default in _fields(Insights)}[name]


_INSIGHTS_NAMES = Insights.__struct_fields__


def search_ends(matched: int, count: int, next_cursor: str | None) -> tuple[bytes, bytes]:
    """Return the beginning and the end of a search response, around the reviews (contract 3).

    Args:
        matched: Number of matching reviews.
        count: Number of reviews in the response.
        next_cursor: The cursor of the next page.
    """
    head = b'{"matched":%d,"returned":%d,"reviews":[' % (matched, count)
    return head, b'],"next_cursor":%b}' % _encode(next_cursor)


def since_result(date: datetime.date, count: int, records: Buffer) -> tuple[Buffer, ...]:
    """Return the response with all reviews since a date, in parts.

    ``records`` are the first ``count`` reviews, joined as in ``/reviews.json``.
    """
    head = b'{"since":"%b","matched":%d,"returned":%d,"reviews":['
    return head % (date.isoformat().encode(), count, count), records, b"]}"


def _compact(raw: Raw) -> bytes:
    return msgspec.json.format(memoryview(raw), indent=-1)


@functools.cache
def _fields(kind: type[Struct]) -> tuple[tuple[str, object, bytes], ...]:
    """Return (member name, type, rendered default) of each field; a field without default has b""."""
    hints = typing.get_type_hints(kind, include_extras=True)
    return tuple(
        (
            field.encode_name,
            hints[field.name],
            b""
            if field.required or field.default is UNSET
            else _encode(
                field.default_factory() if field.default is msgspec.NODEFAULT else field.default
            ),
        )
        for field in msgspec.structs.fields(kind)
    )


@functools.cache
def _struct(kind: object) -> type[Struct] | None:
    """Return the struct in an annotation, or None."""
    for part in _parts(kind):
        if isinstance(part, type) and issubclass(part, Struct):
            return part
    return None


@functools.cache
def _item(kind: object) -> object:
    """Return the type of the items of an annotated array."""
    for part in _parts(kind):
        if typing.get_origin(part) in {tuple, list}:
            return typing.get_args(part)[0]
    return None


def _parts(kind: object) -> tuple[object, ...]:
    """Return the alternatives of an annotation, without ``Annotated``."""
    if typing.get_origin(kind) is typing.Annotated:
        return _parts(typing.get_args(kind)[0])
    if typing.get_origin(kind) in {typing.Union, types.UnionType}:
        return tuple(part for branch in typing.get_args(kind) for part in _parts(branch))
    return (kind,)
