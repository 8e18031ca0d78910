"""Markdown -> HTML that is safe to put on a page: raw HTML is text, and what is left passes an allow-list."""

from functools import lru_cache

import nh3
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml

TAGS = {
    "a", "blockquote", "br", "code", "em", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s", "strong",
    "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
SCHEMES = {"http", "https", "mailto"}


@lru_cache(maxsize=1)
def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"])
    # An image from outside would tell its server who reads what, and when: its words stand in for it.
    markdown.add_render_rule("image", lambda self, tokens, index, options, env: escapeHtml(tokens[index].content))
    return markdown


def html(text: str) -> str:
    """The HTML of a piece of Markdown: no scripts, styles, classes, ids, hx-*, images or odd links."""
    return nh3.clean(
        _markdown().render(text),
        tags=TAGS,
        attributes=ATTRIBUTES,
        url_schemes=SCHEMES,
        link_rel="noopener noreferrer nofollow",
    )
