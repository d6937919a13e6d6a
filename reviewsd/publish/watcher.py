"""Notices that the files of the data directory have changed and are quiet again.

Why polling, and no inotify: ``twisted.internet.inotify`` goes silently dead when a watched file is
replaced or its directory re-created, a swapped symbolic link gives no event, and network file
systems give none at all (security-and-operations.md F10). A stat fingerprint once a second sees every
way of replacing a file, and costs nothing.

A look that differs from the last settled one starts the settling: a look every 250 ms until nothing
has moved for three of them (R2). Of reads without settling, 13 of 72 met half a file. Files that
never settle, because somebody writes to them for ever, are waited for, with one warning a minute
after it began: publishing a moving file could only publish half of it, and the last good snapshot
goes on serving.

Signals wake, versions decide (ARCHITECTURE.md): waking carries no data, and may well be for
nothing, as after ``touch``. The publisher compares the bytes.
"""

from collections.abc import Awaitable, Callable

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger

from reviewsd.snapshot.layout import Fingerprint

SETTLE_SECONDS = 0.25  # between two looks while the files settle, or the poll interval; R2
SETTLE_POLLS = 3  # looks in a row that find nothing moved; R2
HANG_SECONDS = 30  # a look that takes longer is an alarm; R1
RESTLESS_SECONDS = 60  # files in motion for so long deserve a warning


class Watcher:
    """Wakes somebody when the files have changed and settled.

    It is no ``every()`` in a TaskSet, because a look is never cancelled: a thread cannot be, and
    ``stop`` promises that none is left behind.

    Args:
        clock: When to look.
        look: Takes the fingerprint, in production in a thread:
            ``partial(deferToThread, fingerprint, data_dir)``. At most one runs at a time.
        wake: Called once for each change that has settled. It must not block.
        seen: The fingerprint that was last acted upon; what differs from it is a change. Without it
            the first look is the base line.
        poll_interval: Seconds between two looks (``data.poll_interval``).
    """

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        look: Callable[[], Awaitable[Fingerprint]],
        wake: Callable[[], None],
        *,
        seen: Fingerprint | None = None,
        poll_interval: float = 1.0,
    ) -> None:
        self._clock = clock
        self._look = look
        self._wake = wake
        self.seen = seen
        """The fingerprint that was last acted upon. Set it before ``start`` where it has changed."""
        self._poll_interval = poll_interval

        self._moving: Fingerprint | None = None  # the last look while settling
        self._moving_since = 0.0
        self._restless = False  # moving for so long that a warning was given
        self._unmoved = 0  # looks in a row that were equal to ``_moving``

        self._next: IDelayedCall | None = None
        self._looking: Deferred[None] | None = None
        self._hanging = False
        self._reported: str | None = None  # the error that the log already knows
        self._stopped = False

    def pace(self, poll_interval: float) -> None:
        """Look in this interval from the next look on."""
        self._poll_interval = poll_interval

    def start(self) -> None:
        """Look at once, and from then on again and again."""
        self._next = None
        self._looking = Deferred.fromCoroutine(self._turn())

    async def stop(self) -> None:
        """Look no more; returns when a running look has ended, or hangs and was given up."""
        self._stopped = True
        if self._next is not None:
            self._next.cancel()
            self._next = None
        if self._looking is not None:
            if self._hanging:
                self._looking.cancel()
            await self._looking

    async def _turn(self) -> None:
        """One look, what follows from it, and when the next one is."""
        alarm = self._clock.callLater(HANG_SECONDS, self._hangs)
        wait = self._poll_interval
        try:
            wait = self._judge(await self._look())
            self._reported = None
        except Exception as error:  # noqa: BLE001 - logged; nobody but stop() cancels a turn
            self._failed(error)
        if alarm.active():
            alarm.cancel()
        elif not self._stopped:
            self._hanging = False
            self._log.info("the data directory answers again")
        if not self._stopped:
            self._next = self._clock.callLater(wait, self.start)

    def _judge(self, found: Fingerprint) -> float:
        """Compare a look with the ones before it; returns the seconds until the next."""
        if self._stopped:
            return self._poll_interval
        if self.seen is None:
            self.seen = found
        if found == self.seen:
            self._moving = None
            return self._poll_interval
        if found != self._moving:
            self._moved(found)
            return min(SETTLE_SECONDS, self._poll_interval)
        self._unmoved += 1
        if self._unmoved < SETTLE_POLLS:
            return min(SETTLE_SECONDS, self._poll_interval)
        self._wake()
        self.seen, self._moving = found, None  # only now: a wake that failed is tried again
        return self._poll_interval

    def _moved(self, found: Fingerprint) -> None:
        now = self._clock.seconds()
        if self._moving is None:
            self._moving_since, self._restless = now, False
        self._moving, self._unmoved = found, 0
        if now - self._moving_since >= RESTLESS_SECONDS and not self._restless:
            self._restless = True
            self._log.warn(
                "the data files have been changing for {seconds} s without a pause; "
                "they are loaded when they are quiet",
                seconds=round(now - self._moving_since),
            )

    def _hangs(self) -> None:
        self._hanging = True
        if self._stopped and self._looking is not None:
            self._looking.cancel()
            return
        self._log.warn(
            "the file system has not answered about the data directory for {seconds} s; "
            "changes are not noticed until it does",
            seconds=HANG_SECONDS,
        )

    def _failed(self, error: Exception) -> None:
        if not self._stopped and repr(error) != self._reported:
            self._reported = repr(error)
            self._log.failure("watching the data directory failed; trying again")
