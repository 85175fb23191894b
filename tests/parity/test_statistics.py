"""Statistics against SciPy and statsmodels, on scores of real systems and on data made here."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from rankstone.stats import (
    adjusted,
    estimates,
    friedman,
    needed,
    nemenyi,
    paired_t,
    power_of,
    randomised_tukey,
    sign_flips,
    tost,
    tukey_hsd,
    two_way,
    wilcoxon,
)
from rankstone.stats.sampling_units import Units

pytestmark = pytest.mark.parity
stats = pytest.importorskip("scipy.stats")
DATA = (
    Path(os.environ.get("RANKSTONE_DATA", Path(__file__).parents[3] / "shared/data"))
    / "trec-score-matrices"
)


def made(seed: int) -> np.ndarray:
    """Return scores of 50 queries and 12 systems: some queries are hard, some systems are better."""
    draw = np.random.default_rng(seed)
    level = draw.beta(1, 2, (50, 1))
    return np.clip(
        level + draw.normal(0.02 * np.arange(12), 0.1, (50, 12)), 0, 1
    ).round(3)


def real(name: str) -> np.ndarray:
    path = DATA / f"{name}.csv"
    if not path.exists():
        pytest.skip(f"no {path}: set RANKSTONE_DATA to the folder of data sets")
    whole = np.genfromtxt(path, delimiter=",", skip_header=1)
    order = np.argsort(-whole.mean(axis=0), kind="stable")
    return whole[:, order[: 5 * 12 : 5]]  # twelve systems, from the best downwards


SOURCES = [
    "made 1",
    "made 2",
    "adhoc5_ap",
    "adhoc6_rr",
    "web2010_ndcg20",
    "web2011_err20",
    "adhoc5_p10",
]


@pytest.fixture(params=SOURCES)
def table(request: pytest.FixtureRequest) -> np.ndarray:
    name, _, seed = request.param.partition(" ")
    return made(int(seed)) if seed else real(name)


def pairs(table: np.ndarray) -> list[tuple[int, int]]:
    return [(0, other) for other in range(1, table.shape[1])]


def test_paired_t(table: np.ndarray) -> None:
    """scipy.stats.ttest_rel: p and interval."""
    for first, other in pairs(table):
        peer = stats.ttest_rel(table[:, first], table[:, other])
        units = Units.from_scores(table).difference(first, other)

        assert paired_t(units) == pytest.approx(peer.pvalue, rel=1e-10, abs=1e-300)
        for level in (0.95, 0.99):
            assert estimates(units)[0].interval(level) == pytest.approx(
                tuple(peer.confidence_interval(level)), rel=1e-10, abs=1e-12
            )


def test_wilcoxon(table: np.ndarray) -> None:
    """scipy.stats.wilcoxon of the differences other than 0: exact for up to 50 that do not tie."""
    for first, other in pairs(table):
        differences = table[:, first] - table[:, other]
        moved = differences[np.abs(differences) >= 1e-12]
        peer = stats.wilcoxon(moved).pvalue if len(moved) else 1.0

        assert wilcoxon(
            Units.from_scores(table).difference(first, other)
        ) == pytest.approx(peer, abs=1e-10)


def test_two_one_sided_t(table: np.ndarray) -> None:
    """scipy.stats.ttest_1samp on either side of the margin."""
    for first, other in pairs(table):
        differences = table[:, first] - table[:, other]
        peer = (
            stats.ttest_1samp(differences, -0.05, alternative="greater").pvalue,
            stats.ttest_1samp(differences, 0.05, alternative="less").pvalue,
        )
        assert tost(
            Units.from_scores(table).difference(first, other), 0.05
        ) == pytest.approx(peer, rel=1e-9, abs=1e-12)


def test_sign_flips(table: np.ndarray) -> None:
    """scipy.stats.permutation_test, within the error of either sample."""
    for first, other in pairs(table)[:4]:
        differences = table[:, first] - table[:, other]
        peer = stats.permutation_test(
            (differences,),
            np.mean,
            permutation_type="samples",
            n_resamples=9999,
            vectorized=True,
            rng=1,
        ).pvalue
        p = sign_flips(differences[:, None], flips=100_000)[0].p

        assert p == pytest.approx(peer, abs=5 * (max(p, 1e-4) / 9999) ** 0.5)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_bootstrap(table: np.ndarray, method: str) -> None:
    """scipy.stats.bootstrap, within the error of either sample: a tenth of a standard error."""
    for first, other in pairs(table)[:3]:
        differences = table[:, first] - table[:, other]
        peer = stats.bootstrap(
            (differences,), np.mean, method=method, n_resamples=20_000, rng=1
        )
        estimate = estimates(
            Units.from_scores(differences[:, None]), method, resamples=20_000
        )[0]

        ends = tuple(peer.confidence_interval)
        assert estimate.interval() == pytest.approx(ends, abs=0.1 * estimate.error)


def test_corrections(table: np.ndarray) -> None:
    """statsmodels.stats.multitest.multipletests, every correction."""
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    p = [paired_t(Units.from_scores(table).difference(*pair)) for pair in pairs(table)]
    theirs = {"holm": "holm", "bonferroni": "bonferroni", "hochberg": "simes-hochberg"}
    theirs |= {
        "bh": "fdr_bh",
        "by": "fdr_by",
        "sidak": "sidak",
        "holm_sidak": "holm-sidak",
        "hommel": "hommel",
    }
    for ours, name in theirs.items():
        peer = multitest.multipletests(p, method=name)[1]
        assert adjusted(p, ours) == pytest.approx(peer, rel=1e-10)


def test_analysis_of_variance(table: np.ndarray) -> None:
    """The anova_lm of statsmodels, of score ~ system + query."""
    pytest.importorskip("statsmodels")
    pandas = pytest.importorskip("pandas")
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    queries, systems = table.shape
    frame = pandas.DataFrame(
        {
            "score": table.ravel(),
            "query": np.repeat(np.arange(queries), systems).astype(str),
            "system": np.tile(np.arange(systems), queries).astype(str),
        }
    )
    peer = anova_lm(ols("score ~ C(system) + C(query)", frame).fit())
    components = two_way(table)

    assert components.systems == pytest.approx(
        peer.loc["C(system)", "sum_sq"], rel=1e-10
    )
    assert components.queries == pytest.approx(
        peer.loc["C(query)", "sum_sq"], rel=1e-10
    )
    assert components.residual == pytest.approx(
        peer.loc["Residual", "sum_sq"], rel=1e-10
    )
    assert components.f == pytest.approx(peer.loc["C(system)", "F"], rel=1e-10)
    assert components.p == pytest.approx(
        peer.loc["C(system)", "PR(>F)"], rel=1e-10, abs=1e-300
    )


def test_tukey(table: np.ndarray) -> None:
    """The studentised range, as scipy.stats has it; shuffled systems without effects keep to its quantile."""
    result = tukey_hsd(table)
    error = two_way(table).error
    queries, systems = table.shape
    for first, other in pairs(table)[:4]:
        q = (
            abs(table[:, first].mean() - table[:, other].mean())
            / (error / queries) ** 0.5
        )
        peer = stats.studentized_range.sf(q, systems, (systems - 1) * (queries - 1))
        assert result[first, other] == pytest.approx(peer, rel=1e-9, abs=1e-12)
    alike = table - table.mean(axis=0)
    quantile = stats.studentized_range.ppf(0.95, systems, (systems - 1) * (queries - 1))
    critical = randomised_tukey(alike[:, :, None], shuffles=20_000).critical(0.05)[0]
    assert critical == pytest.approx(
        quantile * (two_way(alike).error / queries) ** 0.5, rel=0.05
    )


def test_friedman_and_nemenyi(table: np.ndarray) -> None:
    """scipy.stats.friedmanchisquare; Nemenyi's p by SciPy's studentised range of mean ranks."""
    places = stats.rankdata(table, axis=1)
    if table.shape[1] > 2:
        peer = stats.friedmanchisquare(*table.T)
        assert friedman(table).chi_square == pytest.approx(peer.statistic, rel=1e-9)
        assert friedman(table).p_chi_square == pytest.approx(peer.pvalue, rel=1e-9)
    result, error = (
        nemenyi(table),
        (places.var(axis=1, ddof=1).mean() / len(table)) ** 0.5,
    )
    for first, other in pairs(table)[:4]:
        q = abs(places[:, first].mean() - places[:, other].mean()) / error
        assert result[first, other] == pytest.approx(
            stats.studentized_range.sf(q, table.shape[1], np.inf), rel=1e-7, abs=1e-12
        )


def test_power() -> None:
    """TTestPower of statsmodels: power, and the number of queries."""
    power = pytest.importorskip("statsmodels.stats.power").TTestPower()
    for effect in (0.1, 0.2, 0.3, 0.5, 1.0):
        for n in (10, 50, 500):
            peer = power.power(effect, n, 0.05)
            if np.isfinite(peer):  # it has no number where the effect is beyond doubt
                assert power_of(effect, n) == pytest.approx(peer, abs=1e-10)
        wanted = power.solve_power(effect_size=effect, alpha=0.05, power=0.8)
        assert needed(effect) == int(np.ceil(np.asarray(wanted).item()))
