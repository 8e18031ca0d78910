"""What drivers, switches and small tools print of links and adapters: the sick are named, a port that comes up at boot is silent."""

import pytest

from .helpers import assert_finds, assert_quiet

JOURNAL = "Mar  3 10:{0} n7 kernel: igc 0000:65:00.0 eth4: NIC Link is {1}\n"
DEVICES = "    device          \t   node GUID\n    ------          \t----------------\n"
PORT_INFO = (
    "CA PortInfo:\n# Port info: Lid 9 port {port}\nLinkState:.......................{state}\n"
    "PhysLinkState:...................{physical}\nLinkWidthSupported:..............1X or 4X\n"
    "LinkWidthActive:.................{width}\n"
)
BOND = (
    "Ethernet Channel Bonding Driver: v5.15.0\n\nBonding Mode: IEEE 802.3ad Dynamic link aggregation\nMII Status: up\n\n"
    "Slave Interface: ens3f0np0\nMII Status: {}\nSpeed: 25000 Mbps\n\nSlave Interface: ens3f1np1\nMII Status: up\n"
)
WELL_INFO = {"port": 1, "state": "Active", "physical": "LinkUp", "width": "4X"}


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("e1000e: eth3 NIC Link is Down", "eth3"),
        ("igb 0000:02:00.1 eth3: igb: eth3 NIC Link is Down", "0000:02:00.1"),
        ("bnx2 0000:02:00.0 eth3: NIC Copper Link is Down", "0000:02:00.0"),
        ("qede 0000:41:00.1: [qede_link_update:2280(ens2f1)]Link is down", "0000:41:00.1"),
        ("tg3 0000:03:00.0 eth3: Link is down", "0000:03:00.0"),
        ("r8169 0000:04:00.0 eth3: Link is Down", "0000:04:00.0"),
        ("cxgb4 0000:05:00.4 eth3: link down", "0000:05:00.4"),
        ("vmxnet3 0000:0b:00.0 ens192: NIC Link is Down", "0000:0b:00.0"),
        ("atlantic 0000:06:00.0 eth3: atlantic: link change old 10000 new 0", "0000:06:00.0"),
    ],
)
def test_every_driver_has_its_words_for_a_link_that_went_down(line: str, part: str):
    assert assert_finds("fabric.link_down", f"[ 8123.500100] {line}\n").component == part
    assert_quiet(f"[   14.500100] {line}\n")


def test_a_port_that_was_just_probed_and_never_came_up():
    probed = "Mar  3 10:00:01 n7 kernel: tg3 0000:03:00.0 eno1: renamed from eth0\n"
    assert_quiet(probed + "Mar  3 10:00:05 n7 kernel: tg3 0000:03:00.0 eno1: Link is down\n")


def test_a_link_that_does_not_hold():
    up, down = "Up 2500 Mbps Full Duplex, Flow Control: RX", "Down"
    bounces = [JOURNAL.format(f"00:0{n}", word) for n, word in enumerate((up, down, up, down))]
    assert_finds("fabric.link_flap", "".join(bounces))
    assert_quiet("".join(bounces) + JOURNAL.format("00:09", up))
    assert_finds("fabric.link_down", bounces[0] + bounces[1])


def test_a_driver_that_tells_only_of_coming_up():
    ups = [JOURNAL.format(f"00:{n:02}", "Up 2500 Mbps Full Duplex") for n in range(0, 40, 10)]
    assert_finds("fabric.link_flap", "".join(ups))
    assert_quiet("".join(ups[:3]))


def test_a_system_that_shuts_down_closes_its_links():
    stop = "Mar  3 10:00:01 n7 systemd[1]: Reached target System Shutdown.\n"
    assert_quiet(JOURNAL.format("00:00", "Up 2500 Mbps Full Duplex") + stop + JOURNAL.format("00:03", "Down"))
    assert_finds("fabric.link_down", stop + JOURNAL.format("09:03", "Down"))


def test_a_bond_that_waits_before_it_gives_up():
    line = "[  931.20{0}707] bond0: (slave ens3f0): link status down for interface, disabling it in 200 ms\n"
    assert assert_finds("fabric.link_flap", "".join(map(line.format, range(3)))).component == "ens3f0"
    assert_quiet(line.format(1))


def test_switches_tell_of_their_ports():
    cisco = "Mar  3 10:00:0{} leaf1 28: %LINK-3-UPDOWN: Interface Ethernet1/7, changed state to {}\n"
    assert assert_finds("fabric.link_down", cisco.format(1, "down")).component == "Ethernet1/7"
    assert_quiet(cisco.format(1, "down") + cisco.format(4, "up"))


def test_the_syslog_of_sonic_tells_the_severity_after_the_host():
    line = (
        "Mar  3 10:00:01.500100 leaf1 INFO kernel: [10601.500100] igb 0000:00:14.0 eth0: igb: eth0 NIC Link is Down\n"
    )
    assert assert_finds("fabric.link_down", line).node == "leaf1"


def test_an_empty_list_of_devices():
    assert_finds("fabric.device_missing", DEVICES)
    assert_quiet(DEVICES + "    mlx5_0              \ta088c20300110022\n")


def test_port_info():
    assert_quiet(PORT_INFO.format(**WELL_INFO))
    down = {"state": "Down", "physical": "Polling"}
    assert_finds("fabric.link_down", PORT_INFO.format(**WELL_INFO | down))
    assert_quiet(PORT_INFO.format(**WELL_INFO | down | {"port": 22}))  # a free port of a switch
    assert_finds("fabric.subnet_manager", PORT_INFO.format(**WELL_INFO | {"state": "Initialize"}))
    assert_finds("fabric.rate_degraded", PORT_INFO.format(**WELL_INFO | {"width": "1X"}))


def test_a_port_without_the_name_of_its_adapter():
    text = "Port 1:\n\t\tState: {}\n\t\tPhysical state: {}\n"
    assert_finds("fabric.link_down", text.format("Down", "Polling"))
    assert_quiet(text.format("Active", "LinkUp"))


def test_a_bond_with_a_member_that_is_down():
    assert assert_finds("fabric.link_down", BOND.format("down")).component == "ens3f0np0"
    assert_quiet(BOND.format("up"))


def test_a_node_without_any_carrier():
    link = "{}: {}: <{}> mtu 1500 qdisc mq state DOWN group default qlen 1000\n"
    alone = link.format(2, "eno1", "NO-CARRIER,BROADCAST,MULTICAST,UP")
    assert assert_finds("fabric.link_down", alone).component == "eno1"
    assert_quiet(alone + link.format(3, "eno2", "BROADCAST,MULTICAST,UP,LOWER_UP"))
    assert_quiet(link.format(2, "docker0", "NO-CARRIER,BROADCAST,MULTICAST,UP"))


def test_ethtool_of_one_interface():
    text = "Settings for {}:\n\tSpeed: {}\n\tLink detected: {}\n"
    down = text.format("eno1", "Unknown!", "no")
    assert assert_finds("fabric.link_down", down).component == "eno1"
    assert_quiet(down + text.format("eno2", "1000Mb/s", "yes"))


def test_peer_memory_without_its_symbols():
    lines = (
        "[  366.451566] nv_peer_mem: disagrees about version of symbol nvidia_p2p_dma_map_pages\n"
        "modprobe: ERROR: could not insert 'nv_peer_mem': Unknown symbol in module, or unknown parameter (see dmesg)\n"
    )
    assert_finds("fabric.config", lines)
