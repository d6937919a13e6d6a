"""Builds what publishes the data, and publishes it at the start.

Sockets are bound and the admin socket answers before the first publication, so that ``reviewsctl status``
can report what a long or failing start is doing. Connections are accepted after it.
"""

import time
from functools import partial

from twisted.logger import Logger

from reviewsd.api.jobs import Step
from reviewsd.api.texts import counted
from reviewsd.app.context import DaemonContext
from reviewsd.config.schema import Config
from reviewsd.mcp.tools import LISTING
from reviewsd.publish import compile_process
from reviewsd.publish.messages import PublicationOrder
from reviewsd.publish.publisher import Publisher, Report
from reviewsd.publish.sources import NO_FILES, fingerprint
from reviewsd.publish.watcher import Watcher
from reviewsd.runtime.daemon_threads import DaemonThreads
from reviewsd.runtime.state_dir import EX_CONFIG, StartError
from reviewsd.runtime.tasks import wait_at_most
from reviewsd.snapshot.snapshots import Snapshots

FRESH_DATA_SECONDS = 5.0  # longest wait for fresh data while the last good data could be served
MAX_RETRIES = 5  # retries (half a minute in all) before a start that has nothing to serve fails
READS = 2  # concurrent fingerprints: the watcher's and the publisher's
_EXTENSION = 30.0  # seconds by which each step of a long start extends systemd's time-out

_log = Logger()


class Publication:
    """The parts that publish the data and hold the result.

    Args:
        context: The daemon; its stack stops the publisher and the watcher.
    """

    def __init__(self, context: DaemonContext) -> None:
        self._context = context
        config, reactor = context.config, context.reactor
        order = self._order(config)
        # Clearing the list closes deleted files, which takes the kernel up to 50 ms, so a thread does it
        close = partial(reactor.callInThread, list.clear)
        threads = DaemonThreads(reactor, "data directory", READS)
        look = partial(threads.call, fingerprint, config.data_dir, order.templates_path)
        run = partial(compile_process.run, reactor)
        self.snapshots = snapshots = Snapshots(config.state_dir / "snapshots", close)
        snapshots.refresh()
        program = f"{context.version} {context.installed_at}"  # an upgrade publishes again
        self.publisher = Publisher(order, program, snapshots, look, run, reactor)
        self.watcher = Watcher(
            reactor, look, self.publisher.reload, poll_interval=config.data.poll_interval
        )
        context.stack.callback(threads.stop)
        context.stack.push_async_callback(self.publisher.stop)
        context.counters.include(snapshots.gauges, self.publisher.gauges)
        self.publisher.observe(
            lambda report: context.counters.count("data_reloads_total", report.outcome)
        )

    def use(self, config: Config) -> None:
        """Apply a configuration that was read again."""
        self.watcher.set_poll_interval(config.data.poll_interval)
        self.publisher.use(self._order(config))

    def _order(self, config: Config) -> PublicationOrder:
        return PublicationOrder.from_config(config, self._context.version, LISTING.decode())

    async def publish_first(self, *, wait_for_data: bool) -> None:
        """Publish the data, so that there is something to serve.

        Where the last good data is on disk, the start waits for fresh data only for a moment.

        Args:
            wait_for_data: Return without a snapshot rather than raise; the watcher publishes the data
                when it comes.

        Raises:
            StartError: There is nothing to serve. The code is 78 where the data was refused, 1 where a
                restart may help.
        """
        notifier = self._context.notifier

        def report_step(step: Step) -> None:
            notifier.extend(_EXTENSION)
            notifier.status(f"{step.stage.capitalize()} {step.done:,} of {step.total:,}")

        reload = self.publisher.reload(progress=report_step)
        if not self.snapshots.empty:
            await wait_at_most(self._context.reactor, FRESH_DATA_SECONDS, reload)
            return
        report = await reload
        for _ in range(MAX_RETRIES):
            if report.retry_at is None:
                break
            pause = report.retry_at - report.at
            notifier.extend(pause + _EXTENSION)
            notifier.status(
                f"Publishing failed; next attempt in {pause:.0f} s: {report.problems[0]}"
            )
            report = await self.publisher.next_report(report_step)
        if not self.snapshots.empty:
            return
        if not wait_for_data:
            code = EX_CONFIG if report.outcome == "refused" else 1
            problems = "\n".join(report.problems)
            raise StartError(f"there is no data to serve:\n{problems}", code)
        _log.warn(
            "waiting for data: every request is answered with 503 until there is a valid reviews.json; "
            "reviewsctl import EXPORT writes one"
        )

    def start_watcher(self) -> None:
        """Publish each change to the files from now on."""
        empty = self.snapshots.empty
        self.watcher.start(NO_FILES if empty else self.snapshots.current.build.fingerprint)
        self._context.stack.push_async_callback(self.watcher.stop)

    def notify_ready(self) -> None:
        """Send READY=1 and the status line, and a new status line after each reload."""
        notifier = self._context.notifier

        def send_status(report: Report) -> None:
            notifier.status(_status_line(self.snapshots, report))

        self.publisher.observe(send_status)
        notifier.ready()
        if self.publisher.last is not None:
            send_status(self.publisher.last)


def _status_line(snapshots: Snapshots, report: Report) -> str:
    serving = "Waiting for data"
    if not snapshots.empty:
        manifest = snapshots.current.manifest
        serving = f"Serving {counted(manifest.review_count, 'review')}"
        if manifest.updated_at is not None:
            serving += f", data of {manifest.updated_at}"
    if report.good:
        return serving
    retry = ""
    if report.retry_at is not None:
        retry = f"; next attempt at {time.strftime('%H:%M:%S', time.gmtime(report.retry_at))} UTC"
    return f"{serving}; last reload {report.outcome}{retry}: {report.problems[0]}"
