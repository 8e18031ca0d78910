"""The catalogue as pages for people, in English and Chinese: what can be wrong, how it prints itself, what follows from it.

docs/faults is made from it (bin/fault-pages) and checked to be what the catalogue says.
"""

from collections import defaultdict
from collections.abc import Iterator

from diagnostics.engine import catalog
from diagnostics.engine.catalog import Signature
from incidents.domain import faults
from incidents.domain.faults import Fault

LANGUAGES = {"en": "", "zh-hans": "zh-hans/"}  # language -> folder
_MOST_EXAMPLES = 6
_AREAS: dict[str, dict[str, str]] = {
    "en": {"gpu": "GPUs", "host": "Servers", "os": "Operating system", "bmc": "BMC", "container": "Containers",
                  "fabric": "RDMA fabric", "facility": "Racks and rooms", "node": "Unclassified", "job": "Jobs"},
    "zh-hans": {"gpu": "GPU", "host": "服务器", "os": "操作系统", "bmc": "带外管理 BMC", "container": "容器", "fabric": "RDMA 网络",
                  "facility": "机柜与机房", "node": "未分类", "job": "任务"},
}  # fmt: skip
_WORDS: dict[str, dict[str, str]] = {
    "en": {
                "intro": "Made from the catalogue; changes belong there.", "index": "Faults", "severity": "Severity", "family": "Family",
        "action": "First action", "verify": "Repair is proved", "out": "takes the node out of service",
        "signs": "Lines that show it", "not": "Lines that do not", "xids": "Xid", "sxids": "SXid", "leads": "Leads to",
        "follows": "Follows from", "documented": "NVIDIA: {0}", "investigate": "{0}; to investigate: {1}", "none": "no action documented",
        "probe": "by a clean diagnostic run", "job_progress": "by the next attempt of the job", "by_person": "by a person, with a note",
        "nothing": "by nothing; a note is filed", "name_only": "severity known from its name only",
    },
    "zh-hans": {
                "intro": "由目录生成；修改请在目录中进行。", "index": "故障", "severity": "级别", "family": "类别", "action": "首要处置",
        "verify": "修复验证", "out": "节点需下线", "signs": "能证明它的日志行", "not": "不能证明它的日志行", "xids": "Xid", "sxids": "SXid",
        "leads": "会引起", "follows": "可能源于", "documented": "NVIDIA：{0}", "investigate": "{0}；排查：{1}", "none": "无官方处置",
        "probe": "由一次干净的诊断证明", "job_progress": "由任务的下一次运行证明", "by_person": "由人确认并备注",
        "nothing": "无需验证，仅备注", "name_only": "级别仅由名称推断",
    },
}  # fmt: skip


def pages() -> dict[str, str]:
    """Path below docs/faults -> Markdown."""
    found = {}
    for language, folder in LANGUAGES.items():
        found[f"{folder}README.md"] = _index(language)
        for area in _areas():
            found[f"{folder}{area}.md"] = _page(area, language)
    return found


def _areas() -> dict[str, list[Fault]]:
    areas: dict[str, list[Fault]] = defaultdict(list)
    for fault in faults.all_faults():
        areas[fault.code.split(".")[0]].append(fault)
    return areas


def _index(language: str) -> str:
    words = _WORDS[language]
    rows = [f"# {words['index']}", "", words["intro"], ""]
    for area, found in _areas().items():
        rows += [f"## [{_AREAS[language][area]}]({area}.md)", ""]
        rows += [f"- [{fault.title_in(language)}]({area}.md#{_anchor(fault)}) `{fault.code}`" for fault in found]
        rows.append("")
    return "\n".join(rows)


def _page(area: str, language: str) -> str:
    words = _WORDS[language]
    rows = [f"# {_AREAS[language][area]}", "", words["intro"], ""]
    for fault in _areas()[area]:
        rows += [*_fault(fault, language), ""]
    return "\n".join(rows)


def _fault(fault: Fault, language: str) -> Iterator[str]:
    words = _WORDS[language]
    out = f", {words['out']}" if fault.takes_node_out else ""
    yield f'<a id="{_anchor(fault)}"></a>'
    yield f"## {fault.title_in(language)}"
    yield ""
    yield f"`{fault.code}` · {words['family']} `{fault.family}` · {words['severity']} {fault.severity}{out}"
    yield ""
    yield f"- {words['action']}: {fault.first_action_in(language)}"
    yield f"- {words['verify']}: {words[fault.verify if fault.verify != 'none' else 'nothing']}"
    for word, codes in (("leads", _followers(fault.code)), ("follows", _roots(fault.code))):
        if codes:
            yield f"- {words[word]}: " + ", ".join(
                f"[{faults.get(code).title_in(language)}]({_link(code)})" for code in codes
            )
    yield from _numbers(fault, language)
    signatures = [one for one in catalog.signatures() if one.fault == fault.code and one.role != "clear"]
    yield from _lines(words["signs"], [example for one in signatures for example in one.positive[:2]])
    yield from _lines(words["not"], [_negative(one) for one in signatures if one.negative])


def _negative(signature: Signature) -> str:
    return signature.negative[0]


def _lines(title: str, examples: list[str]) -> Iterator[str]:
    shown = list(dict.fromkeys(line for example in examples for line in example.splitlines()[:3]))[:_MOST_EXAMPLES]
    if shown:
        yield from ("", f"{title}:", "", *(f"    {line}" for line in shown))


def _numbers(fault: Fault, language: str) -> Iterator[str]:
    words = _WORDS[language]
    for xid in faults.all_xids():
        if xid.fault == fault.code:
            said = xid.immediate or words["none"]
            said = words["investigate"].format(said, xid.investigatory) if xid.investigatory else said
            yield f"- {words['xids']} {xid.number} {xid.meaning} ({words['documented'].format(said)})"
    switch = [sxid for sxid in faults.all_sxids() if sxid.fault == fault.code]
    for basis, note in (("documented", ""), ("name", f" ({words['name_only']})")):
        numbers = [str(sxid.number) for sxid in switch if sxid.basis == basis]
        if numbers:
            yield f"- {words['sxids']}{note}: {', '.join(numbers)}"


def _followers(code: str) -> list[str]:
    return sorted({fold for chain in catalog.chains() if code in chain.roots for fold in chain.folds if fold != code})


def _roots(code: str) -> list[str]:
    return sorted({root for chain in catalog.chains() if code in chain.folds for root in chain.roots if root != code})


def _link(code: str) -> str:
    return f"{code.split('.')[0]}.md#{code.replace('.', '-')}"


def _anchor(fault: Fault) -> str:
    return fault.code.replace(".", "-")
