"""The state of one target: the events that wait, the message under way, and what was reported.

Pure transitions; ``notices`` runs them in a transaction of the store, so that several nodes agree. Times are
milliseconds since 1970 UTC.

A message is claimed before it is sent. A claim that is left behind by a process that died is not repeated:
the message may have arrived, and no event is reported twice (decision 270).
"""

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

MAX_EVENTS = 1_000
"""Reviews that one message counts, and that wait for a reply; the newest are kept."""

INTERVAL = 300_000
"""Least time between two messages to a target."""

RETRY_PAUSES = (300_000, 1_800_000)
"""Pauses after the first and the second failure; the third ends the message."""

CLAIM = 600_000
"""Time after which a node that has not finished sending is taken for dead."""

_DAY = 86_400_000


class NoticeEvents(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Events that one message reports."""

    reviews: tuple[str, ...] = ()
    """Ids of new reviews of few stars, newest first."""
    unanswered: tuple[str, ...] = ()
    """Ids of reviews that had no reply when they were new, and have waited long enough."""
    conditions: dict[str, str] = {}
    """Conditions that began, such as a stopped source, each with its reason."""

    def __bool__(self) -> bool:
        """Return whether there is anything to report."""
        return bool(self.reviews or self.unanswered or self.conditions)

    def joined(self, later: "NoticeEvents") -> "NoticeEvents":
        """Return these events and later ones as one."""
        return NoticeEvents(
            reviews=(later.reviews + self.reviews)[:MAX_EVENTS],
            unanswered=(later.unanswered + self.unanswered)[:MAX_EVENTS],
            conditions=self.conditions | later.conditions,
        )


class TargetState(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The state of one target."""

    events: NoticeEvents = NoticeEvents()
    """Events that are not sent yet."""
    attempts: int = 0
    """Failed attempts at them."""
    next_attempt_at: int = 0
    sending: NoticeEvents = NoticeEvents()
    """Events of the message under way."""
    claim_token: str = ""
    claim_until: int = 0
    awaiting: dict[str, int] = {}
    """Ids of reviews without a reply, each with the time at which it was new."""
    conditions: tuple[str, ...] = ()
    """Conditions that were reported and have not ended."""

    def with_reviews(
        self, reviews: tuple[str, ...], awaiting: tuple[str, ...], now: int
    ) -> "TargetState":
        """Queue new reviews, and have others wait for a reply."""
        waiting = list((dict.fromkeys(awaiting, now) | self.awaiting).items())[:MAX_EVENTS]
        return replace(self, awaiting=dict(waiting)).with_events(NoticeEvents(reviews=reviews))

    def with_overdue(self, days: int, now: int) -> "TargetState":
        """Queue the reviews that have waited for a reply for a number of days."""
        overdue = tuple(key for key, at in self.awaiting.items() if at + days * _DAY <= now)
        awaiting = {key: at for key, at in self.awaiting.items() if key not in overdue}
        return replace(self, awaiting=awaiting).with_events(NoticeEvents(unanswered=overdue))

    def with_conditions(self, conditions: Mapping[str, str]) -> "TargetState":
        """Queue conditions that began, and drop those that ended before they were sent."""
        begun = {name: why for name, why in conditions.items() if name not in self.conditions}
        still = {name: why for name, why in self.events.conditions.items() if name in conditions}
        state = replace(
            self,
            conditions=tuple(sorted(conditions)),
            events=replace(self.events, conditions=still),
        )
        return state.with_events(NoticeEvents(conditions=begun))

    def with_events(self, events: NoticeEvents) -> "TargetState":
        """Queue events, if there are any."""
        return replace(self, events=self.events.joined(events), attempts=0) if events else self

    def is_due(self, now: int) -> bool:
        """Return whether a message is to be sent now; a wall clock may have been set back."""
        wait = self.next_attempt_at - now
        return bool(self.events) and not self.claim_token and not 0 < wait <= RETRY_PAUSES[-1]

    def claimed(self, token: str, now: int) -> "TargetState":
        """Claim all events for one message."""
        return replace(
            self,
            events=NoticeEvents(),
            sending=self.events,
            claim_token=token,
            claim_until=now + CLAIM,
        )

    def is_abandoned(self, now: int) -> bool:
        """Return whether a claim has lapsed."""
        return bool(self.claim_token) and not now <= self.claim_until <= now + CLAIM

    def released(self) -> "TargetState":
        """End the claim; its events are not sent again."""
        return replace(self, sending=NoticeEvents(), claim_token="", claim_until=0)

    def settled(self, now: int, *, sent: bool) -> "TargetState":
        """End the claim with its outcome; after the third failure the events are dropped."""
        if sent or self.attempts == len(RETRY_PAUSES):
            return replace(self.released(), attempts=0, next_attempt_at=now + INTERVAL)
        return replace(
            self.released(),
            events=self.sending.joined(self.events),
            attempts=self.attempts + 1,
            next_attempt_at=now + RETRY_PAUSES[self.attempts],
        )
