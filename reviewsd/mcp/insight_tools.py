"""The tools about the insights: fragments that were rendered at publication (mcp.md 5.5)."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import cast

import msgspec

from reviewsd.domain.search import mention_key
from reviewsd.formats import fragments
from reviewsd.formats.shelves import Shelves
from reviewsd.mcp.answers import KNOWN, Call, Steps, answered, fitting, refused
from reviewsd.mcp.arguments import quoted

MONTHS_DEFAULT = 24  # mcp.md 5.5

NO_INSIGHTS = "No insights are published for this business; use search_reviews."  # mcp.md 5.4

_COMPARED = 500  # entities among which the nearest is looked for
_MAX_NAME = 100  # characters of a name that are compared
_STEP = 200  # entries of the FAQ looked through between two yields


def get_entity(kind: str, shelf: str, call: Call) -> Steps:
    """One aspect, technician or service, by id, name or label."""
    yield
    shelves = call.snapshot.shelves
    (name,) = cast("dict[str, str]", call.values).values()
    row = shelves.find(shelf, name)
    if row is not None:
        return answered(bytes(shelves.fragment(row)))
    if not call.snapshot.manifest.insights:
        return refused(NO_INSIGHTS)
    if not shelves.rows(shelf):
        return refused(f"{call.tool}: the insights name no {kind}; use search_reviews.")
    return refused(f"{call.tool}: {_unknown(kind, name, shelves, shelves.rows(shelf))}")


class _Named(msgspec.Struct):
    """Of an entity what it is called."""

    id: str
    label: str


_named = msgspec.json.Decoder(_Named)


def _unknown(kind: str, name: str, shelves: Shelves, rows: range) -> str:
    """What helps where there is no such entity."""
    entities = [_named.decode(shelves.fragment(row)) for row in rows[:_COMPARED]]
    nearest = _nearest(mention_key(name)[:_MAX_NAME], entities)
    hint = "" if nearest is None else f"; the nearest is {quoted(nearest.id)} ({nearest.label})"
    known = ", ".join(entity.id for entity in entities[:KNOWN])
    of = f"the {KNOWN} most mentioned of {len(rows)}: " if len(rows) > KNOWN else ""
    return f"no {kind} is called {quoted(name)}{hint}. Known ids: {of}{known}."


def _nearest(wanted: str, entities: Sequence[_Named]) -> _Named | None:
    """The entity whose id or label has the name in it, or else looks like it."""
    called: dict[str, _Named] = {}
    for entity in entities:
        for name in (entity.id, entity.label):
            called.setdefault(mention_key(name)[:_MAX_NAME], entity)
    within = [name for name in called if wanted and wanted in name]
    alike = within or get_close_matches(wanted, called, n=1, cutoff=0.5)
    return called[alike[0]] if alike else None


def get_topics(call: Call) -> Steps:
    """All topics, as far as the budget goes."""
    yield
    if not call.snapshot.manifest.insights:
        return refused(NO_INSIGHTS)
    shelves = call.snapshot.shelves
    rows = shelves.rows(fragments.TOPICS)
    count = fitting([shelves.fragment(row) for row in rows], call.budget)
    return answered(b'{"returned":%d,"topics":[%s]}' % (count, shelves.joined(rows[:count])))


def get_sentiment_trend(call: Call) -> Steps:
    """The newest months, oldest first."""
    yield
    if not call.snapshot.manifest.insights:
        return refused(NO_INSIGHTS)
    shelves = call.snapshot.shelves
    months = cast("int", call.values.get("months", MONTHS_DEFAULT))
    rows = shelves.rows(fragments.MONTHS)[-months:]
    count = fitting([shelves.fragment(row) for row in reversed(rows)], call.budget)
    trend = shelves.joined(shelves.rows(fragments.TREND))
    newest = shelves.joined(rows[len(rows) - count :])
    return answered(b'{"trend":%s,"returned":%d,"monthly":[%s]}' % (trend, count, newest))


def get_faq(call: Call) -> Steps:
    """The questions and answers that have a text in them, or all."""
    if not call.snapshot.manifest.insights:
        return refused(NO_INSIGHTS)
    shelves = call.snapshot.shelves
    wanted = cast("str", call.values.get("query", "")).casefold().encode()
    found = []
    texts = shelves.rows(fragments.FAQ_TEXTS)
    for number, (row, text) in enumerate(zip(shelves.rows(fragments.FAQ), texts, strict=True)):
        if number % _STEP == 0:
            yield
        if wanted in bytes(shelves.fragment(text)):
            found.append(shelves.fragment(row))
    count = fitting(found, call.budget)
    faq = b",".join(found[:count])
    return answered(b'{"matched":%d,"returned":%d,"faq":[%s]}' % (len(found), count, faq))


def get_summary(call: Call) -> Steps:
    """The overview."""
    yield
    if not call.snapshot.manifest.insights:
        return refused(NO_INSIGHTS)
    shelves = call.snapshot.shelves
    return answered(bytes(shelves.joined(shelves.rows(fragments.SUMMARY))))
