"""The sources of reviews.json, and which are verified."""

from reviewsctl.importing.readers.json_file import Document
from reviewsctl.importing.reviews_file import EXAMPLES, reviews_of
from reviewsctl.importing.staging import Place


class ExistingSources:
    """The sources of the reviews that are there.

    Args:
        document: The reviews.json; None if there is none.
    """

    def __init__(self, document: Document | None) -> None:
        self.names: set[str] = set()
        """``NO_SOURCE`` is that of tables without any."""
        self.places: set[Place] = set()
        self.verified: set[str] = set()
        """Those with verified reviews."""
        for review in () if document is None else reviews_of(document):
            if review.get("id") in EXAMPLES:
                continue
            source = str(review.get("source"))
            self.names.add(source)
            if (place := Place.of(review)) is not None:
                self.places.add(place)
            if review.get("verified") is True:
                self.verified.add(source)
