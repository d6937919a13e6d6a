"""The life of a subscription (seed 3): every state with every event, and what never is."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.domain.subscription import (
    MAX_FAILURES,
    UNREACHABLE_WAIT,
    Active,
    Confirmed,
    DeadlinesChecked,
    DeliveryFailed,
    DeliveryGone,
    DeliverySucceeded,
    Event,
    Intent,
    Mode,
    NotConfirmed,
    RedeliveryRequested,
    Removed,
    Subscription,
    SubscriptionRequested,
    Unreachable,
    step,
)

NOW = 1_760_000_000_000
SECOND = 1000

ACTIVE = Active(
    secret=b"sealed",
    lease_seconds=1000,
    lease_expires_at=NOW + 500 * SECOND,
    delivered_version=7,
    created_at=NOW - 500 * SECOND,
    verified_at=NOW - 500 * SECOND,
)
JOIN = Intent(
    mode=Mode.SUBSCRIBE,
    requested_topic="feed.xml",
    secret=b"new",
    lease_seconds=300,
    challenge="c",
    topic_version=9,
    requester="192.0.2.7/32",
    requested_at=NOW - 5 * SECOND,
    expires_at=NOW + 595 * SECOND,
    next_attempt_at=NOW - 5 * SECOND,
)
LEAVE = replace(JOIN, mode=Mode.UNSUBSCRIBE, secret=None)
NEWER = replace(JOIN, challenge="d")
NEWER_LEAVE = replace(LEAVE, challenge="d")
NEWER_DUE = replace(NEWER, topic_version=ACTIVE.delivered_version)
NEWER_LEAVE_DUE = replace(NEWER_LEAVE, topic_version=ACTIVE.delivered_version)
JOINED = Active(
    secret=b"new",
    lease_seconds=300,
    lease_expires_at=NOW + 300 * SECOND,
    delivered_version=9,
    created_at=NOW,
    verified_at=NOW,
)
SENT = replace(ACTIVE, delivered_version=8)
PUSHED = replace(ACTIVE, delivered_version=0)
RENEWED = replace(JOINED, delivered_version=7, created_at=ACTIVE.created_at)
TWICE = replace(ACTIVE, failures=2, next_attempt_at=NOW)
RETRIED = replace(JOIN, attempts=1, next_attempt_at=NOW + UNREACHABLE_WAIT)
WAITS = (60 * SECOND, 1800 * SECOND)

NONE = None
PENDING = Subscription(None, JOIN)
VERIFIED = Subscription(ACTIVE, None)
RENEWING = Subscription(ACTIVE, JOIN)
LEAVING = Subscription(ACTIVE, LEAVE)

State = Subscription | None


# Every state with every event ---------------------------------------------------------------------

ACTIVES = {
    "-": None,
    "active": ACTIVE,
    "joined": JOINED,
    "renewed": RENEWED,
    "failed": replace(ACTIVE, failures=1, next_attempt_at=NOW + WAITS[0]),
    "sent": SENT,
    "pushed": PUSHED,
}
INTENTS = {
    "-": None,
    "join": JOIN,
    "leave": LEAVE,
    "newer": NEWER,
    "newer-due": NEWER_DUE,
    "leave-due": NEWER_LEAVE_DUE,
    "retried": RETRIED,
    "retried-leave": replace(RETRIED, mode=Mode.UNSUBSCRIBE, secret=None),
}
STATES: dict[str, State] = {
    "none": NONE,
    "pending verification": PENDING,
    "active": VERIFIED,
    "active (renewing)": RENEWING,
    "removal pending": LEAVING,
}
EVENTS: dict[str, Event] = {
    "subscribe": SubscriptionRequested(NEWER),
    "unsubscribe": SubscriptionRequested(NEWER_LEAVE),
    "confirmed": Confirmed(),
    "not-confirmed": NotConfirmed(),
    "unreachable": Unreachable(),
    "succeeded": DeliverySucceeded(8),
    "failed": DeliveryFailed(WAITS),
    "gone": DeliveryGone(),
    "deadlines": DeadlinesChecked(),
    "redelivery": RedeliveryRequested(),
    "removed": Removed(),
}
# The active fact and the intent after each event, in the order of STATES; - is none
MATRIX = """
subscribe      -/newer  -/newer    active/newer-due  active/newer-due  active/newer-due
unsubscribe    -/-      -/join     active/leave-due  active/leave-due  active/leave-due
confirmed      -/-      joined/-   active/-          renewed/-         -/-
not-confirmed  -/-      -/-        active/-          active/-          active/-
unreachable    -/-      -/retried  active/-          active/retried    active/retried-leave
succeeded      -/-      -/join     sent/-            sent/join         sent/leave
failed         -/-      -/join     failed/-          failed/join       failed/leave
gone           -/-      -/join     -/-               -/join            -/-
deadlines      -/-      -/join     active/-          active/join       active/leave
redelivery     -/-      -/join     pushed/-          pushed/join       pushed/leave
removed        -/-      -/-        -/-               -/-               -/-
"""
CELLS = [
    (state, event, *cell.split("/"))
    for event, *cells in map(str.split, MATRIX.strip().splitlines())
    for state, cell in zip(STATES, cells, strict=True)
]


@pytest.mark.parametrize(("state", "event", "active", "intent"), CELLS)
def test_every_state_with_every_event(state: str, event: str, active: str, intent: str) -> None:
    after = Subscription(ACTIVES[active], INTENTS[intent])
    is_none = (active, intent) == ("-", "-")
    assert (None if is_none else after) == step(STATES[state], EVENTS[event], NOW)


def test_the_matrix_is_whole() -> None:
    assert set(Event.__args__) == {type(event) for event in EVENTS.values()}
    assert {(state, event) for state in STATES for event in EVENTS} == {cell[:2] for cell in CELLS}


@pytest.mark.parametrize("state", [name for name in STATES if name != "none"])
def test_a_state_is_named_as_the_operator_sees_it(state: str) -> None:
    subscription = STATES[state]
    assert subscription is not None
    assert state == subscription.label


# Single rules -------------------------------------------------------------------------------------


def test_no_answer_to_the_second_verification_either_drops_the_intent() -> None:
    assert NONE == step(Subscription(None, RETRIED), Unreachable(), NOW)
    assert VERIFIED == step(Subscription(ACTIVE, RETRIED), Unreachable(), NOW)


def test_the_third_failure_in_a_row_ends_the_subscription() -> None:
    assert NONE == step(Subscription(TWICE, None), DeliveryFailed(WAITS), NOW)


def test_the_second_failure_waits_longer() -> None:
    once = replace(ACTIVE, failures=1)
    assert Subscription(replace(TWICE, next_attempt_at=NOW + WAITS[1]), None) == step(
        Subscription(once, None), DeliveryFailed(WAITS), NOW
    )


@pytest.mark.parametrize("before", [ACTIVE, TWICE, SENT, PUSHED, RENEWED])
def test_delivery_sets_version_whatever_the_earlier_state(before: Active) -> None:
    """The store writes it without reading (``store.deliveries``)."""
    after = step(Subscription(before, None), DeliverySucceeded(8), NOW)
    changed = replace(before, delivered_version=8, failures=0, next_attempt_at=0)
    assert Subscription(changed, None) == after


def test_a_renewal_forgives_failures_too() -> None:
    assert Subscription(RENEWED, None) == step(Subscription(TWICE, JOIN), Confirmed(), NOW)


@pytest.mark.parametrize(
    ("end", "at"),
    [
        (DeadlinesChecked(), ACTIVE.lease_expires_at),
        (DeliveryGone(), NOW),
        (DeliveryFailed(WAITS), NOW),
    ],
)
def test_content_due_at_a_renewal_is_delivered_after_the_lease(end: Event, at: int) -> None:
    """Every change reaches every subscriber, and the callback confirms before the request lapses."""
    renewing = step(Subscription(TWICE, None), SubscriptionRequested(JOIN), NOW)
    pending = step(renewing, end, at)
    assert pending is not None
    assert pending.active is None
    confirmed = step(pending, Confirmed(), at)
    assert confirmed is not None
    assert confirmed.active is not None
    assert TWICE.delivered_version == confirmed.active.delivered_version


def test_push_keeps_the_failures() -> None:
    """H14: it is no success."""
    pushed = replace(TWICE, delivered_version=0, next_attempt_at=0)
    assert Subscription(pushed, None) == step(Subscription(TWICE, None), RedeliveryRequested(), NOW)


def test_a_lease_ends_in_its_last_millisecond_and_not_before() -> None:
    last = Subscription(replace(ACTIVE, lease_expires_at=NOW + 1), None)
    assert last == step(last, DeadlinesChecked(), NOW)
    assert NONE == step(last, DeadlinesChecked(), NOW + 1)


def test_a_request_lapses_alone() -> None:
    lasting = replace(ACTIVE, lease_expires_at=JOIN.expires_at + 1)
    assert Subscription(lasting, None) == step(
        Subscription(lasting, JOIN), DeadlinesChecked(), JOIN.expires_at
    )


def test_renewal_is_pending_after_its_lease_expires() -> None:
    assert PENDING == step(RENEWING, DeadlinesChecked(), ACTIVE.lease_expires_at)


def test_unsubscribe_ends_with_its_lease() -> None:
    assert NONE == step(LEAVING, DeadlinesChecked(), ACTIVE.lease_expires_at)


# What never is ------------------------------------------------------------------------------------

times = st.integers(0, 5000).map(lambda second: NOW + second * SECOND)
sealed = st.none() | st.binary(max_size=4)
leases = st.integers(300, 4000)
versions = st.integers(0, 9)


@st.composite
def intents(draw: st.DrawFn) -> Intent:
    asked_at = draw(times)
    return Intent(
        mode=draw(st.sampled_from(Mode)),
        requested_topic="feed.xml",
        secret=draw(sealed),
        lease_seconds=draw(leases),
        challenge=draw(st.sampled_from("abc")),
        topic_version=draw(versions),
        requester="192.0.2.7/32",
        requested_at=asked_at,
        expires_at=asked_at + 600 * SECOND,
        next_attempt_at=asked_at,
    )


events = st.one_of(
    st.builds(SubscriptionRequested, intents()),
    st.builds(DeliverySucceeded, versions),
    st.sampled_from(
        [
            Confirmed(),
            NotConfirmed(),
            Unreachable(),
            DeliveryFailed(WAITS),
            DeliveryGone(),
            DeadlinesChecked(),
            RedeliveryRequested(),
            Removed(),
        ]
    ),
)
histories = st.lists(st.tuples(events, st.integers(0, 100)), max_size=40)


def lived(history: list[tuple[Event, int]]) -> list[tuple[State, Event, int, State]]:
    """Each step of a history: before, event, when, after."""
    steps: list[tuple[State, Event, int, State]] = []
    state: State = None
    now = NOW
    for event, seconds in history:
        now += seconds * SECOND
        after = step(state, event, now)
        steps.append((state, event, now, after))
        state = after
    return steps


@given(histories)
def test_state_after_any_history_is_one_of_the_table(history: list[tuple[Event, int]]) -> None:
    for _, _, _, after in lived(history):
        if after is None:
            continue
        if after.active is None:
            assert after.intent is not None
            assert after.intent.mode is Mode.SUBSCRIBE
        else:
            assert 0 <= after.active.failures < MAX_FAILURES


@given(histories)
def test_active_begins_and_ends_for_the_known_reasons_only(
    history: list[tuple[Event, int]],
) -> None:
    for before, event, now, after in lived(history):
        was = None if before is None else before.active
        becomes = None if after is None else after.active
        intent = None if before is None else before.intent
        if isinstance(event, SubscriptionRequested | NotConfirmed | Unreachable):
            assert was == becomes
        if was is None and becomes is not None:
            assert isinstance(event, Confirmed)
        if isinstance(event, Confirmed) and becomes is not None and intent is not None:  # H18
            lease = intent.lease_seconds
            assert (lease, intent.secret) == (becomes.lease_seconds, becomes.secret)
            assert now + lease * SECOND == becomes.lease_expires_at
        if was is None or becomes is not None:
            continue
        match event:
            case DeliveryFailed():
                assert was.failures == MAX_FAILURES - 1
            case Confirmed():
                assert intent is not None
                assert intent.mode is Mode.UNSUBSCRIBE
            case DeadlinesChecked():
                assert was.lease_expires_at <= now
            case _:
                assert isinstance(event, DeliveryGone | Removed)


def test_unknown_event_raises() -> None:
    with pytest.raises(AssertionError):
        step(VERIFIED, "asked", NOW)  # type: ignore[arg-type]
