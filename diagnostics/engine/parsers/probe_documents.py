"""The documents of our own probes (diagnostics/probes)."""

from diagnostics.engine.parsers.recognise import JsonKinds, has_schema

JSON_KINDS: JsonKinds = tuple(
    (kind, has_schema(f"{kind}/1")) for kind in ("sickbay.nvml", "sickbay.disk", "sickbay.memory")
)
