"""What this app announces."""

from incidents import events

events.declare(
    "revision_published",
    "A revision became the published one, was withdrawn or retired. payload: revision, sop, language, action",
)
events.declare("checklist_finished", "A checklist came to its end. payload: checklist, incident, end")
