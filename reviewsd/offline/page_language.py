"""Warns of pages in another language than the reviews, for ``check`` (data-model.md 5)."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Final

from babel import Locale

from reviewsd.analysis.language import Detector
from reviewsd.analysis.language_data import has_data
from reviewsd.analysis.text import has_words
from reviewsd.api.files import Diagnostic
from reviewsd.domain.data_errors import explain
from reviewsd.domain.dataset import REVIEWS_FILE, SETTINGS_FILE, Dataset, texts_of
from reviewsd.domain.reviews import LanguageTag, primary_language
from reviewsd.pages.words import has_catalog

_MOST: Final = 1_000  # texts, the newest; more would take seconds
_FEWEST: Final = 5  # texts; fewer may be those of travellers


def language_doubts(dataset: Dataset, of_reviews: str | None = None) -> Iterator[Diagnostic]:
    """Yield a warning if three quarters of the texts are in another language that pages can have.

    A language that is no tag has a warning of its own (``lint_business``), and so has that of insights.yaml.

    Args:
        dataset: The business and its reviews.
        of_reviews: The language of the reviews in insights.yaml.
    """
    if of_reviews is not None:
        for path, reason in explain(of_reviews, LanguageTag, "$.language"):
            yield Diagnostic(
                file=SETTINGS_FILE, path=path, reason=f"{reason}; no review is read in it"
            )
    if any(explain(dataset.business.language, LanguageTag)):
        return
    own = primary_language(dataset.business.language)
    texts = list(islice(filter(has_words, texts_of(dataset.records)), _MOST))
    if len(texts) < _FEWEST:
        return
    detector = Detector(own, has_data)
    ((language, count),) = Counter(map(detector.language_of, texts)).most_common(1)
    if language == own or count * 4 < len(texts) * 3 or not has_catalog(language):
        return
    newest = "newest " if len(texts) == _MOST else ""
    pages = _name(own) if has_catalog(own) else _name("en")
    reason = (
        f"{count:,} of {len(texts):,} {newest}reviews are in {_name(language)}, "
        f'and the pages in {pages}; write "{language}" here'
    )
    yield Diagnostic(file=REVIEWS_FILE, path="$.business.language", reason=reason)


def _name(language: str) -> str:
    return str(Locale(language).english_name)
