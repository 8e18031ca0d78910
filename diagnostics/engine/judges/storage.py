"""Drives as smartctl -j describes them."""

from collections.abc import Iterator
from typing import Any

from diagnostics.engine import catalog
from diagnostics.engine.judges.form import Format, of
from diagnostics.engine.parsers.json_text import JsonText
from diagnostics.engine.types import EvidenceLine, Observation, Role


def smart(document: JsonText, *, source_name: str) -> list[Observation]:
    device = str((document.value.get("device") or {}).get("name") or "").removeprefix("/dev/") or None
    signs = (_messages, _overall, _nvme, _ata, _scsi, _self_tests)
    return [_says(sign, source_name, device) for find in signs for sign in find(document)]


def nvme(document: JsonText, *, source_name: str) -> list[Observation]:
    """nvme smart-log names its values shorter than smartctl does, and some versions write them as text."""
    value, device = document.value, document.value.get("device") or document.value.get("name")
    names = {long: next((short for short in shorts if short in value), "") for long, shorts in _NVME_NAMES.items()}
    log = {long: _number(value.get(short)) for long, short in names.items()}
    device = str(device).removeprefix("/dev/") if device else None
    return [_says(sign, source_name, device) for sign in _nvme_signs(document, log, names)]


_NVME_NAMES = {
    "critical_warning": ("critical_warning",),
    "available_spare": ("avail_spare", "available_spare"),
    "available_spare_threshold": ("spare_thresh", "available_spare_threshold"),
    "media_errors": ("media_errors",),
    "percentage_used": ("percent_used", "percentage_used"),
}


def _number(value: Any) -> int | None:
    """nvme-cli 2 writes the warning as an object of its bits, with the number as `value`."""
    if isinstance(value, dict):
        value = value.get("value")
    if isinstance(value, str):
        try:
            return int(value.replace(",", "").rstrip("%"), 0)
        except ValueError:
            return None
    return int(value) if isinstance(value, int | float) else None


def _says(sign: "Sign", source_name: str, device: str | None) -> Observation:
    line, role, detail = sign
    return Observation(
        "host.disk.failing", line, source_name, role=role, component=device, detail=detail, order=line.number
    )


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
    log = document.value.get("nvme_smart_health_information_log") or {}
    yield from _nvme_signs(
        document, {name: _number(log.get(name)) for name in _NVME_NAMES}, {name: name for name in _NVME_NAMES}
    )


def _nvme_signs(document: JsonText, log: dict[str, int | None], names: dict[str, str]) -> Iterator[Sign]:
    """`names` are what the document calls the values."""
    if warning := log["critical_warning"]:
        yield document.locate(names["critical_warning"]), "root", f"critical warning {warning:#x}"
    spare, least = log["available_spare"], log["available_spare_threshold"]
    if spare is not None and least is not None and spare < least:
        yield document.locate(names["available_spare"]), "root", f"{spare} % spare left, {least} % wanted"
    if errors := log["media_errors"]:
        yield document.locate(names["media_errors"]), "root", f"{errors} media errors"
    if (log["percentage_used"] or 0) >= 100:
        yield document.locate(names["percentage_used"]), "note", "worn out by its maker's measure, which is no failure"


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


def _scsi(document: JsonText) -> Iterator[Sign]:
    limits = catalog.thresholds()["scsi"]
    defects = document.value.get("scsi_grown_defect_list")
    if isinstance(defects, int) and defects >= limits["grown_defects"]:
        yield document.locate("scsi_grown_defect_list"), "root", f"{defects} grown defects"
    counters = document.value.get("scsi_error_counter_log") or {}
    for name, row in counters.items() if isinstance(counters, dict) else ():
        errors = _number(row.get("total_uncorrected_errors")) if isinstance(row, dict) else None
        if errors and errors >= limits["uncorrected_writes" if name == "write" else "uncorrected_errors"]:
            line = document.locate("total_uncorrected_errors", value=str(errors))
            yield line, "root", f"{errors} errors that were not corrected"


def _self_tests(document: JsonText) -> Iterator[Sign]:
    """The newest one stands first; what failed before it may have been repaired."""
    logs = document.value.get("ata_smart_self_test_log") or {}
    for log in logs.values() if isinstance(logs, dict) else ():
        rows = (log.get("table") if isinstance(log, dict) else None) or []
        status = (rows[0].get("status") or {}) if rows else {}
        if status.get("passed") is False and "failure" in str(status.get("string")):
            yield document.locate("string", value=f'"{status["string"][:30]}'), "root", "its last self-test failed"


FORMATS = {
    "smart": Format("SMART", (smart,), of("host.storage")),
    "nvme-smart": Format("NVMe SMART log", (nvme,), of("host.storage")),
}
