"""What was learnt: written while the memory is fresh, published when it is complete."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from incidents.actions import journal
from incidents.actions.rights import require
from incidents.lib.errors import Refused
from incidents.models import Incident, PostMortem, User

FIELDS = ("summary", "impact", "root_cause", "prevention")


def save(incident: Incident, *, by: User, at: datetime, **fields: str) -> PostMortem:
    """Write or change the draft; a published one is changed with an audit entry that keeps the old text."""
    require(by, "postmortem.write", incident)
    with transaction.atomic():
        row, is_new = PostMortem.objects.select_for_update().get_or_create(
            incident=incident, defaults={"author": by, "updated_at": at}
        )
        before = {name: getattr(row, name) for name in FIELDS}
        after = {**before, **{name: fields[name].strip() for name in FIELDS if name in fields}}
        if is_new or before != after:
            for name, text in after.items():
                setattr(row, name, text)
            row.updated_at = at
            row.save()
            journal.audit(row, "postmortem.save", by=by, at=at, before=before, after=after)
            journal.note(incident, "postmortem_saved", by=by, at=at)
    return row


def publish(incident: Incident, *, by: User, at: datetime) -> PostMortem:
    """It counts from now on. Refused, with what is missing, while a part of it is empty."""
    require(by, "postmortem.write", incident)
    with transaction.atomic():
        row = PostMortem.objects.select_for_update().filter(incident=incident).first()
        empty = tuple(EMPTY[name]() for name in FIELDS if row is None or not getattr(row, name).strip())
        if row is None or empty:
            raise Refused(_("The post-mortem is not complete."), empty)
        if row.published_at is None:
            row.published_at = at
            row.save(update_fields=["published_at"])
            journal.note(incident, "postmortem_published", by=by, at=at)
    return row


EMPTY = {
    "summary": lambda: _("The summary is empty."),
    "impact": lambda: _("The impact is empty."),
    "root_cause": lambda: _("The root cause is empty."),
    "prevention": lambda: _("What will prevent it is empty."),
}
