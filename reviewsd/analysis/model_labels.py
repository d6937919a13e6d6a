"""Checks of the answers of a language model that labels reviews (insights.md 7 and 12).

A review may contain instructions to the model. So each answer is checked: labels are in the closed
lists, phrases are in the text of the review, and the text names each person. ``counting`` counts.
"""

import contextlib
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import msgspec
from msgspec import Raw, Struct

from reviewsd.analysis.counting import Catalogue
from reviewsd.analysis.labeling import MAX_PHRASE, PROBLEM_STARS
from reviewsd.analysis.model_prompt import SENTIMENTS, described, instructions, lists_of, schema
from reviewsd.analysis.text import fold, tokenise, words_of
from reviewsd.domain.halves import halves
from reviewsd.domain.reviews import Business

T = TypeVar("T")

VERSION: Final = "labels-2"
"""Version of the instructions and checks; raise it when they change."""
MAX_REFUSED: Final = 0.2  # share of refused reviews of a batch; insights.md 7
_MAX_REFUSED_LABELS: Final = 0.5  # share of the labels of a review
MAX_FAULTS: Final = 30  # faults in the second request for a batch

_NEUTRAL_STARS: Final = 3
_MAX_WORDS: Final = 60  # of a phrase
_NO_SENTIMENT: Final = f"not one of {', '.join(SENTIMENTS)}"


class Excerpted(Struct, frozen=True, kw_only=True):
    """A review for the model, without author and date."""

    id: str
    """Its number in the batch, from 1; the id of a platform may identify the author."""
    rating: int
    text: str


class AspectAnswer(Struct, frozen=True, kw_only=True):
    """An aspect in the answer of the model."""

    id: str
    sentiment: str
    phrase: str


class PersonAnswer(Struct, frozen=True, kw_only=True):
    """A person in the answer of the model."""

    id: str
    sentiment: str


class ReviewAnswer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The answer of the model for a review; many models number ids, and write null for an empty list."""

    id: str | int = ""
    aspects: tuple[AspectAnswer, ...] | None = ()
    technicians: tuple[PersonAnswer | str, ...] | None = ()
    """Those of labels-1 are ids without sentiments."""
    services: tuple[str, ...] | None = ()
    problems: tuple[str, ...] | None = ()


class _Answer(Struct, frozen=True, kw_only=True):
    reviews: list[Raw]


_decode_entry = msgspec.json.Decoder(ReviewAnswer).decode


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The valid part of an answer."""

    answers: Mapping[str, ReviewAnswer]
    """Valid answers by the number of the review."""
    labels: int
    """Number of their labels."""
    refused: int
    """Number of faults; a review without an answer is one."""
    faults: tuple[str, ...]
    """The first faults, without words of the reviews."""


class ModelLabels:
    """The instructions for a model, and the checks of its answers.

    Args:
        catalogue: The closed lists.
        business: The business of the reviews; its name and category are in the instructions.
    """

    def __init__(self, catalogue: Catalogue, business: Business) -> None:
        self._lists = lists_of(catalogue)
        self._names = dict(_names(catalogue))
        self.instructions = instructions(catalogue, described(business))
        self.schema = schema(catalogue)
        parts = [VERSION, instructions(catalogue, ""), self.schema]
        self.lists = hashlib.blake2b(msgspec.json.encode(parts), digest_size=8).hexdigest()
        """Digest of everything that answers depend on, but for the review and the name of the business."""

    def judge(self, answer: str, batch: Iterable[Excerpted]) -> Judgement:
        """Check the answer for a batch; a review is refused if too many of its labels are."""
        by_id = {review.id: review for review in batch}
        answers: dict[str, ReviewAnswer] = {}
        faults: list[str] = []
        answered: set[str] = set()
        labels = 0
        document = decoded(answer, _Answer)
        entries = decoded(answer, list[Raw]) if document is None else document.reviews
        for number, raw in enumerate(entries or (), start=1):
            try:
                entry = _decode_entry(raw)
            except msgspec.DecodeError:
                faults.append(f"entry {number}: not by the schema")
                continue
            review = by_id.get(str(entry.id))
            if review is None or review.id in answered:
                faults.append("an entry for no review, or a second one for the same")
                continue
            answered.add(review.id)
            refused = -len(faults)
            valid = self.check(entry, review, faults)
            refused += len(faults)
            count = sum(len(getattr(valid, kind)) for kind in self._lists)
            if refused <= _MAX_REFUSED_LABELS * (count + refused):
                answers[review.id] = valid
                labels += count
        faults += [f"review {name}: no entry" for name in by_id if name not in answered]
        return Judgement(
            answers=answers, labels=labels, refused=len(faults), faults=tuple(faults[:MAX_FAULTS])
        )

    def check(self, entry: ReviewAnswer, review: Excerpted, faults: list[str]) -> ReviewAnswer:
        """Return the valid part of an entry, with the text's spelling of phrases, and add its faults."""
        return ReviewAnswer(
            aspects=tuple(self._aspects(entry, review, faults)),
            technicians=tuple(self._people(entry, review, faults)),
            services=self._entities("services", entry.services, review, faults),
            problems=self._entities("problems", entry.problems, review, faults),
        )

    def _aspects(
        self, entry: ReviewAnswer, review: Excerpted, faults: list[str]
    ) -> Iterator[AspectAnswer]:
        folded = fold(review.text)
        ids = set()
        for index, aspect in enumerate(entry.aspects or ()):
            at = f"review {review.id}, aspects[{index}]"
            phrase = _verbatim(review.text, folded, aspect.phrase)
            if aspect.id not in self._lists["aspects"] or aspect.id in ids:
                faults.append(f"{at}.id: not in the list, or there twice")
            elif aspect.sentiment not in SENTIMENTS:
                faults.append(f"{at}.sentiment: {_NO_SENTIMENT}")
            elif phrase is None:
                faults.append(f"{at}.phrase: not a verbatim piece of the text")
            else:
                ids.add(aspect.id)
                yield AspectAnswer(id=aspect.id, sentiment=aspect.sentiment, phrase=phrase)

    def _people(
        self, entry: ReviewAnswer, review: Excerpted, faults: list[str]
    ) -> Iterator[PersonAnswer | str]:
        ids = set()
        for index, person in enumerate(entry.technicians or ()):
            name = person if isinstance(person, str) else person.id
            at = f"review {review.id}, technicians[{index}]"
            if name not in self._lists["technicians"] or name in ids:
                faults.append(f"{at}: not in the list, or there twice")
            elif not self._named(name, review.text):
                faults.append(f"{at}: the text does not name this person")
            elif not isinstance(person, str) and person.sentiment not in SENTIMENTS:
                faults.append(f"{at}.sentiment: {_NO_SENTIMENT}")
            else:
                ids.add(name)
                yield person

    def _entities(
        self, kind: str, names: Sequence[str] | None, review: Excerpted, faults: list[str]
    ) -> tuple[str, ...]:
        valid: dict[str, None] = {}
        for index, name in enumerate(names or ()):
            at = f"review {review.id}, {kind}[{index}]"
            if name not in self._lists[kind] or name in valid:
                faults.append(f"{at}: not in the list, or there twice")
            elif kind == "problems" and not _may_have_problems(review):
                faults.append(f"{at}: the review has five stars")
            else:
                valid[name] = None
        return tuple(valid)

    def _named(self, person: str, text: str) -> bool:
        """Return whether a text has a name of the person."""
        words = _spaced(word.removesuffix("'s") for word in words_of(text))
        return any(name in words for name in self._names[person])


def _may_have_problems(review: Excerpted) -> bool:
    """Return whether a review may have problems: below five stars, or where it says what was not liked."""
    return review.rating <= PROBLEM_STARS or not all(half.liked for half in halves(review.text))


def contradicts(answer: ReviewAnswer, rating: int) -> bool:
    """Return whether most opinions of an answer are the opposite of the stars."""
    signs = Counter(aspect.sentiment for aspect in answer.aspects or ())
    praise = signs["positive"] - signs["negative"]
    return praise * (rating - _NEUTRAL_STARS) < 0


def decoded(answer: str, form: type[T]) -> T | None:
    """Decode an answer, which may have thoughts, a fence or sentences around it; None if it is none.

    Args:
        answer: The text of the model.
        form: The type of the JSON value.
    """
    text = answer.lstrip()
    if not text.startswith(("{", "[", "`")):
        _, mark, rest = text.partition("</think>")
        text = rest if mark else text
    for begin, end in ("{}", "[]"):
        part = text[max(0, text.find(begin)) : text.rfind(end) + 1]
        with contextlib.suppress(msgspec.DecodeError, RecursionError, UnicodeError):
            return msgspec.json.decode(part, type=form)
    return None


def _names(catalogue: Catalogue) -> Iterator[tuple[str, list[str]]]:
    """Yield the names of each person: name, aliases, and the words that no other name has (insights.md 6)."""
    words = {person: words_of(name) for person, name in catalogue.technicians.items()}
    owners = Counter(word for name in words.values() for word in set(name))
    for person, name in words.items():
        aliases = [words_of(alias) for alias in catalogue.aliases.get(person, ())]
        own = [[word] for word in name if owners[word] == 1 and len(word) > 1]
        yield person, [_spaced(parts) for parts in (name, *aliases, *own)]


def _spaced(words: Iterable[str]) -> str:
    return f" {' '.join(words)} "


def _same_words(text: str, phrase: str) -> str | None:
    """Return the first piece of a text that has the words of a phrase, whatever stands between them."""
    tokens = tokenise(text)
    places = [at for at, word in enumerate(tokens.words) if _is_word(word)]
    words = [tokens.words[at] for at in places]
    phrase_words = list(filter(_is_word, tokenise(phrase).words))
    size = len(phrase_words)
    if not 0 < size <= _MAX_WORDS:
        return None
    for start in range(len(words) - size + 1):
        if words[start : start + size] == phrase_words:
            return tokens.cut(places[start], places[start + size - 1] + 1)
    return None


def _is_word(token: str) -> bool:
    return any(map(str.isalnum, token))


def _verbatim(text: str, folded: str, phrase: str) -> str | None:
    """Return the piece of a text that matches a phrase, shortened to the greatest length of a phrase.

    Models straighten apostrophes, change capitals, spaces and marks, so the text's spelling is published.
    """
    folded_phrase = fold(phrase.strip())
    at = folded.find(folded_phrase)
    if not any(c.isalnum() for c in folded_phrase):
        return None
    piece = text[at : at + len(folded_phrase)] if at >= 0 else _same_words(text, folded_phrase)
    if piece is None or len(piece) <= MAX_PHRASE:
        return piece
    cut = piece[: MAX_PHRASE + 1].rpartition(" ")[0]
    return cut or piece[:MAX_PHRASE]
