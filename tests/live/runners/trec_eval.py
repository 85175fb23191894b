"""trec_eval 9.0.8's own numbers: its functions, as they lie in pytrec_eval's extension module.

They read files and average as the program does; what it prints has four decimals.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

LIBRARY = "trec_eval-9"
REQUIRES = ["pytrec-eval-terrier==0.5.11", "numpy"]
TRAITS = {"grades": [-1, 0, 1, 2, 3]}
#: grades reach it as whole numbers
WHOLE = True
MEASURES = [
    "map", "gm_map", "map_cut_<k>", "P_<k>", "recall_<k>", "relative_P_<k>", "success_<k>", "recip_rank",
    "Rprec", "Rprec_mult_0.60", "bpref", "gm_bpref", "infAP", "iprec_at_recall_0.30", "11pt_avg",
    "ndcg", "ndcg_cut_<k>", "ndcg_rel", "Rndcg", "binG", "G", "utility",
    "set_P", "set_recall", "set_relative_P", "set_map", "set_F",
    "num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret",
    "map[-l 2]", "map_cut_<k>[-l 2]", "P_<k>[-l 2]", "recall_<k>[-l 3]", "relative_P_<k>[-l 2]",
    "success_<k>[-l 2]", "recip_rank[-l 2]", "Rprec[-l 2]", "bpref[-l 2]",
    "map[-J]", "map_cut_<k>[-J]", "P_<k>[-J]", "recall_<k>[-J]", "relative_P_<k>[-J]", "success_<k>[-J]",
    "recip_rank[-J]", "Rprec[-J]", "bpref[-J]", "ndcg[-J]", "ndcg_cut_<k>[-J]", "ndcg_rel[-J]",
    "map[-c]", "gm_map[-c]", "map_cut_<k>[-c]", "P_<k>[-c]", "recall_<k>[-c]", "relative_P_<k>[-c]",
    "success_<k>[-c]", "recip_rank[-c]", "Rprec[-c]", "bpref[-c]", "gm_bpref[-c]", "ndcg[-c]",
    "ndcg_cut_<k>[-c]", "ndcg_rel[-c]",
]  # fmt: skip
#: half of the last decimal: ours are rounded, theirs not yet printed
WITHIN = 5.001e-5


def cases(seed: int, count: int, traits: Any) -> list[dict[str, Any]]:
    """Draw no query whose grades are all below 0.

    There trec_eval writes past the end of its list of levels, and may crash or hang.
    """
    from tests.live import worlds

    drawn = worlds.cases(seed, count, traits)
    for judged in (judged for case in drawn for judged in case["qrels"].values()):
        if judged and max(judged.values()) < 0:
            judged[next(iter(judged))] = 0.0
    return drawn


def score(case: dict[str, Any], measures: list[str]) -> dict[str, Any]:
    """Return {measure: the library's number}."""
    program = _program()
    values: dict[str, Any] = {}
    by_settings: dict[str, list[str]] = {}
    for measure in measures:
        name, _, settings = measure.rstrip("]").partition("[")
        by_settings.setdefault(settings, []).append(name)
    with tempfile.TemporaryDirectory() as folder:
        qrels, run = Path(folder, "qrels"), Path(folder, "run")
        for settings, names in by_settings.items():
            _write(case, program, qrels, run)
            flag, _, value = settings.partition(" ")
            option = {"-l": "level", "-J": "judged_only", "-c": "complete"}.get(flag)
            options = {option: int(value or 1)} if option else {}
            requested = [re.sub(r"_(?=\d)", ".", name) for name in names]
            _, summary = program.trec_eval_9(qrels, run, requested, **options)
            closing = f"[{settings}]" if settings else ""
            values |= {name + closing: summary[name] for name in names}
    return values


def _program() -> Any:
    """Return the module that calls trec_eval's functions."""
    import importlib.util
    import sys

    if "trec_eval_library" not in sys.modules:
        path = Path(__file__).resolve().parents[2] / "parity" / "trec_eval_library.py"
        spec = importlib.util.spec_from_file_location("trec_eval_library", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["trec_eval_library"] = module
        spec.loader.exec_module(module)
    return sys.modules["trec_eval_library"]


def _write(case: dict[str, Any], program: Any, qrels: Path, run: Path) -> None:
    """Write both files, with query ids never used before: trec_eval remembers the last ones."""
    fresh = {
        query: program.fresh_id(query)
        for query in sorted(case["qrels"].keys() | case["run"].keys())
    }
    qrels.write_text(
        "".join(
            f"{fresh[query]} 0 {doc} {int(grade)}\n"
            for query, judged in case["qrels"].items()
            for doc, grade in judged.items()
        ),
        encoding="utf-8",
    )
    run.write_text(
        "".join(
            f"{fresh[query]} Q0 {doc} 0 {score!r} r\n"
            for query, listed in case["run"].items()
            for doc, score in listed
        ),
        encoding="utf-8",
    )
