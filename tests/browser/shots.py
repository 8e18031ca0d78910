"""Pictures of the pages of a running Sickbay, for people to look at, beside what the browser complained of.

    python -m tests.browser.shots http://127.0.0.1:8000 --session KEY --out var/shots / /incidents/

Each path is taken light, dark, at 390 px and in Chinese. The command fails if a page breaks its content security
policy, writes an error to the console or scrolls sideways.
"""

import argparse
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, sync_playwright
from playwright.sync_api import TimeoutError as PlaywrightTimeout

FLAGS = ["--no-sandbox", "--disable-quic", "--disable-background-networking"]
# What stands beyond the right edge, as selectors, the outermost first.
TOO_WIDE = """() => [...document.querySelectorAll("body *")]
    .filter(found => found.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5).slice(0, 5)
    .map(found => [found.localName, ...found.classList].join("."))"""
SESSION, LANGUAGE = "sessionid", "django_language"


@dataclass(frozen=True)
class Shape:
    """How a page is looked at."""

    name: str
    width: int = 1440
    height: int = 900
    theme: str = "light"
    language: str = "en"


SHAPES = (
    Shape("light"),
    Shape("dark", theme="dark"),
    Shape("phone", width=390, height=844),
    Shape("zh", language="zh-hans"),
)


@dataclass
class Complaints:
    """What the browser said against a page."""

    lines: list[str] = field(default_factory=list)

    def listen(self, page: Page) -> None:
        page.on("console", lambda said: self.lines.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: self.lines.append(str(error)))


def chromium() -> str:
    """The browser of this machine; `SICKBAY_CHROMIUM` names another."""
    found = os.environ.get("SICKBAY_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not found:
        raise FileNotFoundError(
            "No Chromium was found. Install the package chromium or set SICKBAY_CHROMIUM to its path."
        )
    return found


@contextmanager
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        try:
            yield opened
        finally:
            opened.close()


def visit(opened: Browser, address: str, shape: Shape, *, session: str = "") -> tuple[Page, Complaints]:
    """A page of its own context, loaded and still."""
    context = opened.new_context(
        viewport={"width": shape.width, "height": shape.height},
        color_scheme="dark" if shape.theme == "dark" else "light",
        has_touch=shape.width < 640,
        is_mobile=shape.width < 640,
        timezone_id="Europe/Berlin",
        reduced_motion="reduce",
    )
    host = urlsplit(address)
    origin = f"{host.scheme}://{host.netloc}"
    cookies = {SESSION: session, LANGUAGE: shape.language}
    context.add_cookies([{"name": name, "value": value, "url": origin} for name, value in cookies.items() if value])
    page, complaints = context.new_page(), Complaints()
    complaints.listen(page)
    page.goto(address, wait_until="load")
    try:  # the first layouts of a loading page may be wider than the one it settles on
        page.wait_for_function(
            "document.documentElement.scrollWidth <= document.documentElement.clientWidth", timeout=5000
        )
    except PlaywrightTimeout:
        complaints.lines.append(f"{address} scrolls sideways, at: {', '.join(page.evaluate(TOO_WIDE))}")
    return page, complaints


def name_of(path: str, shape: Shape) -> str:
    words = "_".join(re.findall(r"[\w.-]+", path)) or "console"
    return f"{words}.{shape.name}.png"


def take(opened: Browser, base: str, path: str, shape: Shape, *, out: Path, session: str = "") -> list[str]:
    """One picture; the complaints, each with the page and the shape."""
    page, complaints = visit(opened, base.rstrip("/") + path, shape, session=session)
    page.screenshot(path=out / name_of(path, shape), full_page=shape.width >= 640)
    page.context.close()
    return [f"{path} ({shape.name}): {line}" for line in complaints.lines]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="shots", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("base", help="where Sickbay runs, such as http://127.0.0.1:8000")
    parser.add_argument("paths", nargs="+", help="paths of pages, such as /incidents/")
    parser.add_argument("--out", type=Path, default=Path("var/shots"))
    parser.add_argument("--session", default="", help="the session key of a person who is signed in")
    given = parser.parse_args(arguments)
    given.out.mkdir(parents=True, exist_ok=True)
    said: list[str] = []
    with browser() as opened:
        for path in given.paths:
            for shape in SHAPES:
                said += take(opened, given.base, path, shape, out=given.out, session=given.session)
    sys.stdout.write("".join(f"{line}\n" for line in said) or f"{given.out}: no complaints\n")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
