"""The page around the content: templates, style, scripts, and what it is forbidden to do; its provenance.

HTML that opens offline, in which no data can run as code or make a request.

Scripts are named by hash in the page's content security policy, and data are in a separate element, as
JSON without a character that could end it.
"""

from __future__ import annotations

import base64
import json
import platform
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rankstone._basics import some
from rankstone.errors import masked, one_of, printable
from rankstone.io.atomic_files import atomic
from rankstone.io.sources import sha256_of
from rankstone.io.suffixes import CHARTS
from rankstone.reports import chart_style as vega
from rankstone.reports.chart_style import needed
from rankstone.reports.page_words import about, decimals, decimals_of, p_value, shown
from rankstone.tables.markup import html

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rankstone._basics import StrPath
    from rankstone.reports.page_words import Words

_POLICY: Final = (
    "default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)
#: characters that end or open markup anywhere, and line ends that only scripts know
_UNSAFE: Final = str.maketrans(
    {sign: f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}
)
#: characters of the name of an input
_NAME: Final = 300


def policy(scripts: Iterable[str]) -> str:
    """Return the content security policy of a page that runs these scripts and makes no requests."""
    hashes = []
    for script in scripts:
        digest = sha256(script.encode()).digest()
        hashes.append(f"'sha256-{base64.b64encode(digest).decode()}'")
    return _POLICY.format(hashes=" ".join(hashes))


def as_data(content: object) -> str:
    r"""Return content as JSON that nothing in it can break out of.

    >>> as_data({"q": "</script><script>alert(1)"})
    '{"q":"\\u003c/script\\u003e\\u003cscript\\u003ealert(1)"}'
    """
    text = json.dumps(
        content, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=str
    )
    return text.translate(_UNSAFE)


def chart_page(chart: Any, title: str) -> str:  # noqa: ANN401 - Altair's
    """Return a page with one chart."""
    scripts = [vega.script(), _asset("chart.js")]
    data = as_data({"spec": chart.to_dict(validate=False)})
    return _rendered("chart", scripts, title=title, data=_whole(data))


def write(chart: Any, path: StrPath) -> None:  # noqa: ANN401 - Altair's
    """Write a chart of Altair's, whole or not at all; HTML opens offline."""
    form = Path(path).suffix.lower().removeprefix(".")
    one_of("format", form, CHARTS)
    with atomic(path) as unfinished:
        if form == "html":
            unfinished.write_text(chart_page(chart, Path(path).stem), encoding="utf-8")
        else:
            chart.save(unfinished, format=form)


def require(*, charts: bool = False) -> None:
    """Refuse to start without the packages of the extra: of pages, or of charts, too."""
    packages = (("altair", None), ("vl_convert", "vl-convert-python")) if charts else ()
    for package, installed_as in (("jinja2", None), *packages):
        needed(package, installed_as)


#: scripts of a page, in the order in which they use one another
_SCRIPTS: Final = (
    "page.js",
    "draw.js",
    "pair.js",
    "examples.js",
    "board.js",
    "standings.js",
    "results.js",
    "start.js",
)


def page(
    content: dict[str, Any], result: object, words: Words, **names: str | None
) -> str:
    """Return the page of a result.

    Parameters
    ----------
    content
        ``view``, what its templates need besides the result; ``data``, from which its scripts draw; the
        names of its ``parts``; ``sheets``, whose tables are shown where no script runs.
    result
        The result, which templates put into words.
    words
        The phrases.
    **told
        ``title`` and ``command``.
    """
    digits = getattr(result, "digits", 4)
    data = {
        **content["data"],
        "lang": words.lang,
        "words": words.phrases,
        "digits": digits,
    }
    functions = (
        shown,
        decimals,
        decimals_of,
        p_value,
        about,
        printable,
        flat,
        inputs,
        versions,
    )
    helpers = {function.__name__: function for function in functions}
    script = "".join(map(_asset, _SCRIPTS))
    style = _asset("report.css")
    tables = [html(sheet, brief=True) for sheet in content["sheets"]]
    return _rendered(
        "page",
        [script],
        view=content["view"],
        parts=content["parts"],
        found=result,
        say=words,
        data=_whole(as_data(data)),
        tables=[*map(_whole, tables)],
        style=_whole(style),
        **names,
        **helpers,
    )


def _rendered(name: str, scripts: list[str], **values: Any) -> str:  # noqa: ANN401 - what templates show
    environment = _environment()
    environment.filters["say_percent"] = getattr(values.get("say"), "percent", str)
    template = environment.get_template(f"{name}.html.j2")
    return str(
        template.render(
            policy=policy(scripts), scripts=[*map(_whole, scripts)], **values
        )
    )


@cache
def _environment() -> Any:  # noqa: ANN401 - Jinja's, which keeps compiled templates
    jinja = needed("jinja2")
    return jinja.Environment(
        autoescape=True,
        undefined=jinja.StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=jinja.FunctionLoader(_asset),
    )


def _asset(name: str) -> str:
    return (files("rankstone.reports") / "assets" / name).read_text(encoding="utf-8")


def _whole(text: str) -> Any:  # noqa: ANN401 - markupsafe's text, which the template does not escape
    return needed("markupsafe").Markup(text)


def inputs(result: Any) -> list[tuple[str, str, str]]:  # noqa: ANN401 - any result with inputs
    """Return the names, the source and, of files, the SHA-256 of every input; files are read again."""
    names: dict[str, list[str]] = {}
    for name, source in flat(result.inputs, last_name=True):
        names.setdefault(source, []).append(printable(name, _NAME))
    return [
        (some(several), printable(masked(source), _NAME), sha256_of(source) or "")
        for source, several in names.items()
    ]


def versions() -> str:
    """Return what a page was made with."""
    packages = ("rankstone", "numpy", "polars", "scipy")
    parts = [f"{name} {version(name)}" for name in packages]
    parts.append(f"Python {platform.python_version()}")
    return " · ".join(parts)


def flat(
    values: Mapping[str, Any], above: str = "", *, last_name: bool = False
) -> Iterator[tuple[str, str]]:
    """Yield nested options as names and values.

    >>> [*flat({"alignment": {"ties": "docid_desc", "depth": None}, "measures": ["AP", "RR"]})]
    [('alignment.ties', 'docid_desc'), ('alignment.depth', '–'), ('measures', 'AP RR')]
    """
    for name, value in values.items():
        path = name if last_name or not above else f"{above}.{name}"
        if isinstance(value, dict):
            yield from flat(value, path, last_name=last_name)
        elif isinstance(value, (list, tuple)):
            yield path, " ".join(map(str, value))
        else:
            yield path, "–" if value is None else str(value)
