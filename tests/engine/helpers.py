"""Two questions that most tests of the engine ask."""

from collections.abc import Sequence

from diagnostics.engine.diagnose import Part, diagnose
from diagnostics.engine.types import Diagnosis, Finding


def diagnosis_of(*texts: str | bytes) -> Diagnosis:
    parts = [Part(f"part-{n}", text.encode() if isinstance(text, str) else text) for n, text in enumerate(texts)]
    return diagnose(parts, path="test")


def roots(diagnosis: Diagnosis) -> list[Finding]:
    return [finding for finding in diagnosis.findings if finding.root]


def assert_finds(fault: str, *texts: str | bytes) -> Finding:
    """The one root finding is this fault."""
    found = roots(diagnosis_of(*texts))
    assert [finding.fault for finding in found] == [fault], found
    return found[0]


def assert_quiet(*texts: str | bytes) -> Diagnosis:
    """No root finding: at most notes."""
    diagnosis = diagnosis_of(*texts)
    assert not roots(diagnosis), roots(diagnosis)
    return diagnosis


def followers(finding: Finding) -> Sequence[str]:
    return [consequence.fault for consequence in finding.consequences]
