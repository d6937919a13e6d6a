"""What computes answers, for tests that are about something else."""

from collections.abc import Callable, Sequence
from ipaddress import IPv4Network, IPv6Network

from twisted.internet.interfaces import IReactorTime

from reviewsd.runtime.cooperative import CooperativeScheduler
from reviewsd.web.clients import ClientNetworks
from reviewsd.web.memory import TOTAL, AnswerMemory
from reviewsd.web.workload import Workload


def workload(
    clock: IReactorTime,
    trusted: Sequence[IPv4Network | IPv6Network] = (),
    total: int = TOTAL,
    timer: Callable[[], float] = lambda: 0.0,
) -> Workload:
    """A workload of one's own; unless a timer says otherwise, all work is done in no time."""
    scheduler = CooperativeScheduler(clock, timer)
    return Workload(scheduler, AnswerMemory(total), ClientNetworks(trusted))
