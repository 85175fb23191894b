"""Vega, Vega-Lite and Vega-Embed as one script.

The libraries are inside vl-convert-python, which needs seconds to put them into one file; so the file is kept
in the user's folder for such things, a file a version.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from rankstone.io import atomic
from rankstone.plots.style import needed

__all__ = ["script", "versions"]

#: what the script of a page starts with; a file that does not is not ours
_HEAD: Final = (
    "/* Vega, Vega-Lite, Vega-Embed: BSD-3-Clause, University of Washington Interactive Data Lab */\n"
)


def versions() -> dict[str, str]:
    """Return the versions of what is inside."""
    convert = needed("vl_convert", "vl-convert-python")
    return {
        "vl-convert-python": str(convert.__version__),
        "Vega": str(convert.get_vega_version()),
        "Vega-Lite": str(convert.get_vegalite_versions()[-1]),
        "Vega-Embed": str(convert.get_vega_embed_version()),
    }


def script() -> str:
    """Return the script; it may stand between ``<script>`` and ``</script>``."""
    place = _place()
    try:
        kept = place.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        kept = ""
    if kept.startswith(_HEAD):
        return kept
    made = _HEAD + _bundled()
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with atomic(place) as unfinished:
            unfinished.write_text(made, encoding="utf-8")
    except OSError:  # a folder that may not be written costs seconds, not the report
        pass
    return made


def _place() -> Path:
    """Return where the script is kept."""
    folder = os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
    told = "-".join(versions().values())
    return Path(folder) / "rankstone" / f"vega-{told}.js"


def _bundled() -> str:
    bundle: str = needed("vl_convert", "vl-convert-python").javascript_bundle()
    return bundle.replace("\r\n", "\n").replace("\r", "\n").replace("</script", "<\\/script")
