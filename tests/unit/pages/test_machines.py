import datetime
from xml.etree import ElementTree as ET

from hypothesis import example, given
from hypothesis import strategies as st

from reviewsd.http1 import urls
from reviewsd.pages import machines
from tests.support.site import BASE_URL, for_machines, site

NAMESPACE = "{http://a9.com/-/spec/opensearch/1.1/}"


@given(st.text(max_size=199).map("A{}".format))
@example("A" * 200)
@example('Bob & "Sons" ]]> <b>\0\ufffe')
def test_opensearch_names_have_the_lengths_of_the_standard(name: str) -> None:
    """OpenSearch 1.1: ShortName of at most 16 characters, LongName of 48, Description of 1,024."""
    root = ET.fromstring(for_machines(site({"name": name}))[urls.OPENSEARCH])

    assert f"{NAMESPACE}OpenSearchDescription" == root.tag
    lengths = {"ShortName": 16, "LongName": 48, "Description": 1024}
    for element, most in lengths.items():
        assert 1 <= len(root.findtext(NAMESPACE + element, "")) <= most
    assert {
        "text/html": f"{BASE_URL}/reviews?query={{searchTerms}}",
        "application/json": f"{BASE_URL}/api/reviews/search?query={{searchTerms}}",
    } == {each.get("type"): each.get("template") for each in root.iter(f"{NAMESPACE}Url")}


def test_security_txt_has_the_fields_of_the_standard() -> None:
    """RFC 9116 2.5: Contact at least once, Expires once, each on a line of its own."""
    zone = datetime.timezone(datetime.timedelta(hours=2))
    content = machines.security_txt(
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
