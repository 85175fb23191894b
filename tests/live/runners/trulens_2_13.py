"""TruLens 2.13's own numbers: the same evaluators as in later versions, in which a copy counts again."""

from __future__ import annotations

import importlib.util
from pathlib import Path

_SPEC = importlib.util.spec_from_file_location("later", Path(__file__).with_name("trulens.py"))
assert _SPEC is not None
assert _SPEC.loader is not None
_LATER = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_LATER)

LIBRARY = "trulens-2.13"
PACKAGE = _LATER.PACKAGE
REQUIRES = ["trulens-feedback==2.13.*"]
TRAITS, MEASURES, WITHIN, score = _LATER.TRAITS, _LATER.MEASURES, _LATER.WITHIN, _LATER.score
