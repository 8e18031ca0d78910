"""What this machine is: names, maker, processors, memory, system, parts. A machine without a GPU is fine and says so."""

import json
import platform
import re
import socket
from typing import Any

from diagnostics.probes import nvml
from diagnostics.probes.base import Context, Transport
from incidents.domain.hardware import NodeFacts, PartFacts

DMI = "/sys/class/dmi/id"
NO_SERIALS = frozenset(
    {"", "none", "not specified", "to be filled by o.e.m.", "default string", "0", "system serial number"}
)
SMALLEST_DRIVE_BYTES = 1024**3
SECTOR_BYTES = 512  # /sys/block/*/size counts these, whatever the drive's own sectors are


def read(context: Context) -> NodeFacts:
    transport = context.transport
    gpus, gpu_note = _gpus(context)
    full_name = socket.getfqdn().lower()
    hostname = socket.gethostname().lower()
    return NodeFacts(
        hostname=hostname,
        other_names=tuple(name for name in (full_name,) if name != hostname and not name.startswith("localhost")),
        vendor=_dmi(transport, "sys_vendor"),
        product=_dmi(transport, "product_name"),
        serial=_dmi(transport, "product_serial"),
        expected_gpus=context.expected_gpus or len(gpus) or None,
        parts=(*gpus, *_ports(transport), *_drives(transport)),
        facts={
            "cpu": _cpu(transport),
            "memory_bytes": _memory_bytes(transport),
            "system": _system(transport),
            "kernel": platform.release(),
            "architecture": platform.machine(),
            "gpus": gpu_note,
        },
    )


def _gpus(context: Context) -> tuple[tuple[PartFacts, ...], str]:
    """The GPUs, and in words what is known of them."""
    output = nvml.read(context)
    if output.status != "ok":
        return (), output.reason
    document = json.loads(output.evidence[0].data)
    rows = document["gpus"]
    return tuple(_gpu(row) for row in rows), f"{len(rows)} GPUs, driver {document['driver']}"


def _gpu(row: dict[str, Any]) -> PartFacts:
    return PartFacts(
        kind="gpu",
        slot=str(row["index"]),
        model=row.get("name") or "",
        serial=row.get("serial") or "",
        uuid=row.get("uuid") or "",
        pci_address=row.get("pci") or "",
    )


def _ports(transport: Transport) -> list[PartFacts]:
    """Network ports with a device behind them; bridges, tunnels and containers' ends have none."""
    names = [name for name in transport.names("/sys/class/net") if transport.names(f"/sys/class/net/{name}/device")]
    return [
        PartFacts(kind="nic_port", slot=name, serial=_text(transport, f"/sys/class/net/{name}/address"))
        for name in names
    ]


def _drives(transport: Transport) -> list[PartFacts]:
    drives = []
    for name in transport.names("/sys/block"):
        folder = f"/sys/block/{name}"
        size = int(_text(transport, f"{folder}/size") or 0) * SECTOR_BYTES
        if size < SMALLEST_DRIVE_BYTES or not transport.names(f"{folder}/device"):
            continue
        drives.append(
            PartFacts(
                kind="drive",
                slot=name,
                model=_text(transport, f"{folder}/device/model"),
                serial=_text(transport, f"{folder}/device/serial"),
                attributes={"bytes": size},
            )
        )
    return drives


def _cpu(transport: Transport) -> dict[str, Any]:
    text = _text(transport, "/proc/cpuinfo")
    models = re.findall(r"^(?:model name|Model|Processor)\s*:\s*(.+)$", text, re.MULTILINE)
    return {
        "model": models[0].strip() if models else platform.machine(),
        "threads": len(re.findall(r"^processor\s*:", text, re.M)),
    }


def _memory_bytes(transport: Transport) -> int | None:
    match = re.search(r"^MemTotal:\s+(\d+) kB", _text(transport, "/proc/meminfo"), re.MULTILINE)
    return int(match[1]) * 1024 if match else None


def _system(transport: Transport) -> str:
    match = re.search(r'^PRETTY_NAME="?([^"\n]+)', _text(transport, "/etc/os-release"), re.MULTILINE)
    return match[1] if match else platform.system()


def _dmi(transport: Transport, name: str) -> str:
    value = _text(transport, f"{DMI}/{name}")
    return "" if value.lower() in NO_SERIALS else value


def _text(transport: Transport, path: str) -> str:
    """The file, or nothing: serials are readable for root only, and many machines have no DMI."""
    try:
        return transport.read(path).decode("utf-8", "replace").strip()
    except OSError:
        return ""
