"""Templates and static files keep the strict content security policy and the one table of colours."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
# Mail programs know no style sheets, so that an e-mail carries its styles in itself.
PAGES = [path for path in TEMPLATES if "emails" not in path.parts]
STYLES = sorted((ROOT / "static" / "css").rglob("*.css"))
SCRIPTS = sorted((ROOT / "static" / "js").rglob("*.js"))
DRAWINGS = sorted((ROOT / "static").glob("*.svg"))

FORBIDDEN = {
    "a style attribute": re.compile(r"\sstyle\s*=", re.IGNORECASE),
    "a style element": re.compile(r"<style\b", re.IGNORECASE),
    "a script with text": re.compile(r"<script\b(?![^>]*\bsrc=)[^>]*>", re.IGNORECASE),
    "an event attribute": re.compile(r"<[^>]*\son[a-z]+\s*=", re.IGNORECASE),
    "an hx-on attribute": re.compile(r"\shx-on\b", re.IGNORECASE),
    "a value that is evaluated": re.compile(r"=\s*[\"']\s*(?:js|javascript):", re.IGNORECASE),
    "an asset of another host": re.compile(r"<(?:script|link|img|use|iframe)\b[^>]*(?:https?:)?//", re.IGNORECASE),
}
COLOUR = re.compile(r"(?<![\w&-])#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})(?![\w-])", re.IGNORECASE)
FETCHED = re.compile(r"(?:url\(|@import|from\s+|import\()\s*[\"']?(?:https?:)?//", re.IGNORECASE)
ICON = re.compile(r"""{%\s*icon\s+["']([\w-]+)["']""")
ICON_ARGUMENT = re.compile(r"""\bicon=["']([\w-]+)["']""")


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def faults_of(markup: str) -> list[str]:
    return [what for what, pattern in FORBIDDEN.items() if pattern.search(markup)]


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_a_template_has_nothing_that_the_policy_would_block(path: Path) -> None:
    assert faults_of(path.read_text()) == []


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_a_template_writes_no_raw_colour(path: Path) -> None:
    assert COLOUR.findall(path.read_text()) == []


@pytest.mark.parametrize("path", [p for p in STYLES if p.name != "tokens.css"] + SCRIPTS + DRAWINGS, ids=name)
def test_only_the_tokens_write_raw_colours(path: Path) -> None:
    assert COLOUR.findall(path.read_text()) == []


@pytest.mark.parametrize("path", STYLES + SCRIPTS, ids=name)
def test_a_static_file_fetches_nothing_from_another_host(path: Path) -> None:
    assert FETCHED.findall(path.read_text()) == []


@pytest.mark.parametrize("path", SCRIPTS, ids=name)
def test_a_script_sets_no_style_and_evaluates_nothing(path: Path) -> None:
    assert re.findall(r"\.style\b|\beval\(|new Function\(|innerHTML|document\.write", path.read_text()) == []


def test_every_style_file_is_linked_in_the_order_of_the_layers() -> None:
    linked = re.findall(r'static "(css/[^"]+)"', (ROOT / "templates/_parts/styles.html").read_text())
    first = ["css/tokens.css", "css/base.css", "css/layout.css"]
    assert linked[:3] == first
    assert linked[-2:] == ["css/charts.css", "css/print.css"]
    assert sorted(linked) == sorted(str(path.relative_to(ROOT / "static")) for path in STYLES)


def test_every_icon_that_a_template_names_is_in_the_sprite() -> None:
    drawn = set(re.findall(r'<symbol id="([\w-]+)"', (ROOT / "static/icons.svg").read_text()))
    named = {
        icon
        for path in TEMPLATES
        for icon in (ICON.findall(path.read_text()) + ICON_ARGUMENT.findall(path.read_text()))
    }
    assert "probe" in drawn
    assert named - drawn == set()


@pytest.mark.parametrize(
    ("markup", "what"),
    [
        ('<p style="color: red">', "a style attribute"),
        ("<style>p {}</style>", "a style element"),
        ("<script>go()</script>", "a script with text"),
        ('<a href="/" onclick="go()">', "an event attribute"),
        ('<a hx-on:click="go()">', "an hx-on attribute"),
        ('<a hx-vals="js:{a: 1}">', "a value that is evaluated"),
        ('<script src="https://cdn.example/htmx.js"></script>', "an asset of another host"),
        ('<link rel="stylesheet" href="//cdn.example/a.css">', "an asset of another host"),
    ],
)
def test_the_scan_sees_what_it_is_there_for(markup: str, what: str) -> None:
    assert what in faults_of(markup)


def test_the_scan_lets_plain_markup_pass() -> None:
    assert faults_of('<form action="/on/" data-on="x"><script src="/static/js/keys.js" defer></script></form>') == []
    assert COLOUR.findall('<a href="#face-off">&#1234; <a href="#keys">') == []
    assert COLOUR.findall("color: #fff; fill: #12abEF") == ["#fff", "#12abEF"]
