"""Every text of the pages is there in Chinese, says the same and reaches the reader."""

import re
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest
from babel.messages.pofile import read_po
from django.urls import reverse
from django.utils import translation

from diagnostics.probes import table
from incidents.actions import tiers
from incidents.domain import faults, severity
from incidents.domain.permissions import Role
from incidents.templatetags.stored import first_action, in_words

ROOT = Path(__file__).resolve().parents[2]
CATALOGUE = ROOT / "locale" / "zh_Hans" / "LC_MESSAGES" / "django.po"
FILLED_IN = re.compile(r"%\(\w+\)[\d.]*\w|\{\w*\}")
SAME_IN_CHINESE: set[str] = set()  # names of products and codes of two words and more; none so far
CHINESE = re.compile(r"[\u4e00-\u9fff]")
HALF_WIDTH = re.compile(r"[\u4e00-\u9fff][,;:?!]|[,;:?!][\u4e00-\u9fff]|[\u4e00-\u9fff]\.(?=$|\s)")
GLUED = re.compile(r"[\u4e00-\u9fff][A-Za-z0-9]|[A-Za-z0-9][\u4e00-\u9fff]")


def translated():
    with CATALOGUE.open("rb") as file:
        for message in read_po(file, locale="zh_Hans"):
            if message.id:
                text = message.id if isinstance(message.id, str) else message.id[-1]
                words = message.string if isinstance(message.string, str) else message.string[0]
                yield text, words


PAIRS = list(translated())


@pytest.fixture(scope="module")
def strings():
    """bin/strings as a module; it has no ending, so no import finds it."""
    loader = SourceFileLoader("strings", str(ROOT / "bin" / "strings"))
    module = module_from_spec(spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def test_the_catalogue_holds_every_text_and_no_other():
    check = subprocess.run(
        [sys.executable, "bin/strings", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert check.returncode == 0, f"Run bin/strings and translate:\n{check.stdout}{check.stderr}"


def test_the_file_is_as_the_command_writes_it(strings):
    wanted, catalogue = strings.template(), strings.read("zh_Hans")
    catalogue.update(wanted, no_fuzzy_matching=True)
    assert CATALOGUE.read_text() == strings.render(catalogue, strings.LANGUAGES["zh_Hans"])


def test_names_that_are_filled_in_are_the_same(strings):
    differing = [text for text, words in PAIRS if text and strings.placeholders(text) != strings.placeholders(words)]
    assert differing == []


def test_the_check_names_what_is_amiss(strings):
    wanted, have = strings.Catalog(locale="zh_Hans"), strings.Catalog(locale="zh_Hans")
    for text in ("kept", "new", "empty", "%(n)s of %(total)s"):
        wanted.add(text)
    for text, words in (("kept", "已保存"), ("empty", ""), ("gone", "没有了"), ("%(n)s of %(total)s", "%(n)s")):
        have.add(text, words)
    assert sorted(line.split(":")[0] for line in strings.problems(wanted, have)) == [
        "left over", "missing", "other placeholders", "untranslated",
    ]  # fmt: skip


def test_nothing_of_two_words_stayed_english():
    wordy = [(text, words) for text, words in PAIRS if len(re.findall(r"[A-Za-z]{2,}", FILLED_IN.sub("", text))) > 1]
    assert len(wordy) > 500
    assert {text for text, words in wordy if not CHINESE.search(words)} == SAME_IN_CHINESE


def test_chinese_sentences_have_chinese_punctuation():
    assert [words for _text, words in PAIRS if HALF_WIDTH.search(words)] == []


def test_a_space_stands_between_chinese_and_latin():
    bare = (re.sub(r"</?\w[^>]*>", " ", FILLED_IN.sub(" ", words)) for _text, words in PAIRS)
    assert [words for words in bare if GLUED.search(words)] == []


@pytest.mark.django_db
def test_a_browser_that_asks_for_chinese_gets_chinese(client):
    page = client.get(reverse("signin"), headers={"Accept-Language": "zh-CN,zh;q=0.9,en;q=0.5"})
    words = page.content.decode()
    assert '<html lang="zh-hans"' in words
    assert "用户名" in words
    assert "登录" in words
    assert "Sign in" not in words


@pytest.mark.django_db
def test_a_browser_that_asks_for_another_language_gets_english(client):
    page = client.get(reverse("signin"), headers={"Accept-Language": "fr"})
    assert "Sign in" in page.content.decode()


def test_numbers_choose_the_one_form_that_chinese_has():
    with translation.override("zh-hans"):
        words = {translation.ngettext("%(n)s alert", "%(n)s alerts", n) for n in (0, 1, 2, 11)}
    assert words == {"%(n)s 条告警"}


STORED = [
    *(rule.name for rule in severity.DEFAULT_RULES), severity.BY_FAULT, tiers.BY_PERSON,
    *(role.value for role in Role),
    *(fault.scope for fault in faults.all_faults()),
    *(probe.title for probe in table.PROBES.values()),
]  # fmt: skip


@pytest.mark.parametrize("text", sorted(set(STORED)))
def test_what_rows_hold_in_english_is_said_in_chinese(text):
    assert dict(PAIRS).get(text), f"{text!r} is not marked where rows are put into words"


def test_the_advice_of_a_driver_stays_as_the_driver_gave_it():
    with translation.override("zh-hans"):
        said = first_action(f"Node Reboot Required; {faults.get('gpu.off_bus').first_action}", "gpu.off_bus")
        unknown = first_action("look twice", "gpu.never_heard_of")
    assert said == "Node Reboot Required; 排空并冷重启；复发则更换 GPU"
    assert unknown == "look twice"


def test_a_sentence_that_nobody_translated_is_shown_as_it_was_stored():
    with translation.override("zh-hans"):
        assert in_words("Rule of a site: no pager on Sundays") == "Rule of a site: no pager on Sundays"
        assert in_words("") == ""


def test_the_pages_of_the_faults_say_what_the_catalogue_says():
    check = subprocess.run(
        [sys.executable, "bin/fault-pages", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert check.returncode == 0, check.stdout + check.stderr
