"""The files that GitHub reads fit their schemas, which check-jsonschema contains."""

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
def test_file_for_github_fits_its_schema(schema: str, files: str) -> None:
    paths = sorted(ROOT.glob(files))
    assert paths
    run(program("check-jsonschema"), "--builtin-schema", f"vendor.{schema}", *paths)
