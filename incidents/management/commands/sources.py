from argparse import ArgumentParser

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse
from django.utils import timezone

from incidents.actions import sources
from incidents.domain.actors import SICKBAY
from incidents.lib.errors import SickbayError
from incidents.models import Source
from incidents.payloads import PARSERS


class Command(BaseCommand):
    help = "Add, list, rotate or revoke the senders of alerts."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        add = verbs.add_parser("add", help="add a source and print its ingest URL, once")
        add.add_argument("name")
        add.add_argument("--kind", default="alertmanager", help=f"one of: {', '.join(PARSERS)}")
        verbs.add_parser("list", help="the sources, without their secrets")
        for verb, text in (("rotate", "give a source a new URL"), ("revoke", "let a source deliver no more")):
            verbs.add_parser(verb, help=text).add_argument("name")

    def handle(self, *args: object, **options: object) -> None:
        try:
            getattr(self, f"_{options['verb']}")(options)
        except SickbayError as error:
            raise CommandError(str(error)) from error

    def _add(self, options: dict) -> None:
        source, secret = sources.add(options["name"], kind=options["kind"], by=SICKBAY, at=timezone.now())
        self.stdout.write(self._url(secret, source.kind))

    def _list(self, options: dict) -> None:
        for source in Source.objects.order_by("name"):
            state = "revoked" if source.revoked_at else "active"
            self.stdout.write(f"{source.name}\t{source.kind}\t{source.prefix}…\t{state}")

    def _rotate(self, options: dict) -> None:
        source = self._named(options["name"])
        self.stdout.write(self._url(sources.rotate(source, by=SICKBAY, at=timezone.now()), source.kind))

    def _revoke(self, options: dict) -> None:
        sources.revoke(self._named(options["name"]), by=SICKBAY, at=timezone.now())

    def _named(self, name: str) -> Source:
        source = Source.objects.filter(name=name).first()
        if source is None:
            raise CommandError(f"No source is called {name!r}. `manage.py sources list` names them.")
        return source

    def _url(self, secret: str, kind: str) -> str:
        return settings.BASE_URL + reverse("ingest", args=[secret, kind])
