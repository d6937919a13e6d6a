"""Checks configuration and data, for ``reviewsctl check`` and ``doctor``."""

import datetime
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Final, cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from twisted.internet.base import ReactorBase
from twisted.internet.task import Clock

from reviewsd.api.diagnostic import Diagnostic
from reviewsd.api.files import CheckReport, Facts
from reviewsd.api.jobs import Step
from reviewsd.app import pages
from reviewsd.app.store import state_store
from reviewsd.config import load as configuration
from reviewsd.config.errors import ConfigError, of_file
from reviewsd.config.load import Loaded
from reviewsd.config.schema import Config, Data
from reviewsd.domain.corrections import CORRECTIONS_FILE
from reviewsd.domain.data_errors import MAX_FINDINGS, DataError
from reviewsd.domain.dataset import REVIEWS_FILE, SETTINGS_FILE, Dataset, load
from reviewsd.domain.diagnostic_text import rendered
from reviewsd.domain.insights_file import INSIGHTS_FILE, InsightsFile
from reviewsd.domain.json_location import TextLocation, locate, place_at
from reviewsd.domain.lint import doubts, mean
from reviewsd.publish import insights_settings, sources
from reviewsd.runtime.counters import Counters
from reviewsd.runtime.state_dir import StartError
from reviewsd.store.keys import Secrets
from reviewsd.websub.outbound.tls import Tls

WRITTEN: Final = "the data files are being written; try again"

_LONG: Final = 20_000  # reviews from which on a person wants to see progress


def files_fault(config: Config) -> str | None:
    """What is wrong with the files and extras that the configuration names, if anything."""
    ca_file = config.hub.callbacks.ca_file
    if ca_file is not None:
        try:
            Tls(Clock(), Path(ca_file))
        except ValueError as error:
            return f"hub.callbacks.ca_file: {error}"
    try:
        state_store(cast("ReactorBase", Clock()), config, Secrets(()), Counters())  # is not opened
    except StartError as error:
        return str(error)
    return None


def inspect(
    path: Path | None,
    data: Path | None,
    environ: Mapping[str, str],
    tell: Callable[[Step], None],
) -> CheckReport:
    """Check configuration and data, and find all that is odd about them.

    Args:
        path: The argument of ``--config``.
        data: The data directory to check instead of the configuration's; then there need not be one.
        environ: As ``config.load`` takes it.
        tell: Told how far the check of large data is.
    """
    problems: list[Diagnostic] = []
    warnings: list[Diagnostic] = []
    config, file, total = None, None, 0
    try:
        loaded = configuration.examine(path, environ)
    except ConfigError as error:
        if data is None or error.problems[0].file:  # else: there is none, and none is needed
            problems = list(error.problems)
            total = error.total
    else:
        config, file = loaded.config, str(loaded.file)
        warnings = [
            Diagnostic(file=file, reason=each.removeprefix(f"{file}: "), lines=(each,))
            for each in loaded.warnings
        ]
        now = datetime.datetime.now(datetime.UTC)
        warnings += map(partial(_doubt, loaded), pages.warnings(config, now))
        if (fault := files_fault(config)) is not None:
            problems.append(of_file(file, fault))
            total += 1
    folder = data or (config.data_dir if config else None)
    facts, warning_count = None, len(warnings)
    if folder is not None:
        found = _inspect_data(folder.absolute(), config, tell)
        problems += found.problems
        warnings += found.warnings
        total += found.problem_count
        warning_count += found.warning_count
        facts = found.facts
    return CheckReport(
        config=file,
        data_dir=None if folder is None else str(folder.absolute()),
        problems=tuple(problems),
        problem_count=total,
        warnings=tuple(warnings),
        warning_count=warning_count,
        facts=facts,
    )


def _doubt(loaded: Loaded, found: tuple[str, str]) -> Diagnostic:
    """What is odd about a key of the configuration, at its place where the file has it."""
    (key, reason), file = found, str(loaded.file)
    mark = loaded.marks.get(f"$.{key}")
    line, column = (None, None) if mark is None else mark
    return rendered(Diagnostic(file=file, line=line, column=column, path=key, reason=reason))


class _Found(Struct, frozen=True, kw_only=True):
    problems: list[Diagnostic] = []
    problem_count: int = 0
    warnings: list[Diagnostic] = []
    warning_count: int = 0
    facts: Facts | None = None


def _inspect_data(folder: Path, config: Config | None, tell: Callable[[Step], None]) -> _Found:
    def progress(stage: str, done: int, total: int) -> None:
        if total >= _LONG:
            tell(Step(stage, done, total))

    wanted = Data() if config is None else config.data
    try:
        found = sources.read(folder, wanted.max_bytes)
    except DataError as error:
        return _Found(problems=_placed(folder, {}, error.findings), problem_count=error.total)
    except sources.Unsettled:
        return _unread(folder, WRITTEN)
    except OSError as error:
        return _unread(folder, f"cannot read now: {error.strerror}")
    texts = {
        REVIEWS_FILE: found.reviews,
        INSIGHTS_FILE: found.insights or b"",
        CORRECTIONS_FILE: found.corrections or b"",
    }
    _, problems = insights_settings.examine(found.settings or b"", str(folder / SETTINGS_FILE))
    problem_count = len(problems)
    problems = problems[:MAX_FINDINGS]
    try:
        dataset = load(found.reviews, found.insights, progress, corrections=found.corrections)
    except DataError as error:
        problems += _placed(folder, texts, error.findings)
        return _Found(problems=problems, problem_count=problem_count + error.total)
    fault = None if config is None else pages.fault(config, dataset)
    if fault is not None:
        problems.append(Diagnostic(file=fault.partition(":")[0], reason=fault, lines=(fault,)))
        problem_count += 1
    odd, count = _first(
        doubts(found.reviews, dataset, datetime.datetime.now(datetime.UTC), progress)
    )
    return _Found(
        problems=problems,
        problem_count=problem_count,
        warnings=_placed(folder, texts, odd),
        warning_count=count,
        facts=None if problems else _facts(dataset, wanted),
    )


def _unread(folder: Path, reason: str) -> _Found:
    return _Found(problems=[of_file(str(folder), reason)], problem_count=1)


def _first(findings: Iterable[Diagnostic]) -> tuple[list[Diagnostic], int]:
    """The first findings of each file, and how many there are of all."""
    counts: Counter[str] = Counter()
    kept = []
    for each in findings:
        counts[each.file] += 1
        if counts[each.file] <= MAX_FINDINGS:
            kept.append(each)
    return kept, counts.total()


def _placed(
    folder: Path, texts: Mapping[str, bytes], findings: Iterable[Diagnostic]
) -> list[Diagnostic]:
    """Findings with their whole file, place and lines."""
    found = list(findings)
    places: dict[tuple[str, str], TextLocation] = {}
    for file, text in texts.items():
        for path, place in locate(text, {each.path for each in found if each.file == file}).items():
            places[file, path] = place
    return [_with_place(folder, texts, each, places.get((each.file, each.path))) for each in found]


def _with_place(
    folder: Path, texts: Mapping[str, bytes], finding: Diagnostic, place: TextLocation | None
) -> Diagnostic:
    if finding.line is not None and finding.column is not None:  # of a syntax error
        place = place_at(texts[finding.file], finding.line, finding.column)
    whole = replace(finding, file=str(folder / finding.file))
    if place is None:
        return rendered(whole)
    return rendered(replace(whole, line=place.line, column=place.column), place.source)


def _facts(dataset: Dataset, wanted: Data) -> Facts:
    days = dataset.records.days
    insights = dataset.insights
    return Facts(
        business=dataset.business.name,
        reviews=len(days),
        first=datetime.date.fromordinal(days[-1]) if days else None,
        last=datetime.date.fromordinal(days[0]) if days else None,
        average=mean(dataset),
        stars={str(stars): dataset.stars.get(stars, 0) for stars in range(1, 6)},
        replies_until=dataset.latest,
        insights=insights is not None,
        analysed=0 if insights is None else insights.analysed,
        uncovered=0 if insights is None else _uncovered(dataset, insights),
        made=insights is None and wanted.insights == "auto",
    )


def _uncovered(dataset: Dataset, insights: InsightsFile) -> int:
    given = insights.members.get("per_review")
    entries = {} if given is None else msgspec.json.decode(given, type=dict[str, msgspec.Raw])
    return len(dataset.records.places.keys() - entries.keys())
