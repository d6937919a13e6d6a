"""The issues of search parameters, in the language of the page."""

import pytest

from reviewsd.domain.issues import InvalidParametersError, Issue
from reviewsd.domain.parameters import read_query
from reviewsd.domain.reviews import Business
from reviewsd.domain.search_parameters import SEARCH_PARAMETERS
from reviewsd.pages.environment import Bytecode
from reviewsd.pages.issues import examples, sentence
from reviewsd.pages.locales import formats_of
from reviewsd.pages.words import Words, load

LANGUAGES = ("en", "de", "es", "fr", "it", "nl", "pt")
VALUES = (
    b"%ff",
    b"%zz",
    b"x",
    b"max_rating",
    b"0.5",
    b"-1",
    b"5+times",
    b'", got 3 times',
    b"9" * 1_000,
)


def words(tag: str) -> Words:
    return Words(load(Business(name="B", language=tag), {}, Bytecode({})), formats_of(tag).language)


def issues(query: bytes) -> tuple[Issue, ...]:
    with pytest.raises(InvalidParametersError) as raised:
        read_query(query)
    return raised.value.issues


def all_issues() -> list[Issue]:
    """The issues of each parameter with each value, and those of several values together."""
    result = list(examples())
    for parameter in SEARCH_PARAMETERS:
        name = parameter.name.encode()
        for value in VALUES:
            try:
                read_query(b"%b=%b" % (name, value))
            except InvalidParametersError as error:
                result += error.issues
        result += issues(b"%b=1&%b=1" % (name, name))
    return result


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (b"rating=0", "Stars must be at least 1, got 0."),
        (b"min_rating=9", "Minimum stars must be at most 5, got 9."),
        (b"rating=x", "Stars must be an integer from 1 to 5, got x."),
        (b"min_rating=x", "Minimum stars must be a number from 1 to 5, got x."),
        (b"since=max_rating", 'From must be a date as YYYY-MM-DD, got "max_rating".'),
        (b"sort=x", "Sort must be one of newest, oldest, highest, lowest, changed, got x."),
        (b"query=%ff", "Search is not well-formed UTF-8."),
        (b"query=" + b"x" * 201, "Search must have at most 200 characters, got 201."),
        (b"since=" + b"x" * 50, f'From must be a date as YYYY-MM-DD, got "{"x" * 40}…".'),
        (b"rating=1&rating=2", "Stars must be given once, got 2 times."),
        (b"min_rating=5&max_rating=1", "Minimum stars must not be greater than Maximum stars."),
        (b"stars=3", "stars is not a parameter; did you mean rating?"),
    ],
)
def test_issue_is_a_sentence_about_its_field(query: bytes, message: str) -> None:
    (issue,) = issues(query)
    assert message == sentence(words("en"), issue)


@pytest.mark.parametrize("tag", LANGUAGES)
def test_every_issue_has_words_in_every_language(tag: str) -> None:
    """A message that is missing would be an error of the service."""
    own, english = words(tag), words("en")
    result = all_issues()
    assert len(result) > 60
    same = {sentence(english, issue) for issue in result} & {
        sentence(own, issue) for issue in result
    }
    assert (tag == "en") == bool(same)


def test_examples_have_every_rule() -> None:
    """They try the words of the operator before a client needs them."""
    keys = {key for key in words("en").texts if key.startswith("error_")}
    keyed = Words({key: key for key in words("en").texts} | {"": "n != 1"}, words("en").language)
    assert keys == {sentence(keyed, issue) for issue in examples()}
