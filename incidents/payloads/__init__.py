"""One file per source: the raw body -> `NormalAlert`s."""

from incidents.payloads import alertmanager
from incidents.payloads.base import NormalAlert, NotUnderstood, Parser, Payload

PARSERS: dict[str, Parser] = {"alertmanager": alertmanager.parse}

__all__ = ["PARSERS", "NormalAlert", "NotUnderstood", "Parser", "Payload"]
