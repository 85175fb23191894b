"""The page around the content: template, style, scripts, and what it is forbidden to do.

HTML that opens offline, in which no data can run as code or make a request.

Scripts are named by hash in the page's content security policy, and data are in a separate element, as
JSON without a character that could end it.
"""

from __future__ import annotations

import base64
import json
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rankstone.errors import one_of
from rankstone.io.atomic_files import atomic
from rankstone.reports import chart_style as vega
from rankstone.reports.chart_style import needed

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

_POLICY: Final = (
    "default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)
#: characters that end or open markup anywhere, and line ends that only scripts know
_UNSAFE: Final = str.maketrans({sign: f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"})
_FORMATS: Final = ("svg", "png", "pdf", "html")
_EMBED: Final = """
const data = JSON.parse(document.getElementById("data").textContent);
const drawn = () => (document.documentElement.dataset.drawn = "");
vegaEmbed("#chart", data.spec, { ast: true, renderer: "svg" }).then(drawn);
"""
_PAGE: Final = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>body{{font:14px system-ui,sans-serif;margin:1rem}}</style>
</head>
<body>
<div id="chart"></div>
<script type="application/json" id="data">{data}</script>
{scripts}
</body>
</html>
"""


def policy(scripts: Iterable[str]) -> str:
    """Return the content security policy of a page that runs these scripts and makes no requests."""
    hashes = (f"'sha256-{base64.b64encode(sha256(one.encode()).digest()).decode()}'" for one in scripts)
    return _POLICY.format(hashes=" ".join(hashes))


def as_data(content: object) -> str:
    r"""Return content as JSON that nothing in it can break out of.

    >>> as_data({"q": "</script><script>alert(1)"})
    '{"q":"\\u003c/script\\u003e\\u003cscript\\u003ealert(1)"}'
    """
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=str)
    return text.translate(_UNSAFE)


def chart_page(chart: Any, title: str) -> str:  # noqa: ANN401 - Altair's
    """Return a page with one chart."""
    scripts = [vega.script(), _EMBED]
    return _PAGE.format(
        policy=escape(policy(scripts)),
        title=escape(title),
        data=as_data({"spec": chart.to_dict(validate=False)}),
        scripts="\n".join(f"<script>{one}</script>" for one in scripts),
    )


def write(chart: Any, path: str | os.PathLike[str]) -> None:  # noqa: ANN401 - Altair's
    """Write a chart of Altair's, whole or not at all; HTML opens offline."""
    form = Path(path).suffix.lower().removeprefix(".")
    one_of("format", form, _FORMATS)
    with atomic(path) as unfinished:
        if form == "html":
            unfinished.write_text(chart_page(chart, Path(path).stem), encoding="utf-8")
        else:
            chart.save(unfinished, format=form)


def require() -> None:
    """Refuse to start without the packages of the extra."""
    for package, installed_as in (("altair", None), ("vl_convert", "vl-convert-python"), ("jinja2", None)):
        needed(package, installed_as)


def page(content: dict[str, Any], name: str = "report") -> str:
    """Return a page.

    Parameters
    ----------
    content
        What is on it; ``lang``, ``title`` and ``words`` among it.
    name
        Of its template and its script.
    """
    jinja = needed("jinja2")
    scripts = [vega.script(), _asset("page.js"), _asset(f"{name}.js")]
    made = jinja.Environment(
        autoescape=True,
        undefined=jinja.StrictUndefined,
        keep_trailing_newline=True,
        loader=jinja.FunctionLoader(_asset),
    )
    whole: str = made.get_template(f"{name}.html.j2").render(
        content=content,
        words=content["words"],
        policy=policy(scripts),
        style=_whole(_asset("report.css")),
        scripts=[_whole(one) for one in scripts],
        data=_whole(as_data(content)),
    )
    return whole


def _asset(name: str) -> str:
    return (files("rankstone.reports") / "assets" / name).read_text(encoding="utf-8")


def _whole(text: str) -> Any:  # noqa: ANN401 - markupsafe's text, which the template does not escape
    return needed("markupsafe").Markup(text)
