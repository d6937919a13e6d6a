"""What computes answers, for tests that are about something else."""

from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Network

from twisted.internet.interfaces import IReactorTime

from reviewsd.web.clients import ClientNetworks
from reviewsd.web.cooperative import CooperativeScheduler
from reviewsd.web.workload import Workload


def workload(
    clock: IReactorTime,
    trusted: Sequence[IPv4Network | IPv6Network] = (),
) -> Workload:
    """A workload of one's own."""
    return Workload(CooperativeScheduler(clock), ClientNetworks(trusted))
