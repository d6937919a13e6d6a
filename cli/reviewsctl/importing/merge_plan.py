"""The instructions for a merge, which its callers make."""

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from reviewsctl.corrections.imports import KnownCorrections
from reviewsctl.importing.import_log import ImportLog
from reviewsctl.importing.staging import Place

IsGone = Callable[[str], bool]
"""Called with the merge key of each review that may be removed, returns whether it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergePlan:
    """Instructions for a merge."""

    now: datetime.datetime
    facts: Mapping[str, object] = field(default_factory=dict)
    """Members of the business, as the export has them."""
    titles: Mapping[str, str] = field(default_factory=dict)
    """The titles of the export's locations, by their names there."""
    replaced: Mapping[Place, str] = field(default_factory=dict)
    """The locations from which reviews are removed if the export does not have them, each with a day before which
    no review is removed, or ""."""
    has_refused: bool = False
    """Whether rows were refused that may be of any review, so that none is removed."""
    is_gone: IsGone | None = None
    """Decides about each review that the export does not have; without it all of them are removed."""
    newest: Mapping[Place, int] = field(default_factory=dict)
    """The newest time of the reviews of each location, in POSIX milliseconds; none of an excerpt."""
    log: ImportLog = field(default_factory=ImportLog)
    older: frozenset[Place] = frozenset()
    """The locations of which the export is older than the last import."""
    names: str | None = None
    """The form of names that those of the export bring into the file, ``full`` or ``short``; None for neither."""
    has_typed_ids: bool = False
    """Whether the export is the owner's table, where an id may be mistyped, swapped or given again."""
    origin: str = ""
    """The platform whose columns tables have that do not say their own."""
    by_owner: bool = False
    """Whether the export is the owner's own, so that what it says counts as edited by hand."""
    around: Mapping[str, object] = field(default_factory=dict)
    """The members beside the reviews of such an export, for a new file."""
    corrections: KnownCorrections = field(default_factory=KnownCorrections)
