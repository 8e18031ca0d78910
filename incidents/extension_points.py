"""Where upper apps join in without being imported: what a closure asks, what lists show besides."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from incidents.lib.registry import Registry
from incidents.models import Incident


@dataclass(frozen=True)
class ClosureAnswer:
    """One check of the closing dialog: what is asked, whether it is met, and what is there or wanting."""

    title: str
    met: bool
    detail: str


ClosureCheck = Callable[[Incident], ClosureAnswer | None]
"""Answers for one incident; None where it asks nothing of it."""

BulkColumn = Callable[[Sequence[int]], dict[int, Any]]
"""Incident ids -> a value each, in a constant number of queries."""

MergeFollower = Callable[[Incident, Incident, datetime], None]
"""Moves what hangs on the first incident to the second, inside the transaction of the merge."""

LiveVersion = Callable[[Incident], str]
"""A short text that changes whenever the live parts of an incident would look different; in a constant number of queries."""

closure_checks: Registry[ClosureCheck] = Registry("closure checks")
incident_columns: Registry[BulkColumn] = Registry("incident columns")
merge_followers: Registry[MergeFollower] = Registry("merge followers")
live_versions: Registry[LiveVersion] = Registry("live versions")
