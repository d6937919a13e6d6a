"""Insights of a data directory, for ``reviewsctl insights`` (insights.md 8)."""

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from reviewsd.analysis.analysing import Analyser, catalogue
from reviewsd.analysis.comparing import Comparison, compare
from reviewsd.analysis.counting import Catalogue
from reviewsd.analysis.explaining import Explanation, explain
from reviewsd.analysis.kept_labels import KeptLabels
from reviewsd.analysis.rules import Rules
from reviewsd.analysis.settings import PROBLEMS, InsightSettings
from reviewsd.analysis.suggesting import Suggestions, suggest
from reviewsd.analysis.totals import MIN_ASPECT_MENTIONS, MIN_MENTIONS
from reviewsd.api.jobs import InsightsOrigin
from reviewsd.config import load as configuration
from reviewsd.config.schema import Data
from reviewsd.domain.dataset import Dataset
from reviewsd.domain.insights import Entity, Insights
from reviewsd.domain.insights_file import InsightsFile
from reviewsd.domain.reviews import Review
from reviewsd.offline.references import NoSuchReviewError, find_id
from reviewsd.pages.locales import words_of_insights
from reviewsd.publish import documents, made_insights, sources
from reviewsd.publish.publication import load_sources

_LABELLED: Final = ("aspects", "technicians", "services", "problems", "service_areas")
"""The members of ``Labels``."""

_decode = msgspec.json.Decoder(Review).decode


class NothingThereError(Exception):
    """The operator asked for something that does not exist.

    Attributes:
        remedy: The next step.
    """

    def __init__(self, detail: str, remedy: str) -> None:
        super().__init__(detail)
        self.remedy = remedy


class ServedInsights(Struct, frozen=True, kw_only=True):
    """The insights that are served, or were made for the command."""

    data_dir: str
    origin: InsightsOrigin | None
    """None if there are no insights, and none are made."""
    unpublished: tuple[str, ...] = ()
    """The members that are not published: ``problems``."""
    insights: dict[str, Raw]
    """The members of ``/insights.json``, and those of ``unpublished``."""

    def typed(self) -> Insights:
        """Return the insights with their types."""
        return msgspec.json.decode(msgspec.json.encode(self.insights), type=Insights)

    def missing_share(self, entity: Entity, *, is_aspect: bool) -> str:
        """Return why an entity has no share of praise."""
        if self.origin is None or not self.origin.made:
            return "no share: insights.json has none"
        least = MIN_ASPECT_MENTIONS if is_aspect else MIN_MENTIONS
        if (entity.mention_count or 0) < least:
            return f"no share: fewer than {least} mentions"
        return "no share: too few of them have an opinion"


class Compared(Struct, frozen=True, kw_only=True):
    """The result of ``reviewsctl insights compare``."""

    data_dir: str
    file: InsightsOrigin
    rules: InsightsOrigin
    comparison: Comparison


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """A valid data directory in memory."""

    path: Path
    mode: str
    """``data.insights``."""
    dataset: Dataset
    settings: InsightSettings
    labels: KeptLabels

    def review(self, position: int) -> Review:
        """Return one review; position 0 is the newest."""
        return _decode(self.dataset.records[position])

    def reviews(self) -> Iterator[Review]:
        """Return all reviews, newest first."""
        return map(_decode, self.dataset.records)

    def lists(self) -> Catalogue:
        """Return what reviews may be labeled with, the members that only the owner sees included."""
        words = words_of_insights(self.dataset.business)
        rules = Rules(self.dataset.business, self.settings)
        return catalogue(self.settings.for_owner(), rules, words)

    def insights(self) -> ServedInsights:
        """Return the insights that are served, with the members that only the owner sees."""
        file = self.dataset.insights
        origin: InsightsOrigin | None = None
        unpublished: tuple[str, ...] = ()
        if file is not None:
            origin = made_insights.file_origin(file)
        elif self.mode != "file":
            file, origin = self._make_for_owner()
            unpublished = () if PROBLEMS in self.settings.publish else (PROBLEMS,)
        members = {} if file is None else self.members(file)
        members.pop("per_review", None)
        return ServedInsights(
            data_dir=str(self.path), origin=origin, insights=members, unpublished=unpublished
        )

    def compared(self) -> Compared:
        """Compare insights.json, or else the insights with a model's labels, with those by rules.

        Raises:
            NothingThereError: There are neither.
        """
        file = self.dataset.insights
        if file is not None:
            origin = made_insights.file_origin(file)
        elif self.labels.digest:
            file, origin = self._make_for_owner()
        else:
            raise NothingThereError(
                "there is no insights.json, nor are there labels of a model, to compare with the rules",
                "Make either: reviewsctl insights write, or reviewsctl insights label",
            )
        by_rules, rules = self._make_for_owner(KeptLabels())
        return Compared(
            data_dir=str(self.path), file=origin, rules=rules, comparison=compare(file, by_rules)
        )

    def suggestions(self) -> Suggestions:
        """Return candidates for insights.yaml."""
        return suggest(self.reviews(), self.dataset.business, self.settings)

    def explanation(self, review_id: str) -> Explanation:
        """Explain the labels of a review.

        Args:
            review_id: Its id, a beginning or an end of it, or the address of its page.

        Raises:
            NothingThereError: There is no such review, or it is hidden.
        """
        places = self.dataset.records.places
        try:
            found = find_id(review_id, [*places, *self.dataset.withheld.hidden])
        except NoSuchReviewError as error:
            raise NothingThereError(str(error), "List them: reviewsctl reviews list") from error
        if found not in places:
            remedy = f"To show it again: reviewsctl reviews restore {found}"
            raise NothingThereError(f"{found} is hidden, so insights do not count it", remedy)
        review = self.review(places[found])
        business = self.dataset.business
        words = words_of_insights(business)
        analyser = Analyser(business, self.settings.for_owner(), words, self.labels)
        explanation = explain(review, business, self.settings)
        labels = next(iter(analyser.block([review]).labels.values()), explanation.labels)
        names = {kind: dict(analyser.catalogue.labels(kind)) for kind in _LABELLED}
        return replace(explanation, labels=labels, names=names)

    def make(self, settings: InsightSettings, labels: KeptLabels | None = None) -> InsightsFile:
        """Make insights; with other labels than the kept ones if they are given."""
        labels = self.labels if labels is None else labels
        with tempfile.TemporaryDirectory() as name:
            return made_insights.make(
                self.dataset, settings, lambda *_: None, folder=Path(name), labels=labels
            )

    def members(self, file: InsightsFile) -> dict[str, Raw]:
        """Return the members of insights as they are served."""
        rendered = b"".join(documents.render_insights(file, self.dataset))
        return msgspec.json.decode(rendered, type=dict[str, Raw])

    def _make_for_owner(
        self, labels: KeptLabels | None = None
    ) -> tuple[InsightsFile, InsightsOrigin]:
        file = self.make(self.settings.for_owner(), labels)
        return file, InsightsOrigin(made=True, model=file.typed.model, reviews=file.analysed)


def read(path: Path | None, data: Path | None, environ: Mapping[str, str]) -> Folder:
    """Read a data directory; without ``data`` that of the configuration.

    Raises:
        ConfigError: The configuration cannot be used.
        DataError: The files are not valid.
        sources.Unsettled: The files are being written.
        OSError: The files cannot be read now.
    """
    settings = Data()
    if data is None:
        config = configuration.load(path, environ).config
        data, settings = config.data_dir, config.data
    files = sources.read(data)
    dataset, insight_settings = load_sources(files)
    return Folder(
        path=data.absolute(),
        mode=settings.insights,
        dataset=dataset,
        settings=insight_settings,
        labels=KeptLabels(files.labels),
    )
