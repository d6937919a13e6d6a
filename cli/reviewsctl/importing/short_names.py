"""The sources whose names an import shortens: those of which an import was last told so (decision 667)."""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from reviewsctl.importing.import_log import ImportLog
from reviewsctl.importing.outcomes import Fate, MergeResult
from reviewsctl.importing.settings import Settings


class ShortNames(NamedTuple):
    """The sources whose names imports shorten."""

    shortened: Collection[str]
    """Those of this import."""
    remembered: tuple[str, ...]
    """Those of later ones."""

    def notes(self, merge: MergeResult) -> Iterator[str]:
        """Yield the note on new names in full beside short ones, which a sync tells too."""
        stay_short = merge.count(Fate.SHORT_NAME)
        if stay_short and merge.count(Fate.NEW) and not self.shortened:
            yield (
                f"new names are in full, beside {stay_short:,} that stay short; to shorten them, also in later imports: "
                "import once more with --set names=short"
            )


def short_names(
    log: ImportLog, settings: Settings, sources: set[str], there: set[str], *, by_owner: bool
) -> ShortNames:
    """Return the sources whose names are shortened, of those of an import and those that are there.

    The names of the owner's own export are taken as they are.
    """
    short, shortened = set(log.short_names), sources
    if settings.names is not None or by_owner:
        shortened = sources if settings.names == "short" else set()
    elif settings.earlier_source not in short and not (there and short >= there):
        shortened = sources & short
    full = sources if settings.names == "full" else set()
    return ShortNames(shortened, tuple(sorted((short | shortened) - full)))
