"""The tools about the business and its reviews: published bytes, joined (mcp.md 5.5)."""

from itertools import takewhile
from typing import cast

import msgspec
from msgspec.structs import replace

from reviewsd.domain.insights import PerReview
from reviewsd.domain.search_query import LIMIT_MAX, SearchQuery
from reviewsd.http1 import urls
from reviewsd.http1.representation import Buffer
from reviewsd.mcp.arguments import quoted
from reviewsd.mcp.insight_tools import describe_unknown
from reviewsd.mcp.results import (
    ENVELOPE,
    Call,
    ToolError,
    ToolSteps,
    data_result,
    keyword_note,
    list_result,
    with_note,
)
from reviewsd.publish import documents, excerpts, fragments
from reviewsd.publish.excerpts import MAX_LISTED, NoPartError, excerpt, whole_in
from reviewsd.snapshot.position_sets import FIELDS, LOCATION, SOURCE
from reviewsd.snapshot.snapshots import Snapshot

_INSIGHT_FILTERS = (*fragments.FILTERS.values(), "sentiment")
"""Filters that need insights."""

_MAX_NAMES = 20
"""Sources or locations that a note lists."""

_text = msgspec.json.Decoder(str)

_FEW = "the filter knows only the reviews that entities list"


def get_business(call: Call) -> ToolSteps:
    """Return the profile, the rating and the number of reviews."""
    yield
    sections = call.snapshot.sections
    return data_result(bytes(sections.run(sections.rows(fragments.BUSINESS))))


def search_reviews(call: Call) -> ToolSteps:
    """Return a page of matching reviews, as HTTP does, but as excerpts and within the budget."""
    filters = [name for name in _INSIGHT_FILTERS if call.values.get(name)]
    if filters and not call.snapshot.manifest.insights:
        raise ToolError(
            "no insights are published for this business, so it is not known what "
            f"reviews mention: leave out {', '.join(filters)}, use query."
        )
    query = SearchQuery(**call.values)  # type: ignore[arg-type]  # each has its parameter's type
    return (yield from _page(call, query))


def get_reviews_since(call: Call) -> ToolSteps:
    """Return a page of the reviews since a day."""
    values = dict(call.values)
    since = values.pop("date")
    query = SearchQuery(since=since, **values)  # type: ignore[arg-type]  # as above
    return (yield from _page(call, query, b'"since":"%s",' % str(since).encode()))


def _page(call: Call, query: SearchQuery, first_member: bytes = b"") -> ToolSteps:
    snapshot = call.snapshot
    hits = yield from snapshot.search(query)
    positions = hits.positions
    records: Buffer = snapshot.excerpts.joined(positions)
    size, count = len(records), len(positions)
    while size > call.budget - ENVELOPE and count > 1:
        count -= 1
        size -= len(snapshot.excerpts.at(positions[count])) + 1  # and the comma before it
    if count < len(positions):
        positions = positions[:count]
        hits = replace(hits, positions=positions, more=True)
        records = memoryview(records)[:size]
    cursor = snapshot.cursor(hits, query.sort)
    next_cursor = None if cursor is None else cursor.encode()
    head, tail = documents.search_ends(hits.matched, count, next_cursor)
    note = ""
    if (
        not call.values.keys().isdisjoint(_INSIGHT_FILTERS)
        and fragments.PER_REVIEW not in snapshot.sections
    ):
        note = f"{fragments.not_known([fragments.PER_REVIEW])}; {_FEW}"
    elif not hits.matched:
        note = _note(call, query)
    tail = with_note(tail, "; ".join(filter(None, (note, _withheld(snapshot)))))
    if first_member:
        head = b"{%b%b" % (first_member, head[1:])
    return list_result(head, records, snapshot.excerpts.escaped(positions), tail)


def _withheld(snapshot: Snapshot) -> str:
    """Return the sentence about withheld reviews; empty without any."""
    rows = snapshot.sections.rows(fragments.WITHHELD)
    return _text.decode(snapshot.sections.run(rows)) if rows else ""


def _note(call: Call, query: SearchQuery) -> str:
    """Return why nothing matches, if the reason is certain."""
    if query.since is not None and query.until is not None and query.since > query.until:
        return "since is after until"
    for section, parameter in fragments.FILTERS.items():
        name = cast("str | None", call.values.get(parameter))
        if name is not None and call.snapshot.sets.get(FIELDS[parameter], name) is None:
            kind = parameter.removeprefix("mentions_")
            return describe_unknown(kind, section, name, call.snapshot)
    for kind, name in ((SOURCE, query.source), (LOCATION, query.location)):
        if name is not None and call.snapshot.sets.get(kind, name) is None:
            return _unknown_name(kind, name, call.snapshot)
    return keyword_note(query.query)


def _unknown_name(kind: str, name: str, snapshot: Snapshot) -> str:
    """Return the note on a source or location without reviews, with the first known ones."""
    rows = snapshot.sets.rows(kind)
    names = [quoted(_text.decode(snapshot.sets.at(row))) for row in rows[:_MAX_NAMES]]
    if len(rows) > _MAX_NAMES:
        names.append(f"and {len(rows) - _MAX_NAMES} more")
    examples = ", ".join(names) or "none"
    return f"no {kind} is called {quoted(name)}. Known {kind}s: {examples}"


def get_review(call: Call) -> ToolSteps:
    """Return a review and its insight."""
    yield
    snapshot = call.snapshot
    review_id = cast("str", call.values["id"])
    position = snapshot.position(review_id)
    if position is None:
        raise ToolError(_unknown_id(review_id, snapshot))
    base_url = snapshot.manifest.base_url
    offset = cast("int", call.values.get("text_offset", 0))
    day = snapshot.records.cursor_at(position).date
    try:
        part = excerpts.part(
            bytes(snapshot.records.at(position)),
            offset,
            whole_in(f"{base_url}{urls.SEARCH}?since={day}&until={day}&limit={LIMIT_MAX}"),
        )
    except NoPartError as error:
        raise ToolError(
            f"text_offset must be less than {error.length}, the characters of the text."
        ) from None
    insight = b"null"
    if (record := snapshot.insight(position)) is not None:
        complete = documents.complete(bytes(record), PerReview)
        location = whole_in(base_url + urls.INSIGHTS)
        insight = excerpt(complete, MAX_LISTED, PerReview.__struct_fields__, location)
    next_offset = b"null" if part.next_offset is None else b"%d" % part.next_offset
    return data_result(
        b'{"review":%s,"next_text_offset":%s,"insight":%s}' % (part.review, next_offset, insight)
    )


def _unknown_id(review_id: str, snapshot: Snapshot) -> str:
    if not snapshot.manifest.review_count:
        return "there are no reviews yet."
    spelling = review_id.strip().casefold()
    neighbors = [snapshot.records.id_at(position) for position in snapshot.neighbors(review_id)]
    nearest = max(neighbors, key=lambda neighbor: _common_prefix(neighbor.casefold(), spelling))
    is_similar = 2 * _common_prefix(nearest.casefold(), spelling) >= len(spelling)
    hint = f'; did you mean "{nearest}"?' if is_similar else "."
    return (
        f"no review has the id {quoted(review_id)}{hint} Take ids as they are from search_reviews, "
        "get_reviews_since or example_review_ids; search_reviews with query finds reviews by their "
        f'text. The newest review has the id "{snapshot.records.id_at(0)}".'
    )


def _common_prefix(text: str, second: str) -> int:
    pairs = zip(text, second, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
