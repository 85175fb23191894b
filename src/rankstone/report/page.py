"""The page around the content: template, style, scripts, and what it is forbidden to do."""

from __future__ import annotations

import base64
import json
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final

from rankstone.plots.style import needed
from rankstone.report import vega

__all__ = ["as_data", "page", "require"]

_POLICY: Final = (
    "default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)
#: what ends or opens markup wherever it stands, and line ends that scripts alone know
_UNSAFE: Final = str.maketrans({sign: f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"})


def require() -> None:
    """Refuse to start without the packages of the extra."""
    for package, installed_as in (("altair", None), ("vl_convert", "vl-convert-python"), ("jinja2", None)):
        needed(package, installed_as)


def as_data(content: object) -> str:
    r"""Return content as JSON that nothing in it can break out of.

    >>> as_data({"q": "</script><script>alert(1)"})
    '{"q":"\\u003c/script\\u003e\\u003cscript\\u003ealert(1)"}'
    """
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=str)
    return text.translate(_UNSAFE)


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
        policy=_POLICY.format(hashes=" ".join(map(_hash, scripts))),
        style=_whole(_asset("report.css")),
        scripts=[_whole(one) for one in scripts],
        data=_whole(as_data(content)),
    )
    return whole


def _asset(name: str) -> str:
    return (files("rankstone.report") / "assets" / name).read_text(encoding="utf-8")


def _whole(text: str) -> Any:  # noqa: ANN401 - markupsafe's text, which the template does not escape
    return needed("markupsafe").Markup(text)


def _hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(sha256(script.encode()).digest()).decode()}'"
