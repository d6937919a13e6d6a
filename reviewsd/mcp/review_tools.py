"""The tools about the business and its reviews: slices of what was published, joined (mcp.md 5.5)."""

from collections.abc import Generator
from itertools import takewhile
from typing import cast

from msgspec.structs import replace

from reviewsd.domain.insights import PerReview
from reviewsd.domain.search_query import LIMIT_MAX, SearchQuery
from reviewsd.http1 import urls
from reviewsd.http1.representation import Buffer
from reviewsd.mcp.answers import (
    ENVELOPE,
    Call,
    ToolAnswer,
    ToolSteps,
    answered,
    as_written,
    listed,
    refused,
    with_note,
)
from reviewsd.mcp.arguments import quoted
from reviewsd.mcp.insight_tools import unknown
from reviewsd.publish import documents, excerpts, fragments
from reviewsd.publish.excerpts import MAX_LISTED, NoPartError, excerpt, whole_in
from reviewsd.snapshot.position_sets import FIELDS, find_name

_OF_INSIGHTS = (*fragments.FILTERS.values(), "sentiment")
"""Filters that only insights can answer."""

_FEW = "the filter knows only the reviews that entities list"


def get_business(call: Call) -> ToolSteps:
    """The profile, the rating, the number of reviews."""
    yield
    sections = call.snapshot.sections
    return answered(bytes(sections.joined(sections.rows(fragments.BUSINESS))))


def search_reviews(call: Call) -> ToolSteps:
    """A page of the reviews that match: those of HTTP, as excerpts and as far as the budget goes."""
    filters = [] if call.snapshot.manifest.insights else [*filter(call.values.get, _OF_INSIGHTS)]
    if filters:
        return refused(
            f"{call.tool}: no insights are published for this business, so it is not known what "
            f"reviews mention: leave out {', '.join(filters)}, use query."
        )
    query = SearchQuery(**call.values)  # type: ignore[arg-type]  # each is of its parameter's kind
    return (yield from _page(call, query))


def get_reviews_since(call: Call) -> ToolSteps:
    """A page of the reviews of a day and all later ones."""
    values = dict(call.values)
    since = values.pop("date")
    query = SearchQuery(since=since, **values)  # type: ignore[arg-type]  # as above
    return (yield from _page(call, query, b'"since":"%s",' % str(since).encode()))


def _page(call: Call, query: SearchQuery, first: bytes = b"") -> Generator[None, None, ToolAnswer]:
    """A page of what is found; its first member may be another one."""
    snapshot = call.snapshot
    hits = yield from snapshot.search(query)
    found = hits.positions
    records: Buffer = snapshot.excerpts.joined(found)
    size, count = len(records), len(found)
    while size > call.budget - ENVELOPE and count > 1:
        count -= 1
        size -= len(snapshot.excerpts.at(found[count])) + 1  # and the comma before it
    if count < len(found):
        found = found[:count]
        hits = replace(hits, positions=found, more=True)
        records = memoryview(records)[:size]
    following = snapshot.cursor(hits, query.sort)
    after = None if following is None else following.encode()
    head, tail = documents.search_ends(hits.matched, count, after)
    if (
        not call.values.keys().isdisjoint(_OF_INSIGHTS)
        and fragments.PER_REVIEW not in snapshot.manifest.sections
    ):
        tail = with_note(tail, f"{fragments.not_known([fragments.PER_REVIEW])}; {_FEW}")
    elif not hits.matched:
        tail = with_note(tail, _note(call, query))
    if first:
        head = b"{%b%b" % (first, head[1:])
    return listed(head, records, snapshot.excerpts.escaped(found), tail)


def _note(call: Call, query: SearchQuery) -> str:
    """Why nothing matches, where that can be told without a guess."""
    if query.since is not None and query.until is not None and query.since > query.until:
        return "since is after until"
    for section, parameter in fragments.FILTERS.items():
        name = cast("str | None", call.values.get(parameter))
        columns = call.snapshot.columns
        if name is not None and find_name(columns, FIELDS[parameter], name) is None:
            return unknown(parameter.removeprefix("mentions_"), section, name, call.snapshot)
    return as_written(query.query)


def get_review(call: Call) -> ToolSteps:
    """One review, and what the insights say of it."""
    yield
    snapshot = call.snapshot
    review_id = cast("str", call.values["id"])
    position = snapshot.position(review_id)
    if position is None:
        return refused(f"{call.tool}: {_unknown(call, review_id)}")
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
        return refused(
            f"{call.tool}: text_offset must be less than {error.length}, the characters of the text."
        )
    said = b"null"
    if (insight := snapshot.insight(position)) is not None:
        rest = whole_in(base_url + urls.INSIGHTS)
        analysed = documents.complete(bytes(insight), PerReview)
        said = excerpt(analysed, MAX_LISTED, PerReview.__struct_fields__, rest)
    following = b"null" if part.following is None else b"%d" % part.following
    return answered(
        b'{"review":%s,"next_text_offset":%s,"insight":%s}' % (part.review, following, said)
    )


def _unknown(call: Call, review_id: str) -> str:
    """What helps where there is no such review."""
    snapshot = call.snapshot
    if not snapshot.manifest.review_count:
        return "there are no reviews yet."
    wanted = review_id.strip().casefold()
    near = [snapshot.id_at(each) for each in snapshot.neighbours(review_id)]
    nearest = max(near, key=lambda each: _alike(each.casefold(), wanted))
    alike = 2 * _alike(nearest.casefold(), wanted) >= len(wanted)
    hint = f'; did you mean "{nearest}"?' if alike else "."
    return (
        f"no review has the id {quoted(review_id)}{hint} Take ids as they are from search_reviews, "
        "get_reviews_since or example_review_ids; search_reviews with query finds reviews by their "
        f'text. The newest review has the id "{snapshot.id_at(0)}".'
    )


def _alike(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
