"""Whom attempts count for, and the share that each of these earns (H2, H8)."""

from twisted.internet.task import Clock

from reviewsd.websub.fairness import FIRST, QUICK_AGAIN, HostLimits, SlowCallbacks
from reviewsd.websub.outbound.outcomes import Trail
from reviewsd.websub.places import IDLE, LOOK_SECONDS, NetworkPlaces


def host_limits() -> HostLimits:
    return HostLimits(FIRST + 4, 16, 64, NetworkPlaces(Clock(), 16))


HOST = "a.example.com"


def rooms(known: HostLimits, host: str = HOST, *, slow: bool = False) -> list[int]:
    return [known.room(key) for key in known.keys(host, slow=slow)]


def busy(
    known: HostLimits, host: str = HOST, requester: str = "", deaths: int = 0, *, slow: bool = False
) -> list[int]:
    keys = known.keys_while_busy(host, requester, deaths, slow=slow)
    return [known.room(key) for key in keys]


def test_an_attempt_counts_for_its_host_and_while_it_is_busy_for_its_network() -> None:
    known = host_limits()
    known.learn("c.example", "203.0.113.7")
    known.learn("d.example", "203.0.113.99")
    known.learn("e.example", None)
    hosts = [HOST, "b.example.com", "c.example", "d.example", "e.example"]
    assert [(host,) for host in hosts] == [tuple(known.keys(host)) for host in hosts]

    keys = [tuple(known.keys_while_busy(host, "", 0)) for host in hosts]
    assert [0, 0, 1, 1, 0] == [len(each) for each in keys]
    assert keys[2] == keys[3]


def test_while_it_is_busy_it_counts_for_who_asked_and_among_those_that_may_be_deadly() -> None:
    known = host_limits()
    assert [[], [8], [1], [1]] == [busy(known, deaths=deaths) for deaths in range(4)]
    asked = [busy(known, requester="192.0.2.7/32", deaths=deaths) for deaths in range(2)]
    assert [[16], [16, 8]] == asked


def test_the_slow_have_half_of_all_and_half_of_their_network() -> None:
    known = host_limits()
    assert ([FIRST, IDLE * 64 // 2], [64 // 2]) == (rooms(known, slow=True), busy(known, slow=True))

    known.learn(HOST, "203.0.113.7")
    assert [FIRST, IDLE * 64 // 2, IDLE * 16 // 2] == rooms(known, slow=True)
    assert [16, 64 // 2, 16 // 2] == busy(known, slow=True)


def test_there_is_no_room_in_a_network_that_is_full() -> None:
    """Whoever fills it: of some attempts it is known only when they dial."""
    clock = Clock()
    networks = NetworkPlaces(clock, 2)
    known = HostLimits(FIRST, 2, 64, networks)
    known.learn(HOST, "203.0.113.7")
    trails = [Trail(), Trail()]
    found = []
    for trail in trails:
        found += busy(known)
        assert networks.enter("203.0.113.0/24", trail)
    found += busy(known)
    clock.advance(LOOK_SECONDS)
    found += busy(known)
    for trail in trails:
        networks.leave("203.0.113.0/24", trail)

    assert [2, 2, 0, 2] == found
    assert [] == clock.getDelayedCalls()


def test_a_hosts_share_grows_with_quick_ends_up_to_what_there_is() -> None:
    known = host_limits()
    shares = []
    for _ in range(7):
        shares.append(rooms(known)[0])
        known.ended(HOST, quick=True)

    assert [FIRST + more for more in (0, 1, 2, 3, 4, 4, 4)] == shares


def test_a_share_is_lost_with_a_slow_end_and_in_the_next_fan_out() -> None:
    known = host_limits()
    for lose in (lambda: known.ended(HOST, quick=False), known.begin_anew):
        known.ended(HOST, quick=True)
        assert [FIRST + 1] == rooms(known)
        lose()
        assert [FIRST] == rooms(known)


def test_who_was_slow_is_quick_again_only_after_a_while() -> None:
    """Who is quick and slow in turns is slow."""
    slow = SlowCallbacks()
    slow.note(1, quick=True)
    assert 1 not in slow

    for _ in range(3):
        slow.note(1, quick=False)
        for _ in range(QUICK_AGAIN):
            assert 1 in slow
            slow.note(1, quick=True)
        assert 1 not in slow
    assert 0 == len(slow._left._kept)
