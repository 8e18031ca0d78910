"""What Celery does by the clock. What is urgent is not here but in the pager."""

from datetime import timedelta

TIMETABLE = {
    "queue goes round": {
        "task": "config.tasks.queue_goes_round",
        "schedule": timedelta(seconds=10),
        "options": {"expires": 30},
    },
}
