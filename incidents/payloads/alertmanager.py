"""Prometheus Alertmanager's webhook, versions 3 and 4 (prometheus/alertmanager: template/template.go, notify/webhook).

The status of each member is the only truth: the root `status` fires while any member does, and `groupKey` is no identity.
"""

import json
from collections.abc import Mapping
from typing import Any

from incidents.domain import fingerprint
from incidents.payloads.base import NormalAlert, NotUnderstood, Payload, moment

SUMMARY_KEYS = ("summary", "message", "description", "title")


def parse(body: bytes) -> Payload:
    """The alerts of the body. Raises `NotUnderstood` if it is no JSON object with `alerts`."""
    try:
        # Member strings keep what UTF-8 can hold; a lone bad byte must not lose the other alerts.
        root = json.loads(body.decode("utf-8", errors="replace"))
    except (ValueError, RecursionError) as error:
        raise NotUnderstood(f"This is not JSON: {error}. Alertmanager sends a JSON object.") from error
    if not isinstance(root, dict) or not isinstance(root.get("alerts"), list):
        raise NotUnderstood("The JSON has no list 'alerts'. Is the sender an Alertmanager webhook?")
    alerts, problems = [], []
    for position, member in enumerate(root["alerts"]):
        try:
            alerts.append(_member(member))
        except NotUnderstood as error:
            problems.append(f"alerts[{position}]: {error}")
    return Payload(tuple(alerts), _count(root.get("truncatedAlerts")), tuple(problems))


def _count(value: Any) -> int:
    """A number of alerts; what cannot be one is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1_000_000 else 0


def _member(member: Any) -> NormalAlert:
    if not isinstance(member, dict):
        raise NotUnderstood("not an object.")
    labels, annotations = _texts(member.get("labels")), _texts(member.get("annotations"))
    status = str(member.get("status", "")).lower()
    if status not in {"firing", "resolved"}:
        raise NotUnderstood(f"its status is {status[:40]!r}, neither firing nor resolved.")
    if not labels:
        raise NotUnderstood("it has no labels.")
    given = member.get("fingerprint")
    return NormalAlert(
        fingerprint=clean(given)[:64] if isinstance(given, str) and given else fingerprint.label_fingerprint(labels),
        firing=status == "firing",
        name=labels.get("alertname", "")[:200] or "(no name)",
        labels=labels,
        annotations=annotations,
        starts_at=moment(member.get("startsAt")),
        ends_at=moment(member.get("endsAt")) if status == "resolved" else None,
        severity_hint=labels.get("severity", "")[:80],
        summary=next((annotations[key] for key in SUMMARY_KEYS if annotations.get(key)), ""),
        is_heartbeat=fingerprint.is_heartbeat(labels),
    )


def _texts(value: Any) -> Mapping[str, str]:
    """A mapping of texts; other values (a number, true) as JSON writes them."""
    return {clean(str(key)): clean(text) for key, text in value.items()} if isinstance(value, dict) else {}


def clean(value: Any) -> str:
    """A text that every database can store: NUL and lone surrogates become the replacement character."""
    text = value if isinstance(value, str) else json.dumps(value)
    return text.replace("\0", "\ufffd").encode("utf-8", errors="replace").decode()
