"""The RDMA fabric as its tools print it. A pasted session holds the prints of several: each text is shown to all readers."""

from diagnostics.engine.judges import (
    fabric_cables,
    fabric_counters,
    fabric_gids,
    fabric_interfaces,
    fabric_ports,
    fabric_reports,
)
from diagnostics.engine.judges.form import Format, of

_TEXT_JUDGES = (
    fabric_ports.ports, fabric_ports.devices, fabric_counters.counters, fabric_cables.text, fabric_interfaces.settings,
    fabric_interfaces.modules, fabric_interfaces.links, fabric_interfaces.bonds, fabric_reports.links, fabric_reports.stages,
    fabric_reports.widths, fabric_gids.table, fabric_gids.refusals,
)  # fmt: skip
_LINK = ("fabric.link",)
_PORT = ("fabric.link", "fabric.adapter", "fabric.control")


def _text(name: str, families: tuple[str, ...]) -> Format:
    return Format(name, _TEXT_JUDGES, of(*families), has_log=True)


FORMATS = {
    "ibstat": _text("InfiniBand ports", _PORT),
    "ibstatus": _text("InfiniBand ports", _PORT),
    "ibv_devinfo": _text("InfiniBand ports", _PORT),
    "ibv_devices": _text("RDMA devices", ("fabric.adapter",)),
    "rdma-link": _text("RDMA links", _PORT),
    "ibdev2netdev": _text("RDMA interfaces", _LINK),
    "ibqueryerrors": _text("InfiniBand counters", _LINK),
    "perfquery": _text("InfiniBand counters", _LINK),
    "port-counters": _text("InfiniBand counters", _LINK),
    "ethtool-counters": _text("interface counters", _LINK),
    "ethtool": _text("network interface", _LINK),
    "ethtool-module": _text("cable module", _LINK),
    "ip-link": _text("network interfaces", _LINK),
    "bonding": _text("bonded interfaces", _LINK),
    "ibportstate": _text("InfiniBand port", _PORT),
    "mlxlink-text": _text("mlxlink", _LINK),
    "iblinkinfo": _text("InfiniBand links", ("fabric.link", "fabric.control")),
    "ibdiagnet": _text("ibdiagnet", ("fabric.link", "fabric.control")),
    "fabric-tool": _text("fabric tool", ("fabric.adapter",)),
    "mlxlink": Format("mlxlink", (fabric_cables.document,), of(*_LINK)),
    "rdma-link-json": Format("RDMA links", (fabric_ports.ports_of_json,), of(*_PORT)),
    "ip-link-json": Format("network interfaces", (fabric_interfaces.links_of_json,), of(*_LINK)),
    "ufm-events": Format("UFM events", (fabric_reports.ufm,), of("fabric.link", "fabric.control")),
}
