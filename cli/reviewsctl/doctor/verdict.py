"""What a test of the doctor's says."""

from dataclasses import dataclass
from enum import Enum


class Verdict(Enum):
    """How it went."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"
    SKIP = "skip"
    """It could not be tested from here; why, is said."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The outcome of one test."""

    name: str
    verdict: Verdict
    said: str
    """What was found."""
    remedy: str = ""
    """What to do about it."""


def ok(name: str, said: str) -> Diagnosis:
    """All is well."""
    return Diagnosis(name, Verdict.OK, said)


def warn(name: str, said: str, remedy: str) -> Diagnosis:
    """It works, but."""
    return Diagnosis(name, Verdict.WARN, said, remedy)


def fail(name: str, said: str, remedy: str) -> Diagnosis:
    """It does not work."""
    return Diagnosis(name, Verdict.FAIL, said, remedy)


def skip(name: str, said: str) -> Diagnosis:
    """It could not be tested."""
    return Diagnosis(name, Verdict.SKIP, said)
