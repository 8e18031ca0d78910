"""A subset of YAML without its traps: mappings, lists, text, whole numbers, true and false.

YAML 1.1 reads `on` as True, 0123 as 83 and 12:30:45 as 45045, keeps the last of two equal keys, and unfolds an alias bomb.
All of that is refused with its line.
"""

import re

import yaml

from knowledge.domain.problems import FormatError, Problem

Value = "str | int | bool | list[Value] | Block"

TEXT = "tag:yaml.org,2002:str"
WHOLE = re.compile(r"0|-?[1-9][0-9]*")
MAX_DEPTH = 12


class Block(dict):
    """A mapping that knows on which line each of its keys stands."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: dict[str, int] = {}


def load(text: str, *, first_line: int = 1) -> Block:
    """The mapping that the text holds. `first_line` is the line of the file on which the text begins."""
    try:
        _refuse_references(text, first_line)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = first_line + (mark.line if mark else 0)
        raise FormatError(
            [Problem(line, f"not readable: {error.problem}. Quote the text or mend the brackets.")]
        ) from error
    except yaml.YAMLError as error:
        raise FormatError([Problem(first_line, f"not readable: {error}.")]) from error
    if not isinstance(node, yaml.MappingNode):
        raise FormatError([Problem(first_line, "a list of 'key: value' lines is expected here.")])
    return _block(node, first_line, 0)


def _refuse_references(text: str, first_line: int) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        line = first_line + (event.start_mark.line if event.start_mark else 0)
        # Deeper nesting than any SOP has would exhaust the stack of the composer.
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise FormatError([Problem(line, f"nested deeper than {MAX_DEPTH} levels.")])
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise FormatError(
                [Problem(line, "anchors and aliases (& and *) are not allowed; write the value out or quote it.")]
            )
        tag = getattr(event, "tag", None)
        if tag:
            raise FormatError([Problem(line, f"tags ({tag}) are not allowed; leave the '!' out or quote the text.")])


def _value(node: yaml.Node, first_line: int, depth: int) -> object:
    if isinstance(node, yaml.MappingNode):
        return _block(node, first_line, depth + 1)
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, first_line, depth + 1) for item in node.value]
    return _scalar(node, first_line)


def _block(node: yaml.MappingNode, first_line: int, depth: int) -> Block:
    block = Block()
    for key_node, value_node in node.value:
        line = first_line + key_node.start_mark.line
        if not isinstance(key_node, yaml.ScalarNode):
            raise FormatError([Problem(line, "a key must be a word.")])
        key = _scalar(key_node, first_line)
        if not isinstance(key, str):
            raise FormatError([Problem(line, f"the key {key_node.value} must be a word; put it in quotes.")])
        if key in block:
            raise FormatError([Problem(line, f"the key '{key}' stands here twice; keep one of them.")])
        block[key] = _value(value_node, first_line, depth)
        block.lines[key] = line
    return block


def _scalar(node: yaml.Node, first_line: int) -> str | int | bool:
    text, line = str(node.value), first_line + node.start_mark.line
    if getattr(node, "style", None) is not None or node.tag == TEXT:
        return text
    if WHOLE.fullmatch(text):
        return int(text)
    if text in {"true", "false"}:
        return text == "true"
    if text in {"", "~", "null"}:
        raise FormatError([Problem(line, "a value is missing; write one, or leave the key out.")])
    raise FormatError(
        [Problem(line, f'{text} is read differently by different programs; write "{text}" if you mean the text.')]
    )
