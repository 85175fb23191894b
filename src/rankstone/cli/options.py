"""The table of all options: name, values, meaning, and panel of the help.

An option means the same in every command; ``DIFFERS`` says why values or defaults differ in some.
``docs/options.md`` is made from this table, and ``tests/cli/test_option_table.py`` checks it.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

import click

from rankstone.hits import IMPUTATIONS, Described, OrderingKeywords, described

#: formats of every result
FORMATS: Final = ("table", "csv", "json", "jsonl", "md", "latex", "html")
#: the default measures; commands about one measure use the first
DEFAULT_MEASURES: Final = "nDCG@10 AP RR@10 R@100 P@10"


class Declared(NamedTuple):
    """An option.

    Attributes
    ----------
    values
        Words separated by ``|``, the default first; a placeholder; empty for a flag.
    text
        The help text.
    kind
        ``list`` for values separated by commas, ``tuple`` for a repeatable option; otherwise a type.
    short
        Further spellings: ``-m``.
    shown
        The default as shown in the help, if the values do not show it.
    default
        The default that the command receives.
    keyword
        The argument of the command, if it is not the name with ``_`` for ``-``.
    """

    values: str
    text: str
    kind: Any = str
    short: str = ""
    shown: str = ""
    default: Any = None
    keyword: str = ""


#: placeholders that are files
FILES: Final = re.compile("FILE|RUN|LOG|MODEL")
_COLUMNS: Final = click.IntRange(40)
_AT_LEAST_ONE: Final = click.IntRange(1)
_CORRECTIONS: Final = "holm|bonferroni|holm_sidak|sidak|hochberg|hommel|bh|by|none"
_O = Declared

_MEASURES: Final = {
    "measures": _O("TEXT", 'measures, such as "nDCG@10 AP"', tuple, "-m", DEFAULT_MEASURES),
    "measure": _O("TEXT", "the measure", short="-m", shown="nDCG@10"),
    "rel": _O("GRADE", "the lowest relevant grade; graded measures keep all", float, "", "above 0"),
    "convention": _O("LIBRARY", "what this library would print: rankstone conventions"),
    "value": _O("NUMBER", "a reported number, as it was printed: 0.827, 82.7%", tuple),
    "decimals": _O("N", "decimals of --value, if it was printed with fewer", int, keyword="digits"),
    "kind": _O("pr|roc|metric-k", "kind of curve, without -m", shown="metric-k with --target, --which-k"),
    "cutoffs": _O("K,K,…", "cutoffs of measures without their own: 1..10,20,50", list, "-k"),
    "target": _O("[MEASURE=]VALUE,…", "smallest k at which the mean reaches these values: RR=0.5", tuple),
    "which-k": _O("", "how well each k separates runs, and how stable their order is", bool),
    "levels": _O("GRADE,…", "thresholds on the grades", list, shown="every grade above 0"),
    "above-level": _O("", "only grades above a level are relevant, not the level itself", bool, keyword="strict"),
    "strict": _O("", "exit code 3 if there is a warning", bool),
    "scale": _O("0,1,2", "possible grades of unjudged documents", list, shown="those of the judgments and 0"),
    "limit": _O("N", "assignments of grades tried per query", _AT_LEAST_ONE, shown="4096"),
    "gain": _O("MEASURE=FROM,TO", "no files: what a step between two means is worth: AP=0.2,0.4", tuple),
    "right-from": _O("GRADE", "--answers: lowest grade of a right answer", float, shown="1"),
    "catalogue-size": _O("N", "how many items there are", int),
    "k": _O("N", "cutoff: positions that count, length of lists", int, "-k", shown="10"),
    "explain": _O("MEASURE", "show how a value was computed instead of the table"),
    "query": _O("ID", "the query (or user) to show", short="-q"),
    "versus": _O("NAME", "compare with this run, segment or variant"),
    "worst": _O("N", "the N lowest scores; with --versus, the largest losses", _AT_LEAST_ONE),
    "libraries": _O("", "what other libraries would print for this query", bool),
    "grades": _O("5,3,-,2", "without files: grades of a list in order, - for an unjudged document"),
    "judged": _O("5,3,2,1", "with --grades: all judged grades, including those of the list"),
}  # fmt: skip
_METHOD: Final = {
    "method": _O("NAME", "the algorithm"),
    "covariates": _O("COLUMN,…", "--pairs: what else decides: position, or columns of differences", list),
    "estimate": _O("macro|micro|weighted|mean_rank|borda|win_rate|geometric_mean",
                   "how scores become one number"),
    "missing-scores": _O("error|skip|worst|model", "missing scores: refused, left out, worst, predicted",
                         short="--missing", keyword="missing"),
    "weights": _O("DATASET=W,…", "weights of data sets", list),
    "attributes": _O("COLUMN,…", "columns of --queries that make slices", list, shown="all"),
    "tag": _O("NAME=REGEX", "a slice of the queries whose text matches; repeatable", tuple, keyword="tags"),
    "bins": _O("N", "ranges that numbers are split into", int, shown="4"),
    "pool-depth": _O("N", "rank down to which documents are called pooled", int, shown="100"),
    "min-size": _O("N", "fewest queries of a slice", int, shown="20"),
    "utility": _O("NAME=VALUE,…", "what an answer or none is worth", list, shown="right=1,wrong=-1,abstain=0"),
    "against": _O("rest|zero", "gaps from all other queries, or from zero", shown="rest"),
    "slices": _O("", "search --queries for slices that are won or lost", bool),
    "gamma": _O("G", "--method bv: weight of variance against bias", float, shown="0.1"),
    "replacement": _O("", "an item may have been sampled several times", bool),
    "propensity": _O("action|examination", "what propensities refer to"),
    "propensities": _O("P,P,…|FILE", "--method ips: chance that positions are examined", shown="a column"),
    "min-propensity": _O("P", "--method ips: smaller propensities are replaced by this", float),
    "smoothing": _O("CLICKS,NONE", "clicks and impressions without one added to every pair", shown="0,0"),
    "thresholds": _O("T,T,…", "lower limits of grades 1, 2, …: 0.02,0.1", shown="grade = estimate"),
    "min-impressions": _O("N", "pairs with fewer impressions get no grade", int, shown="1"),
    "tolerance": _O("SHARE", "--method pbm: stop where no position moves by more", float, shown="1e-7"),
    "max-iterations": _O("N", "--method pbm: rounds of the fit at most", int, shown="100"),
    "discount": _O("none|log2|reciprocal|W,W,…", "weight of a reward at each position"),
    "clip": _O("W", "also estimate with weights limited to this", float),
    "draws": _O("N", "lists for each query", int, shown="1"),
    "c": _O("C", "svm: weight of the loss against the size of weights", float, shown="1", keyword="price"),
    "query-weight": _O("query|pair", "what has equal weight: queries, or pairs"),
    "pair-weight": _O("uniform|gain", "gain: pairs of grades far apart count more"),
    "nonnegative": _O("", "no weight below zero", bool),
    "init": _O("MODEL", "ascent: begin at this model", shown="a rank SVM", keyword="start"),
    "restarts": _O("N", "ascent: further starts at random", int, shown="2"),
    "valid": _O("FILE", "choose by these queries", shown="cross-validation over those of TRAIN"),
    "folds": _O("N", "folds of queries, without --valid", int, shown="5", default=5),
    "quick": _O("", "skip the nested estimate, which trains --folds times more models", bool),
    "values": _O("C,…", "values of C", list, shown="0.001,0.01,0.1,1,10,100"),
    "choose": _O("best|1se", "1se: the smallest C within one standard error of the best", default="best"),
    "engine": _O("local|spark", "where to compute; with spark, --per-query is a folder (docs/spark.md)",
                 click.Choice(["local", "spark"]), default="local"),
    "master": _O("URL", "--engine spark: local[4], spark://…", shown="that of spark-submit"),
    "memory": _O("SIZE", "memory limit, such as 4GB (docs/scale.md)", shown="3GB from 16M judgments on"),
}  # fmt: skip
_STATISTICS: Final = {
    "ci": _O("", "show an interval for every mean (docs/compare.md)", bool),
    "interval": _O("test|auto|worst_case|t|bca|percentile|studentised|poisson",
                   "method of intervals; test: the printed test inverted", shown="test"),
    "confidence": _O("SHARE", "confidence of intervals (compare: of the whole family)", float, shown="0.95"),
    "cluster": _O("COLUMN", "column of independent units, such as users"),
    "seed": _O("N", "seed of all random numbers", int, shown="0"),
    "resamples": _O("N", "samples of the bootstrap", int, shown="10000; fewer with very many queries"),
    "resample": _O("datasets|queries|both", "other data sets like these, or other queries"),
    "permutations": _O("N", "random permutations", int, shown="100000; fewer with very many queries"),
    "test": _O("randomisation|t|wilcoxon|sign|mcnemar", "test for each pair"),
    "correction": _O(f"{_CORRECTIONS}|flipped_max_t|robust_tukey|tukey|max_t|hsd|nemenyi",
                     "correction for several comparisons", shown="flipped_max_t"),
    "margin": _O("D", "a smaller difference does not matter", float),
    "rope": _O("D", "print how probable a difference beyond ±D is (Bayesian signed-rank test)", float),
    "power": _O("SHARE", "power (probability of detecting a true difference)", float, shown="0.8"),
    "difference": _O("D,…", "true differences to be detected", list, "-d", keyword="differences"),
    "interval-width": _O("W,…", "instead of -d: expected widths of intervals of differences", list,
                         keyword="widths"),
    "among": _O("N", "systems that will be compared: differences of the best and the worst", int, shown="2"),
    "deviation": _O("S", "without runs: standard deviation of the differences per query", float),
    "comparisons": _O("N", "number of comparisons in the family", _AT_LEAST_ONE, shown="pairs × measures"),
    "baseline": _O("NAME", "compare the others with this run; repeatable", tuple,
                   shown="with two runs: the first"),
    "primary": _O("TEXT", "measures for the verdict; others are exploratory", shown="the first"),
    "bounds": _O("", "how far the unjudged documents could change each difference", bool),
    "scores": _O("", "FILES are scores of queries, as --per-query writes", bool),
    "by": _O("COLUMN,…", "results for each value of these columns", list),
    "band": _O("LOW,HIGH", "quantiles of the curves of single queries", shown="0.1,0.9", default="0.1,0.9"),
    "variant": _O("COLUMN", "the column of variants", shown="variant", keyword="by"),
    "shares": _O("VARIANT=SHARE,…", "intended shares of the variants", list, shown="equally"),
    "sequential": _O("", "intervals and p-values that stay valid under repeated looks", bool),
    "planned": _O("N|DATE", "planned number of units, or last day: warns before it is reached"),
}  # fmt: skip
_USERS_OVER_TIME: Final = {
    "period": _O("day|week|month", "what is counted in", keyword="unit"),
    "days": _O("N,N,…", "which N: 1,3,7,30 or 1..30; brackets: 1..7,8..14", list),
    "returns": _O("exact|rolling|bracket", "in that period, or later too, or in a bracket", keyword="kind"),
    "segments": _O("first|each", "a user is in the first event's segment, or in each"),
    "registrations": _O("FILE", "when users registered: user_id, time"),
    "early": _O("error|drop|move", "events before the registration; move: the first event registers"),
    "unregistered": _O("error|drop|first|earlier", "users without a registration"),
    "duplicate-registrations": _O("error|first|last", "users who register on several days"),
    "day-origin": _O("0|1", "the number of the first period", click.IntRange(0, 1)),
    "week-start": _O("DAY", "the day a week begins with", shown="monday"),
    "since": _O("DATE", "the first cohort; users from before are in none"),
    "show": _O("days|cohorts|periods|curve|differences", "which table", default="days"),
}  # fmt: skip
_INPUT: Final = {
    "qrels": _O("FILE", "the judgments"),
    "qrels-again": _O("FILE", "judgments of the other collection on which an experiment was repeated"),
    "teams": _O("FILE", "table of run and group", shown="each run is a group", keyword="groups"),
    "original": _O("FILE", "an unchanged copy of a changed file, to find the first byte; repeatable", tuple),
    "labeled": _O("FILE", "one table with query_id, score, relevance", short="--labelled",
                  keyword="labelled"),
    "one-group": _O("", "treat all lists as one, as for a pooled AUC or ROC", bool),
    "exact-run": _O("RUN", "instead of QRELS: the first --depth documents of this exact run are relevant"),
    "within": _O("E", "with --exact-run: scores this close to the last one count as tied", float),
    "exclude": _O("FILE", "pairs (query_id, doc_id) to remove from every list"),
    "unit": _O("UNIT", "what counts as one: chunk, document (text before #), a separator or regex"),
    "same-as": _O("FILE", "equal documents: doc_id and class, or text; each class earns once"),
    "documents": _O("FILE", "table of documents: doc_id and title, text, cost or class"),
    "queries": _O("FILE", "table of queries: query_id, weight, any columns"),
    "corpus": _O("FILE", "what can be retrieved: ids, a table with doc_id, a folder; says what is missing"),
    "near": _O("", "look for near-duplicates among more than 20,000 queries, too", bool),
    "holdout": _O("SHARE", "share of the hold-out", float, shown="0.3", default=0.3),
    "salt": _O("TEXT", "another salt draws another split", default=""),
    "in-place": _O("", "write splits into GOLDEN itself; all other bytes stay", bool),
    "split": _O("NAME", "only the queries of this split: a golden set's, or --queries' column split"),
    "intents": _O("FILE", "weights of subtopics: query_id, subtopic, weight"),
    "items": _O("FILE", "table with doc_id and properties of each item"),
    "history": _O("FILE", "past interactions: query_id, doc_id"),
    "expected": _O("RUN", "expected items, for Unexpectedness(against=baseline)", keyword="baseline"),
    "separator": _O("TEXT", "separates several categories", shown="|"),
    "train": _O("FILE", "training data: reports overlap of pairs and times with judgments, and unknown documents"),
    "nuggets": _O("FILE", "the nuggets of all systems, where assignments do not have their importance"),
    "support": _O("FILE", "what citations support: qid, sentence, doc_id, support; once a system", tuple),
    "agreement": _O("", "how far assessors agree; each file, of citations that of support, is one's", bool),
    "to-judge": _O("", "write what is to be assigned or judged, as CSV", bool),
    "compare": _O("", "which system is better, and how sure that is", bool, keyword="compared"),
    "answers": _O("FILE", "graded answers: query_id and correct (true or false, or a grade)"),
    "clicks": _O("LOG", "test preference: what was clicked in LISTS"),
    "config": _O("FILE", "TOML: rules and guards", shown="rankstone.toml, or pyproject.toml"),
    "candidate": _O("FILE", "the new run; repeatable for repeated runs", tuple, shown="the configuration's"),
    "inconclusive": _O("fail|warn|pass", "how an inconclusive rule counts"),
    "check": _O("", "only check which margins can pass with these queries", bool),
    "start": _O("DATE", "leave out rows before this day"),
    "end": _O("DATE", "leave out rows after this day"),
    "tz": _O("ZONE", "time zone of days: Europe/Berlin [the times']"),
    "times-in": _O("ZONE", "time zone of times that are written without one", shown="as they are written"),
    "time-unit": _O("s|ms|us|ns", "unit of times that are numbers", shown="recognised by their size"),
    "time-format": _O("FORMAT", "format of times that are texts: '%d/%m/%Y'", shown="recognised by all"),
    "positions-from": _O("1|0", "the first position in the log", click.IntRange(0, 1)),
    "invalid": _O("error|drop", "rows with a missing or unreadable value"),
    "lists": _O("error|keep|drop", "lists of one session and query that skip or repeat positions"),
    "unlinked": _O("error|drop", "--method pbm: positions that no document links with the first"),
    "unknown": _O("error|drop", "clicks on documents a list does not hold"),
    "groups": _O("FILE", "text without qid: rows of each query", shown="FILE.query"),
    "features": _O("COLUMN,…", "tables: columns of features", list, shown="all other columns of numbers"),
    "double": _O("", "hold features in double precision (LightGBM: always); takes twice the memory", bool),
    "on-bad-run": _O("stop|skip", "runs that cannot be scored: stop, or skip them (exit code 3)"),
    "import": _O("FILE.py", "your own measures, gains, discounts and user models", tuple),
    "log": _O("FILE", "instead of QRELS: variant, clicked, user_id …"),
    "metric": _O("COLUMN", "the column of numbers", shown="clicked", keyword="value"),
    "pairs": _O("FILE", "battles instead of scores: left, right, winner"),
    "systems": _O("NAME,…", "only these systems", list),
    "direction": _O("higher|lower", "which scores are better", shown="as the measure says"),
    "only": _O("COLUMN=VALUE", "read only rows with this value: split=test", tuple),
    "run-column": _O("COLUMN", "long tables: the column with the name of the run"),
    "columns": _O("THEIRS=OURS,…", "rename columns: user_id=query_id,item_id=doc_id", list),
    "format-in": _O("trec|csv|tsv|jsonl|json|parquet|arrow|xlsx|SHAPE", "format of input files",
                    shown="by content and suffix"),
    "csv-separator": _O("CHAR", "separator of CSV: ';', tab …", shown="detected"),
    "decimal": _O(".|,", "decimal point or comma of CSV", shown="detected"),
    "no-header": _O("", "CSV without a header: --columns names its columns by position, 1=query_id", bool),
    "all-relevant": _O("", "judgments without grades: each document is relevant, whatever else is there", bool),
    "shape": _O("FILE", "TOML: how files of your own look, beside those of `rankstone formats`"),
}  # fmt: skip
_OUTPUT: Final = {
    "format": _O("|".join(FORMATS), "output format", keyword="form", default="table"),
    "top": _O("N", "number of queries with the largest changes (diff), or of pairs (clicks)", _AT_LEAST_ONE),
    "digits": _O("N", "decimals shown", click.IntRange(0, 17), shown="4", default=4),
    "width": _O("N", "columns of text", _COLUMNS, shown="the terminal's, 80 in a pipe"),
    "lang": _O("en|zh", "language", click.Choice(["en", "zh"])),
    "verbose": _O("", "everything: whole audit, conventions, every pair", bool, "-v"),
    "sort": _O("MEASURE", "sort by this measure, best first; mark the best"),
    "wide": _O("", "csv, jsonl: a row a run, a column a measure", bool),
    "plot": _O("", "draw a chart above the table", bool),
    "output": _O("FILE", "write the result to this file", short="-o"),
    "per-query": _O("FILE", "write values per query: .parquet, .csv or .jsonl"),
    "positions": _O("FILE", "write the table of positions: .parquet, .csv or .jsonl"),
    "cohorts": _O("FILE", "write the triangle: .parquet, .csv or .jsonl"),
    "chart": _O("FILE", "write a chart: .svg, .png, .pdf, .html"),
    "diagram": _O("FILE", "write the critical-difference diagram of mean ranks"),
    "cloud": _O("FILE", "write the first run's mean over the curves of its queries as a chart"),
    "heatmap": _O("FILE", "write the triangle as a chart: .svg, .html …"),
    "report": _O("FILE", "write an HTML page that opens offline"),
    "title": _O("TEXT", "what the data are called, for the head of a page"),
    "table": _O("means", "LaTeX: the table of a paper"),
    "trials": _O("FILE", "write what is shown, a row for each C, to this file"),
    "marks": _O("superscript|bold|none", "LaTeX: letters or daggers, and bold", default="superscript"),
    "names": _O("FILE|A=B,…", "LaTeX: names of systems, in a file a line each; tex:NAME is not escaped"),
    "caption": _O("", "LaTeX: a floating table whose caption says queries, test and seed", bool),
    "junit": _O("FILE", "write the outcomes as JUnit XML, too"),
    "summary": _O("FILE", 'append the outcomes as Markdown: "$GITHUB_STEP_SUMMARY"'),
    "csv-formulas": _O("keep|escape", "CSV texts that spreadsheets compute (=1+1): keep, or escape with '",
                       click.Choice(["keep", "escape"])),
    "all": _O("", "compare all libraries, grouped by the value they would print", bool, keyword="everybody"),
    "where": _O("", "only print the folder of the collection", bool),
    "copy": _O("FOLDER", "write every file that the documents' commands name into a new folder"),
    "quiet": _O("", "no progress bar, no notes", bool),
}  # fmt: skip


def _aligning(one: Described) -> Declared:
    kind = {"N": int, "SCORE": float}.get(one.values[-1], str)
    values = "|".join(one.values).replace(
        "|".join(IMPUTATIONS), "(query|doc|global)_(mean|median)"
    )
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

#: options that `--help` leaves to `--help-all`, besides those of alignment: details of reading and of method
RARE: Final = (
    "format-in csv-separator decimal no-header all-relevant shape run-column import csv-formulas "
    "one-group exact-run within same-as exclude unit intents documents corpus split positions-from seed "
    "permutations resamples interval confidence power rope engine master memory digits width times-in time-unit "
    "time-format invalid unlinked unknown week-start day-origin early unregistered "
    "duplicate-registrations lists tolerance max-iterations min-propensity smoothing thresholds "
    "replacement kind levels above-level scale limit which-k band bounds correction primary min-size "
    "covariates weights only diagram cohorts heatmap wide per-query decimals systems on-bad-run "
    "table trials marks names caption"
)

# -- names of options that go together -------------------------------------------------------------------
ALIGNMENT: Final = " ".join(PANELS["Alignment"])
ORDERING: Final = "order score-dtype ties duplicates depth"
READING_TABLES: Final = "columns format-in csv-separator decimal no-header"
READING_RUNS: Final = f"{READING_TABLES} shape"
READING: Final = f"{READING_RUNS} all-relevant"
PRINTED: Final = "format digits output csv-formulas verbose quiet"
LISTS: Final = "exclude unit same-as documents corpus split"
STATISTICS: Final = (
    "test interval correction confidence margin rope power permutations resamples seed"
)
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

_TIES: Final = _ALIGNMENT["ties"].values.split("|")
#: changes for commands on lists without ids, where the mean over all orders is the default
WITHOUT_IDS: Final = {
    "ties": {"values": "|".join(sorted(_TIES, key=lambda word: word != "expected"))}
}

#: changes for commands whose intervals are of means, which no test belongs to
OF_MEANS: Final = {
    "interval": {
        "values": "auto|worst_case|t|bca|percentile|studentised|poisson",
        "shown": "auto",
    }
}

#: changes for commands that read logs
WITHIN_LOGS: Final = {"correction": {"values": _CORRECTIONS, "shown": ""}}

#: option whose values or default depend on the command → why
DIFFERS: Final = {
    "measures": "diff, beyond and curve compute other kinds of measures, sampled has estimators for some, "
    "thresholds needs measures with a threshold, power plans for one, check and golden check take cutoffs "
    "from them",
    "deviation": "golden split assumes one where there are no runs yet",
    "measure": "identify takes any measure where none is named, board the only one of a table, "
    "slices and abstain nDCG@10",
    "explain": "board explains the place of a system",
    "format": "a format is offered where a result can be written in it",
    "format-in": "documents with features have formats of their own",
    "metric": "ab takes the only column of numbers where there is no other",
    "method": "every command has algorithms of its own",
    "correction": "tests of all pairs at once need scores of each query",
    "ties": "without judgments no order can be expected, best or worst; ltr eval has no ids of documents",
    "duplicates": "without judgments no copy can earn anything",
    "query": "explain takes several",
    "baseline": "gate has no runs on its command line, so its baseline is a file; reproduce has one",
    "cluster": "the units of an A/B test are users unless it says otherwise",
    "by": "the events of retention have one column of segments",
    "interval": "no test belongs to the interval of a mean",
    "resamples": "a curve has many points",
    "permutations": "slices are permuted all together",
    "k": "counterfactual counts all positions unless it is given; the answer of abstain is the first document",
    "rel": "abstain has one threshold, which a utility of right answers needs",
    "digits": "abstain shows intervals beside four utilities, which fit on a line with three",
    "top": "clicks shows ten pairs",
    "catalogue-size": "sampled cannot do without",
}
