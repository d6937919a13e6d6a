import datetime

from reviewsd.pages import security_txt


def test_security_txt_has_the_fields_of_the_standard() -> None:
    """RFC 9116 2.5: Contact at least once, Expires once, each on a line of its own."""
    zone = datetime.timezone(datetime.timedelta(hours=2))
    content = security_txt.render(
        "https://reviews.example.com",
        ("mailto:security@example.com", "https://example.com/report"),
        datetime.datetime(2027, 6, 1, 1, 30, tzinfo=zone),
    )

    assert [
        "Contact: mailto:security@example.com",
        "Contact: https://example.com/report",
        "Expires: 2027-05-31T23:30:00Z",
        "Canonical: https://reviews.example.com/.well-known/security.txt",
    ] == content.decode().splitlines()
