"""The one table of options: what each is called, its values, its meaning and its panel of the help.

A name means the same in every command.  Where values or defaults of commands differ nevertheless, ``DIFFERS``
says why; ``docs/options.md`` shows the table, and ``tests/cli/test_option_table.py`` holds it to both.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import click

from rankstone.cli.outputs import FORMATS
from rankstone.hits import IMPUTATIONS, Described, OrderingKeywords, described

__all__ = [
    "ALIGNMENT",
    "COMPARING",
    "DEFAULT_MEASURES",
    "DIFFERS",
    "LISTS",
    "ORDERING",
    "PANELS",
    "PRINTED",
    "READING",
    "REMOVED",
    "STATISTICS",
    "WITHIN_LOGS",
    "WITHOUT_JUDGMENTS",
    "Declared",
]

#: what is computed where no measures are named; commands about one measure take the first
DEFAULT_MEASURES: Final = "nDCG@10 AP RR@10 R@100 P@10"


class Declared(NamedTuple):
    """An option.

    Attributes
    ----------
    values
        Words with ``|`` between them, the default first; a placeholder; nothing for a flag.
    text
        What it means.
    kind
        ``list`` takes a list with commas, ``tuple`` is repeated; else a type, or one of click's.
    short
        Further spellings: ``-m``.
    usual
        What happens where it is not given, if the values do not say so.
    default
        What a command is handed where it is not given.
    keyword
        The argument of the command, if not the name with ``_`` for ``-``.
    """

    values: str
    text: str
    kind: Any = str
    short: str = ""
    usual: str = ""
    default: Any = None
    keyword: str = ""


_COLUMNS: Final = click.IntRange(40)
_AT_LEAST_ONE: Final = click.IntRange(1)
_CORRECTIONS: Final = "holm|bonferroni|holm_sidak|sidak|hochberg|hommel|bh|by|none"
_O = Declared

_MEASURES: Final = {
    "measures": _O("TEXT", 'measures, such as "nDCG@10 AP"', tuple, "-m", DEFAULT_MEASURES),
    "measure": _O("TEXT", "one measure", short="-m", usual="nDCG@10"),
    "rel": _O("GRADE", "relevant means this grade or more; graded measures keep all", float, "", "above 0"),
    "convention": _O("LIBRARY", "print the numbers of a library: rankstone conventions"),
    "value": _O("NUMBER", "a number as it was printed: 0.827, 82.7%", tuple),
    "decimals": _O("N", "decimals of --value, if not as printed", int, keyword="digits"),
    "kind": _O("pr|roc|metric-k", "what is traced without -m", usual="metric-k with --target, --which-k"),
    "cutoffs": _O("K,K,…", "cutoffs of measures without their own: 1..10,20,50", list, "-k"),
    "target": _O("[MEASURE=]VALUE,…", "the smallest k at which the mean reaches these values: RR=0.5", tuple),
    "which-k": _O("", "how well each k tells the runs apart, how steady their order is", bool),
    "levels": _O("GRADE,…", "thresholds on the grades", list, usual="every grade above 0"),
    "strict": _O("", "relevant is what lies above a level, not the level itself", bool),
    "scale": _O("0,1,2", "grades a document can have", list, usual="those of the judgments, and 0"),
    "limit": _O("N", "assignments of grades tried where only trying helps", _AT_LEAST_ONE, usual="4096"),
    "gain": _O("MEASURE=FROM,TO", "no files: what a step between two means is worth: AP=0.2,0.4", tuple),
    "catalogue-size": _O("N", "how many items there are", int),
    "k": _O("N", "cutoff: positions that count, length of lists", int, usual="10"),
    "explain": _O("MEASURE", "show how a value was computed instead of the table"),
    "query": _O("ID", "the query (or user) that is shown", short="-q"),
    "versus": _O("NAME", "compare with this run, segment or variant"),
    "worst": _O("N", "the N lowest scores; with --versus, the largest losses", _AT_LEAST_ONE),
    "others": _O("", "what other libraries would print for this query", bool),
    "grades": _O("5,3,-,2", "no files: grades of a list in order, - for an unjudged document"),
    "judged": _O("5,3,2,1", "--grades: all judged grades, those of the list included"),
}  # fmt: skip
_METHOD: Final = {
    "method": _O("NAME", "the algorithm"),
    "gamma": _O("G", "--method bv: weight of variance against bias", float, usual="0.1"),
    "replacement": _O("", "an item may have been sampled several times", bool),
    "propensity": _O("action|examination", "what the propensity is of"),
    "propensities": _O("P,P,…|FILE", "--method ips: chance that positions are examined", usual="a column"),
    "min-propensity": _O("P", "--method ips: smaller propensities are replaced by this", float),
    "smoothing": _O("CLICKS,NONE", "clicks and impressions without one added to every pair", usual="0,0"),
    "thresholds": _O("T,T,…", "where grades 1, 2, … begin: 0.02,0.1,0.3", usual="the estimate is the grade"),
    "min-impressions": _O("N", "pairs that were shown less often get no grade", int, usual="1"),
    "tolerance": _O("SHARE", "--method pbm: stop where no position moves by more", float, usual="1e-7"),
    "max-iterations": _O("N", "--method pbm: rounds of the fit at most", int, usual="100"),
    "discount": _O("none|log2|reciprocal|W,W,…", "what a reward counts at each position"),
    "clip": _O("W", "add an estimate in which no weight is above this", float),
    "draws": _O("N", "lists for each query", int, usual="1"),
    "c": _O("C", "svm: what the loss costs against large weights", float, usual="1", keyword="price"),
    "query-weight": _O("query|pair", "what counts the same: queries, or pairs"),
    "pair-weight": _O("uniform|gain", "gain: pairs of grades far apart count more"),
    "nonnegative": _O("", "no weight below zero", bool),
    "init": _O("MODEL", "ascent: begin at this model", usual="a rank SVM", keyword="start"),
    "restarts": _O("N", "ascent: further starts at random", int, usual="2"),
    "valid": _O("FILE", "choose by these queries", usual="cross-validation over those of TRAIN"),
    "folds": _O("N", "folds of queries, without --valid", int, usual="5", default=5),
    "quick": _O("", "leave out the nested estimate, which trains --folds times more", bool),
    "values": _O("C,…", "values of C", list, usual="0.001,0.01,0.1,1,10,100"),
    "choose": _O("best|1se", "1se: the smallest C that is near enough", default="best"),
    "engine": _O("local|spark", "where: files are then Spark's, --per-query a folder (docs/spark.md)",
                 click.Choice(["local", "spark"]), default="local"),
    "master": _O("URL", "--engine spark: local[4], spark://…", usual="that of spark-submit"),
    "memory": _O("SIZE", "stay within this memory, such as 4GB: queries in ranges (docs/scale.md)"),
}  # fmt: skip
_STATISTICS: Final = {
    "ci": _O("", "an interval for every mean, over queries (docs/compare.md)", bool),
    "interval": _O("auto|worst_case|t|bca|percentile|studentised|poisson", "method of intervals"),
    "confidence": _O("SHARE", "confidence of intervals (compare: of all together)", float, usual="0.95"),
    "cluster": _O("COLUMN", "column of independent units, such as users or sessions"),
    "seed": _O("N", "seed of everything that is drawn at random", int, usual="0"),
    "resamples": _O("N", "samples of the bootstrap", int, usual="10000; fewer of very many queries"),
    "permutations": _O("N", "permutations drawn at random", int, usual="100000; fewer of very many queries"),
    "test": _O("randomisation|t|wilcoxon|sign|mcnemar", "test for each pair"),
    "correction": _O(f"{_CORRECTIONS}|robust_tukey|tukey|max_t|hsd|nemenyi",
                     "correction for several comparisons", usual="all pairs: robust_tukey"),
    "margin": _O("D", "a difference that does not matter: systems can be equivalent", float),
    "power": _O("SHARE", "power for which numbers of queries are computed", float, usual="0.8"),
    "difference": _O("D,…", "true differences to be detected", list, "-d", keyword="differences"),
    "deviation": _O("S", "no files: standard deviation of the differences of queries", float),
    "comparisons": _O("N", "family of tests", _AT_LEAST_ONE, usual="pairs × measures", keyword="questions"),
    "baseline": _O("NAME", "compare the others with this run", usual="of two runs the first"),
    "primary": _O("TEXT", "measures the verdict is about; the rest explores", usual="the first"),
    "bounds": _O("", "how far the unjudged documents could move each difference", bool),
    "scores": _O("", "FILES are scores per query: of --per-query, or trec_eval -q", bool),
    "by": _O("COLUMN,…", "segments: results for each value of these columns, of --queries or the log", list),
    "band": _O("LOW,HIGH", "quantiles of the queries' own curves", usual="0.1,0.9", default="0.1,0.9"),
    "variant": _O("COLUMN", "the column of variants", usual="variant", keyword="by"),
    "shares": _O("VARIANT=SHARE,…", "how units should have been assigned", list, usual="equally"),
    "sequential": _O("", "results that hold at every look at a running experiment, not at one", bool),
    "planned": _O("N", "units the experiment ends with: a warning before that", int),
}  # fmt: skip
_USERS_OVER_TIME: Final = {
    "unit": _O("day|week|month", "what is counted in"),
    "days": _O("N,N,…", "which N: 1,3,7,30 or 1..30; brackets: 1..7,8..14", list, usual="by the unit"),
    "returns": _O("exact|rolling|bracket", "in that period, or later too, or in a bracket", keyword="kind"),
    "segments": _O("first|each", "a user is in the segment of the first event, or in each as another user"),
    "registrations": _O("FILE", "table with user_id and time: when users registered"),
    "early": _O("error|drop|move", "events before the registration; move: the first event registers"),
    "unregistered": _O("error|drop|first|earlier", "users without a registration"),
    "duplicate-registrations": _O("error|first|last", "users who register on several days"),
    "day-origin": _O("0|1", "the number of the first period", click.IntRange(0, 1)),
    "week-start": _O("DAY", "the day a week begins with", usual="monday"),
    "since": _O("DATE", "the first cohort; users from before are in none"),
    "show": _O("days|cohorts|periods|curve|differences", "which table", default="days"),
}  # fmt: skip
_INPUT: Final = {
    "qrels": _O("FILE", "the judgments"),
    "labeled": _O("FILE", "one table with query_id, score, relevance (or label)", short="--labelled",
                  keyword="labelled"),
    "one-group": _O("", "all lists are one, as for a pooled AUC or ROC", bool),
    "exact-run": _O("RUN", "no QRELS: the first --depth documents of this exact run are relevant"),
    "within": _O("E", "--exact-run: scores so close to the last count as tied", float),
    "exclude": _O("FILE", "pairs (query_id, doc_id) removed from every list first"),
    "collapse": _O("REGEX", "passages to documents: the first group is the document"),
    "queries": _O("FILE", "table of queries (or users): query_id, weight, session, any columns"),
    "intents": _O("FILE", "weights of subtopics: query_id, subtopic, weight"),
    "items": _O("FILE", "table with doc_id and what is known of each item"),
    "history": _O("FILE", "past interactions: query_id, doc_id"),
    "expected": _O("RUN", "what was to be expected: Unexpectedness(against=baseline)", keyword="baseline"),
    "separator": _O("TEXT", "separates several categories", usual="|"),
    "train": _O("FILE", "what a model has learnt from: overlap, documents unknown to it"),
    "clicks": _O("LOG", "test preference: what was clicked in LISTS"),
    "config": _O("FILE", "TOML: rules and guards", usual="rankstone.toml, or pyproject.toml"),
    "candidate": _O("FILE", "the new run", usual="the configuration's"),
    "inconclusive": _O("fail|warn|pass", "what an inconclusive rule does"),
    "check": _O("", "say which margins these queries can pass; score nothing", bool),
    "start": _O("DATE", "leave out rows before this day"),
    "end": _O("DATE", "leave out rows after this day"),
    "tz": _O("ZONE", "time zone of days, such as Europe/Berlin", usual="that of the times"),
    "times-in": _O("ZONE", "time zone of times that are written without one", usual="as they are written"),
    "time-unit": _O("s|ms|us|ns", "unit of times that are numbers", usual="recognised by their size"),
    "invalid": _O("error|drop", "rows with a missing or unreadable value"),
    "lists": _O("error|keep|drop", "lists of one session and query that skip or repeat positions"),
    "unlinked": _O("error|drop", "--method pbm: positions that no document links with the first"),
    "unknown": _O("error|drop", "clicks on documents a list does not hold"),
    "groups": _O("FILE", "text without qid: rows of each query", usual="FILE.query"),
    "features": _O("COLUMN,…", "tables: columns of features", list, usual="all other columns of numbers"),
    "double": _O("", "hold features in double precision; takes twice the memory", bool),
    "on-bad-run": _O("stop|skip", "runs that cannot be scored: refuse all, or skip them (exit code 3 too)"),
    "import": _O("FILE.py", "register measures, gains, discounts, user models of your own", tuple),
    "run-column": _O("COLUMN", "long tables: the column that names each row's run"),
    "columns": _O("THEIRS=OURS,…", "column names: user_id=query_id,item_id=doc_id; several add up", list),
    "format-in": _O("trec|csv|tsv|jsonl|json|parquet|arrow|xlsx", "format of files", usual="by suffix"),
    "csv-separator": _O("CHAR", "separator of CSV: ';', tab …", usual="by its looks"),
    "decimal": _O(".|,", "decimal point or comma of CSV", usual="by its looks"),
}  # fmt: skip
_OUTPUT: Final = {
    "format": _O("|".join(FORMATS), "format of what is printed", keyword="form", default="table"),
    "top": _O("N", "how many are shown: queries that changed most (diff), pairs (clicks)", _AT_LEAST_ONE),
    "digits": _O("N", "decimals shown", click.IntRange(0, 17), usual="4", default=4),
    "width": _O("N", "columns of text", _COLUMNS, usual="the terminal's, 80 in a pipe"),
    "lang": _O("en|zh", "language", click.Choice(["en", "zh"])),
    "plot": _O("", "draw a chart above the table", bool),
    "output": _O("FILE", "write the result to this file", short="-o"),
    "per-query": _O("FILE", "write values per query: .parquet, .csv or .jsonl"),
    "positions": _O("FILE", "write the table of positions: .parquet, .csv or .jsonl"),
    "cohorts": _O("FILE", "write the whole triangle: .parquet, .csv or .jsonl"),
    "chart": _O("FILE", "write the curve as a chart: .svg, .png, .pdf, .html"),
    "cloud": _O("FILE", "write the first run's mean over the curves of its queries as a chart"),
    "heatmap": _O("FILE", "write the triangle as a chart: .svg, .png, .pdf, .html"),
    "report": _O("FILE", "write an HTML page that opens offline"),
    "model": _O("FILE", "write the model of the chosen C, trained on all of TRAIN"),
    "junit": _O("FILE", "write the outcomes as JUnit XML, too"),
    "summary": _O("FILE", 'append the outcomes as Markdown: "$GITHUB_STEP_SUMMARY"'),
    "csv-formulas": _O("keep|escape", "texts in CSV that spreadsheets compute (=1+1): kept, or quoted by '",
                       click.Choice(["keep", "escape"])),
    "all": _O("", "group all libraries by the value they would give", bool, keyword="everybody"),
    "where": _O("", "only print the folder of the collection", bool),
    "quiet": _O("", "no progress bar, no notes on standard error", bool),
}  # fmt: skip


def _aligning(one: Described) -> Declared:
    kind = {"N": int, "SCORE": float}.get(one.values[-1], str)
    values = "|".join(one.values).replace("|".join(IMPUTATIONS), "(query|doc|global)_(mean|median)")
    return Declared(values, one.help, kind)


_ALIGNMENT: Final = {one.name.replace("_", "-"): _aligning(one) for one in described()}

#: panel → name → option
PANELS: Final[dict[str, dict[str, Declared]]] = {
    "Measures": _MEASURES,
    "Method": _METHOD,
    "Statistics": _STATISTICS,
    "Users over time": _USERS_OVER_TIME,
    "Input": _INPUT,
    "Output": _OUTPUT,
    "Alignment": _ALIGNMENT,
}

# -- names of options that go together -------------------------------------------------------------------
ALIGNMENT: Final = " ".join(PANELS["Alignment"])
ORDERING: Final = "order score-dtype ties duplicates depth"
READING: Final = "columns format-in csv-separator decimal"
PRINTED: Final = "format digits output csv-formulas quiet"
LISTS: Final = "exclude collapse"
STATISTICS: Final = "test interval correction confidence margin power permutations resamples seed"
COMPARING: Final = (
    f"measures rel scores baseline primary bounds queries by cluster {STATISTICS} lang {LISTS} convention "
    "on-bad-run run-column import"
)

#: changes for commands that compare rankings without judgments
WITHOUT_JUDGMENTS: Final = {
    one.name: {"values": "|".join(one.values)}
    for one in described(OrderingKeywords.__annotations__)
    if one.name in ("ties", "duplicates")
}

#: changes for commands that read logs
WITHIN_LOGS: Final = {
    "correction": {"values": _CORRECTIONS, "usual": ""},
}

#: option whose values or default depend on the command → why
DIFFERS: Final = {
    "measures": "diff, beyond and curve compute other kinds of measures, sampled has estimators for some, "
    "thresholds needs measures with a threshold, power plans for one",
    "measure": "identify takes any measure where none is named",
    "format": "a format is offered where a result can be written in it",
    "format-in": "documents with features have formats of their own",
    "method": "every command has algorithms of its own",
    "correction": "tests of all pairs at once need scores of each query",
    "ties": "without judgments no order can be expected, best or worst; ltr eval has no ids of documents",
    "duplicates": "without judgments no copy can earn anything",
    "query": "explain takes several",
    "baseline": "gate has no runs on its command line, so its baseline is a file",
    "cluster": "the units of an A/B test are users unless it says otherwise",
    "by": "the events of retention have one column of segments",
    "resamples": "a curve has many points",
    "k": "counterfactual counts all positions unless it is given",
    "top": "clicks shows ten pairs",
    "catalogue-size": "sampled cannot do without",
}

#: option that was renamed, of one command or of all → what to write
REMOVED: Final = {
    "ab --by": "--variant",
    "beyond --users": "--queries",
    "beyond --baseline": "--expected",
    "bounds --grades": "--scale",
    "clicks --grades": "--thresholds",
    "clicks --clip": "--min-propensity",
    "sampled --items": "--catalogue-size",
    "train --start": "--init",
    "power --questions": "--comparisons",
    "identify --digits": "--decimals",
    "retention --curve": "--chart",
    "retention --kind": "--returns",
    "--truth": "--exact-run",
    "--vs": "--versus",
    "--curves": "--measures",
    "--reach": "--target",
}
