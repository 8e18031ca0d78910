"""What an alert says, where nothing better is at hand: its words against a table, with low confidence."""

import re
from collections.abc import Iterable

from diagnostics.engine.catalog import words
from diagnostics.engine.judges.form import Format, of
from diagnostics.engine.parsers import alerts
from diagnostics.engine.parsers.alerts import Alert
from diagnostics.engine.parsers.json_text import JsonText
from diagnostics.engine.types import Observation
from incidents.domain import faults

_INFORMS = re.compile(r"^(?:Watchdog|InfoInhibitor|DeadMansSwitch)\b")


def judge(document: JsonText, *, source_name: str) -> list[Observation]:
    return _judge(alerts.alerts(document), source_name)


def judge_cloud(document: JsonText, *, source_name: str) -> list[Observation]:
    return _judge(alerts.cloud_events(document), source_name)


def _judge(found: Iterable[Alert], source_name: str) -> list[Observation]:
    return [seen for alert in found if (seen := _say(alert, source_name))]


def _say(alert: Alert, source_name: str) -> Observation | None:
    fault = words.fault_of(alert.words)
    if _INFORMS.match(alert.words) or (fault is None and not alert.is_known_trouble):
        return None
    return Observation(
        fault or faults.UNCLASSIFIED, alert.line, source_name, role="root" if alert.firing else "note",
        component=f"GPU {alert.part}" if alert.part and alert.part.isdigit() else alert.part or alert.node, node=alert.node,
        confidence="low", detail=alert.words.strip()[:300], order=alert.line.number,
    )  # fmt: skip


_UNREAD = "an alert is a sign at second hand; a log or a diagnostic run shows what is behind it"

FORMATS = {
    "alerts": Format("alerts", (judge,), of("host.monitoring"), unread=_UNREAD),
    "cloud-events": Format("events of the cloud provider", (judge_cloud,), of("node.unclassified"), unread=_UNREAD),
}
