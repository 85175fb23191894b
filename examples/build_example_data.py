"""Write the small tables under ``examples/``: ``python examples/build_example_data.py``.

All of them are made up, from fixed random seeds.  The tutorials and notebooks read them.
"""

from __future__ import annotations

import csv
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

HERE: Final = Path(__file__).parent
GENRES: Final = ("crime", "history", "poetry", "science", "travel", "comics")
USERS, ITEMS, SHOWN = 80, 120, 10


def main() -> None:
    """Write the tables."""
    shop(random.Random(1))  # noqa: S311 - made-up tables
    letor(random.Random(2))  # noqa: S311 - made-up tables
    experiment(random.Random(3))  # noqa: S311 - made-up tables
    boards(random.Random(4))  # noqa: S311 - made-up tables
    slices(random.Random(11))  # noqa: S311 - made-up tables
    shared_task(random.Random(19))  # noqa: S311 - made-up tables


def shop(dice: random.Random) -> None:
    """Write a book shop: what users bought, what they bought later, and what two recommenders showed them."""
    genre = {item: GENRES[item % len(GENRES)] for item in range(ITEMS)}
    appeal = {item: dice.paretovariate(1.2) for item in genre}
    write(
        "shop/items.csv",
        ["item_id", "genre"],
        ([f"i{item:03}", name] for item, name in genre.items()),
    )
    bought: list[list[str]] = []
    later: list[list[Any]] = []
    shown: dict[str, list[list[Any]]] = {"popular": [], "taste": []}
    ranked = sorted(genre, key=lambda item: -appeal[item])
    for user in range(USERS):
        liked = dice.sample(GENRES, 2)
        wants = {
            item: appeal[item] * (6 if genre[item] in liked else 1) for item in genre
        }
        basket = list(
            dict.fromkeys(dice.choices(list(wants), list(wants.values()), k=24))
        )
        past, future = basket[:-3], basket[-3:]
        bought += [[f"u{user:02}", f"i{item:03}"] for item in past]
        later += [[f"u{user:02}", f"i{item:03}", 1] for item in future]
        known = {genre[item] for item in past[:6]}
        unread = [item for item in ranked if item not in past]
        taste = sorted(
            unread,
            key=lambda item: (
                -appeal[item]
                * (4 if genre[item] in known else 1)
                * dice.uniform(0.6, 1)
            ),
        )
        for name, items in (("popular", unread), ("taste", taste)):
            shown[name] += [
                [f"u{user:02}", f"i{item:03}", SHOWN - at]
                for at, item in enumerate(items[:SHOWN])
            ]
    write("shop/history.csv", ["user_id", "item_id"], bought)
    write("shop/bought.csv", ["user_id", "item_id", "relevance"], later)
    for name, rows in shown.items():
        write(f"shop/{name}.csv", ["user_id", "item_id", "score"], rows)


def letor(dice: random.Random) -> None:
    """Write queries with labelled documents, four features each, in the format of LETOR."""
    for name, queries in (("train", range(40)), ("test", range(40, 70))):
        with (HERE / "ltr" / f"{name}.txt").open("w", encoding="utf-8") as out:
            for query in queries:
                for document in range(8):
                    features = [dice.gauss(0, 1) for _ in range(4)]
                    worth = (
                        1.5 * features[0]
                        + features[1]
                        - 0.5 * features[3]
                        + dice.gauss(0, 1)
                    )
                    label = sum(worth > edge for edge in (0, 1.5, 3))
                    listed = " ".join(
                        f"{at}:{value:.3f}" for at, value in enumerate(features, 1)
                    )
                    out.write(f"{label} qid:{query} {listed} # d{document}\n")


def experiment(dice: random.Random) -> None:
    """Write the log of an A/B test of two rankings: a row for each position that was shown."""
    rows = []
    for user in range(300):
        variant = dice.choice(("old", "new"))
        for visit in range(dice.randint(1, 3)):
            chance = 0.34 if variant == "new" else 0.22
            for position in (1, 2, 3):
                clicked = int(dice.random() < chance / position)
                rows.append(
                    [f"u{user:03}", f"u{user:03}-{visit}", variant, position, clicked]
                )
    write(
        "online/log.csv",
        ["user_id", "impression_id", "variant", "position", "clicked"],
        rows,
    )


def boards(dice: random.Random) -> None:
    """Write scores of retrievers on ten data sets, of which two lack some, and battles between them."""
    datasets = {
        "news": 0.6,
        "law": 0.4,
        "code": 0.35,
        "forum": 0.5,
        "patents": 0.3,
        "medicine": 0.65,
        "finance": 0.45,
        "travel": 0.55,
        "history": 0.5,
        "support": 0.7,
    }
    systems = {
        "bm25": -0.08,
        "bm25-stemmed": -0.06,
        "sparse": 0.02,
        "dense-small": 0.0,
        "dense-base": 0.04,
        "dense-large": 0.055,
        "late-interaction": 0.06,
        "hybrid": 0.07,
        "reranked": 0.13,
    }
    rows: list[list[Any]] = []
    for system, strength in systems.items():
        scores = [
            level + strength + dice.gauss(0, 0.025) for level in datasets.values()
        ]
        lacks = {"late-interaction": ("news", "patents"), "reranked": ("patents",)}.get(
            system, ()
        )
        rows.append(
            [
                system,
                *(
                    "" if d in lacks else f"{s:.3f}"
                    for d, s in zip(datasets, scores, strict=True)
                ),
            ]
        )
    write("boards/retrievers.csv", ["system", *datasets], rows)
    battles: list[list[Any]] = []
    for battle in range(600):
        left, right = dice.sample(list(systems), 2)
        prompt, judge = battle % 40, dice.randrange(25)
        noise = dice.gauss(0, 1) + 0.15  # the left one has an advantage
        gap = 12 * (systems[left] - systems[right]) + noise
        winner = "tie" if abs(gap) < 0.4 else "left" if gap > 0 else "right"  # noqa: PLR2004 - too close to call
        battles.append([left, right, winner, f"j{judge:02}", f"p{prompt:02}"])
    write("boards/battles.csv", ["left", "right", "winner", "judge", "prompt"], battles)


def slices(dice: random.Random) -> None:
    """Write scores of two rankers of a shop for 600 queries with attributes; one is worse in German."""
    things = [
        "lamp",
        "shoes",
        "tent",
        "bottle",
        "jacket",
        "headphones",
        "chair",
        "backpack",
        "kettle",
    ]
    before = [
        "cheap",
        "red",
        "small",
        "waterproof",
        "wireless",
        "best",
        "used",
        "new",
        "kids",
        "winter",
    ]
    asking = ("how to clean", "which", "what is the best", "where to buy")
    queries: list[list[Any]] = []
    scores: list[list[Any]] = []
    for at in range(600):
        words = [*dice.sample(before, dice.randrange(4)), dice.choice(things)]
        text = (
            f"{dice.choice(asking)} {words[-1]}"
            if dice.random() < 0.2  # noqa: PLR2004 - too close to call
            else " ".join(words)
        )
        language = dice.choices(["en", "de", "fr", "es"], [60, 15, 13, 12])[0]
        device = dice.choice(["phone", "phone", "desktop"])
        old = dice.betavariate(2.2, 2)
        new = old + dice.gauss(0.02, 0.11) - (0.13 if language == "de" else 0)
        queries.append(
            [f"q{at + 1}", text, language, device, round(dice.lognormvariate(3, 1))]
        )
        scores.append([f"q{at + 1}", f"{old:.4f}", f"{min(max(new, 0), 1):.4f}"])
    write(
        "boards/queries.csv",
        ["query_id", "text", "language", "device", "clicks"],
        queries,
    )
    write("boards/rankers.csv", ["query_id", "old", "new"], scores)


def shared_task(dice: random.Random) -> None:
    """Write a shared task: six runs of four teams on 20 topics, pooled to rank 10, and three runs repeated.

    Runs of a team like the same documents beyond what is relevant, one team others than all the rest; the
    reranker is a little worse when it is repeated.
    """
    topics = {f"t{at:02}": dice.uniform(0.7, 1.8) for at in range(1, 21)}
    docs = {topic: [f"{topic}-{at:02}" for at in range(60)] for topic in topics}
    grade = {
        doc: min(int(dice.gammavariate(1.2, 0.8)), 3)
        for of in docs.values()
        for doc in of
    }
    taste = {
        team: {doc: dice.gauss(0, 1) for doc in grade}
        for team in ("alpha", "beta", "gamma", "delta")
    }
    runs = {
        "alpha-dense": ("alpha", 1.0, 0.9),
        "alpha-hybrid": ("alpha", 1.15, 0.7),
        "beta-bm25": ("beta", 0.8, 0.8),
        "beta-rerank": ("beta", 1.1, 0.8),
        "gamma-splade": ("gamma", 1.0, 1.0),
        "delta-llm": ("delta", 1.1, 1.7),
    }

    def lists(
        folder: str, name: str, skill: float, noise: random.Random
    ) -> dict[str, list[str]]:
        team, _, own = runs[name]
        lines, best = [], {}
        for topic, hard in topics.items():
            liked = {
                doc: skill * grade[doc]
                + hard * (own * taste[team][doc] + noise.gauss(0, 0.45))
                for doc in docs[topic]
            }
            best[topic] = sorted(liked, key=lambda doc: -liked[doc])[:20]
            lines += [
                f"{topic} Q0 {doc} {at} {liked[doc]:.4f} {name}"
                for at, doc in enumerate(best[topic], 1)
            ]
        (HERE / "shared-task" / folder / f"{name}.run").write_text(
            "\n".join(lines) + "\n", encoding="utf-8"
        )
        return best

    pooled: set[str] = set()
    for name, (_, skill, _) in runs.items():
        found = lists("runs", name, skill, random.Random(name))  # noqa: S311 - made-up tables
        pooled.update(doc for of in found.values() for doc in of[:10])
    for name, seed, skill in (
        ("beta-bm25", "beta-bm25", 0.8),
        ("beta-rerank", "again", 1.0),
        ("gamma-splade", "again", 1.0),
    ):
        lists("again", name, skill, random.Random(seed))  # noqa: S311 - made-up tables
    judged = [f"{doc[:3]} 0 {doc} {of}" for doc, of in grade.items() if doc in pooled]
    (HERE / "shared-task" / "qrels.txt").write_text(
        "\n".join(judged) + "\n", encoding="utf-8"
    )
    write(
        "shared-task/teams.csv",
        ["run", "team"],
        ([name, team] for name, (team, _, _) in runs.items()),
    )


def write(name: str, head: list[str], rows: Iterable[list[Any]]) -> None:
    """Write a table."""
    with (HERE / name).open("w", encoding="utf-8", newline="") as out:
        csv.writer(out, lineterminator="\n").writerows([head, *rows])


if __name__ == "__main__":
    main()
