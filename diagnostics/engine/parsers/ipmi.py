"""All that the tools of a BMC print as text; each form lies in a module of its own."""

from diagnostics.engine.parsers import ipmi_blocks, ipmi_fields, ipmi_fru, ipmi_sel, ipmi_sensors, ipmi_users
from diagnostics.engine.parsers.recognise import TextKinds

TEXT_KINDS: TextKinds = (
    *ipmi_sel.TEXT_KINDS,
    *ipmi_users.TEXT_KINDS,
    *ipmi_fru.TEXT_KINDS,
    *ipmi_fields.TEXT_KINDS,
    *ipmi_blocks.TEXT_KINDS,
    *ipmi_sensors.TEXT_KINDS,
)
