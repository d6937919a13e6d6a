"""The answer to ``POST /v1/notify/test``."""

from msgspec import Struct


class NoticeTest(Struct, frozen=True, kw_only=True):
    """A test message to one target of ``notify``."""

    target: str
    problem: str
    """Why it failed; empty where it was sent."""


class NoticeTests(Struct, frozen=True, kw_only=True):
    """A test message to each target."""

    tests: tuple[NoticeTest, ...]
