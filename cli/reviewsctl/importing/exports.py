"""The exports of one import: opened, recognized, and described to the operator.

A Google Takeout may come in several parts: ``takeout-20261121T070000Z-001.zip``, ``-002.zip`` and so on.
Reviews of one location may lie in any of them, so that none of them alone says what is gone.
"""

import contextlib
import re
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from reviewsctl.importing.errors import ImportRefusedError, NoReviewsError, SayMoreError
from reviewsctl.importing.options import ImportOptions
from reviewsctl.importing.readers.parts import parts_of
from reviewsctl.importing.recognize import Export, chosen
from reviewsctl.importing.values import listed

# a browser puts " (1)" behind a name that is there already; unpacked, it is a folder
_PART_NAME: Final = re.compile(
    r"(takeout-[0-9]{8}T[0-9]{6}Z(?:-[0-9]{1,3})?)-([0-9]{3})(?: \([0-9]{1,3}\))?(?:\.(?:zip|tgz))?"
)


def part_name(path: Path) -> tuple[str, int] | None:
    """Return the name of a Takeout and the number of its part, from 1; None if a path is no part of one."""
    match = _PART_NAME.fullmatch(path.name)
    return None if match is None else (match[1], int(match[2]))


def part_numbers(exports: Iterable[Path]) -> dict[str, set[int]]:
    """Return the numbers of the parts of each Takeout among some exports."""
    parts: defaultdict[str, set[int]] = defaultdict(set)
    for takeout, number in filter(None, map(part_name, exports)):
        parts[takeout].add(number)
    return parts


def missing_parts(exports: Sequence[Path]) -> list[str]:
    """Return the names of parts that are known of and not among the exports.

    A part is known of by the number of another one, and by the files beside the exports.
    """
    folders = {export.absolute().parent for export in exports}
    beside = part_numbers(path for folder in folders for path in folder.glob("takeout-*"))
    missing = []
    for takeout, parts in part_numbers(exports).items():
        numbers = parts | beside.get(takeout, set())
        all_numbers = numbers | set(range(1, max(numbers)))
        missing += [f"{takeout}-{number:03}.zip" for number in sorted(all_numbers - parts)]
    return missing


def described(export: Export, options: ImportOptions) -> list[str]:
    """Return what was recognized, for the operator; in two lines where that is enough."""
    first, format_ = export.sources[0], export.format
    files = f"{len(export.sources):,} files" if len(export.sources) > 1 else ""
    manner = ", ".join(filter(None, (first.writing, files)))
    lines = [f"{export.name}: {format_.title}{f' ({manner})' if manner else ''}"]
    describe = format_.describe_columns
    columns, notes = ([], []) if describe is None else describe(first.head, options.settings)
    lines += columns if options.verbose else filter(None, ["; ".join(columns)])
    lines += notes
    if unread := [
        f"{source.part.name}: {unread}" for source in export.sources for unread in source.unread
    ]:
        lines.append(f"not read: {listed(unread)}")
    if options.verbose and (ignored := export.ignored):
        lines.append(f"other files, left alone: {listed(ignored)}")
    return lines


def opened_exports(options: ImportOptions) -> list[Export]:
    """Open all exports far enough to recognize what they are.

    Of a Takeout in several parts, those without reviews are left out: they have the photos.

    Raises:
        ImportRefusedError: One of them cannot be read or is not recognized.
        SayMoreError: It may be several formats.
    """
    exports = []
    fault = NoReviewsError("these parts of a Takeout hold no reviews")
    for path in options.exports:
        try:
            parts = parts_of(path)
        except NoReviewsError as error:
            if not _is_one_of_several(path, options.exports):
                raise
            fault = error
            continue
        if any(part.location.id for part in parts) or not _is_one_of_several(path, options.exports):
            export = chosen(
                parts,
                options.format_name,
                mapped=bool(options.settings.columns),
            )
            exports.append(replace(export, name=path.name))
    if not exports:
        raise fault
    return exports


def _is_one_of_several(path: Path, exports: Sequence[Path]) -> bool:
    """Return whether a path is a part of a Takeout of which another part is named too."""
    name = part_name(path)
    return name is not None and len(part_numbers(exports)[name[0]]) > 1


def check_options(options: ImportOptions, exports: Sequence[Export]) -> None:
    """Check that the options fit the formats.

    Raises:
        SayMoreError: An option for tables is used for a platform's own export.
        ImportRefusedError: ``--replace`` is used for an excerpt.
    """
    settings, formats = options.settings, [export.format for export in exports]
    generic = any(format_.generic for format_ in formats)
    fits = {
        "--map": (settings.columns, generic or any(format_.tabular for format_ in formats)),
        "--source": (settings.source, generic),
        "--set scale": (settings.scale.best, generic),
        "--set earlier_source": (settings.earlier_source, generic),
    }
    for option, (value, fit) in fits.items():
        if value and not fit:
            raise SayMoreError(
                f"{option} works only for tables of no known platform; this is {formats[0].title}",
                "Leave it out; or read it as a table all the same: --from csv",
            )
    partial = next((format_.partial for format_ in formats if format_.partial), "")
    if options.replace and partial:
        raise ImportRefusedError(
            f"--replace would remove the reviews that this export leaves out: {partial}",
            "Import it without --replace.",
        )


STANDARD_INPUT: Final = Path("-")

_COPY_NAME: Final = "standard input"  # in messages


@contextlib.contextmanager
def copied(options: ImportOptions) -> Iterator[ImportOptions]:
    """Replace ``-`` among the exports by a copy of standard input, for the block.

    An export is read several times, which a pipe cannot be.

    Raises:
        ImportRefusedError: Standard input is a terminal.
    """
    if STANDARD_INPUT not in options.exports:
        yield options
        return
    if sys.stdin.isatty():
        raise ImportRefusedError(
            "standard input is a terminal", "Pipe an export into it: reviewsctl import - <FILE"
        )
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, _COPY_NAME)
        with copy.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        paths = [copy if path == STANDARD_INPUT else path for path in options.exports]
        yield replace(options, exports=paths)


def missing_pages(exports: Sequence[Export], rows: Mapping[str, int]) -> list[str]:
    """Return why pages are missing, where those that are here say so; ``rows`` are counts by the name of the format."""
    reasons = []
    for incomplete in dict.fromkeys(export.format.incomplete for export in exports):
        own = [export for export in exports if export.format.incomplete is incomplete]
        heads = [source.head for export in own for source in export.sources]
        count = sum(rows.get(name, 0) for name in {export.format.name for export in own})
        reasons.append(incomplete(heads, count))
    return list(filter(None, reasons))
