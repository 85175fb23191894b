"""The page and the charts of retention: what is on them, and that nothing in a log gets out of its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from tests.reports.test_report import Page

import rankstone
from rankstone import plots
from rankstone.errors import BadOption, UsageError
from rankstone.online.cohort_retention import retention
from rankstone.reports.charts.retention_charts import (
    curve_rows,
    heatmap_rows,
    period_rows,
)
from rankstone.reports.report_content import page_of

if TYPE_CHECKING:
    from pathlib import Path

    from rankstone.online.retention_result import Retention

pytest.importorskip("altair", reason="charts need the extra: report")
pytest.importorskip("vl_convert", reason="charts need the extra: report")
pytest.importorskip("jinja2", reason="pages need the extra: report")

EVIL = "</script><script>alert(1)</script>"
LOG: dict[str, list[Any]] = {
    "user_id": list("abcd") + list("abe") + list("ac") + ["a"],
    "time": ["2024-01-01"] * 4
    + ["2024-01-02"] * 3
    + ["2024-01-04"] * 2
    + ["2024-01-08"],
    "group": [EVIL, "y", EVIL, "y", EVIL, "y", "y", EVIL, EVIL, EVIL],
}


def read(result: Retention, **how: str) -> Page:
    return Page(page_of(result, **how))


def test_the_page_says_how_many_come_back() -> None:
    """The answer is the first age that is known; every age is in the table, unknown ones, too."""
    page = read(retention(LOG), command="rankstone online retention log.csv")

    assert (
        "40 % of users came back on day 1 2 of 5 users; 95 % interval 11.8 % to 76.9 %"
        in page.text()
    )
    assert [row["rate"] for row in page.data["curve"]] == [0.4, 0.4, 0.25, None]
    assert page.data["cohorts"][0]["rows"][0]["cohort"] == "2024-01-01"
    assert "Reproduce rankstone online retention log.csv" in page.text("method")


def test_left_out_cohorts_are_counted() -> None:
    """What was not observed long enough is stated beside the answer."""
    log = {
        "user_id": list("abcc"),
        "time": ["2024-01-01", "2024-01-02", "2024-01-01", "2024-01-02"],
    }

    assert (
        "; 1 of 2 cohorts are left out, not observed long enough"
        in read(retention(log, "1")).text()
    )


def test_the_page_in_chinese() -> None:
    """Everything that is stated is stated in the reader's language."""
    page = read(retention(LOG), lang="zh")

    assert ("html", {"lang": "zh"}) in page.tags
    assert (
        "第 1 日留存率为 40% 5 个用户中有 2 个；95% 置信区间 11.8% 至 76.9%"
        in page.text()
    )


def test_markup_in_a_segment_stays_text() -> None:
    """A segment called like a script is a text everywhere, and the policy knows the script of the page."""
    page = read(retention(LOG, by="group"))

    assert len(page.scripts) == 2  # the data, and what draws them
    assert EVIL in [cohort["segment"] for cohort in page.data["cohorts"]]
    assert not any(tag == "script" and about.get("src") for tag, about in page.tags)
    assert "differences between segments are clear" in page.text()
    assert page.data["differences"]


def test_a_page_of_next_to_nothing() -> None:
    """A single event makes a page, too."""
    page = read(retention({"user_id": ["a"], "time": ["2024-01-01"]}))

    assert "No cohort was watched long enough" in page.text()
    assert page.data["points"] == []
    assert page.data["curve"][0]["rate"] is None


def test_charts_show_what_is_known() -> None:
    """No cell without a rate; the curve ends where few users have come, and begins after the first day."""
    cohorts = retention(LOG)
    cells, cut = heatmap_rows(cohorts)
    assert cells["rate"].null_count() == 0
    assert not cut
    assert cells.height == cohorts.cohorts["rate"].count()
    points, lines = curve_rows(cohorts)
    assert lines == ["all"]
    assert points["day"].to_list() == list(range(1, 8))
    bars = period_rows(cohorts)
    assert (
        bars["users"].sum()
        == cohorts.periods.select(pl.col("new") + pl.col("returning")).sum().item()
    )
    with pytest.raises(UsageError, match="nothing to draw"):
        curve_rows(retention({"user_id": ["a"], "time": ["2024-01-01"]}))


def test_large_triangles_are_cut_and_say_so() -> None:
    """A heatmap holds sixty cohorts and ages, and its title tells of how many."""
    days = pl.date_range(pl.date(2024, 1, 1), pl.date(2024, 4, 1), eager=True)
    cohorts = retention({"user_id": list(range(len(days))), "time": days})
    cells, cut = heatmap_rows(cohorts)

    assert cut == {"cohorts": 60, "of_cohorts": 92, "ages": 60, "of_ages": 92}
    assert cells["cohort"].n_unique() == 60
    assert "60 of 92 cohorts" in plots.retention_heatmap(cohorts).to_dict()["title"]


@pytest.mark.parametrize("kind", ["exact", "rolling", "bracket"])
def test_every_kind_is_drawn(kind: str, tmp_path: Path) -> None:
    """Each chart is written whole, by its suffix; others are refused."""
    cohorts = retention(
        LOG, "1..3,4..7" if kind == "bracket" else "1,3", kind=kind, by="group"
    )
    for chart in ("curve", "heatmap", "periods"):
        plots.write(
            getattr(plots, f"retention_{chart}")(cohorts), tmp_path / f"{chart}.svg"
        )
        assert (tmp_path / f"{chart}.svg").read_text("utf-8").startswith("<svg")
    assert EVIL not in (tmp_path / "curve.svg").read_text("utf-8")
    with pytest.raises(BadOption, match="format='gif'"):
        plots.write(plots.retention_curve(cohorts), tmp_path / "c.gif")
    with pytest.raises(BadOption, match="there is no segment z"):
        plots.retention_heatmap(cohorts, "z")


def test_it_writes_itself_whole(tmp_path: Path) -> None:
    """JSON, rows and the page are files; shown in a notebook it is a table."""
    cohorts = retention(LOG)
    cohorts.write(tmp_path / "r.json")
    cohorts.write(tmp_path / "r.parquet")
    cohorts.write(tmp_path / "r.csv")
    cohorts.write(tmp_path / "r.jsonl")
    rankstone.report(cohorts, tmp_path / "r.html")

    assert pl.read_parquet(tmp_path / "r.parquet").equals(cohorts.cohorts)
    assert pl.read_csv(tmp_path / "r.csv").height == cohorts.cohorts.height
    assert '"cohort": "2024-01-01"' in (tmp_path / "r.json").read_text("utf-8")
    assert cohorts.to_pandas().shape == cohorts.cohorts.shape
    assert "<table" in cohorts._repr_html_()
    assert "events  10 rows" in repr(cohorts)
