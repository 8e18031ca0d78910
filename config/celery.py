import os

from celery import Celery

from config import schedule

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("sickbay")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.beat_schedule = schedule.TIMETABLE
app.autodiscover_tasks(["config", "diagnostics"])
