"""Documents for crawlers and agents against the rules of their standards, for any business and any address."""

import datetime
import hashlib
import re
from typing import Any
from xml.etree import ElementTree as ET

import msgspec
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from reviewsd.domain.search_parameters import SEARCH_PARAMETERS
from reviewsd.http1 import urls
from reviewsd.pages import contact, machines, structured_data
from reviewsd.pages.catalogs import REVISIONS
from tests.support.site import BASE_URL, for_machines, review, site

HOSTILE = 'Bob & "Sons" </script>\r\nX: 1 \u202e]]>'
INSIGHTS = {"aspects": ["punctuality", {"label": HOSTILE}, "price", "work", "words"]}


def decoded(content: bytes) -> Any:
    return msgspec.json.decode(content)


def test_api_catalog_is_a_linkset() -> None:
    """RFC 9264 4.2: each context has an anchor, each relation an array of targets with href."""
    result = decoded(for_machines(site())[urls.API_CATALOG])

    assert ["linkset"] == list(result)
    by_anchor = {item.pop("anchor"): item for item in result["linkset"]}
    assert [{"href": f"{BASE_URL}/"}, {"href": f"{BASE_URL}/mcp"}] == (
        by_anchor[f"{BASE_URL}/.well-known/api-catalog"]["item"]
    )
    assert {"service-desc", "service-doc", "status"} == set(by_anchor[f"{BASE_URL}/"])
    assert {"service-meta", "service-doc"} == set(by_anchor[f"{BASE_URL}/mcp"])
    for relations in by_anchor.values():
        for targets in relations.values():
            for target in targets:
                assert target["href"].startswith(f"{BASE_URL}/")
                assert set(target) <= {"href", "type"}


@pytest.mark.parametrize(
    ("base_url", "name"),
    [
        ("https://reviews.example.com", "com.example.reviews/reviews"),
        ("https://reviews.example.com:8443", "com.example.reviews/reviews"),
        ("http://127.0.0.1:8080", "127.0.0.1/reviews"),
        ("http://[2001:db8::1]:8080", "2001-db8--1/reviews"),
        ("http://localhost", "localhost/reviews"),
    ],
)
def test_server_card_follows_its_schema(base_url: str, name: str) -> None:
    """SEP-2127: name of 3 to 200 characters, title and description of 1 to 100."""
    here = site({"name": HOSTILE * 5}, base_url=base_url)
    card = decoded(for_machines(here)[urls.SERVER_CARD])

    assert name == card["name"]
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", card["name"])
    assert 1 <= len(card["title"]) <= 100
    assert 1 <= len(card["description"]) <= 100
    assert ("1.2.3", base_url) == (card["version"], card["websiteUrl"])
    assert [
        {
            "type": "streamable-http",
            "url": f"{base_url}/mcp",
            "supportedProtocolVersions": list(REVISIONS),
        }
    ] == card["remotes"]


@pytest.mark.parametrize("base_url", [BASE_URL, "http://127.0.0.1:8080", "http://[2001:db8::1]"])
@pytest.mark.parametrize("insights", [None, INSIGHTS])
def test_ai_catalog_follows_the_drafts(base_url: str, insights: dict[str, Any] | None) -> None:
    """ARD: URN, exactly one of url and data, two to five queries, scalars in metadata."""
    business: dict[str, object] = {
        "name": HOSTILE,
        "category": "Plumber",
        "phone": "+1-555-0100",
        "address": {"street": "12 Quay St", "city": "Portsmouth"},
        "hours": [
            {"day": "monday", "opens": "08:00", "closes": "17:00"},
            {"day": "sunday", "opens": "10:00", "closes": "12:00"},
        ],
        "service_areas": ["Dover", "Portsmouth"],
    }
    here = site(business, [review(1)], insights, base_url)
    result = decoded(for_machines(here)[urls.AI_CATALOG])
    (entry,) = result["entries"]

    assert "1.0" == result["specVersion"]
    assert {"displayName", "identifier", "documentationUrl"} == set(result["host"])
    assert re.fullmatch(r"urn:air:[a-zA-Z0-9.-]+(:[a-zA-Z0-9._-]+)+", entry["identifier"])
    assert ("url" in entry) != ("data" in entry)
    assert entry["type"] == entry["mediaType"] == machines.SERVER_CARD
    assert 2 <= len(entry["representativeQueries"]) <= 5
    assert all(isinstance(item, str) for item in entry["metadata"].values())
    assert "12 Quay St, Portsmouth" == entry["metadata"]["address"]
    assert "Mo 08:00-17:00 Su 10:00-12:00" == entry["metadata"]["openingHours"]


def test_questions_differ_for_a_business_with_a_long_name() -> None:
    """They were cut at their ends, after the name."""
    here = site({"name": "Long " * 40}, [review(1)], INSIGHTS)
    (entry,) = decoded(for_machines(here)[urls.AI_CATALOG])["entries"]
    queries = entry["representativeQueries"]
    assert 5 == len(queries) == len(set(queries))


def test_blank_part_of_an_address_is_left_out() -> None:
    here = site({"name": "Acme", "address": {"street": " ", "city": "Springfield"}})
    (entry,) = decoded(for_machines(here)[urls.AI_CATALOG])["entries"]
    assert {"address": "Springfield"} == entry["metadata"]
    node = structured_data.brief(BASE_URL, here.business)
    assert {"@type": "PostalAddress", "addressLocality": "Springfield"} == node["address"]
    assert ["Springfield"] == contact.address_lines(here.business)
    assert "Springfield" == contact.place(here.business)


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
    } == {item.get("type"): item.get("template") for item in root.iter(f"{NAMESPACE}Url")}


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


YAML = 'Bob: "&" \\ # {x}\n---\nname: evil\u2028y\x85'


def front_matter(content: bytes) -> dict[str, str]:
    _, head, _ = content.decode().split("---\n", 2)
    result: dict[str, str] = yaml.safe_load(head)
    return result


@given(st.text(min_size=1, max_size=200))
@example(YAML)
@example("x" * 200)
def test_front_matter_is_yaml_with_name_and_description(name: str) -> None:
    content = for_machines(site({"name": name}))[urls.SKILL]
    result = front_matter(content)
    assert ["name", "description"] == list(result)
    assert "customer-reviews" == result["name"]
    assert 1 <= len(result["description"]) <= 1024
    assert 1 == sum(line.startswith("# ") for line in content.decode().splitlines())


def test_skill_index_has_the_digest_of_the_served_bytes() -> None:
    documents = for_machines(site())
    content = documents[urls.SKILL]
    (entry,) = msgspec.json.decode(documents[urls.SKILLS])["skills"]
    assert f"sha256:{hashlib.sha256(content).hexdigest()}" == entry["digest"]
    assert ("customer-reviews", "skill-md") == (entry["name"], entry["type"])
    assert front_matter(content)["description"] == entry["description"]


def test_every_parameter_of_the_search_is_named() -> None:
    content = for_machines(site())[urls.SKILL].decode()
    assert [] == [item.name for item in SEARCH_PARAMETERS if f"- `{item.name}`: " not in content]
