import json

import pytest

from incidents.domain.fingerprint import Matcher, host_of, identify, label_fingerprint, pci_of
from tests.conftest import SHARED

GPU = {"alertname": "GpuXid", "Hostname": "n1", "gpu": "3", "err_code": "79"}


def test_an_xid_names_the_fault_and_the_gpu_is_the_part():
    found = identify(GPU)
    assert (found.node, found.fault, found.kind, found.locator, found.xid) == ("n1", "gpu.off_bus", "gpu", "GPU 3", 79)


def test_the_sites_own_table_is_asked_before_the_xid():
    assert identify(GPU, [Matcher("gpuxid", "gpu.lost")]).fault == "gpu.lost"


@pytest.mark.parametrize(
    ("alertname", "fault"),
    [
        ("NodeDown", "host.unreachable"),
        ("KubeNodeNotReady", "host.unreachable"),
        ("NodeFilesystemAlmostOutOfSpace", "os.disk_full"),
        ("DCGM_NVLink_Errors", "gpu.nvlink.error"),
        ("GpuRowRemapPending", "gpu.row_remap.pending"),
        ("NodeClockSkewDetected", "os.clock_unsynced"),
        ("InfinibandLinkDown", "fabric.link_down"),
        ("Something", "node.unclassified"),
    ],
)
def test_common_alert_names_stand_for_their_fault(alertname, fault):
    assert identify({"alertname": alertname, "instance": "n1:9100"}).fault == fault


def test_the_scrape_job_of_prometheus_is_no_training_job():
    assert identify({"alertname": "X", "instance": "n1:9100", "job": "node"}).job == ""


def test_a_job_fault_with_a_job_id_is_about_the_job_even_if_a_node_is_named():
    assert identify({"alertname": "TrainingJobHang", "hpc_job": "884211", "Hostname": "n1"}).is_job


def test_a_node_fault_keeps_the_job_as_context():
    found = identify({**GPU, "hpc_job": "884211"})
    assert not found.is_job
    assert found.job == "884211"


@pytest.mark.parametrize(
    ("sent", "written"),
    [
        ("00000000:9B:00.0", "0000:9b:00.0"),
        ("0000:9b:00", "0000:9b:00.0"),
        ("0009:01:00", "0009:01:00.0"),
        ("9b:00.0", "0000:9b:00.0"),
        ("nonsense", ""),
    ],
)
def test_pci_addresses_are_written_as_the_kernel_does(sent, written):
    assert pci_of(sent) == written


@pytest.mark.parametrize(
    ("instance", "host"),
    [
        ("N1:9400", "n1"),
        ("n1", "n1"),
        ("10.0.0.1:9100", "10.0.0.1"),
        ("[fe80::1]:9100", "fe80::1"),
        ("fe80::1", "fe80::1"),
    ],
)
def test_the_port_of_an_instance_is_no_part_of_the_host(instance, host):
    assert host_of(instance) == host


def test_the_label_fingerprint_is_alertmanagers():
    assert label_fingerprint({}) == "cbf29ce484222325"  # the offset basis of FNV-1a
    assert label_fingerprint({"a": "1", "b": "2"}) == label_fingerprint({"b": "2", "a": "1"})
    assert label_fingerprint({"a": "1"}) != label_fingerprint({"a": "2"})


@pytest.mark.skipif(not SHARED.exists(), reason="the recorded payloads are not beside this checkout")
def test_recorded_bodies_of_alertmanager_carry_the_fingerprint_that_we_compute():
    bodies = (json.loads(path.read_text()) for path in (SHARED / "data" / "payloads").glob("0[5-9]_am_*.json"))
    members = [member for body in bodies for member in body["alerts"]]
    assert members
    for member in members:
        assert label_fingerprint(member["labels"]) == member["fingerprint"]
