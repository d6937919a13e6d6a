"""Checks configuration and data, for ``reviewsd --check``, ``reviewsctl check`` and ``doctor``."""

import datetime
import os
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path, PurePath
from typing import Final

import msgspec
from msgspec.structs import replace

from reviewsd.analysis.kept_labels import KeptLabels
from reviewsd.api.files import CheckReport, Diagnostic, Facts
from reviewsd.api.jobs import Step
from reviewsd.api.places import DATA_FILES, LOGO_FILES
from reviewsd.api.texts import counted
from reviewsd.config import load as configuration
from reviewsd.config.errors import ConfigError, of_file
from reviewsd.config.load import Loaded
from reviewsd.config.schema import Config, Data
from reviewsd.domain.corrections import CORRECTIONS_FILE
from reviewsd.domain.data_errors import MAX_FINDINGS, DataError
from reviewsd.domain.dataset import REVIEWS_FILE, SETTINGS_FILE, Dataset, texts_of
from reviewsd.domain.dataset import load as load_dataset
from reviewsd.domain.diagnostic_text import rendered
from reviewsd.domain.insights_file import INSIGHTS_FILE, InsightsFile
from reviewsd.domain.json_location import TextLocation, locate, place_at
from reviewsd.domain.lint import doubts
from reviewsd.domain.reviews import mean
from reviewsd.domain.withheld_words import remove_words
from reviewsd.offline.corrections import check_present
from reviewsd.offline.needed_files import files_fault, unread_addresses
from reviewsd.offline.page_language import language_doubts
from reviewsd.pages import pictures
from reviewsd.publish import insights_settings, page_settings, sources
from reviewsd.publish.site import template_fault

UNSETTLED: Final = "the data files are being written; try again"

_MIN_REPORTED: Final = 20_000  # reviews; a smaller check is too quick to report its progress


def inspect(
    path: Path | None,
    data: Path | None,
    environ: Mapping[str, str],
    report_step: Callable[[Step], None],
) -> CheckReport:
    """Check configuration and data, and return the first errors and warnings, and the numbers of all.

    Args:
        path: The argument of ``--config``.
        data: The data directory to check instead of the configuration's, which may be missing then.
        environ: As in ``config.load``.
        report_step: Called with the progress of a long check.
    """
    config, data_report = None, CheckReport()
    unread: tuple[str, ...] = ()
    problems: tuple[Diagnostic, ...] = ()
    warnings: list[Diagnostic] = []
    file, count = None, 0
    try:
        loaded = configuration.load(path, environ)
    except ConfigError as error:
        # An error without a file says that there is no configuration
        if data is None or error.problems[0].file:
            problems, count = error.problems, error.total
    else:
        config, file = loaded.config, str(loaded.file)
        warnings = _config_warnings(loaded)
        unread = unread_addresses(config, environ)
        if (fault := files_fault(config, environ)) is not None:
            problems, count = (loaded.problem(fault),), 1
    folder = data or (config.data_dir if config else None)
    if folder is not None:
        folder = folder.absolute()
        data_report = inspect_data(folder, config, report_step)
    return CheckReport(
        config=file,
        data_dir=None if folder is None else str(folder),
        problems=(*problems, *data_report.problems),
        problem_count=count + data_report.problem_count,
        warnings=(*warnings, *data_report.warnings),
        warning_count=len(warnings) + data_report.warning_count,
        facts=data_report.facts,
        unread_addresses=unread,
    )


def _config_warnings(loaded: Loaded) -> list[Diagnostic]:
    """Return the warnings about a valid configuration, with their positions where they are known."""
    file = str(loaded.file)
    warnings = [
        Diagnostic(file=file, reason=warning.removeprefix(f"{file}: "), lines=(warning,))
        for warning in loaded.warnings
    ]
    for key, reason in page_settings.warnings(loaded.config, datetime.datetime.now(datetime.UTC)):
        line, column = loaded.marks.get(f"$.{key}") or (None, None)
        diagnostic = Diagnostic(file=file, line=line, column=column, path=key, reason=reason)
        warnings.append(rendered(diagnostic))
    return warnings


def inspect_data(
    folder: Path, config: Config | None, report_step: Callable[[Step], None]
) -> CheckReport:
    """Check a data directory, and whether it fits a configuration if there is one; return as ``inspect``."""

    def progress(stage: str, done: int, total: int) -> None:
        if total >= _MIN_REPORTED:
            report_step(Step(stage, done, total))

    settings = Data() if config is None else config.data
    try:
        files = sources.read(folder)
    except DataError as error:
        return _with_problems_only(_with_positions(folder, {}, error.findings), error.total)
    except sources.Unsettled:
        return _with_problems_only([of_file(str(folder), UNSETTLED)])
    except OSError as error:
        place = str(error.filename or folder)
        return _with_problems_only([of_file(place, f"cannot read now: {error.strerror}")])
    texts = {
        REVIEWS_FILE: bytes(files.reviews),
        INSIGHTS_FILE: bytes(files.insights or b""),
        CORRECTIONS_FILE: bytes(files.corrections or b""),
    }
    of_insights, problems = insights_settings.examine(
        files.settings or b"", str(folder / SETTINGS_FILE)
    )
    try:
        check_present(folder)
    except DataError as error:
        problems += _with_positions(folder, {}, error.findings)
    problem_count = len(problems)
    problems = problems[:MAX_FINDINGS]
    try:
        dataset = load_dataset(
            files.reviews, files.insights, progress, corrections=files.corrections
        )
    except DataError as error:
        problems += _with_positions(folder, texts, error.findings)
        return _with_problems_only(problems, problem_count + error.total)
    if dataset.withheld.erased:
        problems.append(rendered(_erased_again(folder, dataset.withheld.erased)))
        problem_count += 1
    fault = None if config is None else template_fault(config, dataset)
    if fault is not None:
        problems.append(Diagnostic(file=fault.partition(":")[0], reason=fault, lines=(fault,)))
        problem_count += 1
    now = datetime.datetime.now(datetime.UTC)
    _, logo_warnings = pictures.examine(files.logos)
    findings = chain(
        doubts(texts[REVIEWS_FILE], dataset, now, progress),
        language_doubts(dataset, of_insights.language),
        _withheld(texts[INSIGHTS_FILE], dataset),
        files.left_out,
        _misnamed_files(folder),
        KeptLabels(files.labels).faults(),
        logo_warnings,
    )
    warnings, warning_count = _first_of_each_file(findings)
    return CheckReport(
        problems=tuple(problems),
        problem_count=problem_count,
        warnings=tuple(_with_positions(folder, texts, warnings)),
        warning_count=warning_count,
        facts=None if problems else _facts(dataset, settings),
    )


def _with_problems_only(problems: Sequence[Diagnostic], count: int | None = None) -> CheckReport:
    total = len(problems) if count is None else count
    return CheckReport(problems=tuple(problems), problem_count=total)


def _erased_again(folder: Path, ids: Sequence[str]) -> Diagnostic:
    """Return the problem that the file has reviews that were erased."""
    count = len(ids)
    it = "it is" if count == 1 else "they are"
    reason = (
        f"{counted(count, 'erased review')} {'is' if count == 1 else 'are'} in it again, as by an older copy; "
        f"{it} not served. The next import or sync takes {'it' if count == 1 else 'them'} out, and so does: "
        f"reviewsctl reviews erase {shlex.join(ids)} --reason request"
    )
    return Diagnostic(file=str(folder / REVIEWS_FILE), reason=reason)


def _withheld(insights: bytes, dataset: Dataset) -> Iterator[Diagnostic]:
    """Yield warnings about words, names or ids of withheld reviews in insights.json."""
    if not insights or not (dataset.withheld.ids or dataset.withheld.names):
        return
    places: list[str] = []
    texts = partial(texts_of, dataset.records)
    remove_words(insights, dataset.withheld, texts, places.append)
    if places:
        subject = f"{counted(len(places), 'place')} {'has' if len(places) == 1 else 'have'}"
        reason = f"{subject} words, names or ids of withheld reviews; none is served, but the file still has them"
        yield Diagnostic(file=INSIGHTS_FILE, path="", reason=reason)
    for path in places:
        yield Diagnostic(file=INSIGHTS_FILE, path=path, reason="of a withheld review")


def _misnamed_files(folder: Path) -> Iterator[Diagnostic]:
    """Yield warnings about files that are not read because of their names."""
    if not os.access(folder, os.R_OK):
        return
    names = sorted(path.name for path in folder.iterdir())
    for name in names:
        meant = name.casefold().replace(".yml", ".yaml")
        if meant in DATA_FILES:
            if meant not in names:
                yield Diagnostic(file=name, reason=f"not read; rename it to {meant}")
        elif PurePath(meant).stem == "logo" and not set(names).intersection(LOGO_FILES):
            *others, last = LOGO_FILES
            reason = f"not read; save it as {', '.join(others)} or {last}"
            yield Diagnostic(file=name, reason=reason)


def _first_of_each_file(findings: Iterable[Diagnostic]) -> tuple[list[Diagnostic], int]:
    """Return the first ``MAX_FINDINGS`` of each file, and the total number."""
    counts: Counter[str] = Counter()
    first = []
    for finding in findings:
        counts[finding.file] += 1
        if counts[finding.file] <= MAX_FINDINGS:
            first.append(finding)
    return first, counts.total()


def _with_positions(
    folder: Path, texts: Mapping[str, bytes], findings: Iterable[Diagnostic]
) -> list[Diagnostic]:
    """Return findings with the path of their file, line and column in it, and the lines to print."""
    findings = list(findings)
    locations: dict[tuple[str, str], TextLocation] = {}
    for file, text in texts.items():
        paths = {finding.path for finding in findings if finding.file == file}
        locations |= {(file, path): place for path, place in locate(text, paths).items()}
    located = []
    for finding in findings:
        place = locations.get((finding.file, finding.path))
        source = texts.get(finding.file)
        if source is not None and finding.line is not None and finding.column is not None:
            place = place_at(source, finding.line, finding.column)  # of a syntax error
        diagnostic = replace(finding, file=str(folder / finding.file))
        if place is not None:
            diagnostic = replace(diagnostic, line=place.line, column=place.column)
        located.append(rendered(diagnostic, "" if place is None else place.source))
    return located


def _facts(dataset: Dataset, settings: Data) -> Facts:
    days = dataset.records.days
    insights = dataset.insights
    return Facts(
        business=dataset.business.name,
        reviews=len(days),
        first=datetime.date.fromordinal(days[-1]) if days else None,
        last=datetime.date.fromordinal(days[0]) if days else None,
        average=mean(dataset.stars),
        stars={str(stars): dataset.stars.get(stars, 0) for stars in range(1, 6)},
        withheld=dataset.withheld.sentence(len(days)),
        insights=insights is not None,
        analysed=0 if insights is None else insights.analysed,
        uncovered=0 if insights is None else _uncovered(dataset, insights),
        made=insights is None and settings.insights == "auto",
    )


def _uncovered(dataset: Dataset, insights: InsightsFile) -> int:
    """Return the number of reviews that ``per_review`` leaves out."""
    per_review = insights.members.get("per_review", b"{}")
    entries = msgspec.json.decode(per_review, type=dict[str, msgspec.Raw])
    return len(dataset.records.places.keys() - entries.keys())
