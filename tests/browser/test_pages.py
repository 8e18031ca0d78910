"""What only a browser can tell: live parts, dialogs, the thumb, the content security policy."""

import pytest
from django.utils import timezone

from incidents.actions import lifecycle
from tests.browser.scene import session_of
from tests.browser.shots import SHAPES, visit

pytestmark = [pytest.mark.browser, pytest.mark.enable_socket, pytest.mark.django_db(transaction=True)]
LIGHT, PHONE = SHAPES[0], next(shape for shape in SHAPES if shape.name == "phone")


@pytest.fixture
def look(chromium, live_server, scene):
    """Opens an address as the person on call; the page must not have complained when the test ends."""
    opened = []

    def open_page(path, shape=LIGHT, *, user=scene.mara):
        page, complaints = visit(chromium, live_server.url + path, shape, session=session_of(user))
        opened.append((page, complaints))
        return page

    yield open_page
    said = [line for _page, complaints in opened for line in complaints.lines]
    for page, _complaints in opened:
        page.context.close()
    # What Sickbay refuses is an answer of 400 or 409; the browser notes each in its console.
    assert [line for line in said if not line.endswith(("(Bad Request)", "(Conflict)"))] == []


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_every_page_keeps_the_policy_and_fits(look, scene, shape):
    incident = scene.off_bus
    run, evidence = incident.runs.first(), incident.evidence.first()
    for path in (
        "/",
        "/incidents/",
        "/incidents/new",
        incident.get_absolute_url(),
        scene.restored.get_absolute_url(),
        f"{scene.closed.get_absolute_url()}postmortem",
        f"/runs/{run.pk}/",
        f"/evidence/{evidence.pk}/",
        "/nodes/",
        f"/nodes/{incident.node_id}/",
        "/sops/",
        "/sops/gpu-off-bus/",
        "/faults/gpu.off_bus/",
        "/reports/",
        "/inbox/",
        "/profile",
    ):
        page = look(path, shape)
        assert page.locator("h1").count() == 1, path
        page.context.close()


def test_news_appears_without_a_reload_and_silence_costs_a_304(look, scene):
    page = look(scene.unanswered.get_absolute_url())
    statuses = []
    page.on("response", lambda answer: statuses.append(answer.status) if answer.url.endswith("/live") else None)
    page.wait_for_event("response", lambda answer: answer.url.endswith("/live") and answer.status == 304)
    assert page.locator("#live-head h1").is_visible()  # an empty answer has not emptied the page
    lifecycle.add_note(scene.unanswered, text="seen from afar", by=scene.mara, at=timezone.now())
    page.get_by_text("seen from afar").wait_for()
    assert page.locator("#live-timeline").count() == 1
    assert {200, 304} <= set(statuses)


def test_a_phone_acknowledges_with_one_tap_from_the_console_and_one_from_the_page(look, scene):
    page = look("/", PHONE)
    page.get_by_role("button", name="Acknowledge").first.tap()
    page.wait_for_url("**/incidents/*/")
    page = look(scene.unanswered.get_absolute_url(), PHONE)
    page.locator(".actions-phone").get_by_role("button", name="Acknowledge").tap()
    page.locator(".stepper [aria-current]", has_text="Acknowledged").wait_for()
    scene.unanswered.refresh_from_db()
    assert scene.unanswered.assignee == scene.mara


def test_what_is_refused_comes_back_in_its_dialog_with_what_was_typed(look, scene):
    page = look(scene.off_bus.get_absolute_url())
    page.get_by_role("button", name="More").first.click()
    page.get_by_role("button", name="Correct a clock").click()
    dialog = page.locator("dialog#clock")
    dialog.locator("[name=clock]").select_option("detected_at")
    dialog.locator("[name=to]").fill("2020-01-01 00:00:00")
    dialog.locator("[name=reason]").fill("read from the log")
    dialog.get_by_role("button", name="Correct the clock").click()
    again = page.locator("dialog#clock[open]")
    again.get_by_text("Nothing comes before the start of the impact").wait_for()
    assert again.locator("[name=reason]").input_value() == "read from the log"


def test_the_keyboard_goes_through_the_console(look, scene):
    page = look("/")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/incidents/*/")
    page.keyboard.press("g")
    page.keyboard.press("i")
    page.wait_for_url("**/incidents/")


def test_a_step_is_ticked_where_it_stands(look, scene):
    page = look(scene.off_bus.get_absolute_url())
    current = page.locator(".steps [aria-current]")
    before = current.locator("b").first.inner_text()
    current.get_by_role("button", name="Done").click()
    page.wait_for_url("**#checklist")
    assert page.locator(".steps [aria-current] b").first.inner_text() != before


def test_the_api_browser_draws_under_its_policy(look, scene):
    page = look("/api/")
    page.locator(".opblock-tag").first.wait_for()
    assert page.get_by_text("/api/v1/incidents", exact=True).count()
