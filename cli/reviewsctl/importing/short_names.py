"""The sources whose names an import shortens: those of which an import was last told so (decision 667)."""

from collections.abc import Collection, Iterator

from reviewsctl.importing.import_log import ImportLog
from reviewsctl.importing.outcomes import Fate, MergeResult
from reviewsctl.importing.settings import Settings
from reviewsctl.importing.staging import Staging


class ShortNames:
    """The sources whose names one import shortens.

    Args:
        log: The log of earlier imports.
        settings: The settings of the import.
        staged: Its reviews.
        there: The sources of the file.
        by_owner: Whether the export is the owner's own, whose names are taken as they are.
    """

    def __init__(
        self,
        log: ImportLog,
        settings: Settings,
        staged: Staging,
        there: Collection[str],
        *,
        by_owner: bool,
    ) -> None:
        sources, short = {place.source for place in staged.places()}, set(log.short_names)
        self.shortened = sources
        """The sources of the import whose names it shortens."""
        if settings.names is not None or by_owner:
            self.shortened = sources if settings.names == "short" else set()
        elif settings.earlier_source not in short and not (there and short.issuperset(there)):
            self.shortened = sources & short
        full = sources if settings.names == "full" else set()
        self.remembered = tuple(sorted((short | self.shortened) - full))
        """The sources whose names later imports shorten."""

    def notes(self, merge: MergeResult) -> Iterator[str]:
        """Yield the note on new names in full beside short ones, which a sync tells too."""
        stay_short = merge.count(Fate.SHORT_NAME)
        if stay_short and merge.count(Fate.NEW) and not self.shortened:
            yield (
                f"new names are in full, beside {stay_short:,} that stay short; to shorten them, also in later imports: "
                "import once more with --set names=short"
            )
