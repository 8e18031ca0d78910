import json
import socket
import time
from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from diagnostics.actions import enrolment, judging, probing, reporting, runs
from diagnostics.models import DiagnosticRun, ProbeResult
from diagnostics.probes.table import PLANS
from incidents.domain.actors import SICKBAY
from incidents.lib.errors import Unavailable
from incidents.models import Node

OWN_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
# The queue leaves the probes to this command for so long; then it takes over what a killed command left.
OURS_FOR = timedelta(minutes=2)


class Command(BaseCommand):
    help = "Run the probes of a plan on this machine, here and now, and print what they found. Exit status: 0 nothing, 1 findings."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("hosts", nargs="+", metavar="HOST", help="localhost, or a name of this machine")
        parser.add_argument("--plan", default="triage", choices=sorted(PLANS))
        parser.add_argument("--json", action="store_true", help="print the findings document, sickbay.findings/1")
        parser.add_argument("--lang", default="en", choices=["en", "zh-hans"])
        parser.add_argument("--no-input", action="store_true", help="for scripts; this command never asks")

    def handle(self, *args: Any, hosts: list[str], plan: str, lang: str, **options: Any) -> None:
        nodes = [self.node(host) for host in dict.fromkeys(hosts)]
        reports = [reporting.report(self.run(node, plan)) for node in nodes]
        document = reporting.document(reports, language=lang)
        self.stdout.write(
            json.dumps(document, indent=2, ensure_ascii=False)
            if options["json"]
            else reporting.text(reports, language=lang)
        )
        if any(finding["root"] for file in document["files"] for finding in file["findings"]):
            raise SystemExit(1)

    def node(self, host: str) -> Node:
        """This machine, put on the books if it is not there; another is refused, as long as there is no way to it."""
        if host.lower() not in OWN_NAMES | {socket.gethostname().lower(), socket.getfqdn().lower()}:
            known = ", ".join(sorted({"localhost", socket.gethostname()}))
            raise CommandError(
                f"There is no way to {host!r} from here. Known: {known}. Upload its logs instead.", returncode=2
            )
        return enrolment.enrol_local(by=SICKBAY, at=timezone.now())

    def run(self, node: Node, plan: str) -> DiagnosticRun:
        run = runs.start(node=node, plan=plan, by=SICKBAY, at=timezone.now(), due_in=OURS_FOR)
        for probe in run.probes.order_by("id"):
            probing.take_probe(probe.pk, at=timezone.now())
        self.wait_for(run)
        try:
            judging.judge(run.pk, at=timezone.now())
        except Unavailable as error:
            raise CommandError(str(error), returncode=2) from error
        while not DiagnosticRun.objects.get(pk=run.pk).is_finished:
            time.sleep(0.2)  # a worker judges it
        run.refresh_from_db()
        return run

    def wait_for(self, run: DiagnosticRun) -> None:
        """Only where a worker has taken a probe of the same unfinished run before."""
        while run.probes.exclude(state=ProbeResult.State.DONE).exists():
            time.sleep(0.2)
            for probe in run.probes.exclude(state=ProbeResult.State.DONE):
                probing.take_probe(probe.pk, at=timezone.now())
