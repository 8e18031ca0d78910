"""Drives as JSON: smartctl -j, nvme smart-log -o json, nvme error-log -o json.

{"smartctl": {...}, "device": {"name": "/dev/sda"}, "smart_status": {"passed": true}, ...}
{"critical_warning": 0, "avail_spare": 100, "spare_thresh": 10, "percent_used": 3, "media_errors": 0, "num_err_log_entries": 4412}
"""

from typing import Any

from diagnostics.engine.parsers.recognise import JsonKinds, has_key


def _is_nvme_log(value: Any) -> bool:
    return (
        isinstance(value, dict) and "critical_warning" in value and ("media_errors" in value or "percent_used" in value)
    )


JSON_KINDS: JsonKinds = (
    (
        "smart",
        has_key(
            "smartctl",
            "smart_status",
            "ata_smart_attributes",
            "nvme_smart_health_information_log",
            "scsi_grown_defect_list",
        ),
    ),
    ("nvme-smart", _is_nvme_log),
)
