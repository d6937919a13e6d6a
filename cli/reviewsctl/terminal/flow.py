"""Values as YAML has them on one line."""

import math

import yaml  # takes 20 ms, so only commands with such lines import it


def flow(value: object) -> str:
    """A value of JSON; strings are quoted where YAML would take them for something else."""
    text: str = yaml.safe_dump(
        value, default_flow_style=True, allow_unicode=True, sort_keys=False, width=math.inf
    )
    return text.removesuffix("...\n").rstrip("\n")
