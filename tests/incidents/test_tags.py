"""The marks of the pages say what they should, in both languages, whatever they are given."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
import time_machine
from django.template import Context, Template
from django.test import RequestFactory
from django.utils import translation

from incidents.domain.workflow import State
from incidents.templatetags import sickbay


def render(source: str, **context: object) -> str:
    return Template("{% load sickbay %}" + source).render(Context(context))


@pytest.mark.parametrize(
    ("length", "words"),
    [
        (timedelta(seconds=0), "0 s"),
        (timedelta(seconds=59, milliseconds=900), "59 s"),
        (timedelta(seconds=60), "1 min"),
        (timedelta(minutes=42), "42 min"),
        (timedelta(hours=3, minutes=17), "3 h 17"),
        (timedelta(hours=3, minutes=7), "3 h 07"),
        (timedelta(days=1, hours=2, minutes=59), "1 d 2 h"),
        (timedelta(minutes=-5), "−5 min"),
        (None, "–"),
    ],
)
def test_a_duration_shows_its_two_largest_units(length: timedelta | None, words: str) -> None:
    assert sickbay.duration(length) == words


@time_machine.travel(datetime(2026, 11, 30, 12, tzinfo=UTC), tick=False)
def test_a_time_is_shown_in_utc_and_with_its_date_only_on_other_days() -> None:
    beijing = timezone(timedelta(hours=8))
    assert ">01:31:40</time>" in sickbay.utc_time(datetime(2026, 11, 30, 9, 31, 40, tzinfo=beijing))
    assert ">2026-11-29 23:30:00</time>" in sickbay.utc_time(datetime(2026, 11, 30, 7, 30, tzinfo=beijing))
    assert sickbay.utc_time(None) == "–"


def test_every_state_has_a_word() -> None:
    assert set(sickbay.STATES) == set(State)


def test_a_mark_escapes_what_it_is_given() -> None:
    assert render("{% sev s %}", s="SEV2") == '<span class="sev" data-tier="2">SEV2</span>'
    assert "<b>" not in render("{% state s %}", s="<b>")
    assert '<use href="/static/icons.svg#probe"/>' in render('{% icon "probe" %}')


def test_a_fault_is_named_in_the_language_of_the_page_and_an_unknown_code_stays_itself() -> None:
    assert sickbay.fault_title("gpu.off_bus") == "GPU fallen off the bus"
    with translation.override("zh-hans"):
        assert sickbay.fault_title("gpu.off_bus") == "GPU 掉卡"
    assert sickbay.fault_title("no.such_fault") == "no.such_fault"


@pytest.mark.parametrize(
    ("name", "letters"),
    [("Asha Rao", "AR"), ("asha.rao", "AR"), ("ben", "B"), ("陈伟", "陈"), ("Ana María de Luz", "AL"), (" ", "?")],
)
def test_initials_fit_into_a_face(name: str, letters: str) -> None:
    assert sickbay.initials(name) == letters


def test_nobody_has_a_dashed_face() -> None:
    assert 'class="face none"' in sickbay.face(None)


def test_only_a_known_look_is_taken_from_a_cookie() -> None:
    request = RequestFactory().get("/")
    request.COOKIES = {"sickbay_theme": "dark", "sickbay_density": '"><script>'}
    assert render("<html{% look %}>", request=request) == '<html data-theme="dark">'
    assert render("<html{% look %}>") == "<html>"
