"""Settings of a node that differ from its profile, and checks of it that failed (catalog/settings.toml)."""

from dataclasses import replace

from diagnostics.engine.catalog import settings as meanings
from diagnostics.engine.judges.form import Format, of
from diagnostics.engine.parsers import settings
from diagnostics.engine.parsers.json_text import JsonText
from diagnostics.engine.parsers.log import Log
from diagnostics.engine.parsers.settings import Off
from diagnostics.engine.types import Observation

# Who does not answer at all has no session either.
_UNREACHABLE = "host.unreachable"


def differences(log: Log, *, source_name: str) -> list[Observation]:
    return _says([(one, meanings.of_setting(one.name)) for one in settings.off(log.text)], source_name)


def of_document(document: JsonText, *, source_name: str) -> list[Observation]:
    found = []
    for one in settings.off_in(document.value):
        fault = meanings.of_check(one.name) if one.is_check else meanings.of_setting(one.name)
        line = document.locate(one.key, value=f'"{one.name}"') if one.key else document.locate(one.name)
        found.append((replace(one, line=line), fault))
    return _says(found, source_name)


def _says(found: list[tuple[Off, str | None]], source_name: str) -> list[Observation]:
    silent = {one.node for one, fault in found if fault == _UNREACHABLE}
    return [
        Observation(
            fault, one.line, source_name, component=one.name if fault == "os.config" else None, node=one.node, detail=one.detail,
            order=one.line.number, signature=one.name,
        )
        for one, fault in found
        if fault and not (fault == "os.session_hang" and one.node in silent)
    ]  # fmt: skip


FORMATS = {
    "settings": Format("settings", (differences,), of("os.config"), has_log=True),
    "settings-json": Format("settings", (of_document,), of("os.config")),
}
