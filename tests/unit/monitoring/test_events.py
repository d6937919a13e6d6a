"""Outcomes in the log are events for listeners (A3)."""

from collections.abc import Mapping

from twisted.logger import Logger, LogPublisher

from reviewsd.monitoring.events import Events


class Watch:
    """``Events``, a log that feeds them, and a listener that records them."""

    def __init__(self) -> None:
        self.events = Events()
        self.received: list[Mapping[str, object]] = []
        self.remove = self.events.listen(self.received.append)
        self.log = Logger(namespace="reviewsd.test", observer=LogPublisher(self.events))


def test_outcome_has_the_fields_of_its_log_line() -> None:
    watch = Watch()
    watch.log.info("published {reviews} reviews", reviews=7, type="load")
    (event,) = watch.received
    assert {
        "type": "load",
        "ts": event["ts"],
        "level": "info",
        "event": "published 7 reviews",
        "reviews": 7,
    } == event


def test_other_log_lines_are_no_events() -> None:
    watch = Watch()
    watch.log.info("something")
    watch.log.info("something", type="unknown")
    watch.log.info("something", type=7)
    assert [] == watch.received


def test_listener_receives_events_until_it_is_removed() -> None:
    watch = Watch()
    received_by_second: list[Mapping[str, object]] = []
    watch.events.listen(received_by_second.append)
    watch.log.info("one", type="load")
    watch.remove()
    watch.remove()
    watch.log.info("two", type="load")
    assert (["one"], ["one", "two"]) == (
        [event["event"] for event in watch.received],
        [event["event"] for event in received_by_second],
    )
