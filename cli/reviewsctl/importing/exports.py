"""The exports of one import: opened, recognized, and described to the operator."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from reviewsctl.importing import takeout_parts
from reviewsctl.importing.errors import ImportRefusedError, NoReviewsError, SayMoreError
from reviewsctl.importing.format import Format
from reviewsctl.importing.options import ImportOptions
from reviewsctl.importing.platforms.columns import listed
from reviewsctl.importing.readers.parts import Part, parts_of
from reviewsctl.importing.recognize import Recognised, Source, chosen

_SHOWN: Final = 3  # other files in a message


@dataclass(frozen=True, slots=True)
class Export:
    """One of the files that were named."""

    path: Path
    kind: Recognised

    @property
    def format(self) -> Format:
        """Its format."""
        return self.kind.format

    @property
    def sources(self) -> Sequence[Source]:
        """Its files that have rows."""
        return self.kind.sources

    def lines(self, options: ImportOptions) -> list[str]:
        """Return what was recognized, for the operator."""
        first = self.sources[0]
        files = f", {len(self.sources):,} files" if len(self.sources) > 1 else ""
        manner = (
            f" ({first.writing}{files})" if first.writing else f" ({files[2:]})" if files else ""
        )
        lines = [f"{self.path.name}: {self.format.title}{manner}"]
        if self.kind.second is not None:
            second = self.kind.second
            lines.append(f"it looks like {second.title} too (--from {second.name})")
        lines += self.format.says_columns(first.head, options.rules)
        if self.format.leaves:
            lines.append(f"not taken: {self.format.leaves}")
        if self.format.verification and not self.format.generic:
            lines.append(f"verified: {self.format.verification}")
        if left := [f"{each.part.name}: {name}" for each in self.sources for name in each.left]:
            lines.append(f"not read: {listed(left)}")
        if ignored := self.kind.ignored:
            more = f" and {len(ignored) - _SHOWN:,} more" if len(ignored) > _SHOWN else ""
            lines.append(f"other files, left alone: {', '.join(ignored[:_SHOWN])}{more}")
        return lines


@contextlib.contextmanager
def opened_exports(options: ImportOptions) -> Iterator[list[Export]]:
    """Open all exports for the block, and recognize what they are.

    Of a Takeout in several parts, those without reviews are left out: they have the photos.

    Raises:
        ImportRefusedError: One of them cannot be read or is not recognized.
        SayMoreError: It may be several formats.
    """
    with contextlib.ExitStack() as stack:
        exports = []
        fault = NoReviewsError("these parts of a Takeout hold no reviews")
        for path in options.exports:
            parts: list[Part] = []
            try:
                parts = parts_of(path)
            except NoReviewsError as error:
                if not _is_one_of_several(path, options.exports):
                    raise
                fault = error
            for part in parts:
                stack.callback(part.close)
            has_reviews = any(part.place for part in parts)
            if has_reviews or not _is_one_of_several(path, options.exports):
                exports.append(Export(path, _recognized(options, parts)))
        if not exports:
            raise fault
        yield exports


def _is_one_of_several(path: Path, exports: Sequence[Path]) -> bool:
    """Return whether a path is a part of a Takeout of which another part is named too."""
    name = takeout_parts.part_name(path)
    return name is not None and len(takeout_parts.numbers(exports)[name.takeout]) > 1


def _recognized(options: ImportOptions, parts: Sequence[Part]) -> Recognised:
    """Return the format of an export; of several, ``--map`` is for those of no known platform."""
    is_mapped = bool(options.rules.columns.mapped)
    if is_mapped:
        with contextlib.suppress(ImportRefusedError):
            kind = chosen(parts, options.format_name)
            if not kind.format.generic and (kind.format.tabular or len(options.exports) > 1):
                return kind
    return chosen(parts, options.format_name, mapped=is_mapped)


def check_options(options: ImportOptions, exports: Sequence[Export]) -> None:
    """Check that the options fit the formats.

    Raises:
        SayMoreError: An option for tables is used for a platform's own export.
        ImportRefusedError: ``--replace`` is used for an excerpt.
    """
    rules, formats = options.rules, [export.format for export in exports]
    generic = any(each.generic for each in formats)
    fits = {
        "--map": (rules.columns.mapped, generic or any(each.tabular for each in formats)),
        "--source": (rules.columns.source, generic),
        "--set scale": (rules.scale.best, generic),
    }
    for option, (value, fit) in fits.items():
        if value and not fit:
            raise SayMoreError(
                f"{option} works only for tables of no known platform; this is {formats[0].title}",
                "Leave it out; or read it as a table all the same: --from csv",
            )
    partial = next((each.partial for each in formats if each.partial), "")
    if options.replace and partial:
        raise ImportRefusedError(
            f"--replace would remove the reviews that this export leaves out: {partial}",
            "Import it without --replace.",
        )
