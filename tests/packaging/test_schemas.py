"""What GitHub reads is as GitHub wants it, by the schemas that check-jsonschema brings along."""

import pytest

from tests.support.distribution import ROOT, program, run

pytestmark = pytest.mark.packaging


@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("github-workflows", ".github/workflows/*.yml"),
        ("github-issue-forms", ".github/ISSUE_TEMPLATE/[bi]*.yml"),
        ("github-issue-config", ".github/ISSUE_TEMPLATE/config.yml"),
        ("dependabot", ".github/dependabot.yml"),
    ],
)
def test_it_fits_its_schema(schema: str, files: str) -> None:
    found = sorted(ROOT.glob(files))
    assert found
    run(program("check-jsonschema"), "--builtin-schema", f"vendor.{schema}", *found)
