"""The text of a message (notices.md 2): plain text, with links to each review.

Names and texts of reviews come from strangers: they are shortened, control characters are left out, and what
would address people or channels in a chat ("@everyone") is taken apart by an invisible character.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from reviewsd.api.texts import counted
from reviewsd.domain.reviews import Review
from reviewsd.http1 import urls
from reviewsd.notices.comparison import find_review
from reviewsd.notices.state import MAX_EVENTS, NoticeEvents
from reviewsd.pages.text import shortened
from reviewsd.snapshot.snapshots import Snapshot

MAX_SHOWN = 10
"""Reviews that a message shows; it counts the others."""

MAX_TEXT = 280
"""Characters of a review's text."""

_STARS = ("one star", "two stars", "three stars", "four stars", "five stars")
_BREAK = "\u200b"  # zero width space


@dataclass(frozen=True, slots=True)
class Message:
    """A message to a target."""

    title: str
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageWriter:
    """Writes messages."""

    base_url: str
    has_pages: bool
    """Whether each review has a page."""

    def write(self, events: NoticeEvents, snapshot: Snapshot, days: int | None) -> Message | None:
        """Return the message about events; None if none of them holds any more.

        Args:
            events: The events; reviews that are not published any more are left out.
            snapshot: The snapshot that is served.
            days: Days that the unanswered reviews have waited.
        """
        new = _published(events.reviews, snapshot)
        unanswered = _published(events.unanswered, snapshot)
        unanswered = [review for review in unanswered if review.owner_reply is None]
        titles: list[str] = []
        paragraphs: list[str] = []
        if new:
            titles.append(_new_reviews(new))
            paragraphs += self._list(new)
        if unanswered:
            reviews, after = counted(len(unanswered), "review"), counted(days or 0, "day")
            titles.append(f"{reviews} without a reply after {after}")
            paragraphs += [f"Without a reply after {after}:", *self._list(unanswered)]
        for condition, reason in events.conditions.items():
            titles.append(condition)
            paragraphs.append(f"{condition}: {plain(reason)}")
        return Message("; ".join(titles), "\n\n".join(paragraphs)) if titles else None

    def _list(self, reviews: Sequence[Review]) -> Iterator[str]:
        for review in reviews[:MAX_SHOWN]:
            yield "\n".join(self._lines(review))
        if len(reviews) > MAX_SHOWN:
            address = f"{self.base_url}{urls.LIST if self.has_pages else urls.REVIEWS}"
            yield f"and {len(reviews) - MAX_SHOWN:,} more: {address}"

    def _lines(self, review: Review) -> Iterator[str]:
        stars = "\u2605" * review.rating + "\u2606" * (5 - review.rating)
        yield f"{stars} {plain(review.author)}, {plain(review.source)}, {review.date}"
        if review.text:
            yield plain(review.text)
        path = urls.REVIEW if self.has_pages else urls.API_REVIEW
        yield f"{self.base_url}{path}{quote(review.id, safe=urls.SEGMENT)}"
        if review.source_url:
            yield review.source_url


def plain(text: str) -> str:
    """Return a stranger's text as one short line without addresses of a chat."""
    line = filter(str.isprintable, shortened(text, MAX_TEXT))
    return "".join(
        f"{character}{_BREAK}" if character in "@<!" else character for character in line
    )


def _published(ids: Sequence[str], snapshot: Snapshot) -> list[Review]:
    reviews = (find_review(snapshot, review_id) for review_id in ids)
    return [review for review in reviews if review is not None]


def _new_reviews(reviews: Sequence[Review]) -> str:
    """Return e.g. "4 new reviews, 1 of one star": how many there are of the fewest stars."""
    ratings = [review.rating for review in reviews]
    fewest = ratings.count(min(ratings))
    more = " or more" if len(reviews) == MAX_EVENTS else ""
    share = "" if fewest == len(reviews) else f", {fewest:,}"
    return f"{counted(len(reviews), 'new review')}{more}{share} of {_STARS[min(ratings) - 1]}"
