"""GPUs as the tools of NVIDIA describe them: which print is judged by what, and what a clean look at it speaks for."""

import re

from diagnostics.engine.judges import (
    check_table,
    gpu_columns,
    gpu_dcgm,
    gpu_dcgm_diag,
    gpu_dcgm_health,
    gpu_imex,
    gpu_links,
    gpu_parts,
    gpu_reports,
    gpu_settings,
    gpu_table,
    pci_sysfs,
)
from diagnostics.engine.judges.form import Format, of
from diagnostics.engine.parsers import nvidia_smi, smi_csv
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.types import Check

# What a print must hold to speak for a family: -q -d ECC shows no temperature, a query only the columns asked for.
_SHOWN = {
    "gpu.memory": re.compile(r"ecc_errors/|ecc/errors|remapped_rows|retired_pages"),
    "gpu.thermal": re.compile(r"thermal_slowdown|temperature/|_reasons(?:_|/)active$"),
    "gpu.power": re.compile(r"power_brake|_reasons(?:_|/)active$"),
    "gpu.pcie": re.compile(r"link_widths?/|link/width"),
    "gpu.mig": re.compile(r"mig_?mode|mig/mode"),
    "gpu.firmware": re.compile(r"recovery_action|reset_required"),
}
_FAMILIES = ("gpu.presence", *_SHOWN)


def _not_shown(paths: set[str]) -> list[Check]:
    missing = tuple(family for family, shows in _SHOWN.items() if not any(shows.search(path) for path in paths))
    if not missing:
        return []
    return [Check("nvidia-smi", missing, "could_not_check", f"this print shows nothing of {', '.join(missing)}")]


def _gaps_of_query(log: Log) -> list[Check]:
    settings, unread = nvidia_smi.read(log.text)
    return [*_not_shown({row.path for row in settings}), *_too_deep(unread)]


def _too_deep(numbers: tuple[int, ...]) -> list[Check]:
    if not numbers:
        return []
    lines = ", ".join(map(str, numbers))
    return [
        Check(
            "nvidia-smi", (), "could_not_check", f"nested deeper than nvidia-smi prints it: not read from line {lines}"
        )
    ]


def _gaps_of_csv(log: Log) -> list[Check]:
    return _not_shown({row.path for row in smi_csv.settings(log.text)})


FORMATS = {
    "nvidia-smi": Format(
        "nvidia-smi", (gpu_settings.judge_query,), of(*_FAMILIES, "gpu.nvlink"), has_log=True,
        gaps=_gaps_of_query, parts=gpu_parts.parts_of_query,
    ),
    "nvidia-smi-table": Format(
        "nvidia-smi table", (gpu_table.judge,), of("gpu.presence"), has_log=True, parts=gpu_table.parts_of_table,
        unread="the table shows no row remapping, throttling or links; give the output of nvidia-smi -q as well",
    ),
    "nvidia-smi-csv": Format(
        "nvidia-smi query", (gpu_settings.judge_csv,), of(*_FAMILIES), has_log=True, gaps=_gaps_of_csv, parts=gpu_parts.parts_of_csv
    ),
    "nvidia-smi-csv-bare": Format(
        "nvidia-smi query", (gpu_settings.judge_csv,), of("gpu.presence"), has_log=True, parts=gpu_parts.parts_of_csv,
        unread="the columns have no header, so that only special values are known",
    ),
    "nvidia-smi-list": Format("nvidia-smi -L", (), of("gpu.presence"), has_log=True, parts=gpu_table.parts_of_list),
    "nvidia-smi-mig": Format("nvidia-smi mig", (), of("gpu.mig"), has_log=True),
    "nvidia-smi-reset": Format("nvidia-smi -r", (), of("gpu.firmware"), has_log=True),
    "nvlink": Format("nvidia-smi nvlink", (gpu_links.judge,), of("gpu.nvlink"), has_log=True, parts=gpu_links.parts),
    "gpu-topology": Format("nvidia-smi topo", (gpu_links.judge_matrix,), of("gpu.nvlink"), has_log=True),
    "dcgm-diag": Format("dcgmi diag", (gpu_dcgm_diag.diagnostic,), of("gpu.diagnostic", "gpu.memory", "gpu.thermal")),
    "dcgm-diag-json": Format(
        "dcgmi diag", (gpu_dcgm_diag.diagnostic_json,), of("gpu.diagnostic", "gpu.memory", "gpu.thermal"), parts=gpu_dcgm.parts_of_json
    ),
    "dcgm-health": Format("dcgmi health", (gpu_dcgm_health.health,), of("gpu.memory", "gpu.thermal", "gpu.pcie", "gpu.nvlink")),
    "dcgm-health-json": Format("dcgmi health", (gpu_dcgm_health.health_json,), of("gpu.memory", "gpu.thermal", "gpu.pcie", "gpu.nvlink")),
    "dcgm-nvlink": Format("dcgmi nvlink", (gpu_dcgm.links,), of("gpu.nvlink")),
    "dcgm-discovery": Format("dcgmi discovery", (gpu_dcgm.discovery,), of("gpu.presence"), parts=gpu_dcgm.parts),
    "dcgm-dmon": Format(
        "dcgmi dmon", (gpu_dcgm.monitor,), of(), unread="of its counters only Xids and the reasons for low clocks are judged"
    ),
    "gpu-columns": Format(
        "table of GPUs", (gpu_columns.judge,), of(), has_log=True, unread="its readings are only compared with one another"
    ),
    "imex": Format("nvidia-imex-ctl", (gpu_imex.judge,), of("gpu.nvlink")),
    "imex-json": Format("nvidia-imex-ctl", (gpu_imex.judge_json,), of("gpu.nvlink")),
    **gpu_reports.FORMATS,
    **pci_sysfs.FORMATS,
    **check_table.FORMATS,
}  # fmt: skip
