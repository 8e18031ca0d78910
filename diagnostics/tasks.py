"""Doors of the queue: three lines each, ids only. Each may be called twice."""

from celery import shared_task
from django.utils import timezone

from diagnostics.actions import judging, probing


@shared_task(name="diagnostics.tasks.take_probe")
def take_probe(probe_result_id: int) -> None:
    probing.take_probe(probe_result_id, at=timezone.now())


@shared_task(name="diagnostics.tasks.judge_run")
def judge_run(run_id: int) -> None:
    judging.judge(run_id, at=timezone.now())
