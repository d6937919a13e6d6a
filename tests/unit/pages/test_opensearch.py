from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.pages import opensearch
from tests.support.site import BASE_URL, site

NAMESPACE = "{http://a9.com/-/spec/opensearch/1.1/}"


@pytest.mark.parametrize("name", ["Acme", "A" * 200, 'Bob & "Sons" ]]> <b>\0\ufffe'])
def test_opensearch_names_have_the_lengths_of_the_standard(name: str) -> None:
    """OpenSearch 1.1: ShortName of at most 16 characters, LongName of 48, Description of 1,024."""
    root = ET.fromstring(opensearch.render(site({"name": name})))

    assert f"{NAMESPACE}OpenSearchDescription" == root.tag
    lengths = {"ShortName": 16, "LongName": 48, "Description": 1024}
    for element, most in lengths.items():
        assert 1 <= len(root.findtext(NAMESPACE + element, "")) <= most
    assert {
        "text/html": f"{BASE_URL}/reviews?query={{searchTerms}}",
        "application/json": f"{BASE_URL}/api/reviews/search?query={{searchTerms}}",
    } == {each.get("type"): each.get("template") for each in root.iter(f"{NAMESPACE}Url")}


@given(st.text(min_size=1, max_size=200))
def test_any_name_is_valid_xml(name: str) -> None:
    ET.fromstring(opensearch.render(site({"name": name})))
