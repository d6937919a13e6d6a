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
RESTLESS_SECONDS = 60  # files that change for longer are reported


class Watcher:
    """Calls ``wake`` when the files have changed and settled.

    It is not ``TaskSet.every``, because a thread cannot be cancelled, and ``stop`` waits for it.

    Args:
        clock: Schedules the polls.
        look: Takes the fingerprint, in production in a thread:
            ``partial(deferToThread, fingerprint, data_dir)``. At most one runs at a time.
        wake: Called once for each settled change. It must not block.
        fingerprint: The fingerprint of the published files. None uses the first one taken.
        poll_interval: Seconds between two polls (``data.poll_interval``).
    """

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        look: Callable[[], Awaitable[Fingerprint]],
        wake: Callable[[], object],
        *,
        fingerprint: Fingerprint | None = None,
        poll_interval: float = 1.0,
    ) -> None:
        self._clock = clock
        self._look = look
        self._wake = wake
        self.fingerprint = fingerprint
        """The fingerprint of the published files; may be set before ``start``."""
        self._poll_interval = poll_interval

        self._unsettled: Fingerprint | None = None  # the last fingerprint while settling
        self._unsettled_since = 0.0
        self._has_warned = False  # about files that do not settle
        self._equal_polls = 0  # consecutive fingerprints equal to ``_unsettled``

        self._next_poll: IDelayedCall | None = None
        self._poll: Deferred[None] | None = None
        self._hanging = False
        self._logged_error: str | None = None
        self._stopped = False

    def pace(self, poll_interval: float) -> None:
        """Change the interval from the next poll on."""
        self._poll_interval = poll_interval

    def start(self) -> None:
        """Poll now, and then at intervals."""
        self._next_poll = None
        self._poll = Deferred.fromCoroutine(self._run_poll())

    async def stop(self) -> None:
        """Stop polling, and wait for a running poll unless it hangs."""
        self._stopped = True
        if self._next_poll is not None:
            self._next_poll.cancel()
            self._next_poll = None
        if self._poll is not None:
            if self._hanging:
                self._poll.cancel()
            await self._poll

    async def _run_poll(self) -> None:
        """Take a fingerprint, compare it, and schedule the next poll."""
        alarm = self._clock.callLater(HANG_SECONDS, self._hangs)
        wait = self._poll_interval
        try:
            wait = self._compare(await self._look())
            self._logged_error = None
        except Exception as error:  # noqa: BLE001 - logged; only stop() cancels a poll
            self._failed(error)
        if alarm.active():
            alarm.cancel()
        elif not self._stopped:
            self._hanging = False
            self._log.info("the data directory answers again")
        if not self._stopped:
            self._next_poll = self._clock.callLater(wait, self.start)

    def _compare(self, current: Fingerprint) -> float:
        """Compare a fingerprint with the ones before.

        Returns:
            The seconds until the next poll.
        """
        if self._stopped:
            return self._poll_interval
        if self.fingerprint is None:
            self.fingerprint = current
        if current == self.fingerprint:
            self._unsettled = None
            return self._poll_interval
        if current != self._unsettled:
            self._moved(current)
            return min(SETTLE_SECONDS, self._poll_interval)
        self._equal_polls += 1
        if self._equal_polls < SETTLE_POLLS:
            return min(SETTLE_SECONDS, self._poll_interval)
        self._wake()
        self.fingerprint, self._unsettled = (
            current,
            None,
        )  # a failed wake was raised, and is called again
        return self._poll_interval

    def _moved(self, current: Fingerprint) -> None:
        now = self._clock.seconds()
        if self._unsettled is None:
            self._unsettled_since, self._has_warned = now, False
        self._unsettled, self._equal_polls = current, 0
        if now - self._unsettled_since >= RESTLESS_SECONDS and not self._has_warned:
            self._has_warned = True
            self._log.warn(
                "the data files have been changing for {seconds} s without a pause; "
                "they are loaded when they are quiet",
                seconds=round(now - self._unsettled_since),
            )

    def _hangs(self) -> None:
        self._hanging = True
        if self._stopped and self._poll is not None:
            self._poll.cancel()
            return
        self._log.warn(
            "the file system has not answered about the data directory for {seconds} s; "
            "changes are not noticed until it does",
            seconds=HANG_SECONDS,
        )

    def _failed(self, error: Exception) -> None:
        if not self._stopped and repr(error) != self._logged_error:
            self._logged_error = repr(error)
            self._log.failure("watching the data directory failed; trying again")
