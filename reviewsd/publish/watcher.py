"""Detects that the files of the data directory have changed and settled.

It polls, because ``twisted.internet.inotify`` silently stops when a watched file is replaced or its
directory is recreated, a swapped symbolic link causes no event, and network file systems cause none at
all (security-and-operations.md F10). A stat fingerprint once a second detects every kind of
replacement, and costs nothing.

A changed fingerprint is taken again every 250 ms until it is equal three times (R2). Without settling,
13 of 72 reads returned half a file. Files that are written continuously are never published, since a
publication could be half a file; the last good snapshot is served, and one warning is logged after a
minute.

Signals wake, versions decide (ARCHITECTURE.md): a wake-up has no data, and may be unnecessary, as after
``touch``. The publisher compares the bytes.
"""

from collections.abc import Awaitable, Callable

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger

from reviewsd.snapshot.layout import Fingerprint

SETTLE_SECONDS = 0.25  # between two polls while the files settle, or the poll interval; R2
SETTLE_POLLS = 3  # consecutive equal fingerprints; R2
HANG_SECONDS = 30  # a fingerprint that takes longer is reported; R1
UNSETTLED_WARNING_SECONDS = 60  # files that change for longer are reported


class Watcher:
    """Calls ``wake`` when the files have changed and settled.

    ``TaskSet.every`` is not used: polls are more frequent while the files settle.

    Args:
        clock: Schedules the polls.
        take_fingerprint: Takes the fingerprint, in production in a thread. At most one runs at a time;
            ``stop`` cancels it.
        wake: Called once for each settled change. It must not block.
        poll_interval: Seconds between two polls (``data.poll_interval``).
    """

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        take_fingerprint: Callable[[], Awaitable[Fingerprint]],
        wake: Callable[[], object],
        *,
        poll_interval: float = 1.0,
    ) -> None:
        self._clock = clock
        self._take_fingerprint = take_fingerprint
        self._wake = wake
        self._poll_interval = poll_interval

        self._published: Fingerprint | None = None
        self._last: Fingerprint | None = None
        self._equal_polls = 0  # consecutive fingerprints equal to ``_last``
        self._unsettled_since: float | None = None  # None while the files are settled
        self._has_warned = False  # about files that do not settle

        self._next_poll: IDelayedCall | None = None
        self._poll: Deferred[None] | None = None
        self._logged_error: str | None = None
        self._stopped = False

    def set_poll_interval(self, poll_interval: float) -> None:
        """Change the interval from the next poll on."""
        self._poll_interval = poll_interval

    def start(self, published: Fingerprint | None = None) -> None:
        """Poll now, and then at intervals, until ``stop``.

        Args:
            published: The fingerprint of the published files. None uses the first one taken.
        """
        self._published = self._last = published
        self._begin_poll()

    async def stop(self) -> None:
        """Stop polling; a thread that is taking a fingerprint is not waited for."""
        self._stopped = True
        if self._next_poll is not None:
            self._next_poll.cancel()
            self._next_poll = None
        if self._poll is not None:
            self._poll.cancel()
            await self._poll

    def _begin_poll(self) -> None:
        self._next_poll = None
        self._poll = Deferred.fromCoroutine(self._run_poll())

    async def _run_poll(self) -> None:
        """Take a fingerprint, compare it, and schedule the next poll."""
        alarm = self._clock.callLater(HANG_SECONDS, self._report_hang)
        wait = self._poll_interval
        try:
            current = await self._take_fingerprint()
            if not alarm.active():
                self._log.info("the data directory can be read again")
            wait = self._compare_and_wake(current)
        except Exception as error:  # noqa: BLE001 - logged; only stop() cancels a poll
            self._report_error(error)
        if alarm.active():
            alarm.cancel()
        if not self._stopped:
            self._next_poll = self._clock.callLater(wait, self._begin_poll)

    def _compare_and_wake(self, current: Fingerprint) -> float:
        """Call ``wake`` if a fingerprint differs from the published one, and is settled.

        Returns:
            The seconds until the next poll.
        """
        if self._published is None:
            self._published = self._last = current
        if current != self._last:
            self._restart_settling(current)
        else:
            self._equal_polls += 1
        if self._unsettled_since is not None and self._equal_polls < SETTLE_POLLS:
            return min(SETTLE_SECONDS, self._poll_interval)
        if current != self._published:
            self._wake()
        self._published, self._unsettled_since, self._logged_error = current, None, None
        return self._poll_interval

    def _restart_settling(self, current: Fingerprint) -> None:
        now = self._clock.seconds()
        if self._unsettled_since is None:
            self._unsettled_since, self._has_warned = now, False
        self._last, self._equal_polls = current, 0
        if now - self._unsettled_since >= UNSETTLED_WARNING_SECONDS and not self._has_warned:
            self._has_warned = True
            self._log.warn(
                "the data files have been changing for {seconds} s without a pause; "
                "they are published once they stay unchanged for a second",
                seconds=round(now - self._unsettled_since),
            )

    def _report_hang(self) -> None:
        self._log.warn(
            "reading the data directory has taken more than {seconds} s; "
            "changes are not noticed until it ends; check the disk or network mount",
            seconds=HANG_SECONDS,
        )

    def _report_error(self, error: Exception) -> None:
        """Log an error once, until a poll succeeds."""
        if not self._stopped and repr(error) != self._logged_error:
            self._logged_error = repr(error)
            self._log.failure("looking at the data directory failed; trying again")
