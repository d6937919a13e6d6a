"""The outcome of a test of ``reviewsctl doctor``."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Verdict: TypeAlias = Literal["ok", "warn", "fail", "skip"]
"""The kinds of outcome; ``skip`` is not testable from here, and the detail says why."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The outcome of one test."""

    verdict: Verdict
    detail: str
    remedy: str = ""
    """The command or step that fixes it."""


def ok(detail: str) -> Diagnosis:
    """Return the outcome of a test without a finding to fix."""
    return Diagnosis("ok", detail)


def warn(detail: str, remedy: str) -> Diagnosis:
    """Return the outcome of something that works and should be changed."""
    return Diagnosis("warn", detail, remedy)


def fail(detail: str, remedy: str) -> Diagnosis:
    """Return the outcome of something that does not work."""
    return Diagnosis("fail", detail, remedy)


def skip(detail: str) -> Diagnosis:
    """Return the outcome of a test that cannot be made from here, as the detail says."""
    return Diagnosis("skip", detail)
