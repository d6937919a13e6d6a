"""Insights of a data directory, for ``reviewsctl insights`` (insights.md 8)."""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec import Raw

from reviewsd.analysis.comparing import compare
from reviewsd.analysis.explaining import explain
from reviewsd.analysis.settings import PROBLEMS, InsightSettings
from reviewsd.analysis.suggesting import suggest
from reviewsd.api.diagnostic import Diagnostic
from reviewsd.api.insights import Compared, Explanation, ServedInsights, Suggested
from reviewsd.api.jobs import InsightsOrigin
from reviewsd.config import load as configuration
from reviewsd.config.schema import Data
from reviewsd.domain.data_errors import DataError
from reviewsd.domain.dataset import Dataset
from reviewsd.domain.insights_file import InsightsFile
from reviewsd.domain.reviews import Review
from reviewsd.publish import documents, made_insights, sources
from reviewsd.publish.publication import load_sources

Served = ServedInsights[dict[str, Raw]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """A data directory, read and valid."""

    place: Path
    mode: str
    """``data.insights``."""
    dataset: Dataset
    settings: InsightSettings

    def insights(self, *, made: bool) -> Served:
        """Return the insights that are served, with what only the owner sees.

        Args:
            made: Those that the rules make, whatever is served, and as they would be published.
        """
        dataset = self.dataset
        given = None if made else dataset.insights
        if given is not None:
            return self._served(given, made_insights.given(given))
        if not made and self.mode == "file":
            return Served(data_dir=str(self.place), origin=None, insights={})
        file, origin = self._made(self.settings if made else self.settings.for_owner())
        unpublished = () if made or PROBLEMS in self.settings.publish else (PROBLEMS,)
        return self._served(file, origin, whole=made, unpublished=unpublished)

    def compared(self) -> Compared:
        """What the rules make against insights.json.

        Raises:
            DataError: There is none.
        """
        given = self.dataset.insights
        if given is None:
            reason = "is not there, so there is nothing to compare"
            raise DataError((Diagnostic(file="insights.json", reason=reason),))
        made, origin = self._made(self.settings.for_owner())
        return Compared(
            data_dir=str(self.place),
            file=made_insights.given(given),
            rules=origin,
            comparison=compare(given.members, made.members),
        )

    def suggested(self) -> Suggested:
        """Candidates for insights.yaml."""
        decode = msgspec.json.Decoder(Review).decode
        reviews = (decode(record.raw) for record in self.dataset.records)
        found = suggest(reviews, self.dataset.business, self.settings)
        return Suggested(data_dir=str(self.place), suggestions=found)

    def _made(self, settings: InsightSettings) -> tuple[InsightsFile, InsightsOrigin]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            file = made_insights.make(self.dataset, settings, lambda *_: None, folder=folder)
        return file, InsightsOrigin(made=True, model=file.typed.model, reviews=file.analysed)

    def _served(
        self,
        file: InsightsFile,
        origin: InsightsOrigin,
        *,
        whole: bool = False,
        unpublished: tuple[str, ...] = (),
    ) -> Served:
        rendered = b"".join(documents.insights(file, self.dataset))
        members = msgspec.json.decode(rendered, type=dict[str, Raw])
        if not whole:
            del members["per_review"]
        return Served(
            data_dir=str(self.place), origin=origin, insights=members, unpublished=unpublished
        )

    def explanation(self, review_id: str) -> Explanation:
        """Why a review has the labels it has.

        Raises:
            DataError: There is no such review.
        """
        position = self.dataset.records.places.get(review_id)
        if position is None:
            reason = f'has no review with the id "{review_id}"'
            raise DataError((Diagnostic(file="reviews.json", reason=reason),))
        review = msgspec.json.decode(self.dataset.records[position].raw, type=Review)
        return explain(review, self.dataset.business, self.settings)


def read(path: Path | None, data: Path | None, environ: Mapping[str, str]) -> Folder:
    """The data directory that is named, or that of the configuration.

    Raises:
        ConfigError: None is named, and the configuration cannot be used.
        DataError: The files are not valid.
        sources.Unsettled: They are being written.
        OSError: They cannot be read now.
    """
    wanted = Data()
    if data is None:
        config, _ = configuration.load(path, environ)
        data, wanted = config.data_dir, config.data
    dataset, settings = load_sources(sources.read(data, wanted.max_bytes))
    return Folder(place=data.absolute(), mode=wanted.insights, dataset=dataset, settings=settings)
