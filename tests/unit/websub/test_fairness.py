"""Whom attempts count for, and the share that each of these earns (H2, H8)."""

from reviewsd.websub.fairness import FIRST, HostLimits, SlowCallbacks
from reviewsd.websub.places import IDLE


def neighbours() -> HostLimits:
    return HostLimits(FIRST + 4, 16, 64)


HOST = "a.example.com"


def test_an_attempt_counts_for_its_host_and_network() -> None:
    known = neighbours()
    known.learn("c.example", "203.0.113.7")
    known.learn("d.example", "203.0.113.99")
    known.learn("e.example", None)
    keys = [
        known.keys(HOST),
        known.keys("b.example.com"),
        known.keys("c.example"),
        known.keys("d.example"),
        known.keys("e.example"),
    ]
    assert [1, 1, 2, 2, 1] == [len(each) for each in keys]
    assert 6 == len({key for each in keys for key in each})
    assert 1 == len(set(keys[2]) & set(keys[3]))


def test_while_it_is_busy_it_counts_for_who_asked_and_among_those_that_may_be_deadly() -> None:
    known = neighbours()

    def busy(requester: str, deaths: int) -> list[int]:
        return [known.room(key) for key in known.keys_while_busy(requester, deaths)]

    assert [[], [8], [1], [1]] == [busy("", deaths) for deaths in range(4)]
    assert [[16], [16, 8]] == [busy("192.0.2.7/32", deaths) for deaths in range(2)]


def rooms(known: HostLimits, *, slow: bool = False) -> list[int]:
    return [known.room(key) for key in known.keys(HOST, slow=slow)]


def test_networks_and_the_slow_have_what_they_may_at_once() -> None:
    known = neighbours()
    known.learn(HOST, "203.0.113.7")
    assert [FIRST, 16, IDLE * 64 // 2] == rooms(known, slow=True)


def test_a_hosts_share_grows_with_quick_ends_up_to_what_there_is() -> None:
    known = neighbours()
    shares = []
    for _ in range(7):
        shares.append(rooms(known)[0])
        known.ended(HOST, quick=True)

    assert [FIRST + more for more in (0, 1, 2, 3, 4, 4, 4)] == shares


def test_a_share_is_lost_with_a_slow_end_and_in_the_next_fan_out() -> None:
    known = neighbours()
    for lose in (lambda: known.ended(HOST, quick=False), known.begin_anew):
        known.ended(HOST, quick=True)
        assert [FIRST + 1] == rooms(known)
        lose()
        assert [FIRST] == rooms(known)


def test_who_was_slow_is_quick_again_when_he_was_as_often_quick() -> None:
    slow = SlowCallbacks()
    slow.note(1, quick=True)
    assert 1 not in slow

    for quick_ones in (1, 3, 7, 15, 15):
        for _ in range({1: 1, 3: 2, 7: 3, 15: 4}[quick_ones]):
            slow.note(1, quick=False)
        for _ in range(quick_ones):
            assert 1 in slow
            slow.note(1, quick=True)
        assert 1 not in slow
