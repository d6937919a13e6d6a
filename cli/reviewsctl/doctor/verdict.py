"""The outcome of a test of ``reviewsctl doctor``."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Verdict: TypeAlias = Literal["ok", "warn", "fail", "skip"]
"""The kinds of outcome; ``skip`` is not testable from here, and the detail says why."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The outcome of one test."""

    name: str
    verdict: Verdict
    detail: str
    remedy: str = ""
    """The command or step that fixes it."""


def ok(name: str, detail: str) -> Diagnosis:
    """Return the outcome of a test without a finding to fix."""
    return Diagnosis(name, "ok", detail)


def warn(name: str, detail: str, remedy: str) -> Diagnosis:
    """Return the outcome of something that works and should be changed."""
    return Diagnosis(name, "warn", detail, remedy)


def fail(name: str, detail: str, remedy: str) -> Diagnosis:
    """Return the outcome of something that does not work."""
    return Diagnosis(name, "fail", detail, remedy)


def skip(name: str, detail: str) -> Diagnosis:
    """Return the outcome of a test that cannot be made from here."""
    return Diagnosis(name, "skip", detail)
