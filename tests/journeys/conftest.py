import pytest

from tests.journeys.running import Sickbay


@pytest.fixture(autouse=True)
def sockets_are_needed(socket_enabled):
    """A journey goes over real sockets."""


@pytest.fixture(scope="module")
def sickbay(tmp_path_factory):
    """One running program for the tests of a file."""
    program = Sickbay(tmp_path_factory.mktemp("sickbay") / "data")
    program.start()
    program.wait_for_all_parts()
    yield program
    program.end()


@pytest.fixture
def own_sickbay(tmp_path):
    """A program of its own, for a test that maltreats it."""
    program = Sickbay(tmp_path / "data")
    program.start()
    program.wait_for_all_parts()
    yield program
    program.end()
