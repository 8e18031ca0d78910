import pytest

from config.env import running_url


@pytest.mark.parametrize(
    ("noted", "found"), [("4711 http://localhost:8941/\n", "http://localhost:8941/"), ("4711", ""), ("", "")]
)
def test_the_address_of_the_running_sickbay_is_the_one_that_its_supervisor_noted(noted, found, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "supervisor.lock").write_text(noted)
    assert running_url(tmp_path) == found


def test_where_none_has_run_there_is_no_address(tmp_path):
    assert running_url(tmp_path) == ""
