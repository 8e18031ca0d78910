"""Charts as inline SVG: values in, markup out. Standard library only; no Django, no clock.

Every mark carries a <title> (the number in words) and, where a link is given, an <a href> to the rows behind it.
Colours come from charts.css through class names, so a chart follows the theme and prints.

A chart is drawn at its own pixel size (1 unit = 1 px) and then follows the width of its panel.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10


@dataclass(frozen=True)
class Mark:
    """One value of a chart: what it is called, how much, where its rows are."""

    label: str
    value: float
    href: str = ""
    title: str = ""
    kind: str = ""  # class name: sev1..sev4, ok, warn, bad, out, unknown, hot

    @property
    def words(self) -> str:
        return self.title or f"{self.label}: {number(self.value)}"


@dataclass(frozen=True)
class Plot:
    """The drawing area: the size, less room for the axes."""

    width: int
    height: int
    left: int = 36
    right: int = 8
    top: int = 8
    bottom: int = 20

    @property
    def x1(self) -> int:
        return self.width - self.right

    @property
    def y1(self) -> int:
        return self.height - self.bottom

    def x(self, share: float) -> float:
        return round(self.left + share * (self.x1 - self.left), 1)

    def y(self, share: float) -> float:
        return round(self.y1 - share * (self.y1 - self.top), 1)


# --- small parts -------------------------------------------------------------------------------------------------


def number(value: float, digits: int | None = None) -> str:
    if digits is None:
        digits = 0 if abs(value) >= 100 or value == int(value) else 1
    return f"{value:,.{digits}f}"


def digits_of(ticks: list[float]) -> int:
    """As many decimals as the finest tick needs, so that an axis never shows one number twice."""
    return max(len(f"{tick:.6f}".rstrip("0").split(".")[1]) for tick in ticks)


def nice_ticks(low: float, high: float, wanted: int = 4) -> list[float]:
    """Round numbers that cover low..high in about `wanted` steps."""
    span = (high - low) or 1.0
    power = 10 ** floor(log10(span / wanted))
    step = next((m * power for m in (1, 2, 5) if span / (m * power) <= wanted), 10 * power)
    first, last = floor(low / step), ceil(high / step)
    last = max(last, first + 1)  # an axis of one tick has no length: nothing but zeros would divide by zero
    return [round(i * step, 10) for i in range(first, last + 1)]


def svg(width: int, height: int, body: list[str], *, label: str, kind: str) -> str:
    return (
        f'<svg class="chart {kind}" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="{escape(label)}">' + "".join(body) + "</svg>"
    )


def linked(shape: str, mark: Mark) -> str:
    inner = f"<g><title>{escape(mark.words)}</title>{shape}</g>"
    return f'<a href="{escape(mark.href)}">{inner}</a>' if mark.href else inner


def rect(x: float, y: float, w: float, h: float, kind: str, r: float = 1) -> str:
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{max(w, 0):.1f}" height="{max(h, 0):.1f}" rx="{r}"/>'


def text(x: float, y: float, words: str, anchor: str = "start", kind: str = "") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def path(points: list[tuple[float, float]], kind: str, *, close: bool = False) -> str:
    steps = " ".join(f"{'ML'[i > 0]}{x:.1f} {y:.1f}" for i, (x, y) in enumerate(points))
    return f'<path class="{kind}" d="{steps}{"Z" if close else ""}"/>'


def y_axis(plot: Plot, ticks: list[float], unit: str = "") -> list[str]:
    low, high, digits = ticks[0], ticks[-1], digits_of(ticks)
    out = []
    for tick in ticks:
        y = plot.y((tick - low) / (high - low))
        out.append(f'<line class="grid" x1="{plot.left}" x2="{plot.x1}" y1="{y}" y2="{y}"/>')
        out.append(text(plot.left - 6, y + 4, f"{number(tick, digits)}{unit}", "end"))
    return out


def x_labels(plot: Plot, labels: list[tuple[float, str]]) -> list[str]:
    def anchor(share: float) -> str:
        return "start" if share <= 0.02 else "end" if share >= 0.98 else "middle"

    return [text(plot.x(share), plot.height - 4, words, anchor(share)) for share, words in labels]


# --- charts ------------------------------------------------------------------------------------------------------


def sparkline(
    values: list[float], *, label: str, width: int = 120, height: int = 28, target: float | None = None
) -> str:
    """A trend with no axes; the last value is dotted, the target a dashed line."""
    if not values:
        return svg(width, height, [], label=label, kind="spark")
    seen = values if target is None else [*values, target]
    low, high = min(seen), max(seen)
    plot = Plot(width, height, left=2, right=4, top=4, bottom=4)
    at = [(plot.x(i / max(len(values) - 1, 1)), plot.y((v - low) / ((high - low) or 1))) for i, v in enumerate(values)]
    body = []
    if target is not None:
        y = plot.y((target - low) / ((high - low) or 1))
        body.append(f'<line class="target" x1="{plot.left}" x2="{plot.x1}" y1="{y}" y2="{y}"/>')
    body += [path(at, "line"), f'<circle class="dot" cx="{at[-1][0]}" cy="{at[-1][1]}" r="2.5"/>']
    return svg(width, height, body, label=label, kind="spark")


def histogram(
    bins: list[list[Mark]], *, label: str, ticks_x: list[tuple[float, str]], width: int = 560, height: int = 96
) -> str:
    """Counts over time; each bin is a stack of marks, most severe at the bottom."""
    plot = Plot(width, height, left=26)
    ticks = nice_ticks(0, max((sum(m.value for m in b) for b in bins), default=0), 3)
    step = (plot.x1 - plot.left) / max(len(bins), 1)
    body = y_axis(plot, ticks)
    for i, marks in enumerate(bins):
        base = 0.0
        for mark in marks:
            if mark.value:
                top, bottom = plot.y((base + mark.value) / ticks[-1]), plot.y(base / ticks[-1])
                body.append(
                    linked(
                        rect(plot.left + i * step + 1, top + 0.5, step - 2, bottom - top - 0.5, f"bar {mark.kind}"),
                        mark,
                    )
                )
                base += mark.value
    return svg(width, height, body + x_labels(plot, ticks_x), label=label, kind="histogram")


def bars(marks: list[Mark], *, label: str, width: int = 420, unit: str = "", name_width: int = 160) -> str:
    """Horizontal bars with their names on the left and their numbers on the right."""
    high = max((m.value for m in marks), default=0) or 1
    room = width - name_width - 56
    body = []
    for i, mark in enumerate(marks):
        y = i * 24
        w = max(room * mark.value / high, 2) if mark.value else 0  # nothing is drawn for none
        body.append(text(0, y + 16, mark.label, kind="name"))
        body.append(linked(rect(name_width, y + 6, w, 12, f"bar {mark.kind}", 2), mark))
        body.append(text(name_width + w + 6, y + 16, number(mark.value) + unit, kind="value"))
    return svg(width, 24 * len(marks), body, label=label, kind="bars")


def stacked_bars(
    columns: list[tuple[str, list[Mark]]], *, label: str, width: int = 560, height: int = 160, unit: str = ""
) -> str:
    """Columns over months or weeks, each a stack."""
    plot = Plot(width, height)
    ticks = nice_ticks(0, max((sum(m.value for m in marks) for _, marks in columns), default=0))
    step = (plot.x1 - plot.left) / max(len(columns), 1)
    body = y_axis(plot, ticks, unit)
    for i, (name, marks) in enumerate(columns):
        base, x = 0.0, plot.left + i * step
        for mark in marks:
            top, bottom = plot.y((base + mark.value) / ticks[-1]), plot.y(base / ticks[-1])
            body.append(linked(rect(x + step * 0.2, top, step * 0.6, bottom - top - 1, f"bar {mark.kind}"), mark))
            base += mark.value
        body.append(text(x + step / 2, plot.height - 4, name, "middle"))
    return svg(width, height, body, label=label, kind="stacked")


def pareto(
    marks: list[Mark],
    *,
    label: str,
    share_label: str,
    width: int = 460,
    unit: str = "",
    name_width: int = 178,
    cut: float = 0.8,
) -> str:
    """Bars in falling order with their running share; the bars that make up `cut` of the whole are the hot ones.

    `share_label` heads the column of running shares.
    A mark of kind "rest" (all the others together) stays last and is never hot.
    """
    marks = sorted(marks, key=lambda m: (m.kind == "rest", -m.value))
    total = sum(m.value for m in marks) or 1
    high = max((m.value for m in marks), default=0) or 1
    room, run, body = width - name_width - 150, 0.0, []
    body.append(text(width, 10, share_label, "end", "head"))
    for i, mark in enumerate(marks):
        y = 16 + i * 24
        hot = "soft" if mark.kind == "rest" else "hot" if run / total < cut else ""
        run += mark.value
        w = max(room * mark.value / high, 2) if mark.value else 0  # nothing is drawn for none
        body.append(text(0, y + 16, mark.label, kind="name"))
        body.append(linked(rect(name_width, y + 5, w, 14, f"bar {hot}", 2), mark))
        body.append(text(name_width + w + 6, y + 16, number(mark.value) + unit, kind="value"))
        body.append(
            rect(width - 84, y + 10, 44, 4, "track", 2) + rect(width - 84, y + 10, 44 * run / total, 4, "run", 2)
        )
        body.append(text(width, y + 16, f"{100 * run / total:.0f} %", "end", "value"))
    return svg(width, 16 + 24 * len(marks), body, label=label, kind="pareto")


def line_band(
    points: list[tuple[float, float, float, float]],
    *,
    label: str,
    ticks_x: list[tuple[float, str]],
    width: int = 420,
    height: int = 150,
    unit: str = "",
    step: bool = False,
    href: str = "",
    low: float | None = None,
    high: float | None = None,
    flags: Sequence[tuple[float, str, str]] = (),
    reference: tuple[float, str] | None = None,
) -> str:
    """A line with its confidence band: points are (x share, value, lower, upper); step=True draws a survival curve.

    flags are (x share, words, kind) drawn as dashed verticals; reference is one dashed horizontal with its name.
    """
    plot = Plot(width, height, top=18 if flags else 8)
    if not points:
        return svg(width, height, x_labels(plot, ticks_x), label=label, kind="lines")
    lows, highs = [p[2] for p in points], [p[3] for p in points]
    ticks = nice_ticks(min(lows) if low is None else low, max(highs) if high is None else high)

    def at(x: float, value: float) -> tuple[float, float]:
        return plot.x(x), plot.y((value - ticks[0]) / (ticks[-1] - ticks[0]))

    def trace(column: int) -> list[tuple[float, float]]:
        out: list[tuple[float, float]] = []
        for point in points:
            xy = at(point[0], point[column])
            if step and out:
                out.append((xy[0], out[-1][1]))
            out.append(xy)
        return out

    body = y_axis(plot, ticks, unit)
    if lows != highs:
        body.append(path(trace(3) + trace(2)[::-1], "band", close=True))
    if reference:
        y = at(0, reference[0])[1]
        body.append(f'<line class="target" x1="{plot.left}" x2="{plot.x1}" y1="{y}" y2="{y}"/>')
        body.append(text(plot.x1, y - 4, reference[1], "end", "head"))
    body.append(linked(path(trace(1), "line"), Mark(label, points[-1][1], href, label)))
    for i, (share, words, kind) in enumerate(flags):
        x = plot.x(share)
        body.append(
            f'<line class="flag {kind}" x1="{x}" x2="{x}" y1="{plot.top}" y2="{plot.y1}">'
            f"<title>{escape(words)}</title></line>"
        )
        crowded = share > 0.7 or (i + 1 < len(flags) and flags[i + 1][0] - share < 0.5)
        side = ("end", -3) if crowded else ("start", 3)
        body.append(text(x + side[1], 11, words, side[0], f"flagname {kind}"))
    return svg(width, height, body + x_labels(plot, ticks_x), label=label, kind="lines")


def heat_strip(marks: list[Mark], *, label: str, width: int = 360, height: int = 20, stretch: bool = False) -> str:
    """One cell a day. A worse state is also a taller cell, so it reads without colour.

    stretch: the strip follows the width of its panel and keeps its height.
    """
    tall = {"ok": 0.45, "unknown": 0.45, "out": 0.65, "warn": 0.8, "bad": 1.0}
    step = width / max(len(marks), 1)
    body = []
    for i, mark in enumerate(marks):
        h = height * tall.get(mark.kind, 0.45)
        body.append(linked(rect(i * step, height - h, step - 1, h, f"cell {mark.kind}", 0.5), mark))
    out = svg(width, height, body, label=label, kind="strip band" if stretch else "strip")
    return out.replace("<svg ", '<svg preserveAspectRatio="none" ', 1) if stretch else out
