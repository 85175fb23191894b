"""What was found in files: by file, worst first, as plain values."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

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


@dataclass
class FileReport:
    """What there is to say about one file: facts to read, findings to act on."""

    name: str
    source: str
    kind: str
    facts: dict[str, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


@dataclass(frozen=True)
class CheckReport:
    """The files' reports, judgments first."""

    files: list[FileReport]

    @property
    def ok(self) -> bool:
        """Whether nothing found would stop an evaluation."""
        return not any(f.level == "error" for file in self.files for f in file.findings)

    @property
    def doubts(self) -> list[str]:
        """What speaks against believing an evaluation."""
        return [finding.what for file in self.files for finding in file.findings if finding.doubtful]

    def to_dict(self) -> dict[str, Any]:
        """Return plain dicts, ready for JSON."""
        return {"ok": self.ok, "files": [asdict(file) for file in self.files]}
