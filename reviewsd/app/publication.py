"""Builds what publishes the data, and publishes it at the start.

Sockets are bound and the admin socket answers before the first publication, so that ``reviewsctl status``
can report what a long or failing start is doing. Connections are accepted after it.
"""

import time
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version

from twisted.internet.threads import deferToThread
from twisted.logger import Logger

from reviewsd.api.jobs import Step
from reviewsd.app.context import DaemonContext
from reviewsd.app.pages import machine_settings, page_settings, templates_dir
from reviewsd.config.schema import Config
from reviewsd.publish import compile_process
from reviewsd.publish.compiler import CompileSettings
from reviewsd.publish.messages import PublicationOrder
from reviewsd.publish.publisher import Publisher, Report
from reviewsd.publish.sources import NO_FILES, fingerprint
from reviewsd.publish.watcher import Watcher
from reviewsd.runtime.state_dir import EX_CONFIG, StartError
from reviewsd.runtime.tasks import wait_at_most
from reviewsd.snapshot.snapshots import Snapshots

FRESH_DATA_SECONDS = 5.0
"""Longest wait for fresh data while the last good data could be served."""

MAX_RETRIES = 5
"""Retries, half a minute in all, before a start without anything to serve fails."""

_EXTENSION = 30.0  # seconds by which each step of a long start extends systemd's time-out

_log = Logger()


@dataclass(frozen=True, slots=True)
class Publication:
    """The parts that publish the data and hold the result."""

    snapshots: Snapshots
    publisher: Publisher
    watcher: Watcher


def program_version() -> str:
    """Return the version of this program."""
    return version("reviewsd")


def build_publication(context: DaemonContext) -> Publication:
    """Build the publisher and its watcher, and open the last snapshot; the stack stops the publisher."""
    config, reactor, counters = context.config, context.reactor, context.counters
    # Closing a deleted file takes the kernel up to 50 ms, so a thread does it
    snapshots = Snapshots(config.state_dir / "snapshots", partial(reactor.callInThread, list.clear))
    snapshots.refresh()
    look = partial(deferToThread, fingerprint, config.data_dir, templates_dir(config))
    publisher = Publisher(
        publication_order(config),
        program_version(),
        snapshots,
        look,
        partial(compile_process.run, reactor),
        reactor,
    )
    context.stack.push_async_callback(publisher.stop)
    publisher.observe(lambda report: counters.count("data_reloads_total", report.outcome))

    def wake() -> None:
        publisher.reload()

    watcher = Watcher(reactor, look, wake, poll_interval=config.data.poll_interval)
    return Publication(snapshots, publisher, watcher)


def publication_order(config: Config) -> PublicationOrder:
    """Return the order for the publisher of a configuration."""
    shrink = config.data.max_shrink
    return PublicationOrder(
        data_dir=str(config.data_dir),
        snapshots=str(config.state_dir / "snapshots"),
        settings=CompileSettings(
            base_url=config.base_url,
            authority=config.authority,
            year=config.feeds.year,
            pages=page_settings(config),
            machines=machine_settings(config, program_version()),
        ),
        max_shrink=None if shrink is None else float(shrink.rstrip("%")) / 100,
        insights=config.data.insights,
        templates_dir=config.pages.templates_dir,
    )


async def publish_first(
    context: DaemonContext, publication: Publication, *, wait_for_data: bool
) -> None:
    """Publish the data, so that there is something to serve.

    Where the last good data is on disk, the start waits for fresh data only for a moment.

    Args:
        context: The daemon.
        publication: Publishes the data directory.
        wait_for_data: Return without a snapshot rather than raise; the watcher publishes the data when
            it comes.

    Raises:
        StartError: There is nothing to serve. The code is 78 where the data was refused, 1 where a
            restart may help.
    """

    def report_step(step: Step) -> None:
        context.notifier.extend(_EXTENSION)
        context.notifier.status(f"{step.stage.capitalize()} {step.done:,} of {step.total:,}")

    snapshots, publisher = publication.snapshots, publication.publisher
    reload = publisher.reload(progress=report_step)
    if not snapshots.empty:
        await wait_at_most(context.reactor, FRESH_DATA_SECONDS, reload)
        return
    report = await reload
    for _ in range(MAX_RETRIES):
        if report.retry_at is None:
            break
        pause = report.retry_at - report.at
        context.notifier.extend(pause + _EXTENSION)
        context.notifier.status(
            f"Publishing failed, tried again in {pause:.0f} s: {report.problems[0]}"
        )
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


def start_watcher(context: DaemonContext, publication: Publication) -> None:
    """Publish each change of the files from now on; the stack stops the watcher."""
    snapshots, watcher = publication.snapshots, publication.watcher
    watcher.seen = NO_FILES if snapshots.empty else snapshots.current.seen.fingerprint
    watcher.start()
    context.stack.push_async_callback(watcher.stop)


def notify_ready(context: DaemonContext, publication: Publication) -> None:
    """Send READY=1 and the status line, and a new status line after each reload."""
    snapshots, publisher = publication.snapshots, publication.publisher
    notifier = context.notifier
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
