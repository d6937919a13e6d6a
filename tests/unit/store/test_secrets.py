"""Subscribers' secrets are sealed for their row (H11)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.store.keys import SealError, Secrets

CALLBACK = "https://subscriber.com/hook?id=1"
TOPIC = "/reviews.json"
OLD, NEW = bytes(range(32)), bytes(range(32, 64))


@given(st.binary(min_size=1, max_size=199))
def test_sealed_secret_opens_in_its_own_row(secret: bytes) -> None:
    secrets = Secrets([OLD])
    sealed = secrets.seal(secret, CALLBACK, TOPIC)
    assert secret == secrets.unseal(sealed, CALLBACK, TOPIC)


def test_sealed_secret_does_not_contain_the_secret() -> None:
    sealed = Secrets([OLD]).seal(b"canary" * 20, CALLBACK, TOPIC)
    assert b"canary" not in sealed
    assert 1 + 12 + 120 + 16 == len(sealed)


def test_same_secret_is_sealed_differently_each_time() -> None:
    secrets = Secrets([OLD])
    assert 100 == len({secrets.seal(b"secret", CALLBACK, TOPIC) for _ in range(100)})


@pytest.mark.parametrize(
    ("callback", "topic"),
    [("https://subscriber.com/hook?id=2", TOPIC), (CALLBACK, "/feed.xml"), (TOPIC, CALLBACK)],
)
def test_secret_of_another_row_does_not_open(callback: str, topic: str) -> None:
    """A writer of the database cannot make the hub sign with another subscriber's secret."""
    secrets = Secrets([OLD])
    sealed = secrets.seal(b"secret", CALLBACK, TOPIC)
    with pytest.raises(SealError):
        secrets.unseal(sealed, callback, topic)


def test_sealed_secret_with_any_changed_byte_does_not_open() -> None:
    secrets = Secrets([OLD])
    sealed = secrets.seal(b"secret", CALLBACK, TOPIC)
    for index in range(len(sealed)):
        changed = bytearray(sealed)
        changed[index] ^= 1
        with pytest.raises(SealError):
            secrets.unseal(bytes(changed), CALLBACK, TOPIC)


def test_shortened_sealed_secret_does_not_open() -> None:
    secrets = Secrets([OLD])
    sealed = secrets.seal(b"", CALLBACK, TOPIC)
    for length in range(len(sealed)):
        with pytest.raises(SealError):
            secrets.unseal(sealed[:length], CALLBACK, TOPIC)


def test_first_key_seals_while_older_keys_unseal() -> None:
    before, rotated = Secrets([OLD]), Secrets([NEW, OLD])
    assert b"secret" == rotated.unseal(before.seal(b"secret", CALLBACK, TOPIC), CALLBACK, TOPIC)
    sealed = rotated.seal(b"secret", CALLBACK, TOPIC)
    assert b"secret" == Secrets([NEW]).unseal(sealed, CALLBACK, TOPIC)
    with pytest.raises(SealError):
        before.unseal(sealed, CALLBACK, TOPIC)


def test_two_keys_with_the_same_id_both_unseal() -> None:
    """The id is one byte; with 300 keys some share one."""
    keys = [number.to_bytes(32, "big") for number in range(300)]
    secrets = Secrets(keys)
    for key in keys:
        sealed = Secrets([key]).seal(b"secret", CALLBACK, TOPIC)
        assert b"secret" == secrets.unseal(sealed, CALLBACK, TOPIC)
