from argparse import ArgumentParser

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from incidents.actions import people
from incidents.domain.actors import SICKBAY
from incidents.domain.permissions import Role
from incidents.lib.errors import SickbayError
from incidents.models import User


class Command(BaseCommand):
    help = "Add a person with a role, or make a one-time sign-in link for somebody."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        add = verbs.add_parser("add", help="add a person and print a one-time sign-in link")
        add.add_argument("user")
        add.add_argument("--name", default="", help="as others see it")
        add.add_argument("--role", default=Role.RESPONDER, help=f"one of: {', '.join(Role)}")
        verbs.add_parser("link", help="print a new one-time sign-in link").add_argument("user")

    def handle(self, *args: object, **options: object) -> None:
        now = timezone.now()
        try:
            user = self._add(options) if options["verb"] == "add" else self._user(str(options["user"]))
            secret = people.make_sign_in_link(user, by=SICKBAY, at=now)
        except SickbayError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(settings.BASE_URL + reverse("signin_link", args=[secret]))

    @transaction.atomic
    def _add(self, options: dict) -> User:
        user = people.add_person(options["user"], display_name=options["name"], by=SICKBAY, at=timezone.now())
        people.grant(user, role=options["role"], by=SICKBAY, at=timezone.now())
        return user

    def _user(self, name: str) -> User:
        user = User.objects.filter(username=name).first()
        if user is None:
            raise CommandError(f"No user is called {name!r}.")
        return user
