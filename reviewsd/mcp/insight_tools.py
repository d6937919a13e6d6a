"""The tools about the insights: fragments that were rendered at publication (mcp.md 5.5)."""

from collections.abc import Sequence
from typing import NamedTuple, cast

import msgspec

from reviewsd.domain.naming import Ambiguous, mention_key
from reviewsd.domain.parameters import ambiguous
from reviewsd.domain.search_query import LIMIT_DEFAULT
from reviewsd.http1.representation import Buffer
from reviewsd.mcp.answers import (
    KNOWN,
    Call,
    ToolSteps,
    answered,
    as_written,
    fitting,
    refused,
    with_note,
)
from reviewsd.mcp.arguments import quoted, short
from reviewsd.publish import fragments
from reviewsd.snapshot.position_sets import FIELDS, find_name
from reviewsd.snapshot.snapshots import Snapshot

MONTHS_DEFAULT = 24  # mcp.md 5.5

NO_INSIGHTS = "No insights are published for this business; use search_reviews."  # mcp.md 5.4

_COMPARED = 100  # entities among which the nearest is looked for
_ALIKE = 0.4  # likeness from which on a name may be meant
_MAX_ID = 128  # characters of an id that is told
_MAX_NAME = 40  # characters of a name that are compared
_STEP = 200  # entries of the FAQ looked through between two yields


def get_entity(kind: str, section: str, call: Call) -> ToolSteps:
    """One aspect, technician or service, by id, name or label."""
    yield
    sections = call.snapshot.sections
    ((parameter, name),) = cast("dict[str, str]", call.values).items()
    row = sections.find(section, name)
    if row is not None:
        return answered(bytes(sections.fragment(row)))
    if not call.snapshot.manifest.insights:
        return refused(NO_INSIGHTS)
    found = find_name(call.snapshot.columns, FIELDS[fragments.FILTERS[section]], name)
    if isinstance(found, Ambiguous):
        return refused(f"{call.tool}: {ambiguous(parameter, name, found.candidates).message}.")
    return refused(f"{call.tool}: {unknown(kind, section, name, call.snapshot)}.")


class _Named(msgspec.Struct):
    """Of an entity what it is called."""

    id: str
    label: str


_named = msgspec.json.Decoder(_Named)


def unknown(kind: str, section: str, name: str, snapshot: Snapshot) -> str:
    """What helps where there is no such entity, without a full stop."""
    sections = snapshot.sections
    rows = sections.rows(section)
    if section not in snapshot.manifest.sections:
        return f"{fragments.not_known([section])}; use search_reviews with query"
    if not rows:
        return f"the insights name no {kind}; use search_reviews with query"
    decoded = (_named.decode(sections.fragment(row)) for row in rows[:_COMPARED])
    entities = [entity for entity in decoded if len(entity.id) <= _MAX_ID]
    nearest = _nearest(mention_key(name)[:_MAX_NAME], entities)
    hint = "" if nearest is None else f'; the nearest is "{nearest.id}" ({short(nearest.label)})'
    known = ", ".join(entity.id for entity in entities[:KNOWN])
    if len(rows) > KNOWN:
        known = f'the {KNOWN} most mentioned of {len(rows)}: {known}; get_topics with kind "{section}" has all'
    return f"no {kind} is called {quoted(name)}{hint}. Known ids: {known}"


def _nearest(wanted: str, entities: Sequence[_Named]) -> _Named | None:
    """The entity whose id or label has the name in it, or else looks like it."""
    called: dict[str, _Named] = {}
    for entity in entities:
        for name in (entity.id, entity.label):
            called.setdefault(mention_key(name)[:_MAX_NAME], entity)
    within = next((name for name in called if wanted and wanted in name), None)
    if within is not None:
        return called[within]
    pairs = _pairs(wanted)
    alike = max(called, key=lambda name: _likeness(pairs, _pairs(name)), default="")
    return called[alike] if _likeness(pairs, _pairs(alike)) >= _ALIKE else None


def _pairs(name: str) -> frozenset[str]:
    """The neighbouring letters of a name, its beginning and its end among them."""
    edged = f"^{name}$"
    return frozenset(edged[at : at + 2] for at in range(len(edged) - 1))


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of pairs that both have, from 0 to 1 (Dice): linear, as difflib is not."""
    return 2 * len(one & other) / (len(one) + len(other))


class _Page(NamedTuple):
    """A part of a list, as it stands in an answer."""

    counts: bytes
    """``matched`` and ``returned``."""
    entries: Sequence[Buffer]
    following: bytes
    """``next_offset``."""


def _page(call: Call, rows: Sequence[int], most: int) -> _Page:
    """So many of the rows as were asked for, as far as the budget goes."""
    offset = cast("int", call.values.get("offset", 0))
    found = [call.snapshot.sections.fragment(row) for row in rows[offset : offset + most]]
    entries = found[: fitting(found, call.budget)]
    end = offset + len(entries)
    return _Page(
        b'"matched":%d,"returned":%d' % (len(rows), len(entries)),
        entries,
        b'"next_offset":%b' % (b"%d" % end if end < len(rows) else b"null"),
    )


def _noted(call: Call, answer: bytes, *wanted: str) -> bytes:
    """An answer that says which of the sections it is made from are not published."""
    missing = [section for section in wanted if section not in call.snapshot.manifest.sections]
    return with_note(answer, fragments.not_known(missing) if missing else "")


def get_topics(call: Call) -> ToolSteps:
    """A page of the topics, or of another kind of what reviews speak of."""
    yield
    if not call.snapshot.manifest.insights:
        return refused(NO_INSIGHTS)
    kind = cast("str", call.values.get("kind", fragments.TOPICS))
    limit = cast("int", call.values.get("limit", LIMIT_DEFAULT))
    counts, topics, following = _page(call, call.snapshot.sections.rows(kind), limit)
    parts = (kind.encode(), counts, b",".join(topics), following)
    return answered(_noted(call, b'{"kind":"%b",%b,"topics":[%b],%b}' % parts, kind))


def get_sentiment_trend(call: Call) -> ToolSteps:
    """The newest months, or those before them, oldest first."""
    yield
    if not call.snapshot.manifest.insights:
        return refused(NO_INSIGHTS)
    sections = call.snapshot.sections
    months = cast("int", call.values.get("months", MONTHS_DEFAULT))
    counts, newest, following = _page(call, sections.rows(fragments.MONTHS)[::-1], months)
    trend = bytes(sections.joined(sections.rows(fragments.TREND)))
    head = b'"trend":%b,' % trend if trend else b""
    parts = (head, counts, b",".join(reversed(newest)), following)
    answer = b'{%b%b,"monthly":[%b],%b}' % parts
    return answered(_noted(call, answer, fragments.TREND, fragments.MONTHS))


def get_faq(call: Call) -> ToolSteps:
    """A page of the questions and answers that have a text in them, or of all."""
    if not call.snapshot.manifest.insights:
        return refused(NO_INSIGHTS)
    sections = call.snapshot.sections
    query = cast("str", call.values.get("query", ""))
    wanted = query.casefold().encode()
    limit = cast("int", call.values.get("limit", LIMIT_DEFAULT))
    found = []
    texts = sections.rows(fragments.FAQ_TEXTS)
    for number, (row, text) in enumerate(zip(sections.rows(fragments.FAQ), texts, strict=True)):
        if number % _STEP == 0:
            yield
        if wanted in bytes(sections.fragment(text)):
            found.append(row)
    counts, faq, following = _page(call, found, limit)
    page = b'{%b,"faq":[%b],%b}' % (counts, b",".join(faq), following)
    if fragments.FAQ not in call.snapshot.manifest.sections:
        return answered(_noted(call, page, fragments.FAQ))
    return answered(page if found else with_note(page, as_written(query or None)))


def get_summary(call: Call) -> ToolSteps:
    """The overview."""
    yield
    if not call.snapshot.manifest.insights:
        return refused(NO_INSIGHTS)
    sections = call.snapshot.sections
    return answered(bytes(sections.joined(sections.rows(fragments.SUMMARY))))
