import pytest

from incidents.domain import pci


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("0000:3b:00.0", "0000:3b:00.0"),
        ("00000000:3B:00.0", "0000:3b:00.0"),
        ("PCI:0000:3b:00", "0000:3b:00.0"),
        ("pci/0000:82:00.1", "0000:82:00.1"),
        ("3b:00.0", "0000:3b:00.0"),
        ("10000:e1:00.0", "10000:e1:00.0"),  # behind a VMD controller
        ("00010001:E1:00.0", "10001:e1:00.0"),
        ("000a:11:00.0", "000a:11:00.0"),
        ("0000:3b:00.0: link is down", "0000:3b:00.0"),
        ("12:34:56", None),  # a time of day
        ("00:1a:2b:3c:4d:5e", None),  # an Ethernet address
        ("nvme0", None),
        ("", None),
    ],
)
def test_an_address_has_one_spelling(written: str, normal: str | None):
    assert pci.normal(written) == normal


def test_every_function_of_a_board_is_the_board():
    assert pci.normal("0000:3b:00.1", board=True) == "0000:3b:00.0"
