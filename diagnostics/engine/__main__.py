"""Names the faults of sick nodes from what they printed: python -m diagnostics.engine PATH... [--json]"""

import argparse
import io
import json
import os
import resource
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from diagnostics.engine import bundle
from diagnostics.engine.catalog.profiles import NOTHING, BadProfile, Profile
from diagnostics.engine.catalog.profiles import read as read_profile
from diagnostics.engine.diagnose import diagnose, document
from diagnostics.engine.document import action_in, detail_in, told_in
from diagnostics.engine.limited import limit
from diagnostics.engine.types import Check, Diagnosis, Finding, Verdict
from incidents.domain import faults

CLEAN, FINDINGS, UNREADABLE = 0, 1, 2
MEMORY_MIB = 2048  # a log of any length needs 64; what needs more is made to
MOST_GAPS = 20  # of one input; the JSON form has them all

_COLOURS = {"SEV1": "1;31", "SEV2": "31", "SEV3": "33", "SEV4": "36"}
_WORDS = {
    "en": {
        "clean": "no fault found", "note": "note", "line": "line", "times": "times", "follows": "it led to", "action": "do",
        "node": "node", "unchecked": "could not check", "injected": "injected by a test", "more": "more",
        "nothing": "nothing could be checked",
    },
    "zh-hans": {
        "clean": "未发现故障", "note": "提示", "line": "行", "times": "次", "follows": "由此引起", "action": "处置",
        "node": "节点", "unchecked": "无法检查", "injected": "测试注入", "more": "更多", "nothing": "没有可检查的内容",
    },
}  # fmt: skip


def main(arguments: Sequence[str] | None = None, *, is_process: bool = False) -> int:
    """0: no root fault. 1: at least one. 2: wrong use, an input that cannot be read, or no fault and one that could not be checked.

    As a process of its own it limits its memory: evidence that asks for all of it must not take the machine along that it is read on.
    """
    options = _parser().parse_args(arguments)
    if is_process and options.memory:
        limit(resource.RLIMIT_AS, options.memory << 20)
    return _answer(options)


def _answer(options: argparse.Namespace) -> int:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name or a line may hold what the terminal cannot show
    diagnoses: list[Diagnosis] = []
    unreadable = False
    for path in options.paths:
        try:
            read = bundle.read(path)
        except bundle.Unreadable as error:
            print(f"diagnostics.engine: {_short(str(error))}", file=sys.stderr)
            unreadable = True
            continue
        try:
            diagnoses.append(
                diagnose(
                    read.parts, path=path, is_bundle=read.is_bundle, problems=read.problems, profile=options.profile
                )
            )
        except MemoryError:
            more = f"it needs more than {options.memory} MiB of memory; --memory allows more"
            gap = Check(path, (), "could_not_check", more)
            diagnoses.append(Diagnosis(path, "unknown", (), (), (gap,), Verdict("could_not_check")))
    if options.json:
        json.dump(document(diagnoses, language=options.lang), sys.stdout, ensure_ascii=False, indent=1)
        print()
    elif diagnoses:
        print("\n\n".join("\n".join(_lines(one, options.lang)) for one in diagnoses))
    if unreadable:
        return UNREADABLE
    if any(finding.root for one in diagnoses for finding in one.findings):
        return FINDINGS
    return UNREADABLE if any(one.verdict.state == "could_not_check" for one in diagnoses) else CLEAN


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m diagnostics.engine", description=__doc__)
    parser.add_argument(
        "paths", nargs="+", metavar="PATH", help='a file, a folder or an archive; "-" reads standard input'
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON (sickbay.findings/1)")
    parser.add_argument(
        "--profile",
        type=_profile,
        default=NOTHING,
        metavar="FILE",
        help="what your nodes have (TOML; see docs/engine.md)",
    )
    parser.add_argument(
        "--memory",
        type=int,
        default=MEMORY_MIB,
        metavar="MIB",
        help=f"give up beyond so much (default {MEMORY_MIB}; 0: no limit)",
    )
    parser.add_argument("--lang", choices=sorted(_WORDS), default="en", help="language of titles, actions and details")
    return parser


def _profile(path: str) -> Profile:
    try:
        return read_profile(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, BadProfile) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise argparse.ArgumentTypeError(f"{path}: {why}") from error


def _lines(diagnosis: Diagnosis, language: str) -> Iterator[str]:
    words = _WORDS[language]
    yield _paint(f"{_short(diagnosis.path, most=400)}  [{diagnosis.kind}]", "1")
    for finding in diagnosis.findings:
        yield from _finding_lines(finding, language)
    if not diagnosis.findings and diagnosis.checked:
        yield f"  {_paint(words['clean'], '32')}"
    if not diagnosis.checked and not diagnosis.findings:
        yield f"  {words['nothing']}"
    gaps = diagnosis.could_not_check
    for check in gaps[:MOST_GAPS]:
        yield f"  {_paint(words['unchecked'], '35')}: {_check_text(check, language)}"
    if len(gaps) > MOST_GAPS:
        yield f"  {_paint(words['unchecked'], '35')}: {len(gaps) - MOST_GAPS} {words['more']}"


def _finding_lines(finding: Finding, language: str) -> Iterator[str]:
    words, fault = _WORDS[language], faults.get(finding.fault)
    mark = finding.severity if finding.root else words["injected" if finding.injected else "note"]
    where = "  ".join(part for part in (finding.component, finding.node and f"{words['node']} {finding.node}") if part)
    times = f"  ({finding.count} {words['times']})" if finding.count > 1 else ""
    head = _paint(mark, _COLOURS[finding.severity] if finding.root else "2")
    yield f"  {head}  {fault.title_in(language)}  {finding.fault}  {_short(where)}{times}"
    source = f"{_short(finding.source_name)} " if finding.source_name else ""
    yield f"      {source}{words['line']} {finding.line_number}: {_short(finding.line)}"
    if finding.detail:
        yield f"      {_short(detail_in(finding, language), most=320)}"
    if finding.part:
        yield f"      {_short('  '.join(f'{name} {value}' for name, value in finding.part.items()))}"
    if finding.root:
        yield f"      {words['action']}: {_short(action_in(finding, language), most=320)}"
    if len(finding.authorities) > 1:
        yield f"      {_short('; '.join(f'{name}: {said}' for name, said in finding.authorities.items()), most=320)}"
    for consequence in finding.consequences:
        title = faults.get(consequence.fault).title_in(language)
        part = f"  {_short(consequence.component)}" if consequence.component else ""
        yield f"      {words['follows']}: {title}{part}  ({words['line']} {consequence.line_number})"


def _check_text(check: Check, language: str) -> str:
    return _short(f"{told_in(check.name, language)}: {told_in(check.reason, language)}", most=320)


def _short(text: str, *, most: int = 160) -> str:
    """What evidence may say to a terminal: nothing that it would obey, and not too much."""
    printable = "".join(char if char.isprintable() else "?" for char in text)
    return printable if len(printable) <= most else printable[: most - 1] + "…"


def _paint(text: str, colour: str) -> str:
    return f"\x1b[{colour}m{text}\x1b[0m" if sys.stdout.isatty() else text


if __name__ == "__main__":
    try:
        status = main(is_process=True)
        sys.stdout.flush()
        sys.exit(status)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output went away, as `head` does
        sys.exit(UNREADABLE)
    except OSError as error:
        print(f"diagnostics.engine: the answer cannot be written: {error.strerror or error}", file=sys.stderr)
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
        )  # what is left unwritten must not fail again at exit
        sys.exit(UNREADABLE)
    except KeyboardInterrupt:
        sys.exit(130)
