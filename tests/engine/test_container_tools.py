"""Containers, pods and nodes as their tools print them."""

import json
from typing import Any

import pytest

from .helpers import assert_finds, assert_quiet

PODS = (
    "NAME       READY   STATUS             RESTARTS      AGE\nloader-0   1/1     Running            0             2d\n"
)
NODES = "NAME   STATUS                     ROLES    AGE   VERSION\nn1     Ready                      worker   9d    v1.31.4\n"
DOCKER = "CONTAINER ID   IMAGE        COMMAND     CREATED       STATUS                     PORTS     NAMES\n"


@pytest.mark.parametrize(
    ("status", "fault"),
    [
        ("ImagePullBackOff", "container.image_pull"),
        ("CrashLoopBackOff", "container.start_failed"),
        ("OOMKilled", "container.oom_killed"),
        ("Evicted", "container.resource_pressure"),
        ("UnexpectedAdmissionError", "container.device_plugin"),
        ("Init:CrashLoopBackOff", "container.start_failed"),
    ],
)
def test_pods(status: str, fault: str):
    assert assert_finds(fault, PODS + f"train-3    0/1     {status:<27}0             8m\n").component == "train-3"


@pytest.mark.parametrize("status", ["Completed", "Running", "Pending", "ContainerCreating", "Terminating", "Init:0/1"])
def test_well_pods(status: str):
    assert_quiet(PODS + f"job-9      0/1     {status:<27}0             8m\n")


def test_nodes():
    assert_quiet(NODES + "n2     Ready,SchedulingDisabled   worker   9d    v1.31.4\n")
    assert (
        assert_finds(
            "container.runtime_down", NODES + "n3     NotReady                   worker   9d    v1.31.4\n"
        ).component
        == "n3"
    )


def test_docker_ps():
    row = 'ab12cd34ef56   loader:2     "./run"     2 hours ago   {:<27}          {}\n'
    for well in (
        "Up 2 hours",
        "Exited (0) 3 minutes ago",
        "Exited (143) 3 minutes ago",
        "Exited (137) 1 hour ago",
        "Created",
    ):
        assert_quiet(DOCKER + row.format(well, "loader"))
    assert_finds("container.start_failed", DOCKER + row.format("Restarting (1) 5 seconds ago", "loader"))


def inspect(**state: Any) -> str:
    base = {"Status": "exited", "Running": False, "OOMKilled": False, "Dead": False, "ExitCode": 0, "Error": ""}
    return json.dumps([{"Id": "ab12", "Name": "/loader", "State": base | state}], indent=4)


def test_docker_inspect():
    assert_quiet(inspect())
    assert assert_finds("container.oom_killed", inspect(OOMKilled=True, ExitCode=137)).component == "loader"
    error = 'could not select device driver "" with capabilities: [[gpu]]'
    assert_finds("container.gpu_runtime", inspect(Error=error, ExitCode=128))


def pod(state: dict[str, Any]) -> str:
    status = {"phase": "Running", "containerStatuses": [{"name": "t", "state": state}]}
    return json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "train-3"}, "status": status}, indent=2)


def test_pod_as_json():
    assert_quiet(pod({"running": {"startedAt": "2026-03-09T03:11:20Z"}}))
    assert_quiet(pod({"terminated": {"exitCode": 0, "reason": "Completed"}}))
    assert assert_finds("container.image_pull", pod({"waiting": {"reason": "ImagePullBackOff"}})).component == "train-3"


def test_node_as_json():
    def node(ready: str) -> str:
        status = {"conditions": [{"type": "MemoryPressure", "status": "False"}, {"type": "Ready", "status": ready}]}
        return json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "status": status})

    assert_quiet(node("True"))
    assert_finds("container.runtime_down", node("False"))
    assert_finds("host.unreachable", node("Unknown"))


def test_crictl_info_and_docker_info():
    info = {"status": {"conditions": [{"type": "RuntimeReady", "status": True, "reason": ""}]}}
    assert_quiet(json.dumps(info))
    info["status"]["conditions"][0]["status"] = False
    assert_finds("container.runtime_down", json.dumps(info))
    assert_finds("container.runtime_down", json.dumps({"ServerErrors": ["Cannot connect to the Docker daemon"]}))


def test_conditions_of_a_described_node():
    head = "Name:               n1\nConditions:\n  Type           "
    head += "Status  LastHeartbeatTime                 LastTransitionTime                "
    head += "Reason                       Message\n"
    row = "  {:<16} {:<7} Mon, 09 Mar 2026 03:11:20 +0000   Mon, 09 Mar 2026 03:11:20 +0000   {:<28} said\n"
    well = row.format("DiskPressure", "False", "KubeletHasNoDiskPressure") + row.format("Ready", "True", "KubeletReady")
    assert_quiet(head + well)
    assert_finds("container.resource_pressure", head + row.format("DiskPressure", "True", "KubeletHasDiskPressure"))


RESOURCES = (
    "Name:   n7\nCapacity:\n  cpu:             192\n  nvidia.com/gpu:  8\n"
    "Allocatable:\n  cpu:             190\n  nvidia.com/gpu:  {}\nSystem Info:\n  Kernel Version:  6.8.0\n"
)


def test_resources_of_a_node():
    assert assert_finds("container.device_plugin", RESOURCES.format(7)).component == "n7"
    assert_quiet(RESOURCES.format(8))
    columns = "N     CAP   ALLOC\nn1    8     8\nn2    8     {}\n"
    assert assert_finds("container.device_plugin", columns.format(6)).component == "n2"
    assert_quiet(columns.format(8))
    assert_quiet(columns.format("<none>"))
    assert_quiet("NAME  CPU_CAP   CPU_ALLOC\nn1    12        11\n")


def test_resources_as_json():
    node: dict[str, Any] = {
        "metadata": {"name": "n7"},
        "status": {
            "capacity": {"nvidia.com/gpu": "8", "cpu": "64"},
            "allocatable": {"nvidia.com/gpu": "8", "cpu": "63"},
        },
    }
    assert_quiet(json.dumps({"items": [node]}))
    node["status"]["allocatable"]["nvidia.com/gpu"] = "6"
    assert assert_finds("container.device_plugin", json.dumps({"items": [node]})).component == "n7"


def test_the_status_of_a_pod_alone():
    assert_finds(
        "container.device_plugin", json.dumps({"phase": "Failed", "reason": "UnexpectedAdmissionError", "message": "x"})
    )
    assert_quiet(json.dumps({"phase": "Running", "startTime": "2026-03-11T04:05:20Z"}))


@pytest.mark.parametrize(("throttled", "sick"), [(150_000, True), (60_000, False), (0, False)])
def test_throttling(throttled: int, sick: bool):
    stat = f"usage_usec 91\nnr_periods 180000\nnr_throttled {throttled}\nthrottled_usec 99\n"
    labels = '{namespace="ml",pod="p-1",container="main"}'
    series = f"container_cpu_cfs_periods_total{labels} 180000\ncontainer_cpu_cfs_throttled_periods_total{labels} {throttled}\n"
    for text in (stat, series):
        if sick:
            assert_finds("container.resource_pressure", text)
        else:
            assert_quiet(text)


def test_a_node_that_is_gone_is_not_a_runtime_that_is_down():
    text = (
        "Name:   n7\nConditions:\n  Type    Status   LastHeartbeatTime   Reason              Message\n"
        "  Ready   Unknown  Sat, 14 Nov 2026    NodeStatusUnknown   Kubelet stopped posting node status.\n"
        "Events:\n  Type     Reason        Age   From             Message\n"
        "  Normal   NodeNotReady  7m    node-controller  Node n7 status is now: NodeNotReady\n"
    )
    assert assert_finds("host.unreachable", text).component == "n7"


def test_a_mount_unit():
    line = "Mar 11 04:25:26 n7 systemd[1]: {}\n"
    text = line.format("scratch.mount: Mount process exited, code=exited, status=32/n/a") + line.format(
        "scratch.mount: Failed with result 'exit-code'."
    )
    assert assert_finds("container.mount_failed", text).component == "scratch.mount"
    assert_quiet(line.format("run-user-1000.mount: Deactivated successfully."))


def test_what_was_killed_at_its_limit_is_restarted():
    killed = (
        'Mar 11 04:12:33 n7 containerd[2299]: time="2026-03-11T04:12:33Z" level=info '
        'msg="TaskOOM event container_id:\\"7f1c\\""\n'
    )
    again = (
        'Mar 11 04:12:36 n7 kubelet[3110]: E0311 04:12:36.120110 3110 pod_workers.go:1301] "Error syncing pod, skipping" '
        'err="failed to \\"StartContainer\\" for \\"s\\" with CrashLoopBackOff: \\"back-off 10s restarting failed container=s\\""\n'
    )
    assert_finds("container.oom_killed", killed + again)


def test_a_table_that_lost_its_spaces():
    pods = "NAME READY STATUS RESTARTS AGE\nloader-0 1/1 Running 0 2d\nloader-1 0/1 {} 7 2d\n"
    assert assert_finds("container.resource_pressure", pods.format("Evicted")).component == "loader-1"
    assert_quiet(pods.format("Completed"))


def test_who_ate_the_memory_of_the_node_is_named_on_the_next_line():
    text = "The node was low on resource: memory. Threshold quantity: 100Mi.\nContainer loader was using 9Gi, request is 1Gi\n"
    assert assert_finds("container.resource_pressure", text).component == "loader"


def test_a_unit_that_ended_badly_is_inactive_on_older_systems():
    text = "* docker.service - Docker Application Container Engine\n   Loaded: loaded\n   Active: inactive (dead) {}since Mon\n"
    assert assert_finds("container.runtime_down", text.format("(Result: exit-code) ")).component == "docker.service"
    assert_quiet(text.format(""))
    assert_quiet(text.format("(Result: exec-condition) "))


def test_one_start_failure_in_the_words_of_runtime_and_kubelet():
    text = (
        'Mar  3 10:00:01 n7 containerd[9]: time="2026-03-03T10:00:01Z" level=error msg="RunPodSandbox for '
        '&PodSandboxMetadata{Name:train-0,Attempt:0,} failed, error" error="failed to setup network for sandbox"\n'
        "Mar  3 10:00:01 n7 kubelet[8]: E0303 10:00:01.120110 8 kuberuntime_manager.go:1170] "
        '"CreatePodSandbox for pod failed" err="rpc error"\n'
    )
    assert_finds("container.start_failed", text)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Job for kubelet.service failed because a timeout was exceeded.", "container.runtime_down"),
        ("Job for slurmd.service failed because the control process exited with error code.", "os.service_failed"),
        ("mount.nfs: access denied by server while mounting 192.0.2.4:/export", "container.mount_failed"),
    ],
)
def test_what_commands_answer(text: str, fault: str):
    assert_finds(fault, text + "\n")


@pytest.mark.parametrize("keys", [("type", "object"), ("verb", "event")])
def test_an_event_as_a_watch_wraps_it(keys: tuple[str, str]):
    event = {
        "involvedObject": {"kind": "Node", "name": "gn-4"},
        "reason": "OOMKilling",
        "message": "Memory cgroup out of memory: Killed process 812 (train) total-vm:753508kB, anon-rss:58776kB",
    }
    assert_finds("container.oom_killed", json.dumps({keys[0]: "ADDED", keys[1]: event}, indent=1))
    assert_quiet(
        json.dumps({keys[0]: "ADDED", keys[1]: event | {"reason": "Starting", "message": "Starting kubelet."}})
    )
