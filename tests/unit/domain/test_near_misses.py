"""Unknown names of parameters that resemble a known one, and others (contract 3)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.domain import near_misses
from reviewsd.domain.embed_options import EMBED_PARAMETERS
from reviewsd.domain.near_misses import MAX_NAME_LENGTH, SYNONYMS, similar_names
from reviewsd.domain.search_parameters import SEARCH_PARAMETERS
from reviewsd.mcp.tools import TOOLS
from tests.support.growth import Thunk, assert_linear

KNOWN = tuple(row.name for row in SEARCH_PARAMETERS)


@pytest.mark.parametrize(
    ("name", "candidates"),
    [
        ("q", "query"),
        ("text", "query"),
        ("stars", "rating"),
        ("page", "cursor"),
        ("per_page", "limit"),
        ("offset", "cursor"),
        ("star_rating", "rating"),
        ("Rating", "rating"),
        ("RATING", "rating"),
        ("ratings", "rating"),
        ("raiting", "rating"),
        ("raitng", "rating"),
        ("ratting", "rating"),
        ("rating[]", "rating"),
        ("rating2", "rating"),
        ("rating__gte", "min_rating"),
        ("rating[lte]", "max_rating"),
        ("minrating", "min_rating"),
        ("minRating", "min_rating"),
        ("min-rating", "min_rating"),
        ("min_ratng", "min_rating"),
        ("mim_ratng", "min_rating"),
        ("rating_min", "min_rating"),
        ("minimumStars", "min_rating"),
        ("sinse", "since"),
        ("sicne", "since"),
        ("since_date", "since"),
        ("start_date", "since"),
        ("dateFrom", "since"),
        ("untill", "until"),
        ("util", "until"),
        ("to", "until"),
        ("endDate", "until"),
        ("querry", "query"),
        ("qurey", "query"),
        ("search_query", "query"),
        ("sentimant", "sentiment"),
        ("mention_technician", "mentions_technician"),
        ("technician_name", "mentions_technician"),
        ("service-id", "mentions_service"),
        ("aspect", "mentions_aspect"),
        ("reviewTopic", "mentions_topic"),
        ("limits", "limit"),
        ("Limit", "limit"),
        ("max_results", "limit"),
        ("next_cursor", "cursor"),
        ("curser", "cursor"),
        ("page_number", "cursor"),
        ("order", "sort"),
        ("sort_by", "sort"),
        ("sortOrder", "sort"),
        ("orderBy", "sort"),
        ("sources", "source"),
        ("platform", "source"),
        ("locations", "location"),
        ("locationId", "location"),
        ("branch", "location"),
        ("isVerified", "verified"),
        ("verified_only", "verified"),
        ("hasReply", "has_reply"),
        ("has_replies", "has_reply"),
        ("reply", "has_reply"),
        ("replied", "has_reply"),
        ("ownerReply", "has_reply"),
        ("with_replies", "has_reply"),
        ("star", "rating"),
        ("keywords", "query"),
        ("platforms", "source"),
        ("technicians", "mentions_technician"),
        ("employees", "mentions_technician"),
        ("employe", "mentions_technician"),
        ("problems", "mentions_problem"),
        ("complaints", "mentions_problem"),
        ("pagesize", "limit"),
        ("created_after", "since"),
        ("published_after", "since"),
        ("posted_since", "since"),
        ("sort_by_date", "sort"),
    ],
)
def test_typing_error_and_synonym_mean_a_known_name(name: str, candidates: str) -> None:
    """A filter that is left out returns everything."""
    assert (candidates,) == similar_names(name, KNOWN)


@pytest.mark.parametrize(
    "name",
    [
        *("utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "utm_id", "_", ""),
        *("fbclid", "gclid", "gbraid", "wbraid", "msclkid", "dclid", "yclid", "twclid", "ttclid"),
        *("igshid", "mc_cid", "mc_eid", "_ga", "_gl", "_hsenc", "srsltid", "ref", "ref_src", "si"),
        *("gad_source", "mtm_source", "pk_source", "source_url", "verification"),
        *("v", "t", "ts", "cb", "n", "r", "rnd", "nonce", "cache", "hl", "lang", "locale", "tz"),
        *(
            "callback",
            "format",
            "pretty",
            "fields",
            "key",
            "api_key",
            "token",
            "amp",
            "isappinstalled",
        ),
        *(
            "toolCallId",
            "tool_call_id",
            "sessionId",
            "session_id",
            "action",
            "chatInput",
            "requestId",
        ),
        *("userId", "user_id", "messageId", "threadId", "metadata", "context", "input", "thought"),
        *(
            "reasoning",
            "explanation",
            "random_string",
            "dummy",
            "language",
            "timezone",
            "progressToken",
        ),
        *("list", "listing", "train", "string", "sense", "queryId", "page_id", "größe", "form"),
    ],
)
def test_name_of_another_program_means_none(name: str) -> None:
    """Trackers, caches and gateways add these; refusing them would break a link that works elsewhere."""
    assert () == similar_names(name, KNOWN)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
@pytest.mark.parametrize("name", ["toolCallId", "sessionId", "action", "chatInput", "user_id"])
def test_argument_of_a_gateway_means_none_of_any_tool(tool: object, name: str) -> None:
    parameters = next(row.parameters for row in TOOLS if row is tool)
    assert () == similar_names(name, tuple(row.name for row in parameters))


@pytest.mark.parametrize("name", ["date", "dates", "review_date", "date_range"])
def test_two_names_may_be_meant(name: str) -> None:
    assert ("since", "until") == similar_names(name, KNOWN)


def test_plural_of_a_synonym_means_the_same() -> None:
    assert ("kind",) == similar_names("categories", ("kind",))


@pytest.mark.parametrize("name", ["idé", "ida", "i"])
def test_names_of_up_to_three_letters_have_no_typing_errors(name: str) -> None:
    assert () == similar_names(name, ("id",))


def test_overlong_name_is_not_cached() -> None:
    """A client could fill the memory with names of megabytes."""
    before = near_misses._similar_names.cache_info()
    assert () == similar_names("x" * (MAX_NAME_LENGTH + 1), KNOWN)
    assert before == near_misses._similar_names.cache_info()


def test_synonym_comes_before_a_typing_error() -> None:
    """``offset`` of another interface is ``cursor`` here, and no misspelled ``offsets``."""
    assert ("offsets",) == similar_names("offset", ("offsets",))
    assert ("cursor",) == similar_names("offset", ("offsets", "cursor"))


@pytest.mark.parametrize("name", KNOWN)
def test_short_names_may_have_one_typing_error_and_long_ones_two(name: str) -> None:
    most = 1 if len(name) < 6 else 2
    assert (name,) == similar_names(name + "x" * most, (name,))
    assert () == similar_names(name + "x" * (most + 1), (name,))


def test_names_that_are_no_synonym_of_a_known_one_mean_none() -> None:
    assert () == similar_names("stars", ("limit",))


def test_every_synonym_leads_somewhere() -> None:
    """A row without a parameter of any door would be dead."""
    planned = {"sort", "changed_since"}
    tools = (row for tool in TOOLS for row in tool.parameters)
    known = {*planned, *KNOWN, *(row.name for row in (*tools, *EMBED_PARAMETERS))}
    assert [] == [name for name, candidates in SYNONYMS.items() if known.isdisjoint(candidates)]


@given(st.text(max_size=2 * MAX_NAME_LENGTH))
def test_synonyms_are_known_parameters(name: str) -> None:
    assert set(similar_names(name, KNOWN)) <= set(KNOWN)


def test_comparing_takes_time_in_proportion() -> None:
    def comparing(size: int) -> Thunk:
        names = [f"gnitar{number}"[::-1] for number in range(size // 10)]
        return lambda: [near_misses._similar_names.__wrapped__(name, KNOWN) for name in names]

    assert_linear(comparing)
