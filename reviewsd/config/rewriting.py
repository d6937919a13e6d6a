"""Sets values in a configuration that is text, and leaves its comments and its layout as they are."""

from collections.abc import Iterator, Mapping

import yaml

from reviewsd.domain.data_errors import member

_DATA_DIR = "$.data_dir"


def rewritten(text: str, values: Mapping[str, str]) -> str:
    """Return a configuration with other scalars, where it has a scalar.

    A ``data_dir`` is added where it has none, since the environment may have had it.

    Args:
        text: A valid configuration.
        values: YAML by JSON path (``$.notify[0].url_file``), without line breaks.
    """
    node = yaml.compose(text, Loader=yaml.SafeLoader)  # libyaml's marks count bytes
    spans = {} if node is None else dict(_spans(node, "$"))
    for path in sorted(values.keys() & spans.keys(), key=spans.__getitem__, reverse=True):
        start, end = spans[path]
        end = start + len(text[start:end].rstrip())  # a block scalar ends with a line break
        text = text[:start] + values[path] + text[end:]
    if _DATA_DIR in values.keys() - spans.keys() and isinstance(node, yaml.MappingNode):
        text = f"{text.rstrip()}\ndata_dir: {values[_DATA_DIR]}\n"
    return text


def _spans(node: yaml.Node, path: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the path, the start and the end of each scalar."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _spans(value, member(path, str(key.value)))
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from _spans(item, f"{path}[{index}]")
    else:
        yield path, (node.start_mark.index, node.end_mark.index)
