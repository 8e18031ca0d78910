from knowledge.models.articles import Draft, Publication, PublishEvent, Sop
from knowledge.models.checklists import ChecklistRun, StepResult
from knowledge.models.links import FaultLink, FindingLink
from knowledge.models.revisions import SopRevision, Step

__all__ = [
    "ChecklistRun",
    "Draft",
    "FaultLink",
    "FindingLink",
    "Publication",
    "PublishEvent",
    "Sop",
    "SopRevision",
    "Step",
    "StepResult",
]
