"""The first publication of a start, and the line that ``systemctl status`` shows.

Sockets are bound and the admin socket answers before it, so that ``reviewsctl status`` can report what
a long or failing start is doing. Connections are accepted after it.
"""

import time

from twisted.internet.posixbase import PosixReactorBase
from twisted.logger import Logger

from reviewsd.api.jobs import Step
from reviewsd.publish.publisher import Publisher, Report
from reviewsd.runtime.state_dir import EX_CONFIG, StartError
from reviewsd.runtime.systemd import Notifier
from reviewsd.runtime.tasks import wait_at_most
from reviewsd.snapshot.snapshots import Snapshots

FRESH_DATA_SECONDS = 5.0
"""Longest wait for fresh data while the last good data could be served."""

MAX_RETRIES = 5
"""Retries, half a minute in all, before a start without anything to serve fails."""

_EXTENSION = 30.0  # seconds by which each step of a long start extends systemd's time-out

_log = Logger()


async def publish_first(
    reactor: PosixReactorBase,
    publisher: Publisher,
    snapshots: Snapshots,
    notifier: Notifier,
    *,
    wait_for_data: bool,
) -> None:
    """Publish the data, so that there is something to serve.

    Where the last good data is on disk, the start waits for fresh data only for a moment.

    Args:
        reactor: Runs the timers.
        publisher: Publishes the data directory.
        snapshots: The published snapshots.
        notifier: Reports progress to systemd.
        wait_for_data: Return without a snapshot rather than raise; the watcher publishes the data when
            it comes.

    Raises:
        StartError: There is nothing to serve. The code is 78 where the data was refused, 1 where a
            restart may help.
    """

    def report_step(step: Step) -> None:
        notifier.extend(_EXTENSION)
        notifier.status(f"{step.stage.capitalize()} {step.done:,} of {step.total:,}")

    publication = publisher.reload(progress=report_step)
    if not snapshots.empty:
        await wait_at_most(reactor, FRESH_DATA_SECONDS, publication)
        return
    report = await publication
    for _ in range(MAX_RETRIES):
        if report.retry_at is None:
            break
        pause = report.retry_at - report.at
        notifier.extend(pause + _EXTENSION)
        notifier.status(f"Publishing failed, tried again in {pause:.0f} s: {report.problems[0]}")
        report = await publisher.next_report(report_step)
    if not snapshots.empty:
        return
    if not wait_for_data:
        code = EX_CONFIG if report.outcome == "refused" else 1
        problems = "\n".join(report.problems)
        raise StartError(f"there is no data to serve:\n{problems}", code)
    _log.warn(
        "waiting for data: every request is answered with 503 until there is a valid reviews.json; "
        "reviewsctl import EXPORT writes one"
    )


def notify_ready(snapshots: Snapshots, publisher: Publisher, notifier: Notifier) -> None:
    """Send READY=1 and the status line, and a new status line after each reload."""
    publisher.observe(lambda report: notifier.status(_status_line(snapshots, report)))
    notifier.ready()
    if publisher.last is not None:
        notifier.status(_status_line(snapshots, publisher.last))


def _status_line(snapshots: Snapshots, report: Report) -> str:
    if snapshots.empty:
        serving = "Waiting for data"
    else:
        manifest = snapshots.current.manifest
        updated_at = manifest.updated_at or "never"
        serving = f"Serving {manifest.review_count:,} reviews, data of {updated_at}"
    if report.good:
        return serving
    retry = ""
    if report.retry_at is not None:
        retry = f", tried again at {time.strftime('%H:%M:%S', time.gmtime(report.retry_at))} UTC"
    return f"{serving}; last reload {report.outcome}{retry}: {report.problems[0]}"
