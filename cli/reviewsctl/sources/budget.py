"""The requests that a source may take in a day."""

from dataclasses import dataclass

from reviewsctl.sources.faults import ReadFailedError


@dataclass(slots=True)
class RequestBudget:
    """Counts requests."""

    limit: int
    """The limit of a day."""
    used_before: int
    """By earlier runs of the day."""
    used: int = 0
    """By this run."""

    def take(self) -> None:
        """Count a request.

        Raises:
            ReadFailedError: The day has no more.
        """
        self.check(1)
        self.used += 1

    def check(self, requests: int) -> None:
        """Check that the day has so many requests left: a read that cannot end is not begun.

        Raises:
            ReadFailedError: It has not.
        """
        left = self.limit - self.used_before - self.used
        if requests > left:
            raise ReadFailedError(
                f"it takes {requests:,} more requests, and {left:,} of requests_per_day are left"
            )
