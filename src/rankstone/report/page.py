"""The page around the content: template, style, scripts, and what it is forbidden to do."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from rankstone.plots import vega
from rankstone.plots.pages import as_data, policy
from rankstone.plots.style import needed

__all__ = ["page", "require"]


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
    return (files("rankstone.report") / "assets" / name).read_text(encoding="utf-8")


def _whole(text: str) -> Any:  # noqa: ANN401 - markupsafe's text, which the template does not escape
    return needed("markupsafe").Markup(text)
