import datetime
from pathlib import Path

import pytest

from reviewsd.app.pages import doubts
from reviewsd.config.schema import Config, Security

NOW = datetime.datetime(2026, 11, 22, 12, tzinfo=datetime.UTC)


def security(expires: datetime.datetime) -> Config:
    given = Security(contact=("mailto:a@b.example",), expires=expires)
    return Config(base_url="https://a.example", data_dir=Path("/data"), security=given)


@pytest.mark.parametrize(
    ("days", "told"),
    [
        (-1, ["security.txt expired on 2026-11-21; look its contacts over and set a later time"]),
        (29, ["security.txt expires on 2026-12-21; look its contacts over and set a later time"]),
        (30, []),
        (300, []),
    ],
)
def test_security_txt_is_doubted_a_month_before_it_expires(days: int, told: list[str]) -> None:
    config = security(NOW + datetime.timedelta(days=days))

    assert [("security.expires", each) for each in told] == list(doubts(config, NOW))


def test_without_a_time_there_is_nothing_to_doubt() -> None:
    config = Config(base_url="https://a.example", data_dir=Path("/data"))

    assert [] == list(doubts(config, NOW))
