"""The agent skill and the list of skills (Agent Skills discovery 0.2.0)."""

import hashlib

import msgspec
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from reviewsd.domain.search_parameters import SEARCH_PARAMETERS
from reviewsd.http1 import urls
from tests.support.site import for_machines, site

HOSTILE = 'Bob: "&" \\ # {x}\n---\nname: evil\u2028y\x85'


def front_matter(content: bytes) -> dict[str, str]:
    _, head, _ = content.decode().split("---\n", 2)
    found: dict[str, str] = yaml.safe_load(head)
    return found


@given(st.text(min_size=1, max_size=200))
@example(HOSTILE)
@example("x" * 200)
def test_front_matter_is_yaml_with_name_and_description(name: str) -> None:
    content = for_machines(site({"name": name}))[urls.SKILL]
    found = front_matter(content)

    assert ["name", "description"] == list(found)
    assert "customer-reviews" == found["name"]
    assert 1 <= len(found["description"]) <= 1024
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

    assert [] == [each.name for each in SEARCH_PARAMETERS if f"- `{each.name}`: " not in content]
