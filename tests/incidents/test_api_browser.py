import pytest

pytestmark = pytest.mark.django_db
URL = "/api/"


def policy(answer):
    return answer["Content-Security-Policy"]


def test_the_api_browser_alone_may_have_inline_styles(client, asha):
    client.force_login(asha)
    browser, console = client.get(URL), client.get("/")
    assert browser.status_code == 200
    assert "style-src 'self' 'unsafe-inline'" in policy(browser)
    assert "unsafe" not in policy(console)
    assert "script-src 'self'" in policy(browser)
    assert "unsafe" not in policy(browser).partition("script-src")[2].partition(";")[0]


def test_its_script_is_a_file_of_its_own(client, asha):
    client.force_login(asha)
    script = client.get(URL + "?script=")
    assert script.status_code == 200
    assert "javascript" in script["Content-Type"]


def test_who_is_not_signed_in_is_sent_to_sign_in(client):
    answer = client.get(URL)
    assert (answer.status_code, answer["Location"]) == (302, f"/signin?next={URL}")


def test_the_schema_is_given_to_who_is_signed_in_only(client, asha):
    assert client.get("/api/schema").status_code == 401
    client.force_login(asha)
    assert client.get("/api/schema").status_code == 200
