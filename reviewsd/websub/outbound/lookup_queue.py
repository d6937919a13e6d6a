"""The order of name look-ups, in which silent name servers delay no other name (E6).

A look-up holds its thread until the name servers respond, and a stranger's name servers may never respond.
So threads are shared: a registered domain may hold a few, and a client that requests verifications a few
more; while names wait, domains and clients take turns. A name that was slow before waits until no other
name does, and slow names have few threads in all.
"""

from collections import Counter, OrderedDict
from dataclasses import dataclass

from reviewsd.websub.rate_limits import LRUCache

THREADS = 256
"""Concurrent look-ups; a hanging one costs 30 kB and no CPU."""

PER_DOMAIN = 8
"""Concurrent look-ups of a registered domain."""

PER_REQUESTER = 32
"""Concurrent look-ups for a client network."""

SLOW, SLOW_PER_DOMAIN = 16, 2
"""Concurrent look-ups of slow names, in all and of a registered domain."""

SLOW_SECONDS = 1.0
"""A look-up that takes longer is slow; a silent name server takes at least 2 s (``RES_OPTIONS``)."""

MEMORY_SECONDS = 600.0
"""A name counts as slow for this time, unless a look-up is quick meanwhile."""

MAX_SLOW_NAMES = 10_000

_MAX_REGISTRY_LABEL = 3
"""Letters of a label that belongs to a country's registry, as in co.uk and com.au."""


def registered_domain(host: str) -> str:
    """Return the domain that was registered for a name: its last two labels, or the last three.

    This approximates the Public Suffix List. Names of a shared domain share its threads; and below a
    country's short domain (``abc.de``) each name counts as a domain.

    Args:
        host: ``Callback.host``, a name.
    """
    labels = host.split(".")
    national = len(labels) > 2 and len(labels[-1]) == 2 and len(labels[-2]) <= _MAX_REGISTRY_LABEL  # noqa: PLR2004
    return ".".join(labels[-3 if national else -2 :])


@dataclass(slots=True)
class _QueuedName:
    """A name that waits for a thread, or has one."""

    host: str
    domain: str
    requester: str
    """The client network that it counts for; empty for a delivery, or for several networks."""
    slow: bool
    began_at: float | None = None

    @property
    def group(self) -> tuple[str, str]:
        """The key of the names that share a turn."""
        return self.requester, self.domain


_Groups = OrderedDict[tuple[str, str], dict[str, _QueuedName]]
"""Waiting names by group, in the order of their turns."""


class LookupQueue:
    """The names that wait for a thread, and those that have one."""

    def __init__(self) -> None:
        self._names: dict[str, _QueuedName] = {}
        self._running = 0
        self._slow_running = 0
        self._domains = Counter[str]()
        self._requesters = Counter[str]()
        self._waiting: tuple[_Groups, _Groups] = OrderedDict(), OrderedDict()  # quick, slow
        self._slow_until: LRUCache[str, float] = LRUCache(MAX_SLOW_NAMES)

    def add(self, host: str, requester: str, now: float) -> None:
        """Queue a name that is not queued yet.

        Args:
            host: The name.
            requester: The client network that requested the call; empty for a delivery.
            now: Monotonic seconds.
        """
        name = self._names.get(host)
        if name is None:
            slow = (self._slow_until.get(host) or now) > now
            name = _QueuedName(host, registered_domain(host), requester, slow)
            self._names[host] = name
            self._enqueue(name)
        elif name.began_at is None and name.requester not in {"", requester}:
            # else a client could delay a name for all others with many names of its own
            self._dequeue(name)
            name.requester = ""
            self._enqueue(name)

    def pop(self, now: float) -> str | None:
        """Return the name to look up next, or None if none may begin."""
        if self._running == THREADS:
            return None
        for groups in self._waiting:
            for group, names in groups.items():
                name = next(iter(names.values()))
                if not self._may_begin(name):
                    continue
                self._dequeue(name)
                if group in groups:
                    groups.move_to_end(group)
                name.began_at = now
                self._count(name, 1)
                return name.host
        return None

    def remove(self, host: str) -> None:
        """Remove a name that has not begun."""
        self._dequeue(self._names.pop(host))

    def finish(self, host: str, now: float) -> None:
        """Remove a name after its look-up."""
        name = self._names.pop(host)
        self._count(name, -1)
        assert name.began_at is not None  # noqa: S101  pop() has set it
        if now - name.began_at > SLOW_SECONDS:
            self._slow_until[host] = now + MEMORY_SECONDS
        else:
            self._slow_until.discard(host)

    def _may_begin(self, name: _QueuedName) -> bool:
        if name.slow and self._slow_running == SLOW:
            return False
        if self._domains[name.domain] >= (SLOW_PER_DOMAIN if name.slow else PER_DOMAIN):
            return False
        return not name.requester or self._requesters[name.requester] < PER_REQUESTER

    def _count(self, name: _QueuedName, change: int) -> None:
        self._running += change
        self._slow_running += change * name.slow
        for counter, key in ((self._domains, name.domain), (self._requesters, name.requester)):
            counter[key] += change
            if not counter[key]:
                del counter[key]

    def _enqueue(self, name: _QueuedName) -> None:
        self._waiting[name.slow].setdefault(name.group, {})[name.host] = name

    def _dequeue(self, name: _QueuedName) -> None:
        groups = self._waiting[name.slow]
        del groups[name.group][name.host]
        if not groups[name.group]:
            del groups[name.group]
