"""What the engine says of a finding, it says in Chinese too."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from diagnostics.engine import catalog
from diagnostics.engine.catalog import phrases, tools

ENGINE = Path(catalog.__file__).parent.parent
SAID = {"detail", "unread", "reason"}
SAYING = {"Check", "cannot", "_end", "_refuse", "Detected"}


def sentences() -> Iterator[str]:
    """Every text that stands in the code for a detail or for what could not be checked, its values as 7."""
    for path in sorted(ENGINE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.keyword | ast.Assign) and SAID.intersection(named(node)):
                yield from texts(node.value)
            elif isinstance(node, ast.Call) and called(node) in SAYING and node.args:
                yield from texts(node.args[-1])
    for tool in tools.tools():
        yield from (re.sub(r"\{\w+\}", "7", rule.detail) for rule in tool.rules)


def named(node: ast.keyword | ast.Assign) -> list[str]:
    if isinstance(node, ast.keyword):
        return [node.arg or ""]
    return [one.id for one in node.targets if isinstance(one, ast.Name)]


def called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def texts(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.IfExp):
        yield from texts(node.body)
        yield from texts(node.orelse)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        text = "".join(str(part.value) if isinstance(part, ast.Constant) else "7" for part in node.values)
        yield text


def test_the_engine_says_something():
    assert len(list(sentences())) > 80


# Names, units and words of the device are the same in both languages.
_WORDS = re.compile(r"[A-Za-z]{3,}")
_SAME = re.compile(r"7|clean|Bank 7|X?id 7: 7|S?Xid 7: 7|7 [GM]b/s|x7")


@pytest.mark.parametrize(
    "sentence", sorted({one for one in sentences() if _WORDS.search(one) and not _SAME.fullmatch(one)})
)
def test_a_sentence_of_the_engine_is_told_in_chinese(sentence: str):
    assert re.search("[\u4e00-\u9fff]", phrases.in_chinese(sentence))


def test_values_stay_and_foreign_words_stay():
    assert phrases.in_chinese("7 of 8 GPUs are there; Xid 79: GPU has fallen off the bus") == (
        "应有 8 块 GPU，现有 7 块; Xid 79: GPU has fallen off the bus"
    )


def test_the_name_of_what_was_looked_at_is_turned_by_itself():
    assert phrases.in_chinese("system log (kern.log): the input is empty; left out as no text: core.bin") == (
        "system log (kern.log): 输入为空; 非文本文件未保留：core.bin"
    )
