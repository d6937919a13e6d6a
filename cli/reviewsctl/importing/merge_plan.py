"""The instructions for a merge, which its callers make."""

import datetime
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from reviewsctl.importing.import_log import ImportLog
from reviewsctl.importing.review import Entry
from reviewsctl.importing.review_merge import Review
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
    is_gone: IsGone | None = None
    """Decides about each review that the export does not have; without it all of them are removed."""
    newest: Mapping[Place, int] = field(default_factory=dict)
    """The newest time of the reviews of each location, in POSIX milliseconds; none of an excerpt."""
    log: ImportLog = field(default_factory=ImportLog)
    older: frozenset[Place] = frozenset()
    """The locations of which the export is older than the last import."""
    names: str | None = None
    """The form of names that those of the export bring into the file, ``full`` or ``short``; None for neither."""
    by_owner: bool = False
    """Whether the export is the owner's own, so that what it says counts as edited by hand."""
    around: Mapping[str, object] = field(default_factory=dict)
    """The members beside the reviews of such an export, for a new file."""
    correction: Callable[[Review], str] = lambda _: ""
    """Called with a review of the file, returns what hides or anonymizes it; empty if it is shown as it is."""
    public_form: Callable[[Review], Review | None] = lambda review: review
    """Called with a review of the file that is hidden or anonymous, returns what readers are shown of it, and None if
    that is nothing."""
    earlier_ids: Callable[[Entry], Sequence[str]] = lambda _: ()
    """Called with a new row, returns the ids of corrected reviews that it may be an edited version of, in the file or
    not."""
    erased_facts: Callable[[Entry], Collection[str]] = lambda _: ()
    """Called with a new row, returns what it has in common with erased reviews that the export does not
    have, by the names of an ``Erasure``."""
