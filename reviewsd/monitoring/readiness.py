"""Whether the service should be sent clients, for load balancers and people (O10, R6).

Everything is known already when somebody asks, so that asking often costs nothing. The answer gives no
reasons: it may be public. Those are in ``reviewsctl status``.
"""

from collections.abc import Callable

import msgspec

from reviewsd.publish.publisher import Publisher
from reviewsd.snapshot.snapshots import Snapshots


class Readiness:
    """Looks at what the service needs.

    Args:
        snapshots: What is served.
        publisher: Knows whether that is what the files say.
        store_works: Whether the hub can remember anything.
    """

    def __init__(
        self, snapshots: Snapshots, publisher: Publisher, store_works: Callable[[], bool]
    ) -> None:
        self._snapshots = snapshots
        self._publisher = publisher
        self._store_works = store_works
        self._stopping = False

    def stop(self) -> None:
        """The service is being stopped: clients should go elsewhere."""
        self._stopping = True

    def answer(self) -> tuple[int, bytes]:
        """The status, 200 or 503, and the JSON document; old data is served, and is 200 too."""
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
