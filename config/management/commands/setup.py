from argparse import ArgumentParser

from django.conf import settings
from django.core.management.base import BaseCommand
from django.urls import reverse
from django.utils import timezone

from diagnostics.actions import enrolment
from incidents.actions import people
from incidents.domain.actors import SICKBAY
from knowledge.actions import library


class Command(BaseCommand):
    help = "Load the SOP library, enrol this machine and, until an administrator has signed in, print a one-time sign-in link."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--link", action="store_true", help="print a new sign-in link for the first administrator in any case"
        )

    def handle(self, *args: object, **options: object) -> None:
        now = timezone.now()
        loaded = library.load(by=SICKBAY, at=now)
        self.stdout.write(
            f"SOP library: {loaded.count(library.Fate.LOADED)} loaded, {loaded.count(library.Fate.UNCHANGED)} unchanged"
        )
        node = enrolment.enrol_local(by=SICKBAY, at=now)
        gpus = node.parts.filter(kind="gpu", removed_at=None).count()
        self.stdout.write(f"This machine: {node.hostname}, {gpus or 'no'} GPU{'' if gpus == 1 else 's'}")
        admin, nobody_came = people.ensure_administrator(by=SICKBAY, at=now)
        if nobody_came or options["link"]:
            secret = people.make_sign_in_link(admin, by=SICKBAY, at=now)
            self.stdout.write(
                f"Sign in as {admin.username} (once, within 24 h): {settings.BASE_URL}{reverse('signin_link', args=[secret])}"
            )
