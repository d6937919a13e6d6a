"""The sources that names of platforms stand for."""

import pytest

from reviewsd.api.platforms import PLATFORMS, source_of


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("Hotels.com", "hotels.com"),
        ("Hotels", "hotels.com"),
        ("Trip Advisor", "tripadvisor"),
        ("Google Maps", "google"),
        ("Google  reviews", "google"),
        ("our website", "website"),
        ("Booking.com", "booking"),
        ("Reviews.io", "reviews.io"),
        ("My  Shop", "My Shop"),
        ("shop.com", "shop.com"),
    ],
)
def test_name_in_use_stands_for_its_source(name: str, source: str) -> None:
    assert source == source_of(name)


def test_name_of_a_platform_stands_for_its_source() -> None:
    sources = list(PLATFORMS)
    assert sources == [source_of(source) for source in sources]
    assert sources == [source_of(name) for name in PLATFORMS.values()]
