"""What charts have in common: Altair, colours and shapes that everybody can distinguish, data by name.

Vega, Vega-Lite and Vega-Embed as one script.

The libraries are inside vl-convert-python, which needs seconds to put them into one file; so the file is kept
in the user's folder for such things, a file a version.
"""

from __future__ import annotations

import math
import os
import re
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rankstone.errors import installed, printable
from rankstone.io.atomic_files import atomic
from rankstone.tables.phrases import phrase

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl

#: pixels of a chart
WIDTH: Final = 640
#: Okabe and Ito (2008), distinguishable with any colour blindness; yellow last, it is faint on white
COLOURS: Final = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#999999",
    "#B8A900",
)
SHAPES: Final = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "cross",
    "triangle-down",
    "triangle-right",
)
#: verdict → colour and shape
VERDICTS: Final = {
    "better": ("#0072B2", "triangle-up"),
    "worse": ("#D55E00", "triangle-down"),
    "higher": ("#0072B2", "triangle-up"),
    "lower": ("#D55E00", "triangle-down"),
    "equivalent": ("#009E73", "square"),
    "identical": ("#999999", "diamond"),
    "inconclusive": ("#999999", "circle"),
}
_FIX: Final = 'pip install "rankstone[report]"'
label: Final = partial(phrase, "charts")
#: letters of a name on an axis
_NAME: Final = 40
#: what opens or ends an element where a chart is written into a page without being escaped, as Altair does
_MARKUP: Final = re.compile(r"<(?=[/!?A-Za-z])")
#: digits that a picture shows
_FIGURES: Final = 6


def needed(package: str, installed_as: str | None = None) -> Any:  # noqa: ANN401 - a module
    """Return a package of the extra ``report``; say how to install it where it is missing."""
    return installed(package, installed_as or package, _FIX)


def legible(text: object, longest: int = _NAME) -> str:
    """Return untrusted text for a chart: one line, cut, and no markup wherever the chart is embedded.

    An invisible word joiner follows each ``<`` before a letter or ``/``.

    >>> len(legible("a</script>")) - len("a</script>")
    1
    """
    return _MARKUP.sub("<\u2060", printable(text, longest))


def drawn(
    chart: Any,  # noqa: ANN401 - Altair's chart
    name: str,
    rows: pl.DataFrame | list[dict[str, Any]],
    title: str,
    height: object,
    width: int = WIDTH,
) -> Any:  # noqa: ANN401 - the same
    """Return a chart with its rows under a name, so that who embeds it can bring other rows."""
    titled = chart.properties(
        title=_MARKUP.sub("<\u2060", title), width=width, height=height
    )
    if not isinstance(rows, list):
        rows = records(rows)
    titled.datasets = {name: rows}  # as a property, every row would be validated
    return titled


def tooltips(names: Iterable[str], form: str, lang: str | None = None) -> list[Any]:
    """Return what is shown of a mark: columns of numbers, under their labels if there is a language."""
    alt = needed("altair")
    shown = []
    for name in names:
        tooltip = alt.Tooltip(f"{name}:Q", format=form)
        shown.append(tooltip if lang is None else tooltip.title(label(name, lang)))
    return shown


def records(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """Return rows as JSON: six figures, no NaN, names without control characters.

    >>> import polars as pl
    >>> records(pl.DataFrame({"query_id": ["a"], "value": [1 / 3]}))
    [{'query_id': 'a', 'value': 0.333333}]
    """
    return [
        {name: _plain(value) for name, value in row.items()}
        for row in frame.iter_rows(named=True)
    ]


def _plain(value: object) -> object:
    if isinstance(value, float):
        return float(f"{value:.{_FIGURES}g}") if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int)) else legible(value)


def by_system(systems: Sequence[str], title: str) -> dict[str, Any]:
    """Return the encodings that distinguish systems: colour and shape."""
    alt = needed("altair")
    names = [legible(system) for system in systems]
    colours = [*islice(cycle(COLOURS), len(names))]
    shapes = [*islice(cycle(SHAPES), len(names))]
    legend = alt.Legend(orient="bottom", columns=4, title=None, symbolOpacity=1)
    colour = alt.Color("run:N", title=title, legend=legend)
    shape = alt.Shape("run:N", title=title, legend=legend)
    return {
        "color": colour.scale(domain=names, range=colours),
        "shape": shape.scale(domain=names, range=shapes),
    }


#: what the script of a page starts with; a file that does not is not ours
_HEAD: Final = "/* Vega, Vega-Lite, Vega-Embed: BSD-3-Clause, University of Washington Interactive Data Lab */\n"


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
    """Return the script, safe between ``<script>`` and ``</script>``."""
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
    version_key = "-".join(versions().values())
    return Path(folder) / "rankstone" / f"vega-{version_key}.js"


def _bundled() -> str:
    bundle: str = needed("vl_convert", "vl-convert-python").javascript_bundle()
    return (
        bundle.replace("\r\n", "\n")
        .replace("\r", "\n")
        .replace("</script", "<\\/script")
    )
