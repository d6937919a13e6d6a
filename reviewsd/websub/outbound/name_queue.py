"""Which name is looked up next, so that silent name servers keep a thread from nobody (E6).

A look-up holds its thread until the name servers have answered, which those of a stranger need never do.
So the threads are shared: each registered domain may hold a few, each client that asks for verifications a
few more, and while names wait, domains and clients take turns. A name that was slow of late waits until no
other does, and all such names together have a few threads.

Names are remembered for a while, and boundedly many; a new name at an old domain is bounded by its domain.
"""

from collections import Counter, OrderedDict
from dataclasses import dataclass

from reviewsd.websub.rate_limits import LRUCache

THREADS = 256
"""Look-ups under way. One that hangs costs 30 kB and no CPU."""

PER_DOMAIN = 8
"""Of one registered domain."""

PER_REQUESTER = 32
"""Of one client network."""

SLOW, SLOW_PER_DOMAIN = 16, 2
"""Of names that were slow of late: all together, and of one registered domain."""

SLOW_SECONDS = 1.0
"""From here on a look-up was slow; a name server that is silent takes at least 2 s (``RES_OPTIONS``)."""

MEMORY_SECONDS = 600.0
"""As long as a name is known to be slow, if it is not looked up quickly meanwhile."""

MEMORY = 10_000
"""Names that are known to be slow, at most."""

_SHORT = 3
"""Letters at most, of what a country's registry has between itself and its customers: co.uk, com.au."""


def registered_domain(host: str) -> str:
    """What somebody has registered, to have this name: its last two labels, or the last three.

    An approximation of the Public Suffix List. Where many people share a domain, they share its threads;
    and for who has a short name below a country's (``abc.de``) each name below that is a domain.

    Args:
        host: ``Callback.host``, a name.
    """
    labels = host.split(".")
    national = len(labels[-1]) == 2 and len(labels) > 2 and len(labels[-2]) <= _SHORT  # noqa: PLR2004
    return ".".join(labels[-3 if national else -2 :])


@dataclass(slots=True)
class _Name:
    """A name that waits or is looked up."""

    host: str
    domain: str
    requester: str
    """Empty where several ask, or none: then it counts for its domain only."""
    slow: bool
    began: float | None = None

    @property
    def group(self) -> tuple[str, str]:
        """Whose turn it takes."""
        return self.requester, self.domain


_Turns = OrderedDict[tuple[str, str], dict[str, _Name]]
"""Names that wait, by whose turn they take; the next turn comes first."""


class NameQueue:
    """The names that wait for a thread, and those that have one."""

    def __init__(self) -> None:
        self._names: dict[str, _Name] = {}
        self._running = 0
        self._slow_running = 0
        self._domains = Counter[str]()
        self._requesters = Counter[str]()
        self._queues: tuple[_Turns, _Turns] = OrderedDict(), OrderedDict()
        self._slow_until: LRUCache[str, float] = LRUCache(MEMORY)

    def add(self, host: str, requester: str, now: float) -> None:
        """Have a name looked up.

        Args:
            host: The name; one that is here already is not added again.
            requester: The client network that asked for the call; empty for a delivery.
            now: Monotonic seconds.
        """
        name = self._names.get(host)
        if name is None:
            slow = (self._slow_until.get(host) or now) > now
            name = _Name(host, registered_domain(host), requester, slow)
            self._names[host] = name
            self._wait(name)
        elif name.began is None and name.requester not in {"", requester}:
            # else one client could keep a name from all others by asking for it, behind many of his own
            self._leave(name)
            name.requester = ""
            self._wait(name)

    def next_host(self, now: float) -> str | None:
        """The name to look up now; None if there is none that may be."""
        if self._running == THREADS:
            return None
        for turns in self._queues:
            for group, waiting in turns.items():
                name = next(iter(waiting.values()))
                if not self._may_begin(name):
                    continue
                self._leave(name)
                if group in turns:
                    turns.move_to_end(group)
                name.began = now
                self._count(name, 1)
                return name.host
        return None

    def remove(self, host: str) -> None:
        """Nobody waits for this name any more, which has not begun."""
        self._leave(self._names.pop(host))

    def ended(self, host: str, now: float) -> None:
        """The look-up of this name has ended."""
        name = self._names.pop(host)
        self._count(name, -1)
        assert name.began is not None  # noqa: S101  it has ended
        if now - name.began > SLOW_SECONDS:
            self._slow_until[host] = now + MEMORY_SECONDS
        else:
            self._slow_until.discard(host)

    def _may_begin(self, name: _Name) -> bool:
        if name.slow and self._slow_running == SLOW:
            return False
        if self._domains[name.domain] >= (SLOW_PER_DOMAIN if name.slow else PER_DOMAIN):
            return False
        return not name.requester or self._requesters[name.requester] < PER_REQUESTER

    def _count(self, name: _Name, change: int) -> None:
        self._running += change
        self._slow_running += change * name.slow
        for counter, key in ((self._domains, name.domain), (self._requesters, name.requester)):
            counter[key] += change
            if not counter[key]:
                del counter[key]

    def _wait(self, name: _Name) -> None:
        self._queues[name.slow].setdefault(name.group, {})[name.host] = name

    def _leave(self, name: _Name) -> None:
        turns = self._queues[name.slow]
        del turns[name.group][name.host]
        if not turns[name.group]:
            del turns[name.group]
