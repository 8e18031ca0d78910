"""What this app adds to the apps below."""

from diagnostics import queries
from incidents.extension_points import live_versions

live_versions.add("runs", queries.live_version_of)
