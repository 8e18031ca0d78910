"""What there is to read of SOPs and checklists: querysets, rows, and frozen facts for pages and the API."""

from knowledge.queries.articles import Article, ArticleSection, RevisionRow, article
from knowledge.queries.catalogue import ArticleRow, Coverage, coverage, library
from knowledge.queries.incidents import (
    Checklist,
    ChecklistStep,
    Suggestion,
    checklists_of,
    suggested,
    suggested_revision,
)
from knowledge.queries.revisions import (
    is_pinned,
    is_published,
    is_withdrawn,
    latest_result,
    live_version,
    newer_revision,
    newest_revision,
    open_checklist,
    published,
    published_for_fault,
    sop_of_fault,
    sops_for,
)
from knowledge.queries.steps import StepView, next_step, route_of

__all__ = [
    "Article",
    "ArticleRow",
    "ArticleSection",
    "Checklist",
    "ChecklistStep",
    "Coverage",
    "RevisionRow",
    "StepView",
    "Suggestion",
    "article",
    "checklists_of",
    "coverage",
    "is_pinned",
    "is_published",
    "is_withdrawn",
    "latest_result",
    "library",
    "live_version",
    "newer_revision",
    "newest_revision",
    "next_step",
    "open_checklist",
    "published",
    "published_for_fault",
    "route_of",
    "sop_of_fault",
    "sops_for",
    "suggested",
    "suggested_revision",
]
