"""Every signature proves itself with its own examples, through the whole engine."""

from itertools import product

import pytest

from diagnostics.engine import catalog
from diagnostics.engine.judges.signatures import Signatures
from diagnostics.engine.parsers.log import Literals, Log
from incidents.domain import faults

ALL = catalog.signatures()
SUBJECTS = sorted({one.subject for one in ALL})  # many a test for each signature would take longer than what it tests
LITERALS = Literals(Signatures.literals())


def hits(text: str) -> set[str]:
    log, judge = Log.of(text), Signatures("test")
    return {hit.seen.signature for line, found in log.lines_with(LITERALS) for hit in judge.see(line, found, log)}


def parts(signature: catalog.Signature, example: str) -> set[str]:
    """The components and nodes that the signature names in its example."""
    log, judge = Log.of(example), Signatures("test")
    seen = [hit.seen for line, found in log.lines_with(LITERALS) for hit in judge.see(line, found, log)]
    mine = [one for one in seen if one.signature == signature.id]
    return {part for one in mine for part in (one.component, one.node) if part}


@pytest.mark.parametrize("subject", SUBJECTS)
def test_each_signature_finds_its_examples(subject: str):
    signatures = [one for one in ALL if one.subject == subject]
    assert [one.id for one in signatures if not one.positive] == []
    assert [(one.id, text) for one in signatures for text in one.positive if one.id not in hits(text)] == []


@pytest.mark.parametrize("subject", SUBJECTS)
def test_each_signature_leaves_its_near_misses_alone(subject: str):
    signatures = [one for one in ALL if one.subject == subject]
    assert [one.id for one in signatures if not one.negative] == []
    assert [(one.id, text) for one in signatures for text in one.negative if one.id in hits(text)] == []


def test_signature_names_are_unique():
    names = [signature.id for signature in ALL]
    assert len(names) == len(set(names))


def test_chains_name_known_faults_only():
    for chain in catalog.chains():
        for code in (*chain.roots, *chain.folds):
            faults.get(code)


def test_no_chain_says_what_a_wider_one_says():
    reach: dict[tuple[object, ...], list[tuple[float, float]]] = {}
    for chain in catalog.chains():
        for root, fold in product(chain.roots, chain.folds):
            key = (root, fold, chain.scope, chain.across_boots, chain.least)
            reach.setdefault(key, []).append((chain.window_s, chain.before_s))
    assert {key: spans for key, spans in reach.items() if len(spans) > 1} == {}


def test_xid_rules_name_known_faults_only():
    for rule in catalog.xid_rules():
        if rule.fault:
            faults.get(rule.fault)


PARTS = ("board", "pci", "gpu", "drive", "dimm", "cpu", "device", "netdev", "server", "slot", "unit", "task", "name")


@pytest.mark.parametrize("signature", ALL, ids=lambda signature: signature.id)
def test_every_place_where_a_part_may_stand_is_shown_by_an_example(signature: catalog.Signature):
    seen = {name for example in signature.positive for name in told(signature, example)}
    assert {name for name in signature.pattern.groupindex if name.rstrip("23456789") in (*PARTS, "about")} <= seen


def told(signature: catalog.Signature, example: str) -> dict[str, str]:
    look = signature.pattern.match if signature.origin == "kernel" else signature.pattern.search
    found = [match for line in Log.of(example).sample() if (match := look(line.message))]
    return {name: value for match in found for name, value in match.groupdict().items() if value}


@pytest.mark.parametrize("signature", ALL, ids=lambda signature: signature.id)
def test_what_stands_in_the_place_of_a_part_is_the_part(signature: catalog.Signature):
    for example in signature.positive:
        if signature.component is None and any(name.rstrip("23456789") in PARTS for name in told(signature, example)):
            assert parts(signature, example), example
