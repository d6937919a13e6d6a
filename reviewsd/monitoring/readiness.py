"""Whether load balancers should send clients to the service (O10, R6).

The answer is made of values in memory, so a probe costs nothing. It gives no reasons, because it may be
public; ``reviewsctl status`` has them.
"""

from collections.abc import Callable

import msgspec

from reviewsd.publish.publisher import Publisher
from reviewsd.snapshot.snapshots import Snapshots


class Readiness:
    """Checks the data, the store, and whether the daemon is stopping.

    Args:
        snapshots: The data that is served.
        publisher: Knows whether the files could be published.
        store_works: Returns whether the store works.
    """

    def __init__(
        self, snapshots: Snapshots, publisher: Publisher, store_works: Callable[[], bool]
    ) -> None:
        self._snapshots = snapshots
        self._publisher = publisher
        self._store_works = store_works
        self._stopping = False

    def stop(self) -> None:
        """Report from now on that the daemon is stopping."""
        self._stopping = True

    def answer(self) -> tuple[int, bytes]:
        """Return the status, 200 or 503, and a JSON document; old data that is served is 200."""
        degraded = self._publisher.failing_since is not None
        checks = {
            "snapshot": "failing" if self._snapshots.empty else "ok",
            "data": "degraded" if degraded else "ok",
            "store": "ok" if self._store_works() else "failing",
            "running": "stopping" if self._stopping else "ok",
        }
        ready = {"ok", "degraded"}.issuperset(checks.values())
        status = ("degraded" if degraded else "ready") if ready else "unready"
        return 200 if ready else 503, msgspec.json.encode({"status": status, "checks": checks})
