"""The limit of open files is raised, and the number of connections fits into it (S4)."""

import resource

import pytest
from twisted.logger import capturedLogs

from reviewsd.app.context import MIN_CONNECTIONS, OTHER_FILES, fitting_connections, raise_file_limit

HUB_FILES = 2_176  # files for 64 deliveries and 64 verifications at once, and 16 idle ones for each


@pytest.mark.parametrize(
    ("configured", "limit", "expected"),
    [
        (4096, 16_384, 4096),
        (4096, 4096 + OTHER_FILES + HUB_FILES, 4096),
        (4096, 4096 + OTHER_FILES + HUB_FILES - 1, 4095),
        (4096, 1024, 320),
        (1_000_000, 1_048_576, 1_000_000),
        (4096, 256, MIN_CONNECTIONS),
        (16, 256, 16),
    ],
)
def test_connections_fit_the_limit_of_files(configured: int, limit: int, expected: int) -> None:
    with capturedLogs() as events:
        assert expected == fitting_connections(configured, limit)
    assert (expected != configured) == bool(events)


def test_limit_that_cannot_be_raised_is_used_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system call filter may refuse to raise it."""

    def refuse(_which: int, _limits: tuple[int, int]) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, 4096))
    monkeypatch.setattr(resource, "setrlimit", refuse)
    with capturedLogs() as events:
        assert 1024 == raise_file_limit()
    assert 1 == len(events)
