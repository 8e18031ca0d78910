"""Charts are well-formed SVG with words on every mark, also when there is little or nothing to draw."""

from xml.etree import ElementTree

import pytest

from incidents.domain import charts
from incidents.domain.charts import Mark

MARKS = [
    Mark("GPU <off> bus", 5, href="/incidents/?fault=gpu.off_bus&month=11"),
    Mark("ECC", 2),
    Mark("others", 9, kind="rest"),
]
DRAWN = {
    "sparkline": charts.sparkline([3, 1, 2], label="trend", target=0),
    "histogram": charts.histogram([MARKS, []], label="signals", ticks_x=[(0, "00"), (1, "now")]),
    "bars": charts.bars(MARKS, label="faults"),
    "stacked": charts.stacked_bars([("Oct", MARKS), ("Nov", MARKS)], label="months"),
    "pareto": charts.pareto(MARKS, label="downtime", share_label="running share"),
    "lines": charts.line_band([(0, 1, 1, 1), (1, 0.5, 0.4, 0.6)], label="survival", ticks_x=[], step=True),
    "strip": charts.heat_strip([Mark("1 Nov", 0, kind="bad")], label="days", stretch=True),
}
SPARSE = {
    "sparkline of nothing": charts.sparkline([], label="x"),
    "sparkline of one": charts.sparkline([4], label="x"),
    "histogram of nothing": charts.histogram([], label="x", ticks_x=[]),
    "histogram of zeros": charts.histogram([[Mark("a", 0)]], label="x", ticks_x=[]),
    "bars of nothing": charts.bars([], label="x"),
    "stacked bars of nothing": charts.stacked_bars([], label="x"),
    "stacked bars of zeros": charts.stacked_bars([("Nov", [Mark("a", 0)])], label="x"),
    "pareto of nothing": charts.pareto([], label="x", share_label="share"),
    "pareto of zeros": charts.pareto([Mark("a", 0)], label="x", share_label="share"),
    "line of nothing": charts.line_band([], label="x", ticks_x=[]),
    "flat line": charts.line_band([(0, 2, 2, 2), (1, 2, 2, 2)], label="x", ticks_x=[]),
    "strip of nothing": charts.heat_strip([], label="x"),
}


@pytest.mark.parametrize("markup", [*DRAWN.values(), *SPARSE.values()], ids=[*DRAWN, *SPARSE])
def test_a_chart_is_well_formed_and_has_a_name(markup: str) -> None:
    root = ElementTree.fromstring(markup)
    assert root.get("aria-label")
    assert "nan" not in markup
    assert "style=" not in markup


def test_a_mark_says_its_number_and_leads_to_its_rows() -> None:
    assert "<title>GPU &lt;off&gt; bus: 5</title>" in DRAWN["bars"]
    assert 'href="/incidents/?fault=gpu.off_bus&amp;month=11"' in DRAWN["bars"]


def test_the_rest_stays_last_in_a_pareto_and_is_never_hot() -> None:
    assert DRAWN["pareto"].index("ECC") < DRAWN["pareto"].index("others")
    assert DRAWN["pareto"].count("bar hot") == 2


def test_nothing_is_drawn_for_none() -> None:
    assert 'width="0.0"' in charts.bars([Mark("a", 0)], label="x")


@pytest.mark.parametrize(("low", "high"), [(0, 0), (0, 7), (0, 1e6), (0.2, 0.9), (5, 5), (0, 1e-9), (0, 3.0000000001)])
def test_ticks_cover_the_data_in_round_steps(low: float, high: float) -> None:
    ticks = charts.nice_ticks(low, high)
    assert len(ticks) >= 2
    assert ticks[0] <= low
    assert ticks[-1] >= high - 1e-9
