"""smartctl -j."""

from diagnostics.engine.parsers.recognise import JsonKinds, has_key

JSON_KINDS: JsonKinds = (("smart", has_key("smartctl", "smart_status", "ata_smart_attributes")),)
