"""Outcomes as JUnit XML, which continuous integration knows how to show."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from rankstone.errors import printable

if TYPE_CHECKING:
    from rankstone.gating.result import Gate

__all__ = ["junit"]


def junit(gate: Gate) -> str:
    """Return a test suite: failed rules are failures, guards that do not hold errors.

    An inconclusive rule is a failure, a skipped test where it only warns or passes.  Names and texts have
    no control characters, which XML cannot hold.
    """
    open_as = "failure" if gate.inconclusive == "fail" else "skipped"
    tags = {"fail": "failure", "not comparable": "error", "inconclusive": open_as}
    found = [tags.get(outcome.verdict) for outcome in gate.outcomes]
    counts = {
        "tests": len(found),
        "failures": found.count("failure"),
        "errors": found.count("error"),
        "skipped": found.count("skipped"),
    }
    suite = ET.Element(
        "testsuite", {"name": "rankstone gate", **{n: str(count) for n, count in counts.items()}}
    )
    for outcome, tag in zip(gate.outcomes, found, strict=True):
        name = printable(outcome.name, 200)
        case = ET.SubElement(suite, "testcase", {"classname": f"rankstone.{outcome.kind}", "name": name})
        text = printable(outcome.text, 1000)
        if tag is None:
            ET.SubElement(case, "system-out").text = text
        else:
            ET.SubElement(case, tag, {"message": f"{outcome.verdict}: {text}"})
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"
