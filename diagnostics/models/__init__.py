from diagnostics.models.evidence import Evidence, EvidencePurge
from diagnostics.models.findings import Finding, FindingVerdict
from diagnostics.models.runs import DiagnosticRun, ProbeResult

__all__ = ["DiagnosticRun", "Evidence", "EvidencePurge", "Finding", "FindingVerdict", "ProbeResult"]
