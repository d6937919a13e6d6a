"""Who watches is told what the log tells (A3)."""

from collections.abc import Mapping

from twisted.logger import Logger, LogPublisher

from reviewsd.monitoring.events import Events


class Watch:
    """Events, a log that feeds them, and what was heard."""

    def __init__(self) -> None:
        self.events = Events()
        self.heard: list[Mapping[str, object]] = []
        self.leave = self.events.listen(self.heard.append)
        self.log = Logger(namespace="reviewsd.test", observer=LogPublisher(self.events))


def test_an_outcome_is_told_with_the_fields_of_the_log() -> None:
    watch = Watch()
    watch.log.info("published {reviews} reviews", reviews=7, type="load")
    (event,) = watch.heard
    assert {
        "type": "load",
        "ts": event["ts"],
        "level": "info",
        "event": "published 7 reviews",
        "reviews": 7,
    } == event


def test_other_lines_of_the_log_are_not_told() -> None:
    watch = Watch()
    watch.log.info("something")
    watch.log.info("something", type="unknown")
    watch.log.info("something", type=7)
    assert [] == watch.heard


def test_each_listener_is_told_until_it_leaves() -> None:
    watch = Watch()
    others: list[Mapping[str, object]] = []
    watch.events.listen(others.append)
    watch.log.info("one", type="load")
    watch.leave()
    watch.leave()
    watch.log.info("two", type="load")
    assert (["one"], ["one", "two"]) == (
        [event["event"] for event in watch.heard],
        [event["event"] for event in others],
    )
