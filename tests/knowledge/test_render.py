from html.parser import HTMLParser

import pytest

from knowledge.domain import render
from knowledge.domain.diff import by_line, hunks
from knowledge.domain.steps import fill

VECTORS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<iframe src='javascript:alert(1)'></iframe>",
    "<a href='javascript:alert(1)'>x</a>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](vbscript:msgbox(1))",
    "![x](https://evil.example/pixel.png)",
    '[x](https://ok.example "onmouseover=alert(1)")',
    "<div hx-get='/admin' hx-trigger='load'>x</div>",
    "<p id=main class=note style='position:fixed'>x</p>",
    "<form action=https://evil.example><input name=password></form>",
    "<base href='https://evil.example/'>",
    "<style>body{display:none}</style>",
    '```html" onclick=alert(1)\n<script>alert(1)</script>\n```',
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "[x]: javascript:alert(1)\n\n[x]",
    "<details open ontoggle=alert(1)>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
]


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict]] = []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))


def tags_of(text: str) -> list[tuple[str, dict]]:
    parser = Tags()
    parser.feed(render.html(text))
    return parser.seen


@pytest.mark.parametrize("vector", VECTORS)
def test_nothing_that_acts_comes_through(vector):
    for tag, attributes in tags_of(vector):
        assert tag in render.TAGS
        assert set(attributes) <= {"href", "title", "rel", "start"}
        assert attributes.get("href", "https:").startswith(("https:", "http:", "mailto:", "/", "#"))


def test_raw_html_is_shown_as_text():
    assert "&lt;script&gt;" in render.html("<script>x</script>")


def test_words_stand_in_for_an_image():
    assert render.html("![a fan](https://evil.example/x.png)").strip() == "<p>a fan</p>"


def test_tables_lists_and_code_stay():
    text = "| a | b |\n|---|---|\n| 1 | 2 |\n\n- one\n- **two**\n\n```sh\nls -l | wc\n```"
    assert {tag for tag, _ in tags_of(text)} >= {"table", "td", "li", "strong", "pre", "code"}


def test_a_value_is_put_in_only_if_it_is_a_plain_word():
    values = {"node.name": "gpu-r03-n05", "gpu.pci": "0000:91:00.0", "evil": "x`; rm -rf / #"}
    assert fill("ssh {{ node.name }} {{ gpu.pci }}", values) == "ssh gpu-r03-n05 0000:91:00.0"
    assert fill("{{ evil }} {{ nobody }}", values) == "<evil> <nobody>"
    assert fill("{{node.name}} {{ 1+1 }}", values) == "{{node.name}} {{ 1+1 }}"


def test_a_diff_counts_lines_on_both_sides():
    lines = by_line("a\nb\nc\n", "a\nB\nc\nd\n")
    assert [(line.kind, line.before, line.after, line.text) for line in lines] == [
        ("same", 1, 1, "a"),
        ("removed", 2, None, "b"),
        ("added", None, 2, "B"),
        ("same", 3, 3, "c"),
        ("added", None, 4, "d"),
    ]


def test_far_changes_are_hunks_of_their_own():
    before = [str(number) for number in range(40)]
    after = [*before[:5], "x", *before[6:30], "y", *before[31:]]
    groups = hunks(by_line("\n".join(before), "\n".join(after)))
    assert [len(group) for group in groups] == [8, 8]
    assert hunks(by_line("a", "a")) == ()
