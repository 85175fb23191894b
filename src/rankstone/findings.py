"""What was found in files: by file, worst first, as plain values."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from rankstone.words import counted

__all__ = ["CheckReport", "FileReport", "Finding"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found: ``level`` is ``error``, ``warning`` or ``note``; ``fix`` is what to do.

    Where ``doubtful``, an evaluation would probably not mean what it seems to.
    """

    level: str
    what: str
    example: str | None = None
    fix: str | None = None
    doubtful: bool = False


def _badness(finding: Finding) -> int:
    if finding.level == "error":
        return 3
    return 2 if finding.doubtful else int(finding.level == "warning")


@dataclass
class FileReport:
    """What there is to say about one file: facts to read, findings to act on."""

    name: str
    source: str
    kind: str
    facts: dict[str, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    @property
    def worst(self) -> int:
        """How bad the worst finding is: 3 an error, 2 a doubt, 1 a warning, 0 nothing to act on."""
        return max((_badness(finding) for finding in self.findings), default=0)


@dataclass(frozen=True)
class CheckReport:
    """The files' reports: judgments, training, runs; of these first the ones with the worst findings."""

    files: list[FileReport]

    @property
    def ok(self) -> bool:
        """Whether nothing found would stop an evaluation."""
        return not self.count("error")

    def count(self, level: str) -> int:
        """Return how many findings have a level."""
        return sum(finding.level == level for file in self.files for finding in file.findings)

    @property
    def verdict(self) -> str:
        """How many errors and warnings there are: ``ok``, ``ok, 3 warnings``, ``2 errors, 1 warning``."""
        errors, warnings = self.count("error"), self.count("warning")
        told = [counted(errors, "error") if errors else "ok"]
        return ", ".join(told + ([counted(warnings, "warning")] if warnings else []))

    @property
    def doubts(self) -> list[str]:
        """What speaks against believing an evaluation."""
        return [finding.what for file in self.files for finding in file.findings if finding.doubtful]

    def to_dict(self) -> dict[str, Any]:
        """Return plain dicts, ready for JSON."""
        return {"ok": self.ok, "verdict": self.verdict, "files": [asdict(file) for file in self.files]}
