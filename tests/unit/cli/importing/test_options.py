"""Values of the options of ``reviewsctl import`` that it does not know are answered with the nearest."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from reviewsctl.importing.errors import ImportRefusedError, SayMoreError
from reviewsctl.importing.settings import parsed
from tests.support.shop import NOW, SAMPLES, Shop, table

PATTERN = "--set date_format: expected a pattern as %d/%m/%Y, got"


@pytest.mark.parametrize(
    ("values", "error"),
    [
        (["timezone=Mars/Base"], 'timezone: there is no time zone "Mars/Base"\nThey are named like '),
        (["timezone=Europe/Berln"], 'zone "Europe/Berln"; did you mean "Europe/Berlin"?\n'),
        (["timezon=UTC"], '--set: there is no setting "timezon"; did you mean "timezone"?\nThere are: location, '),
        (["zone=UTC"], '--set: there is no setting "zone"'),
        (["names=none"], '--set names: expected full or short, got "none"'),
        (["names"], '--set: expected NAME=VALUE, got "names"'),
        (["verified=maybe"], '--set verified: expected yes or no, got "maybe"'),
        (["date_format=x"], f'{PATTERN} "x"\n'),
        (["date_format=DD/MM/YYYY"], f'{PATTERN} "DD/MM/YYYY"\nWrite it as --set date_format=%d/%m/%Y'),
        (["date_format=d.m.yy"], f'{PATTERN} "d.m.yy"\nWrite it as --set date_format=%d.%m.%y'),
        (["date_format=TT.MM.JJJJ"], f'{PATTERN} "TT.MM.JJJJ"\nWrite it as --set date_format=%d.%m.%Y'),
        (["date_format=yyyy-mm-dd"], f'{PATTERN} "yyyy-mm-dd"\nWrite it as --set date_format=%Y-%m-%d'),
    ],
)  # fmt: skip
def test_unknown_setting_is_answered_with_the_nearest(values: Sequence[str], error: str) -> None:
    with pytest.raises(SayMoreError) as caught:
        parsed(values, NOW)
    assert error in f"{caught.value.detail}\n{caught.value.remedy}"


@pytest.mark.parametrize(
    ("columns", "error"),
    [
        (["date"], '--map: expected NAME=COLUMN, got "date"'),
        (["ratin=Points"], '--map: "ratin" is no member of a review; did you mean "rating"?\nThere are: '),
        (["rating=Point"], '--map: there is no column "Point"; did you mean "Points"?\nThere are: Day, Points, Words'),
        (["points=rating"], '--map: "points" is no member of a review; did you mean "rating=points"?'),
    ],
)  # fmt: skip
def test_unknown_column_is_answered_with_the_nearest(
    shop: Shop, tmp_path: Path, columns: Sequence[str], error: str
) -> None:
    export = table(tmp_path / "x.csv", "Day,Points,Words\n2025-01-01,5,Nice\n")
    with pytest.raises(SayMoreError) as caught:
        shop.imported(export, settings=parsed([], NOW, columns=columns))
    assert error in f"{caught.value.detail}\n{caught.value.remedy}"


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("Trustpilt", '--from: there is no format "trustpilt"; did you mean "trustpilot"?\nThere are: auto, '),
        ("x", '--from: there is no format "x"\nThere are: auto, google-api, takeout'),
    ],
)  # fmt: skip
def test_unknown_format_is_answered_with_the_nearest(
    shop: Shop, tmp_path: Path, name: str, error: str
) -> None:
    export = table(tmp_path / "x.csv", "Day,Points,Words\n2025-01-01,5,Nice\n")
    with pytest.raises(SayMoreError) as caught:
        shop.imported(export, format_name=name)
    assert error in f"{caught.value.detail}\n{caught.value.remedy}"


def test_format_that_is_none_of_the_exports_is_refused(shop: Shop) -> None:
    with pytest.raises(ImportRefusedError, match="this is not podium") as caught:
        shop.imported(SAMPLES / "apify.json", format_name="podium")
    assert 1 == caught.value.exit_code


@pytest.mark.parametrize("name", ["CSV", "Auto"])
def test_format_is_named_in_any_case(shop: Shop, tmp_path: Path, name: str) -> None:
    shop.imported(table(tmp_path / "x.csv", "date,rating\n2025-01-01,5\n"), format_name=name)
    assert 1 == len(shop.file["reviews"])
