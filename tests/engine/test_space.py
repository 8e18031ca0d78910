"""One rule for full file systems, whoever tells of them: df, our own probe, the node exporter."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from .helpers import assert_finds, assert_quiet, diagnosis_of, roots

GIB = 2**30


@dataclass(frozen=True)
class Mount:
    """Sizes in GiB; what is neither used nor available is kept for root."""

    mount: str = "/data"
    device: str = "/dev/nvme1n1"
    type: str = "xfs"
    size: float = 1000
    used: float = 500
    available: float = 500
    inodes_used: int = 10


def df(*mounts: Mount) -> str:
    rows = [
        f"{one.device} {one.type} {one.size * GIB / 1024:.0f} {one.used * GIB / 1024:.0f} {one.available * GIB / 1024:.0f} "
        f"{-(-100 * one.used // (one.used + one.available)):.0f}% {one.mount}\n"
        for one in mounts
    ]
    head = "Filesystem Type 1K-blocks Used Available Use% Mounted on\n"
    inodes = [
        f"{one.device} {one.type} 1000 {one.inodes_used} {1000 - one.inodes_used} {one.inodes_used / 10:.0f}% {one.mount}\n"
        for one in mounts
    ]
    return head + "".join(rows) + "Filesystem Type Inodes IUsed IFree IUse% Mounted on\n" + "".join(inodes)


def probe(*mounts: Mount) -> str:
    rows = [
        {"mount": one.mount, "device": one.device, "type": one.type, "size": one.size * GIB, "used": one.used * GIB,
         "available": one.available * GIB, "inodes": 1000, "inodes_used": one.inodes_used, "read_only": False}
        for one in mounts
    ]  # fmt: skip
    return json.dumps({"schema": "sickbay.disk/1", "filesystems": rows, "expected_writable": []}, indent=1)


def exporter(*mounts: Mount, read_only: int = 0) -> str:
    text = "# TYPE node_filesystem_avail_bytes gauge\n"
    for one in mounts:
        labels = f'{{device="{one.device}",fstype="{one.type}",mountpoint="{one.mount}"}}'
        values = {"avail_bytes": one.available * GIB, "free_bytes": (one.size - one.used) * GIB, "size_bytes": one.size * GIB,
                  "files": 1000, "files_free": 1000 - one.inodes_used, "readonly": read_only}  # fmt: skip
        text += "".join(f"node_filesystem_{name}{labels} {value}\n" for name, value in values.items())
    return text


TOLD_BY = pytest.mark.parametrize("tell", [df, probe, exporter])
Tell = Callable[..., str]


@TOLD_BY
@pytest.mark.parametrize(
    ("sick", "well"),
    [
        (Mount(used=950, available=50), Mount(used=949, available=51)),
        (Mount(inodes_used=950), Mount(inodes_used=940)),
        (Mount(size=21, used=19, available=0.9), Mount(size=19, used=17, available=0.9)),
        (Mount(size=21, used=19, available=0.9), Mount(size=21, used=8, available=0.9)),
        (Mount(size=21, used=19, available=0.9), Mount(size=21, used=19, available=1.1)),
    ],
    ids=["share", "inodes", "few bytes of a large one", "a small rest of a quota", "bytes"],
)
def test_a_file_system_is_full_from_its_threshold_on(tell: Tell, sick: Mount, well: Mount):
    assert assert_finds("os.disk_full", tell(sick)).component == "/data"
    assert_quiet(tell(well))


def test_inodes_are_counted_to_the_last_where_they_are_told():
    for tell in (probe, exporter):
        assert_quiet(tell(Mount(inodes_used=949)))


@TOLD_BY
def test_what_is_kept_for_root_is_not_used(tell: Tell):
    assert_quiet(tell(Mount(used=900, available=50)))


@TOLD_BY
@pytest.mark.parametrize(
    ("mount", "device", "kind"),
    [
        ("/snap/core20/2318", "/dev/loop3", "squashfs"),
        ("/mnt/image", "/dev/loop4", "ext4"),
        ("/mnt/cdrom", "/dev/sr0", "iso9660"),
        ("/media/installer", "/dev/sdz1", "vfat"),
        ("/run", "tmpfs", "tmpfs"),
        ("/var/lib/docker/overlay2/a1/merged", "overlay", "overlay"),
        ("/cvmfs/atlas.cern.ch", "cvmfs2", "fuse"),
        ("/sys/firmware/efi/efivars", "efivarfs", "efivarfs"),
    ],
)
def test_what_is_full_by_nature_is_quiet(tell: Tell, mount: str, device: str, kind: str):
    assert_quiet(tell(Mount(mount, device, kind, used=1000, available=0, inodes_used=1000)))


@TOLD_BY
def test_a_device_that_is_mounted_several_times_is_one_file_system(tell: Tell):
    full = Mount("/var/lib/kubelet", used=1000, available=0)
    volumes = [replace(full, mount=f"/var/lib/kubelet/pods/{pod}/volume-subpaths/x") for pod in ("7f1c", "a2d4")]
    assert assert_finds("os.disk_full", tell(*volumes, full)).component == "/var/lib/kubelet"


@TOLD_BY
def test_two_devices_are_two_file_systems(tell: Tell):
    text = tell(Mount("/a", "/dev/sda1", used=1000, available=0), Mount("/b", "/dev/sdb1", used=1000, available=0))
    assert {finding.component for finding in roots(diagnosis_of(text))} == {"/a", "/b"}


def test_a_mount_that_is_only_read_is_not_full():
    full = Mount(used=1000, available=0, inodes_used=1000)
    assert_finds("os.disk_full", exporter(full))
    assert_quiet(exporter(full, read_only=1))


def test_a_count_below_nothing_tells_nothing():
    for tell in (probe, exporter):
        assert_quiet(tell(Mount(used=1000, available=-1)))


def test_an_overlay_that_the_system_writes_to_is_judged():
    document = json.loads(probe(Mount("/var", "overlay", "overlay", used=1000, available=0)))
    assert_quiet(json.dumps(document))
    document["expected_writable"] = ["/var"]
    assert assert_finds("os.disk_full", json.dumps(document)).component == "/var"
