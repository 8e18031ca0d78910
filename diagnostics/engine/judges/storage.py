"""Drives as smartctl -j describes them."""

from collections.abc import Iterator
from typing import Any

from diagnostics.engine import catalog
from diagnostics.engine.judges.form import Format, of
from diagnostics.engine.parsers.json_text import JsonText
from diagnostics.engine.types import EvidenceLine, Observation, Role


def smart(document: JsonText, *, source_name: str) -> list[Observation]:
    value = document.value
    device = str((value.get("device") or {}).get("name") or "").removeprefix("/dev/") or None
    return [
        Observation(
            "host.disk.failing", line, source_name, role=role, component=device, detail=detail, order=line.number
        )
        for line, role, detail in (*_messages(document), *_overall(document), *_nvme(document), *_ata(document))
    ]


Sign = tuple[EvidenceLine, Role, str]


def _messages(document: JsonText) -> Iterator[Sign]:
    for message in (document.value.get("smartctl") or {}).get("messages") or []:
        text = str(message.get("string", ""))
        if (
            message.get("severity") == "error"
            and "failed" in text.lower()
            and "Permission denied" not in text
            and "open device" not in text
        ):
            yield document.locate("string", value=f'"{text[:20]}'), "root", text


def _overall(document: JsonText) -> Iterator[Sign]:
    if (document.value.get("smart_status") or {}).get("passed") is False:
        yield document.locate("passed"), "root", "the drive judges itself as failing"


def _nvme(document: JsonText) -> Iterator[Sign]:
    log: dict[str, Any] = document.value.get("nvme_smart_health_information_log") or {}
    if log.get("critical_warning"):
        yield document.locate("critical_warning"), "root", f"critical warning {log['critical_warning']:#x}"
    spare, least = log.get("available_spare"), log.get("available_spare_threshold")
    if isinstance(spare, int) and isinstance(least, int) and spare < least:
        yield document.locate("available_spare"), "root", f"{spare} % spare left, {least} % wanted"
    if log.get("media_errors"):
        yield document.locate("media_errors"), "root", f"{log['media_errors']} media errors"
    if isinstance(log.get("percentage_used"), int) and log["percentage_used"] >= 100:
        yield document.locate("percentage_used"), "note", "worn out by its maker's measure, which is no failure"


def _ata(document: JsonText) -> Iterator[Sign]:
    limits = catalog.thresholds()["ata"]
    most = {
        "Reallocated_Sector_Ct": "reallocated_sectors",
        "Current_Pending_Sector": "pending_sectors",
        "Offline_Uncorrectable": "pending_sectors",
    }
    for row in (document.value.get("ata_smart_attributes") or {}).get("table") or []:
        name, raw = str(row.get("name", "")), (row.get("raw") or {}).get("value")
        line = document.locate("name", value=f'"{name}"')
        if str(row.get("when_failed") or "").lower() == "now":
            yield line, "root", f"{name} is below its limit now"
        elif name in most and isinstance(raw, int) and raw >= limits[most[name]]:
            yield line, "root", f"{raw} {name}"


FORMATS = {"smart": Format("SMART", (smart,), of("host.storage"))}
