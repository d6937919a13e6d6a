"""The rows of one import, and the instructions for its merge."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from reviewsctl.corrections.imports import KnownCorrections
from reviewsctl.importing.business import Declared, Facts
from reviewsctl.importing.import_log import ImportLog
from reviewsctl.importing.options import ImportOptions
from reviewsctl.importing.platforms import own
from reviewsctl.importing.recognize import Export
from reviewsctl.importing.rows import RowCounts
from reviewsctl.importing.staging import Place, Staging
from reviewsctl.importing.values import shown
from reviewsd.api.texts import printable


@dataclass(frozen=True, slots=True, kw_only=True)
class MergePlan:
    """The rows of an import, and the instructions for a merge."""

    options: ImportOptions
    staged: Staging = field(default_factory=Staging)
    exports: Sequence[Export] = ()
    rows: RowCounts = field(default_factory=RowCounts)
    facts: Mapping[str, object] = field(default_factory=dict)
    """Members of the business, as the export has them."""
    titles: Mapping[str, str] = field(default_factory=dict)
    """The titles of the export's locations, by their names there."""
    listings: Mapping[str, Facts] = field(default_factory=dict)
    """Those locations as the export describes them."""
    declared: Declared = field(default_factory=Declared)
    """The locations that reviews.json declares, also by the names that those have in the export."""
    replaced: Mapping[Place, str] = field(default_factory=dict)
    """The locations from which reviews are removed if the export does not have them, each with a day before which
    no review is removed, or ""."""
    newest: Mapping[Place, str] = field(default_factory=dict)
    """The newest day of the reviews of each location; none of an excerpt."""
    log: ImportLog = field(default_factory=ImportLog)
    older: frozenset[Place] = frozenset()
    """The locations of which the export is older than the last import."""
    origin: str = ""
    """The platform whose columns tables have that do not say their own."""
    corrections: KnownCorrections = field(default_factory=KnownCorrections)

    @property
    def has_typed_ids(self) -> bool:
        """Whether the export is the owner's table, where an id may be mistyped, swapped or given again."""
        return any(export.format.generic for export in self.exports)

    @property
    def by_owner(self) -> bool:
        """Whether the export is the owner's own, so that what it says counts as edited by hand."""
        return any(export.format.name == own.NAME for export in self.exports)

    def titled(self, name: str) -> str:
        """Return how messages name a location of the export: its title, quoted, and its name."""
        title = self.titles.get(name)
        return f"{shown(title)} ({printable(name)})" if title else shown(name)

    @property
    def names(self) -> str | None:
        """The form of names that those of the export bring into the file, ``full`` or ``short``; None for neither."""
        return self.options.settings.names or (None if self.by_owner else "short")
