from argparse import ArgumentParser
from datetime import timedelta

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from incidents.actions import people
from incidents.domain.actors import SICKBAY
from incidents.lib.errors import SickbayError
from incidents.models import ApiToken, User


class Command(BaseCommand):
    help = "Add, list or revoke API tokens. A token can do what its user can."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        add = verbs.add_parser("add", help="make a token and print it, once")
        add.add_argument("user")
        add.add_argument("--name", default="command line")
        add.add_argument("--days", type=int, help="how long it works; without it, until it is revoked")
        verbs.add_parser("list", help="the tokens of a user").add_argument("user")
        verbs.add_parser("revoke", help="end a token").add_argument(
            "prefix", help="its first characters, as `list` shows them"
        )

    def handle(self, *args: object, **options: object) -> None:
        try:
            getattr(self, f"_{options['verb']}")(options)
        except SickbayError as error:
            raise CommandError(str(error)) from error

    def _add(self, options: dict) -> None:
        life = timedelta(days=options["days"]) if options["days"] else None
        user = self._user(options["user"])
        self.stdout.write(people.make_token(user, name=options["name"], by=SICKBAY, at=timezone.now(), life=life))

    def _list(self, options: dict) -> None:
        for token in self._user(options["user"]).api_tokens.order_by("id"):
            state = "active" if token.is_valid(at=timezone.now()) else "ended"
            self.stdout.write(f"{token.prefix}…\t{token.name}\t{token.created_at:%Y-%m-%d}\t{state}")

    def _revoke(self, options: dict) -> None:
        found = list(ApiToken.objects.filter(prefix=options["prefix"].rstrip("…"), revoked_at=None)[:2])
        if len(found) != 1:
            raise CommandError(
                f"{'No' if not found else 'More than one'} active token starts with {options['prefix']!r}."
            )
        people.revoke_token(found[0], by=SICKBAY, at=timezone.now())

    def _user(self, name: str) -> User:
        user = User.objects.filter(username=name).first()
        if user is None:
            raise CommandError(f"No user is called {name!r}. The first administrator is 'admin'.")
        return user
