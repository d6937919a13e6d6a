"""Builds the notices to the targets of ``notify``."""

from collections.abc import Callable

from twisted.internet.threads import deferToThread

from reviewsd.app.context import DaemonContext
from reviewsd.app.publication import Publication
from reviewsd.notices.notices import Notices
from reviewsd.notices.sender import AppriseSender
from reviewsd.store.thread import Store


def build_notices(
    context: DaemonContext, publication: Publication, store: Store, now: Callable[[], int]
) -> Notices | None:
    """Build the notices, None without a target; the stack stops them.

    Raises:
        TargetError: apprise is not installed, or an address cannot be used.
    """
    config, reactor = context.config, context.reactor
    if not config.notify:
        return None
    sender = AppriseSender(reactor, config.notify, context.environ)
    context.stack.callback(sender.stop)
    notices = Notices(
        config,
        store,
        publication.snapshots,
        publication.publisher,
        sender.send,
        reactor,
        now,
        deferToThread,
    )
    context.stack.push_async_callback(notices.stop)
    return notices
