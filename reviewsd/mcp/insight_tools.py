"""The tools about the insights, which were rendered at publication (mcp.md 5.5)."""

from collections.abc import Sequence
from typing import cast

import msgspec

from reviewsd.domain.issues import ambiguous
from reviewsd.domain.naming import Ambiguous, mention_key
from reviewsd.domain.search_query import LIMIT_DEFAULT
from reviewsd.http1.representation import Buffer
from reviewsd.mcp.arguments import quoted, shortened
from reviewsd.mcp.results import (
    MAX_LISTED_IDS,
    Call,
    ToolError,
    ToolSteps,
    count_fitting,
    data_result,
    keyword_note,
    with_note,
)
from reviewsd.publish import fragments
from reviewsd.snapshot.position_sets import FIELDS
from reviewsd.snapshot.snapshots import Snapshot

MONTHS_DEFAULT = 24  # mcp.md 5.5

_MAX_COMPARED = 100  # entities among which the nearest is searched
_MIN_SIMILARITY = 0.4  # of a name that may be meant
_MAX_ID = 128  # characters; a longer id is never listed
_MAX_NAME = 40  # characters of a name that are compared
_STEP = 200  # FAQ entries that are searched in one step


def get_entity(kind: str, section: str, call: Call) -> ToolSteps:
    """Return an aspect, technician or service by its id, name or label."""
    yield
    sections = call.snapshot.sections
    ((parameter, name),) = cast("dict[str, str]", call.values).items()
    row = sections.find(section, name)
    if row is not None:
        return data_result(bytes(sections.at(row)))
    match = call.snapshot.sets.get(FIELDS[fragments.FILTERS[section]], name)
    if isinstance(match, Ambiguous):
        raise ToolError(f"{ambiguous(parameter, name, match.candidates).message}.")
    raise ToolError(f"{describe_unknown(kind, section, name, call.snapshot)}.")


class _Entity(msgspec.Struct):
    id: str
    label: str


_entity = msgspec.json.Decoder(_Entity)


def describe_unknown(kind: str, section: str, name: str, snapshot: Snapshot) -> str:
    """Return the error for a name of no entity, with the known ids and without a full stop."""
    sections = snapshot.sections
    rows = sections.rows(section)
    if section not in snapshot.sections:
        return f"{fragments.not_known([section])}; use search_reviews with query"
    if not rows:
        return f"the insights name no {kind}; use search_reviews with query"
    decoded = (_entity.decode(sections.at(row)) for row in rows[:_MAX_COMPARED])
    entities = [entity for entity in decoded if len(entity.id) <= _MAX_ID]
    nearest = _nearest(mention_key(name)[:_MAX_NAME], entities)
    hint = ""
    if nearest is not None:
        hint = f'; the nearest is "{nearest.id}" ({shortened(nearest.label)})'
    ids = ", ".join(entity.id for entity in entities[:MAX_LISTED_IDS])
    if len(rows) > MAX_LISTED_IDS:
        more = f'get_topics with kind "{section}" has all'
        ids = f"the {MAX_LISTED_IDS} most mentioned of {len(rows)}: {ids}; {more}"
    return f"no {kind} is called {quoted(name)}{hint}. Known ids: {ids}"


def _nearest(key: str, entities: Sequence[_Entity]) -> _Entity | None:
    """Return the first entity with the key in its id or label, else the most similar one."""
    by_name: dict[str, _Entity] = {}
    for entity in entities:
        for name in (entity.id, entity.label):
            by_name.setdefault(mention_key(name)[:_MAX_NAME], entity)
    containing = next((name for name in by_name if key and key in name), None)
    if containing is not None:
        return by_name[containing]
    pairs = _pairs(key)
    similar = max(by_name, key=lambda name: _similarity(pairs, _pairs(name)), default="")
    return by_name[similar] if _similarity(pairs, _pairs(similar)) >= _MIN_SIMILARITY else None


def _pairs(name: str) -> frozenset[str]:
    """Return the pairs of neighboring letters, with marks for the beginning and the end."""
    edged = f"^{name}$"
    return frozenset(edged[at : at + 2] for at in range(len(edged) - 1))


def _similarity(pairs: frozenset[str], second: frozenset[str]) -> float:
    """Return the share of common pairs, from 0 to 1 (Dice): linear, unlike difflib."""
    return 2 * len(pairs & second) / (len(pairs) + len(second))


def _page(call: Call, rows: Sequence[int], limit: int) -> tuple[bytes, Sequence[Buffer], bytes]:
    """Return the page of ``rows`` at the requested offset, within the limit and the budget.

    Its entries stand between the rendered members ``matched`` and ``returned``, and ``next_offset``.
    """
    offset = cast("int", call.values.get("offset", 0))
    entries = [call.snapshot.sections.at(row) for row in rows[offset : offset + limit]]
    entries = entries[: count_fitting(entries, call.budget)]
    end = offset + len(entries)
    next_offset = b"%d" % end if end < len(rows) else b"null"
    counts = b'"matched":%d,"returned":%d' % (len(rows), len(entries))
    return counts, entries, b'"next_offset":%b' % next_offset


def _with_missing(call: Call, answer: bytes, *names: str) -> bytes:
    """Add a note that names the unpublished ones among the sections of an answer."""
    missing = [name for name in names if name not in call.snapshot.sections]
    return with_note(answer, fragments.not_known(missing) if missing else "")


def get_topics(call: Call) -> ToolSteps:
    """Return a page of the topics, or of the entities of another kind."""
    yield
    kind = cast("str", call.values.get("kind", fragments.TOPICS))
    limit = cast("int", call.values.get("limit", LIMIT_DEFAULT))
    counts, topics, next_offset = _page(call, call.snapshot.sections.rows(kind), limit)
    parts = (kind.encode(), counts, b",".join(topics), next_offset)
    return data_result(_with_missing(call, b'{"kind":"%b",%b,"topics":[%b],%b}' % parts, kind))


def get_sentiment_trend(call: Call) -> ToolSteps:
    """Return a page of months, oldest first; the first page has the newest ones."""
    yield
    sections = call.snapshot.sections
    months = cast("int", call.values.get("months", MONTHS_DEFAULT))
    counts, newest, next_offset = _page(call, sections.rows(fragments.MONTHS)[::-1], months)
    trend = bytes(sections.run(sections.rows(fragments.TREND)))
    head = b'"trend":%b,' % trend if trend else b""
    parts = (head, counts, b",".join(reversed(newest)), next_offset)
    answer = b'{%b%b,"monthly":[%b],%b}' % parts
    return data_result(_with_missing(call, answer, fragments.TREND, fragments.MONTHS))


def get_faq(call: Call) -> ToolSteps:
    """Return a page of the questions and answers that contain a text."""
    sections = call.snapshot.sections
    query = cast("str", call.values.get("query", ""))
    text = query.casefold().encode()
    limit = cast("int", call.values.get("limit", LIMIT_DEFAULT))
    matches = []
    texts = sections.rows(fragments.FAQ_TEXTS)
    for number, (row, text_row) in enumerate(zip(sections.rows(fragments.FAQ), texts, strict=True)):
        if number % _STEP == 0:
            yield
        if text in bytes(sections.at(text_row)):
            matches.append(row)
    counts, faq, next_offset = _page(call, matches, limit)
    answer = b'{%b,"faq":[%b],%b}' % (counts, b",".join(faq), next_offset)
    if fragments.FAQ not in call.snapshot.sections:
        return data_result(_with_missing(call, answer, fragments.FAQ))
    return data_result(answer if matches else with_note(answer, keyword_note(query or None)))


def get_summary(call: Call) -> ToolSteps:
    """Return the overview."""
    yield
    sections = call.snapshot.sections
    return data_result(bytes(sections.run(sections.rows(fragments.SUMMARY))))
