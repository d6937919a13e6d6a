"""Words for counts."""

from reviewsd.api.texts import counted


def test_one_is_not_many() -> None:
    counts = [counted(count, "review") for count in (0, 1, 2, 1204)]
    assert ["0 reviews", "1 review", "2 reviews", "1,204 reviews"] == counts
