"""The stop of the daemon."""

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from reviewsd.app.daemon import _together


def test_failed_action_of_the_stop_is_raised_after_the_others_have_ended() -> None:
    """The stack closes what the others still use."""
    ending = Deferred[None]()

    async def fail() -> None:
        raise OSError("first")

    async def wait() -> None:
        await ending

    failures: list[Failure] = []
    Deferred.fromCoroutine(_together(fail, wait)).addErrback(failures.append)
    assert [] == failures
    ending.callback(None)
    assert [OSError] == [failure.type for failure in failures]
