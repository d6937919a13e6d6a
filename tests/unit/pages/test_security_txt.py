import datetime

from reviewsd.pages import security_txt


def test_security_txt_has_the_fields_of_the_standard() -> None:
    """RFC 9116 2.5: Contact at least once, Expires once, each on a line of its own."""
    zone = datetime.timezone(datetime.timedelta(hours=2))
    content = security_txt.render(
        "https://reviews.example.com",
        ("mailto:security@example.com", "https://example.com/report"),
        datetime.datetime(2027, 6, 1, 1, 30, tzinfo=zone),
        "https://example.com/policy",
    )

    assert [
        "Contact: mailto:security@example.com",
        "Contact: https://example.com/report",
        "Expires: 2027-05-31T23:30:00Z",
        "Canonical: https://reviews.example.com/.well-known/security.txt",
        "Policy: https://example.com/policy",
    ] == content.decode().splitlines()


def test_security_txt_without_a_policy_has_no_policy_field() -> None:
    moment = datetime.datetime(2027, 6, 1, tzinfo=datetime.UTC)
    content = security_txt.render("https://a.example", ("tel:+1-555-0100",), moment, None)

    assert b"Policy" not in content
