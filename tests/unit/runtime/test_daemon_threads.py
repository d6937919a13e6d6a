"""Threads for calls that may hang."""

import threading

from twisted.internet import reactor
from twisted.internet.interfaces import IReactorFromThreads

from reviewsd.runtime.daemon_threads import DaemonThreads


async def test_stop_does_not_wait_for_a_call_that_hangs() -> None:
    assert IReactorFromThreads.providedBy(reactor)
    threads = DaemonThreads(reactor, "test", 2)
    release = threading.Event()
    hanging = threads.call(release.wait)
    thread = await threads.call(threading.current_thread)
    threads.stop()
    assert not hanging.called
    assert thread.daemon
    release.set()
    assert await hanging
