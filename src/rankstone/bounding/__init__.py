"""Bounds: what scores could be if the unjudged documents were judged.

Comes in: what evaluation takes, a scale of grades, perhaps a pair of runs.  Goes out: for every query
and mean the lowest and the highest score, with a certificate.  Proposes grades and lets the measures
score them; has no formula of its own.
"""

from __future__ import annotations

from rankstone.bounding.conduct import bounds
from rankstone.bounding.result import Bounds
from rankstone.bounding.search import Certificate

__all__ = ["Bounds", "Certificate", "bounds"]
