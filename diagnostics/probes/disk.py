"""How full the real file systems are, and which of them have become read-only."""

import json
from typing import Any

from diagnostics.probes.base import Captured, Context, ProbeOutput, ProbeSpec, could_not_check, found, not_supported

# Network file systems are left out: one whose server is gone would hold statvfs for ever.
REAL = frozenset(
    {"ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "bcachefs", "jfs", "reiserfs", "overlay", "vfat"}
)
DEADLINE_SECONDS = 15.0


def read(context: Context) -> ProbeOutput:
    try:
        mounts = context.transport.read("/proc/self/mounts").decode("utf-8", "replace")
    except FileNotFoundError:
        return not_supported("This machine has no /proc/self/mounts.")
    except OSError as error:
        return could_not_check(f"/proc/self/mounts could not be read: {error.strerror}.")
    problems: list[str] = []
    filesystems = [row for row in (_row(context, line, problems) for line in _real(mounts)) if row]
    if not filesystems:
        return could_not_check("No file system could be measured. " + " ".join(problems))
    document = {
        "schema": "sickbay.disk/1",
        "filesystems": filesystems,
        "expected_writable": expected_writable(filesystems),
    }
    data = json.dumps(document, indent=1, ensure_ascii=False).encode()
    return found(Captured("disk.json", "application/json", data), reason=" ".join(problems)[:400])


def _real(mounts: str) -> list[tuple[str, str, str, bool]]:
    """device, mount, type, read-only; each device once, at its shortest mount: binds of containers show it many times."""
    best: dict[str, tuple[str, str, str, bool]] = {}
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 4 or fields[2] not in REAL:
            continue
        device, mount = _plain(fields[0]), _plain(fields[1])
        key = mount if fields[2] in {"overlay", "zfs"} else device
        if key not in best or len(mount) < len(best[key][1]):
            best[key] = (device, mount, fields[2], "ro" in fields[3].split(","))
    return [best[key] for key in sorted(best)]


def _row(context: Context, entry: tuple[str, str, str, bool], problems: list[str]) -> dict[str, Any] | None:
    device, mount, kind, read_only = entry
    try:
        space = context.transport.space(mount)
    except OSError as error:
        problems.append(f"{mount}: {error.strerror or 'not recorded'}.")
        return None
    if space.size == 0:
        return None
    return {
        "mount": mount,
        "device": device,
        "type": kind,
        "size": space.size,
        "used": space.used,
        "available": space.available,
        "inodes": space.inodes,
        "inodes_used": space.inodes_used,
        "read_only": read_only,
    }


def expected_writable(filesystems: list[dict[str, Any]]) -> list[str]:
    """The mounts that a running system has to write to; an immutable image has a read-only root on purpose, its /var has not."""
    mounts = {row["mount"]: row for row in filesystems}
    usual = [mount for mount in ("/var", "/var/log", "/var/lib", "/tmp", "/home", "/scratch") if mount in mounts]  # noqa: S108
    root_is_plain = mounts.get("/", {}).get("type") in {"ext3", "ext4", "xfs", "btrfs"}
    return [*(["/"] if root_is_plain and "/var" not in mounts else []), *usual]


def _plain(text: str) -> str:
    """Octal escapes of the table (`\\040` is a blank) undone."""
    for escape, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(escape, character)
    return text


SPEC = ProbeSpec(
    id="disk",
    version="1",
    title="File systems",
    families=("os.space", "host.storage"),
    deadline_seconds=DEADLINE_SECONDS,
    run=read,
)
