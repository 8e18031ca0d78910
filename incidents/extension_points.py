"""Where upper apps join in without being imported: what a closure asks, what a merge takes along, what makes a page new."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

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

MergeFollower = Callable[[Incident, Incident, datetime], None]
"""Moves what hangs on the first incident to the second, inside the transaction of the merge."""

LiveVersion = Callable[[Incident], str]
"""A short text that changes whenever the live parts of an incident would look different; in a constant number of queries."""

closure_checks: Registry[ClosureCheck] = Registry("closure checks")
merge_followers: Registry[MergeFollower] = Registry("merge followers")
live_versions: Registry[LiveVersion] = Registry("live versions")
