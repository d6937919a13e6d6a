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


MEANT = {
    "query": "q text querry qurey search_query keywords",
    "rating": (
        "stars star_rating Rating RATING ratings raiting raitng ratting rating[] rating2 star"
    ),
    "cursor": "page offset next_cursor curser page_number",
    "limit": "per_page limits Limit max_results pagesize",
    "min_rating": (
        "rating__gte minrating minRating min-rating min_ratng mim_ratng rating_min minimumStars"
    ),
    "max_rating": "rating[lte]",
    "since": (
        "sinse sicne since_date start_date dateFrom created_after published_after posted_since"
    ),
    "until": "untill util to endDate",
    "sentiment": "sentimant",
    "mentions_technician": "mention_technician technician_name technicians employees employe",
    "mentions_service": "service-id",
    "mentions_aspect": "aspect",
    "mentions_topic": "reviewTopic",
    "sort": "order sort_by sortOrder orderBy sort_by_date",
    "source": "sources platform platforms",
    "location": "locations locationId branch",
    "verified": "isVerified verified_only",
    "has_reply": "hasReply has_replies reply replied ownerReply with_replies",
    "mentions_problem": "problems complaints",
}
"""Names that are not known, separated by blanks, by the known one that they mean."""


@pytest.mark.parametrize(
    ("name", "meaning"),
    [(name, meaning) for meaning, names in MEANT.items() for name in names.split()],
)
def test_typing_error_and_synonym_mean_a_known_name(name: str, meaning: str) -> None:
    """A filter that is left out returns everything."""
    assert (meaning,) == similar_names(name, KNOWN)


OTHERS = """
utm_source utm_medium utm_campaign utm_term utm_content utm_id _ fbclid gclid gbraid wbraid
msclkid dclid yclid twclid ttclid igshid mc_cid mc_eid _ga _gl _hsenc srsltid ref ref_src si
gad_source mtm_source pk_source source_url verification v t ts cb n r rnd nonce cache hl
lang locale tz callback format pretty fields key api_key token amp isappinstalled toolCallId
tool_call_id sessionId session_id action chatInput requestId userId user_id messageId
threadId metadata context input thought reasoning explanation random_string dummy language
timezone progressToken list listing train string sense queryId page_id größe form
"""
"""Names that trackers, caches, gateways and other programs add, separated by blanks."""


@pytest.mark.parametrize("name", ["", *OTHERS.split()])
def test_name_of_another_program_means_none(name: str) -> None:
    """Trackers, caches and gateways add these; refusing them would break a link that works elsewhere."""
    assert () == similar_names(name, KNOWN)


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
    meaning = {*planned, *KNOWN, *(row.name for row in (*tools, *EMBED_PARAMETERS))}
    assert [] == [name for name, candidates in SYNONYMS.items() if meaning.isdisjoint(candidates)]


@given(st.text(max_size=2 * MAX_NAME_LENGTH))
def test_synonyms_are_known_parameters(name: str) -> None:
    assert set(similar_names(name, KNOWN)) <= set(KNOWN)


def test_comparing_takes_time_in_proportion() -> None:
    def comparing(size: int) -> Thunk:
        names = [f"gnitar{number}"[::-1] for number in range(size // 10)]
        return lambda: [near_misses._similar_names.__wrapped__(name, KNOWN) for name in names]

    assert_linear(comparing)
