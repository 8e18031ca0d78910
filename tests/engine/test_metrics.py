"""Metrics in every form that they come in: one fact, one finding."""

import json
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import pytest

from diagnostics.engine.parsers import metrics
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.metric import Metric

from .helpers import assert_finds, assert_quiet, diagnosis_of, roots

AT = 1_794_304_800  # 2026-11-10 10:00 UTC


class Series(NamedTuple):
    name: str
    labels: dict[str, str]
    values: tuple[float, ...]

    @property
    def text(self) -> str:
        labels = ",".join(f'{name}="{value}"' for name, value in self.labels.items())
        return f"{self.name}{{{labels}}}"

    @property
    def metric(self) -> dict[str, str]:
        return {"__name__": self.name, **self.labels}


def one(series: str, /, *values: float, **labels: str) -> Series:
    return Series(series, labels, values)


def exposition(rows: Sequence[Series]) -> str:
    return "".join(f"# TYPE {row.name} gauge\n{row.text} {row.values[-1]!r}\n" for row in rows)


def open_metrics(rows: Sequence[Series]) -> str:
    head = "HTTP/1.1 200 OK\r\nContent-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n\r\n"
    return (
        head + "".join(f'{row.text} {row.values[-1]!r} {AT}.120 # {{trace_id="7c"}} 1.0\n' for row in rows) + "# EOF\n"
    )


def promtool(rows: Sequence[Series]) -> str:
    return "".join(f"{row.text} => {row.values[-1]!r} @[{AT}.12]\n" for row in rows)


def vector(rows: Sequence[Series]) -> str:
    result = [{"metric": row.metric, "value": [AT, str(row.values[-1])]} for row in rows]
    return json.dumps({"status": "success", "data": {"resultType": "vector", "result": result}})


def matrix(rows: Sequence[Series]) -> str:
    result = [
        {"metric": row.metric, "values": [[AT + 60 * at, str(value)] for at, value in enumerate(row.values)]}
        for row in rows
    ]
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}}, indent=2)


def behind_headers(rows: Sequence[Series]) -> str:
    return (
        f"HTTP/2 200\r\ncontent-type: application/json\r\ndate: Tue, 10 Nov 2026 10:00:00 GMT\r\n\r\n{vector(rows)}\n"
    )


def cut_off(rows: Sequence[Series]) -> str:
    return vector([*rows, one("up", 1, instance="n9:9100")])[:-40]


def answers_in_a_row(rows: Sequence[Series]) -> str:
    return "\n".join(vector([row]) for row in rows) + "\n"


def left_by_jq(rows: Sequence[Series]) -> str:
    return json.dumps(json.loads(vector(rows))["data"]["result"], indent=2)


def export(rows: Sequence[Series]) -> str:
    """Milliseconds, one line for each series."""
    lines = [
        {
            "metric": row.metric,
            "values": list(row.values),
            "timestamps": [(AT + 60 * at) * 1000 for at in range(len(row.values))],
        }
        for row in rows
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)


FORMS: tuple[Callable[[Sequence[Series]], str], ...] = (
    exposition, open_metrics, promtool, vector, matrix, behind_headers, cut_off, answers_in_a_row, left_by_jq, export,
)  # fmt: skip
GPU = {"gpu": "3", "UUID": "GPU-5c1", "device": "nvidia3", "modelName": "NVIDIA H100 80GB HBM3", "Hostname": "gpu-a17"}
IPMI = {"instance": "gpu-a17:9290"}
HOST = {"instance": "gpu-a17:9100", "job": "node"}
ROOT = {**HOST, "device": "/dev/nvme0n1p2", "fstype": "ext4", "mountpoint": "/"}
CONTAINER = {"node": "gpu-a17", "namespace": "ml", "pod": "tokenizer-5c7d", "container": "main"}

# fault, component, the series that tell it, the one that is shown first
FACTS: dict[str, tuple[str, str | None, tuple[Series, ...]]] = {
    "GPU is slowed by heat": (
        "gpu.thermal.slowdown", "GPU 3", (one("DCGM_FI_DEV_CLOCKS_EVENT_REASONS", 0x40, **GPU),),
    ),
    "GPU is as hot as it may be": (
        "gpu.thermal.slowdown", "GPU 3", (one("DCGM_FI_DEV_GPU_TEMP", 90, **GPU), one("DCGM_FI_DEV_SLOWDOWN_TEMP", 90, **GPU)),
    ),
    "Xid": ("gpu.off_bus", "GPU 3", (one("DCGM_FI_DEV_XID_ERRORS", 79, **GPU),)),
    "Xids in a window": ("gpu.off_bus", "GPU 3", (one("DCGM_EXP_XID_ERRORS_COUNT", 2, **GPU, xid="79"),)),
    "double bit error": ("gpu.ecc.uncorrectable", "GPU 3", (one("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", 2, **GPU),)),
    "power supply": (
        "host.psu.failed", "PS2 Status", (one("ipmi_sensor_state", 2, **IPMI, id="64", name="PS2 Status", type="Power Supply"),),
    ),
    "fan": ("host.fan.failed", "FAN3", (one("ipmi_fan_speed_state", 2, **IPMI, id="65", name="FAN3"),)),
    "hot inlet": (
        "host.temp.critical", "Inlet Temp", (one("ipmi_temperature_state", 2, **IPMI, id="7", name="Inlet Temp"),),
    ),
    "file system": (
        "os.disk_full", "/",
        (one("node_filesystem_avail_bytes", 0, **ROOT), one("node_filesystem_size_bytes", 9.4e11, **ROOT)),
    ),
    "inodes": (
        "os.disk_full", "/", (one("node_filesystem_files_free", 0, **ROOT), one("node_filesystem_files", 5.8e7, **ROOT)),
    ),
    "link": ("fabric.link_down", "mlx5_4", (one("node_infiniband_state_id", 1, **HOST, device="mlx5_4", port="1"),)),
    "exporter": ("host.monitoring_lost", None, (one("up", 0, **HOST),)),
    "clock": ("os.clock_unsynced", None, (one("node_timex_offset_seconds", -0.31, **HOST),)),
    "connections": (
        "os.conntrack_full", None,
        (one("node_nf_conntrack_entries", 262144, **HOST), one("node_nf_conntrack_entries_limit", 262144, **HOST)),
    ),
    "throttled container": (
        "container.resource_pressure", "tokenizer-5c7d",
        (
            one("container_cpu_cfs_throttled_periods_total", 150000, **CONTAINER),
            one("container_cpu_cfs_periods_total", 180000, **CONTAINER),
        ),
    ),
    "BMC": ("bmc.unreachable", None, (one("ipmi_up", 0, **IPMI, collector="ipmi"),)),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
@pytest.mark.parametrize(("fault", "component", "rows"), FACTS.values(), ids=FACTS)
def test_one_fact_is_the_same_finding_in_every_form(
    form: Callable[[Sequence[Series]], str], fault: str, component: str | None, rows: tuple[Series, ...]
):
    finding = assert_finds(fault, form(rows))
    assert (finding.component, finding.node) == (component, "gpu-a17")
    assert rows[0].name in finding.line
    assert finding.line_number > 0


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_a_machine_that_is_well_is_quiet_in_every_form(form: Callable[[Sequence[Series]], str]):
    well = (
        one("DCGM_FI_DEV_CLOCKS_EVENT_REASONS", 1, **GPU), one("DCGM_FI_DEV_GPU_TEMP", 61, **GPU),
        one("DCGM_FI_DEV_SLOWDOWN_TEMP", 90, **GPU), one("DCGM_FI_DEV_XID_ERRORS", 0, **GPU),
        one("ipmi_fan_speed_state", 0, **IPMI, name="FAN3"), one("ipmi_up", 1, **IPMI, collector="ipmi"), one("up", 1, **HOST),
        one("node_filesystem_avail_bytes", 6.7e11, **ROOT), one("node_filesystem_size_bytes", 9.4e11, **ROOT),
        one("node_timex_offset_seconds", 1.2e-5, **HOST), one("node_infiniband_state_id", 4, **HOST, device="mlx5_4", port="1"),
    )  # fmt: skip
    found = assert_quiet(form(well))
    assert found.findings == ()
    assert found.verdict.state == "clean"


@pytest.mark.parametrize("form", [matrix, export])
def test_a_counter_that_grows_over_a_range_is_told_and_a_high_one_that_stands_is_not(
    form: Callable[[Sequence[Series]], str],
):
    labels = {**HOST, "device": "ib0"}
    assert_finds("fabric.link_flap", form([one("node_network_carrier_changes_total", 812, 815, 818, **labels)]))
    assert_quiet(form([one("node_network_carrier_changes_total", 812, 815, 817, **labels)]))
    assert_quiet(form([one("node_network_carrier_changes_total", 812, 2, 3, **labels)]))


def test_a_counter_that_began_anew_keeps_what_it_grew_before():
    assert_finds(
        "fabric.link_flap", matrix([one("node_network_carrier_changes_total", 812, 818, 2, **HOST, device="ib0")])
    )


def test_a_metric_that_tells_one_fault_twice_is_one_sign():
    finding = assert_finds("gpu.pcie.replay", matrix([one("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", 1000, 1016, **GPU)]))
    assert finding.count == 1


def test_samples_that_come_out_of_order_are_put_in_order():
    text = json.dumps({"metric": {"__name__": "up"}, "values": [0, 1], "timestamps": [AT * 1000 + 60_000, AT * 1000]})
    assert_finds("host.monitoring_lost", text)


def test_a_finding_tells_when_its_value_was_taken():
    for form in (open_metrics, promtool, vector, export):
        moment = assert_finds("host.monitoring_lost", form([one("up", 0, **HOST)])).last_at
        assert moment is not None
        assert round(moment.timestamp()) == AT


def test_the_line_of_a_row_in_a_long_document_is_that_row():
    rows = [one("up", int(n != 700), instance=f"n{n}:9100") for n in range(900)]
    for form in (vector, matrix, export, exposition):
        finding = assert_finds("host.monitoring_lost", form(rows))
        assert finding.node == "n700"
    assert 'instance": "n700:9100"' in assert_finds("host.monitoring_lost", vector(rows)).line
    assert assert_finds("host.monitoring_lost", export(rows)).line_number == 701


def test_the_parts_of_an_api_answer_are_known():
    assert assert_finds("gpu.off_bus", vector(FACTS["Xid"][2])).part["uuid"] == "GPU-5c1"


@pytest.mark.parametrize(
    "text",
    [
        '{"status":"success","data":{"resultType":"vector","result":[]}}',
        '{"status":"success","data":{"resultType":"scalar","result":[1794304800,"1"]}}',
        '{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1794304800,"0"]}]}}',
        '{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"up"},"value":[1794304800,"NaN"]}]}}',
        '{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"up"},"value":null},7,null]}}',
        '{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"up"},"values":[[1],"x",[1,{}]]}]}}',
        '{"metric":{"__name__":"up"},"values":[null],"timestamps":[1794304800000]}',
        "# HELP up 1 if the target was reached\n# TYPE up gauge\n",
    ],
)
def test_what_holds_no_value_is_no_clean_bill(text: str):
    found = assert_quiet(text)
    assert found.verdict.state == "could_not_check"


def test_labels_may_hold_quotes_braces_and_line_ends():
    (read,) = metrics.metrics(Log.of('up{job="a\\"b}",path="C:\\\\x",note="a\\nb"} 0\n'))
    assert read.labels == {"job": 'a"b}', "path": "C:\\x", "note": "a\nb"}


def test_rows_below_documents_without_an_end_are_read():
    text = (
        "{\n" * 50 + '{"metric":{"__name__":"up","instance":"n1:9100"},"value":[1794304800,"0"]}\n' + '{"metric":{' * 50
    )
    assert assert_finds("host.monitoring_lost", text).line_number == 51


ODD = [
    '{"metric":{',
    '{"metric":{"a":"b"},"values":[',
    "[\n",
    '["x",\n',
    '[{"metric": 1},\n',
    '{"a":"b"}\n',
    'up{a="',
    "up{",
    'up{a="\\',
]


@pytest.mark.parametrize("unit", ODD)
def test_odd_text_holds_no_metric_and_takes_time_as_its_length(unit: str):
    def seconds(count: int) -> float:
        log = Log.of(unit * count)
        begun = time.process_time()
        assert metrics.metrics(log) == []
        return time.process_time() - begun

    short, long = (min(seconds(count) for _ in range(3)) for count in (5_000, 40_000))
    assert long < 30 * short + 0.05  # the square would be 64 times as long


# Which node: labels, the metric -> the node
NODES = [
    ({"instance": "gpu-a17:9100"}, "up", "gpu-a17"),
    ({"instance": "gpu-a17"}, "up", "gpu-a17"),
    ({"instance": "192.0.2.17:9100"}, "up", "192.0.2.17"),
    ({"instance": "[2001:db8::17]:9100"}, "up", "2001:db8::17"),
    ({"instance": "2001:db8::17"}, "up", "2001:db8::17"),
    ({"instance": "https://gpu-a17.example:9100/metrics"}, "probe_success", "gpu-a17.example"),
    ({"instance": "192.0.2.17:9100", "node": "gpu-a17"}, "up", "gpu-a17"),
    ({"instance": "192.0.2.17:9400", "Hostname": "gpu-a17"}, "DCGM_FI_DEV_GPU_TEMP", "gpu-a17"),
    ({"instance": "192.0.2.17:9400", "kubernetes_node": "gpu-a17", "Hostname": "dcgm-exporter-x7k2p"}, "DCGM_FI_DEV_GPU_TEMP", "gpu-a17"),
    ({"node": "192.0.2.17", "instance": "gpu-a17:9100"}, "up", "gpu-a17"),
    ({"instance": "prometheus-0:9290", "exported_instance": "gpu-a17"}, "ipmi_up", "gpu-a17"),
    ({"node": "control-1", "exported_node": "gpu-a17", "instance": "192.0.2.5:8080"}, "kube_node_status_condition", "gpu-a17"),
    ({"node": "gpu-a17", "instance": "192.0.2.5:8080"}, "kube_node_status_condition", "gpu-a17"),
    ({"pod": "p-1", "instance": "192.0.2.5:8080"}, "kube_pod_container_status_waiting_reason", None),
    ({"pod": "p-1", "instance": "192.0.2.5:8080", "job": "kube-state-metrics"}, "ALERTS", None),
    ({"instance": "localhost:9100"}, "up", None),
    ({"instance": "127.0.0.1:9100"}, "up", None),
    ({"job": "node"}, "up", None),
]  # fmt: skip


@pytest.mark.parametrize(("labels", "name", "node"), NODES)
def test_the_node_that_the_labels_of_a_metric_name(labels: dict[str, str], name: str, node: str | None):
    for form in (exposition, vector):
        assert read(form, one(name, 0, **labels)).node == node


def read(form: Callable[[Sequence[Series]], str], *rows: Series) -> Metric:
    return metrics.metrics(Log.of(form(rows)))[0]


def test_the_name_that_the_kernel_has_is_that_of_all_metrics_of_its_exporter():
    uname = one("node_uname_info", 1, nodename="gpu-a17", sysname="Linux")
    full = [one("node_nf_conntrack_entries", 10), one("node_nf_conntrack_entries_limit", 10)]
    assert assert_finds("os.conntrack_full", exposition([*full, uname])).node == "gpu-a17"
    address = {"instance": "192.0.2.17:9100"}
    other = [one(row.name, 10, instance="192.0.2.18:9100") for row in full]
    uname = one("node_uname_info", 1, nodename="gpu-a17", **address)
    found = roots(diagnosis_of(vector([*(one(row.name, 10, **address) for row in full), *other, uname])))
    assert {finding.node for finding in found} == {"gpu-a17", "192.0.2.18"}


def test_a_target_that_is_down_is_named_by_its_node():
    row = {"health": "down", "scrapeUrl": "http://192.0.2.17:9400/metrics", "lastError": "context deadline exceeded",
           "labels": {"instance": "192.0.2.17:9400"}, "discoveredLabels": {"__meta_kubernetes_pod_node_name": "gpu-a17"}}  # fmt: skip
    text = json.dumps({"status": "success", "data": {"activeTargets": [row]}})
    assert assert_finds("host.monitoring_lost", text).node == "gpu-a17"


def test_a_bmc_is_not_reached_where_none_of_its_own_collectors_gets_through():
    rows = [
        one("ipmi_up", value, collector=collector, instance=f"{node}:9290")
        for node, collector, value in (("n1", "bmc", 0), ("n1", "sel", 0), ("n2", "bmc", 1), ("n2", "sel", 0))
    ]
    for form in FORMS:
        found = roots(diagnosis_of(form(rows)))
        assert {(finding.fault, finding.node) for finding in found} == {("bmc.unreachable", "n1")}


# At the threshold, and just below it: the series, the last of which is the one that counts.
LIMITS = [
    ("gpu.thermal.slowdown", (one("DCGM_FI_DEV_SLOWDOWN_TEMP", 90, **GPU),), "DCGM_FI_DEV_GPU_TEMP", 90, 89),
    ("gpu.thermal.shutdown",
     (one("DCGM_FI_DEV_SLOWDOWN_TEMP", 90, **GPU), one("DCGM_FI_DEV_SHUTDOWN_TEMP", 95, **GPU)), "DCGM_FI_DEV_GPU_TEMP", 95, 89),
    ("gpu.nvlink.degraded", (), "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL", 1000, 999),
    ("gpu.pcie.replay", (), "DCGM_FI_DEV_PCIE_REPLAY_COUNTER", 1000, 999),
    ("gpu.fabric_manager", (), "DCGM_FI_DEV_FABRIC_MANAGER_STATUS", 4, 3),
    ("gpu.ecc.uncorrectable", (), "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", 1, 0),
    ("os.conntrack_full", (one("node_nf_conntrack_entries_limit", 1000, **GPU),), "node_nf_conntrack_entries", 950, 949),
    ("os.fd_exhausted", (one("node_filefd_maximum", 1000, **GPU),), "node_filefd_allocated", 950, 949),
    ("os.fd_exhausted", (one("node_processes_max_processes", 1000, **GPU),), "node_processes_pids", 950, 949),
    ("os.clock_unsynced", (), "node_timex_offset_seconds", 0.0501, 0.05),
    ("os.clock_unsynced", (), "node_timex_offset_seconds", -0.0501, -0.05),
    ("fabric.symbol_errors", (), "node_infiniband_symbol_error_total", 1000, 999),
    ("fabric.link_down", (), "node_infiniband_physical_state_id", 3, 4),
    ("bmc.sel_full", (), "ipmi_sel_free_space_bytes", 511, 512),
    ("host.psu.failed", (), "redfish_chassis_power_powersupply_health", 2, 1),
    ("host.fan.failed", (), "redfish_chassis_fan_health", 3, 1),
    ("host.psu.failed", (), "idrac_power_supply_health", 1, 0),
    ("host.psu.failed", (), "idrac_power_supply_health", 2, 10),
    ("host.fan.failed", (), "idrac_sensors_fan_health", 1, -1),
    ("host.memory.uncorrectable", (), "idrac_memory_module_health", 2, 1),
]  # fmt: skip


@pytest.mark.parametrize(("fault", "others", "name", "sick", "well"), LIMITS)
def test_a_threshold_is_reached_or_not(fault: str, others: tuple[Series, ...], name: str, sick: float, well: float):
    assert_finds(fault, vector([*others, one(name, sick, **GPU)]))
    assert_quiet(vector([*others, one(name, well, **GPU)]))


@pytest.mark.parametrize("xid", [0, 43, 45, 1000, 1e9, -1])
def test_a_number_that_is_no_xid_of_the_gpu_is_quiet(xid: float):
    assert_quiet(vector([one("DCGM_FI_DEV_XID_ERRORS", xid, **GPU)]))


def test_an_xid_that_left_the_window_is_quiet():
    assert_quiet(vector([one("DCGM_EXP_XID_ERRORS_COUNT", 0, **GPU, xid="79")]))
    assert_quiet(vector([one("DCGM_EXP_XID_ERRORS_COUNT", 0, **GPU)]))


def throttling(*shares: tuple[float, float]) -> list[Series]:
    labels = {"namespace": "ml", "pod": "p-1", "container": "main"}
    periods, throttled = zip(*shares, strict=True)
    return [
        Series("container_cpu_cfs_periods_total", labels, periods),
        Series("container_cpu_cfs_throttled_periods_total", labels, throttled),
    ]


def test_throttling_is_judged_in_the_range_that_is_told():
    assert_finds("container.resource_pressure", matrix(throttling((100_000, 100), (110_000, 5_100))))
    assert_quiet(matrix(throttling((100_000, 90_000), (110_000, 94_999))))
    assert_quiet(vector(throttling((999, 999))))
