"""Values that are set in a configuration that is text."""

import pytest

from reviewsd.config.rewriting import rewritten

VALUES = {"$.a": "3", "$.c": "4", "$.notify[1].url_file": "null"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# a: 1\na: 1  # one\nb:\n  c: 2\n", "# a: 1\na: 3  # one\nb:\n  c: 2\n"),
        ("a: '1'\nc: \"ä\"", "a: 3\nc: 4"),
        (
            "notify: [{name: ü, url_file: x}, {url_file: x.url, name: a}]\n",
            "notify: [{name: ü, url_file: x}, {url_file: null, name: a}]\n",
        ),
        (
            "notify:\n  - url_file: x\n  - name: a\n    url_file: x.url\n",
            "notify:\n  - url_file: x\n  - name: a\n    url_file: null\n",
        ),
        ("b: 1\r\na: 1\r\n", "b: 1\r\na: 3\r\n"),
        ("a: >-\n  1\nb: 2\n", "a: 3\nb: 2\n"),
        ("a: |\n  1\n\nb: 2", "a: 3\n\nb: 2"),
        ("# nothing\n", "# nothing\n"),
    ],
)
def test_scalars_are_set_where_they_are(text: str, expected: str) -> None:
    assert expected == rewritten(text, VALUES)


def test_data_dir_of_the_environment_is_written() -> None:
    values = {"$.data_dir": "/srv/reviews"}
    assert "a: 1\ndata_dir: /srv/reviews\n" == rewritten("a: 1", values)
    assert "data_dir: /srv/reviews\na: 1\n" == rewritten("data_dir: data\na: 1\n", values)
