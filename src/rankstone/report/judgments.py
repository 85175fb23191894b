"""What is known of judgments: how much of each list is judged, what bounds say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankstone.comparing import Comparison

__all__ = ["judgments"]


def judgments(found: Comparison) -> dict[str, Any]:
    """Return shares of unjudged documents at cutoffs, what alignment found, and bounds."""
    audits = {} if found.audit is None else found.audit.runs
    unjudged = [
        {"run": run, "k": k, "share": share}
        for run, audit in audits.items()
        for k, share in sorted(audit.unjudged.items())
    ]
    counts = [
        {
            "run": run, "queries": audit.queries, "missing": audit.missing, "extra": audit.extra,
            "retrieved": audit.retrieved, "judged": audit.judged, "tied": audit.tied,
            "duplicates": audit.duplicates,
        }
        for run, audit in audits.items()
    ]  # fmt: skip
    bounds = [
        {name: row[name] for name in ("measure", "system", "versus", "difference", "lowest", "highest")}
        for row in found.table.iter_rows(named=True)
        if row.get("lowest") is not None
    ]
    return {
        "judged": None if found.judged is None else found.judged[0],
        "unjudged": unjudged,
        "counts": counts,
        "bounds": bounds,
    }
