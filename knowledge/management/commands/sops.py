from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from incidents.lib.errors import SickbayError
from knowledge.actions import library
from knowledge.actions.library import Fate


class Command(BaseCommand):
    help = "SOPs from files: 'load' publishes the library that ships, 'check' looks for mistakes in a file or folder."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        load = verbs.add_parser("load", help="publish what is new in the library that ships with Sickbay")
        load.add_argument("--dry-run", action="store_true", help="say what would happen, write nothing")
        check = verbs.add_parser("check", help="look for mistakes; each is told with its file and line")
        check.add_argument("path", type=Path)

    def handle(self, *args: Any, verb: str, **options: Any) -> None:
        try:
            self._load(options["dry_run"]) if verb == "load" else self._check(options["path"])
        except SickbayError as error:
            raise CommandError(str(error)) from error

    def _load(self, dry: bool) -> None:
        report = library.load(at=timezone.now(), dry=dry)
        for slug, language, fate in report.fates:
            if fate != Fate.UNCHANGED:
                self.stdout.write(f"{fate}: {slug} ({language})")
        counts = ", ".join(f"{report.count(fate)} {fate}" for fate in Fate)
        self.stdout.write(f"{counts}{' (nothing was written)' if dry else ''}.")

    def _check(self, path: Path) -> None:
        if not path.exists():
            raise CommandError(f"{path} is not there.")
        problems = library.check(path)
        if problems:
            raise CommandError("\n".join(problems))
        self.stdout.write(f"{path}: no mistakes.")
