"""The tools of an RDMA fabric: each sick print names its fault and port; well ones are silent."""

import json

import pytest

from .helpers import assert_finds, assert_quiet, diagnosis_of

IBSTATUS = """\
Infiniband device '{0}' port 1 status:
\tdefault gid:\t fe80:0000:0000:0000:0000:0000:0000:0001
\tbase lid:\t 0x5
\tsm lid:\t\t 0x1
\tstate:\t\t {1}
\tphys state:\t {2}
\trate:\t\t {3}
\tlink_layer:\t InfiniBand

"""
WELL_PORT = ("4: ACTIVE", "5: LinkUp", "400 Gb/sec (4X NDR)")
DEVINFO = "hca_id:\tmlx5_2\n\ttransport:\t\t\tInfiniBand (0)\n\t\tport:\t1\n\t\t\tstate:\t\t\t{}\n\t\t\tlink_layer:\t\tInfiniBand\n"
MLXLINK = """\
# mlxlink -d mlx5_3 -m -c
Operational Info
----------------
State                              : {state}
Physical state                     : LinkUp
Speed                              : IB-NDR
Width                              : 4x

Supported Info
--------------
Enabled Link Speed                 : 0x000000c1 (NDR,HDR,SDR)
Supported Cable Speed              : 0x000000c1 (NDR,HDR,SDR)

Troubleshooting Info
--------------------
Status Opcode                      : 0
Recommendation                     : {words}

Physical Counters and BER Info
------------------------------
Time Since Last Clear [Min]        : 812.0
Effective Physical BER             : {ber}
Temperature [C]                    : {heat} [-5..75]
"""
WELL_LINK = {"state": "Active", "words": "No issue was observed", "ber": "15E-255", "heat": "47"}
IP_LINK = "{n}: {name}: <{flags}> mtu 9000 qdisc mq state UP mode DEFAULT group default qlen 1000\n    link/ether 02:00:00:00:00:01\n"


def ibstatus(*ports: tuple[str, str, str]) -> str:
    return "".join(IBSTATUS.format(f"mlx5_{n}", *port) for n, port in enumerate(ports))


@pytest.mark.parametrize(
    ("port", "fault"),
    [
        (("1: DOWN", "2: Polling", "10 Gb/sec (4X SDR)"), "fabric.link_down"),
        (("2: INIT", "5: LinkUp", "400 Gb/sec (4X NDR)"), "fabric.subnet_manager"),
        (("4: ACTIVE", "5: LinkUp", "200 Gb/sec (4X HDR)"), "fabric.rate_degraded"),
        (("4: ACTIVE", "5: LinkUp", "100 Gb/sec (1X NDR)"), "fabric.rate_degraded"),
    ],
)
def test_ibstatus(port: tuple[str, str, str], fault: str):
    assert_quiet(ibstatus(WELL_PORT, WELL_PORT, WELL_PORT))
    assert assert_finds(fault, ibstatus(WELL_PORT, WELL_PORT, port)).component == "mlx5_2"


def test_ibv_devinfo_and_rdma_link():
    assert_quiet(DEVINFO.format("PORT_ACTIVE (4)"))
    assert assert_finds("fabric.link_down", DEVINFO.format("PORT_DOWN (1)")).component == "mlx5_2"
    well = "link mlx5_0/1 subnet_prefix fe80:0000:0000:0000 lid 13 sm_lid 1 lmc 0 state {} physical_state {}\n"
    assert_quiet(well.format("ACTIVE", "LINK_UP"))
    assert_finds("fabric.link_down", well.format("DOWN", "POLLING"))


def test_the_ip_side_of_an_infiniband_port_says_nothing():
    assert_quiet("mlx5_0 port 1 ==> ibp24s0 (Down)\nmlx5_1 port 1 ==> ibp41s0 (Down)\n")


def test_an_ethernet_port_is_missed_only_among_sisters_that_are_up():
    up = "".join(f"mlx5_{n} port 1 ==> ens{n}np0 (Up)\n" for n in range(7))
    assert assert_finds("fabric.link_down", up + "mlx5_7 port 1 ==> ens7np0 (Down)\n").component == "mlx5_7"
    assert_quiet("mlx5_0 port 1 ==> ens1f0np0 (Up)\nmlx5_1 port 1 ==> ens1f1np1 (Down)\n")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"ber": "3E-9"}, "fabric.symbol_errors"),
        ({"heat": "81"}, "fabric.module_fault"),
        ({"state": "Polling", "words": "Cable is unplugged"}, "fabric.module_fault"),
        ({"state": "Polling", "words": "Link training failure"}, "fabric.link_down"),
        ({"words": "Bad signal integrity"}, "fabric.symbol_errors"),
    ],
)
def test_mlxlink(change: dict[str, str], fault: str):
    assert_quiet(MLXLINK.format(**WELL_LINK))
    assert assert_finds(fault, MLXLINK.format(**WELL_LINK | change)).component == "mlx5_3"


def test_mlxlink_as_json():
    output = {
        "Operational Info": {"State": "Active"},
        "Troubleshooting Info": {"Recommendation": "No issue was observed"},
    }
    assert_quiet(json.dumps({"result": {"output": output}}, indent=1))
    output["Operational Info"]["State"] = "Polling"
    output["Troubleshooting Info"]["Recommendation"] = "Module temperature shutdown"
    assert_finds("fabric.module_fault", json.dumps({"result": {"output": output}}, indent=1))


def test_a_port_that_somebody_closed_is_a_note():
    assert_quiet(MLXLINK.format(**WELL_LINK | {"state": "Disable", "words": "The port is closed by command"}))


@pytest.mark.parametrize(
    "form",
    [
        "# Port extended counters: Lid 4 port 1 (CapMask: 0x5A00)\n"
        "SymbolErrorCounter:..............{}\nPortXmitWait:....................9912345\n",
        "/sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error:{}\n",
        "mlx5_0/ports/1/counters/symbol_error {}\n",
        "symbol_error: {}\nport_xmit_wait: 88123123\n",
        " GUID 0x0c42a10300aa0001 port 1: [SymbolErrorCounter == {}]\n",
    ],
)
def test_counters(form: str):
    assert_finds("fabric.symbol_errors", form.format(54_021))
    assert_quiet(form.format(0))
    assert_quiet(form.format(12))


def test_a_counter_that_grows_between_two_prints():
    row = "/sys/class/infiniband/mlx5_4/ports/1/counters/symbol_error:{}\n"
    assert assert_finds("fabric.symbol_errors", row.format(100) + row.format(700)).component == "mlx5_4"
    assert_quiet(row.format(100) + row.format(101))


def test_interface_counters_of_a_busy_port_are_no_fault():
    assert_quiet(
        "NIC statistics:\n     rx_out_of_buffer: 99120\n     rx_discards_phy: 812\n     rx_prio3_pause: 991234\n     rx_symbol_err_phy: 0\n"
    )


def test_ip_link_misses_one_port_among_many():
    up = "".join(IP_LINK.format(n=n, name=f"ens{n}np0", flags="BROADCAST,MULTICAST,UP,LOWER_UP") for n in range(3, 10))
    assert_quiet(up)
    down = IP_LINK.format(n=10, name="ens10np0", flags="NO-CARRIER,BROADCAST,MULTICAST,UP")
    assert assert_finds("fabric.link_down", up + down).component == "ens10np0"
    assert_quiet(IP_LINK.format(n=2, name="eno1", flags="BROADCAST,MULTICAST,UP,LOWER_UP") + down)


def test_ethtool_alarm_flags():
    text = (
        "\tIdentifier                                : 0x18 (QSFP-DD)\n"
        "\tModule temperature                        : 51.20 degrees C / 124.16 degrees F\n"
        "\tModule temperature high alarm             : {}\n"
    )
    assert_quiet(text.format("Off"))
    assert_finds("fabric.module_fault", text.format("On"))


def test_a_port_that_was_never_plugged_in_is_quiet_at_boot():
    assert_quiet(
        "[   12.1] mlx5_core 0000:29:00.1: firmware version: 28.39.3004\n"
        "[   14.100000] mlx5_core 0000:29:00.1 ens9f1np1: Link down\n"
    )
    assert_finds("fabric.link_down", "[90014.100000] mlx5_core 0000:29:00.1 ens9f1np1: Link down\n")


def test_links_of_a_fabric():
    row = "CA: n7 mlx5_0:\n      0xb8cef60300441000      5    1[  ] ==( 4X          53.125 Gbps {}/  LinkUp)==>"
    row += '  0x1      12    3[  ] "leaf" ({})\n'
    assert_quiet(row.format("Active", " "))
    assert_finds("fabric.rate_degraded", row.format("Active", " Could be 106.25 Gbps"))
    assert_finds("fabric.subnet_manager", row.format("Initialize", " "))


@pytest.mark.parametrize(
    "text", ["CA 'mlx5_0'", "hca_id: x", "Operational Info\nState", "GUID 0x1 port 1: [", "1: a: <UP> mtu 1"]
)
def test_a_cut_text_raises_nothing(text: str):
    diagnosis_of(text)


NAMED_LINK = (
    '0xa088c20300f1bb{0:02} "      n10 mlx5_{0}"    13{0}    1[  ] '
    '==( {1}   106.25 Gbps Active/  LinkUp)==>  0xfc6a     22   1{0}[  ] "leaf-1" ( {2})\n'
)
TOPOLOGY = (
    'vendid=0x2c9\ncaguid=0xa088\nCa\t1 "H-a088"\t\t# "n10 mlx5_{0}"\n'
    '[1](a088)\t"S-fc6a"[1{0}]\t\t# lid 13{0} lmc 0 "leaf-1" lid 22 {1}\n\n'
)
BRIEF = "{0}       {1}             02:00:00:00:00:0{2} <{3}>\n"
GIDS = "DEV\tPORT\tINDEX\tGID\t\t\t\t\tIPv4  \t\tVER\tDEV\n---\t----\t-----\t---\t\t\t\t\t------------  \t---\t---\n"
OWN_GID = "mlx5_{0}\t1\t0\tfe80:0000:0000:0000:0000:c2ff:fe11:203{0}\t\t\tv2\tens{0}np0\n"
ROUTED_GID = "mlx5_{0}\t1\t1\t0000:0000:0000:0000:0000:ffff:0a31:020{0}\t10.49.2.{0}  \tv2\tens{0}np0\n"


def test_links_with_the_name_in_each_line():
    found = assert_finds(
        "fabric.rate_degraded", NAMED_LINK.format(1, "4X", "") + NAMED_LINK.format(2, "2X", "Could be 4X ")
    )
    assert found.component == "n10 mlx5_2 port 1"
    assert_quiet("".join(NAMED_LINK.format(n, "4X", "") for n in range(4)))


def test_topology():
    ports = [TOPOLOGY.format(n, "4xNDR") for n in range(3)]
    assert (
        assert_finds("fabric.rate_degraded", *["".join([*ports, TOPOLOGY.format(3, "2xNDR")])]).component
        == "n10 mlx5_3 port 1"
    )
    assert_quiet("".join(ports))
    assert_quiet("".join([*ports, TOPOLOGY.format(3, "4xHDR")]))  # the adapter for storage


def test_carrier_changes():
    row = "/sys/class/net/{}/carrier_changes:{}\n"
    assert (
        assert_finds(
            "fabric.link_flap",
            row.format("ens1np0", 2)
            + row.format("ens2np0", 418)
            + row.format("ens1np0", 2)
            + row.format("ens2np0", 446),
        ).component
        == "ens2np0"
    )
    assert_quiet(row.format("ens1np0", 2) + row.format("ens2np0", 418))
    assert_quiet(row.format("veth12ab", 2) + row.format("veth12ab", 418))


def test_brief_links():
    up, down = "BROADCAST,MULTICAST,UP,LOWER_UP", "NO-CARRIER,BROADCAST,MULTICAST,UP"
    well = "".join(BRIEF.format(f"enp{n}s0np0", "UP", n, up) for n in range(2))
    assert assert_finds("fabric.link_down", well + BRIEF.format("enp9s0np0", "DOWN", 9, down)).component == "enp9s0np0"
    assert_quiet(well + BRIEF.format("enp9s0np0", "DOWN", 9, "BROADCAST,MULTICAST"))
    assert_quiet(well + BRIEF.format("enp1s0f1np1", "DOWN", 9, down) + BRIEF.format("docker0", "DOWN", 8, down))


def test_links_as_json():
    rows = [
        {
            "ifindex": n,
            "ifname": f"ens{n}np0",
            "flags": ["BROADCAST", "UP", "LOWER_UP"],
            "mtu": 9000,
            "link_type": "ether",
        }
        for n in range(4)
    ]
    assert_quiet(json.dumps(rows))
    rows[2]["flags"] = ["NO-CARRIER", "BROADCAST", "UP"]
    assert assert_finds("fabric.link_down", json.dumps(rows)).component == "ens2np0"


def test_rdma_links_as_json():
    rows = [
        {
            "ifindex": n,
            "ifname": f"mlx5_{n}",
            "port": 1,
            "state": "ACTIVE",
            "physical_state": "LINK_UP",
            "lid": n,
            "sm_lid": 1,
        }
        for n in range(3)
    ]
    assert_quiet(json.dumps(rows))
    rows[1] |= {"state": "DOWN", "physical_state": "POLLING"}
    assert assert_finds("fabric.link_down", json.dumps(rows)).component == "mlx5_1"


def test_gids():
    full = GIDS + "".join(OWN_GID.format(n) + ROUTED_GID.format(n) for n in range(4))
    assert_quiet(full)
    assert assert_finds("fabric.config", full + OWN_GID.format(5)).component == "mlx5_5"
    assert_quiet(GIDS + OWN_GID.format(0) + ROUTED_GID.format(0) + OWN_GID.format(1))  # a port that may have no use


def test_a_gid_that_is_not_there():
    text = "$ ibv_rc_pingpong -d mlx5_2 -g 3 10.49.3.1\ncan't read sgid of index 3\n"
    assert assert_finds("fabric.config", text).component == "mlx5_2"


DIFF = "--- {}\t2026-09-01\n+++ {}\t2026-11-14\n@@ -2,3 +2,2 @@\n 18:00.0 Infiniband controller [0207]: Mellanox [ConnectX-7]\n{}"


def test_inventory_diff():
    gone = "-9b:00.0 Infiniband controller [0207]: Mellanox [ConnectX-7]\n"
    assert assert_finds("fabric.device_missing", DIFF.format("expected", "seen", gone)).component == "0000:9b:00.0"
    assert_quiet(DIFF.format("expected", "seen", gone + gone.replace("-", "+", 1)))
    assert_quiet(DIFF.format("seen", "expected", gone))
    assert_quiet(DIFF.format("old.conf", "new.conf", "-timeout = 3\n+timeout = 5\n"))
    assert_quiet("diff --git a/x b/x\n" + DIFF.format("a/x", "b/x", "-mlx5_0\n+mlx5_1\n"))
    assert assert_finds("fabric.device_missing", DIFF.format("expected", "seen", "-mlx5_4\n")).component == "mlx5_4"


def test_health_states():
    states = [
        {
            "component": "infiniband",
            "states": [{"name": "ib", "health": "Unhealthy", "reason": "expected 8 IB devices, found 7"}],
        }
    ]
    assert_finds("fabric.device_missing", json.dumps(states))
    states[0]["states"][0]["health"] = "Healthy"  # type: ignore[index]
    assert_quiet(json.dumps(states))
