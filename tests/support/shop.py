"""A data directory of a shop, imports into it day after day, and exports made up for them."""

import datetime
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from reviewsctl.importing.bounds import MAX_UNPACKED
from reviewsctl.importing.errors import RowRefusedError, RowSkippedError
from reviewsctl.importing.options import ImportOptions, Prompts
from reviewsctl.importing.pipeline import run
from reviewsctl.importing.readers.parts import Part
from reviewsctl.importing.recognize import chosen
from reviewsctl.importing.report import ImportResult
from reviewsctl.importing.settings import NO_SOURCE, Settings

NOW = datetime.datetime(2026, 6, 1, 12, tzinfo=datetime.UTC)
SAMPLES = Path(__file__).parents[1] / "unit/cli/importing/samples"
"""Exports in the shapes that platforms publish."""
SETTINGS = ("earlier_source", "location", "name", "names", "source", "timezone", "verified")
"""The settings that tests name among the options."""


@dataclass
class Shop:
    """A data directory, and imports into it."""

    folder: Path
    lines: list[str] = field(default_factory=list)
    """The lines that the last import printed before it wrote."""
    answer: bool | None = None
    """The operator's answer at a terminal; None without a terminal."""
    platform: str | None = NO_SOURCE
    """The operator's answer to where the reviews of a table were written; None without a terminal."""
    questions: list[str] = field(default_factory=list)
    options: ImportOptions = field(init=False)
    """Those of the last import."""
    now: datetime.datetime = NOW

    def imported(self, *exports: Path, **options: Any) -> ImportResult:
        """Import; each is a day after the one before."""
        self.lines, self.questions = [], []
        self.now += datetime.timedelta(days=1)
        answers = {"name": "Acme"} | {
            name: options.pop(name) for name in SETTINGS if name in options
        }
        defaults: dict[str, Any] = {
            "exports": exports,
            "target": self.folder / "reviews.json",
            "format_name": "auto",
            "settings": Settings(**answers),
            "replace": False,
            "yes": False,
            "dry_run": False,
            "now": self.now,
        }

        def confirm(question: str) -> bool:
            self.questions.append(question)
            return bool(self.answer)

        def source(default: str) -> str:
            self.questions.append(default)
            return self.platform or default

        prompts = Prompts(
            progress=lambda _: None,
            show=self.lines.extend,
            choose=None,
            source=None if self.platform is None else source,
            confirm=None if self.answer is None else confirm,
            described=self.lines,
        )
        self.options = ImportOptions(**defaults | options)
        return run(self.options, prompts)

    @property
    def file(self) -> dict[str, Any]:
        """reviews.json."""
        content: dict[str, Any] = json.loads((self.folder / "reviews.json").read_bytes())
        return content

    @property
    def reviews(self) -> dict[str, dict[str, Any]]:
        """The reviews by their authors."""
        return {review["author"]: review for review in self.file["reviews"]}

    def edit(self, author: str, /, **members: object) -> None:
        """Change a review by hand."""
        content = self.file
        (review,) = [candidate for candidate in content["reviews"] if candidate["author"] == author]
        review.update(members)
        (self.folder / "reviews.json").write_text(json.dumps(content))


def google(path: Path, *rows: dict[str, Any], **beside: object) -> Path:
    """A page of Google Business Profile; ``at`` is a row's time, ``edited`` that of its last edit."""
    reviews = []
    for row in rows:
        review = {
            "name": f"accounts/1/locations/{row.get('place', '22')}/reviews/{row['author']}",
            "reviewer": {"displayName": row["author"], **row.get("reviewer", {})},
            "starRating": row.get("stars", "FIVE"),
            "createTime": row.get("at", "2026-01-01T10:00:00Z"),
        }
        review["updateTime"] = row.get("edited", review["createTime"])
        if "text" in row:
            review["comment"] = row["text"]
        if "reply" in row:
            review["reviewReply"] = {
                "comment": row["reply"],
                "updateTime": row.get("replied", review["updateTime"]),
            }
        reviews.append(review)
    path.write_text(json.dumps({"reviews": reviews, **beside}))
    return path


def table(path: Path, text: str) -> Path:
    """A CSV with reviews of one's own website."""
    path.write_text(text)
    return path


def outscraper(path: Path, title: str, place: str, *authors: str) -> Path:
    """Reviews of a place as Outscraper has them, with the title of the place."""
    rows = [
        {
            "name": title,
            "place_id": place,
            "review_id": author,
            "author_title": author,
            "review_text": "Fine",
            "review_rating": 5,
            "review_datetime_utc": "01/01/2026 10:00:00",
        }
        for author in authors
    ]
    path.write_text(json.dumps(rows))
    return path


def part(content: bytes, room: int = MAX_UNPACKED) -> Part:
    """A file of an export in memory; an archive may unpack to ``room`` bytes."""
    return Part(name="x.csv", size=len(content), room=room, open=lambda: io.BytesIO(content))


def records(parts: Sequence[Part], settings: Settings) -> tuple[list[bytes], list[str]]:
    """The reviews of an export as JSON, and why its other rows are none."""
    export = chosen(parts, "auto")
    reviews, reasons = [], []
    for source in export.sources:
        read = export.format.reader(source.head, settings)
        for _, row in source.rows():
            try:
                reviews.append(msgspec.json.encode(read(row).record))
            except (RowRefusedError, RowSkippedError) as reason:
                reasons.append(str(reason))
    return reviews, reasons
