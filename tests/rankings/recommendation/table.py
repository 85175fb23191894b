"""The texts every law and the oracle run over: each measure under each of its parameters."""

from __future__ import annotations

BY_FAMILY = {
    "catalogue": (
        "Coverage", "Coverage@1", "Coverage(scale=count)@2", "Coverage(among=past)@2",
        "Coverage(among=past, outside=count)@3", "Coverage(outside=count)@3",
        "Coverage(outside=count, scale=count)@2", "UserCoverage", "UserCoverage(at_least=k)@3",
        "UserCoverage(among=run, scale=count)", "UserCoverage(at_least=k, among=run)@3",
        "UserCoverage(among=relevant)", "Gini", "Gini@2", "Gini(among=past)@2", "Gini(among=shown)@2",
        "Gini(denom=m)@3", "Gini(discount=log2)@3", "Gini(discount=geometric, p=0.85)",
        "Entropy", "Entropy@1", "Entropy(scale=share)@2", "Entropy(scale=effective)@3", "Personalization",
        "Personalization@2", "Personalization(similarity=cosine)", "Personalization(similarity=cosine)@2",
    ),
    "novelty": (
        "Novelty", "Novelty@1", "Novelty(count=records)@2", "Novelty(cold=drop)@2", "Novelty(cold=zero)",
        "Novelty(cold=rarest)@3", "Novelty(scale=share, denom=k)@3",
        "Novelty(count=records, cold=drop, scale=share)@2", "Novelty(cold=drop, denom=k)@3",
        "EPC", "EPC@2", "EPC(rel=2)@3", "EPC(relevance_by=all, discount=none)@3",
        "EFD", "EFD(discount=reciprocal)@2", "EFD(relevance_by=all)@3", "Unexpectedness",
        "Unexpectedness@2", "Unexpectedness(denom=k)@3", "Unexpectedness(against=history)@3",
        "Unexpectedness(against=baseline)", "Unexpectedness(against=baseline, denom=k)@3",
        "Unexpectedness(against=baseline, absent=zero)@2",
        "Unexpectedness(against=baseline, denom=k, absent=zero)@3", "Serendipity",
        "Serendipity@2", "Serendipity(count=records)", "Serendipity(denom=k)@3", "Serendipity(rel=2)@3",
        "Serendipity(expected=history, features=features)@3",
        "Serendipity(expected=history, features=category)", "Serendipity(expected=history, features=x+y)@3",
    ),
    "popularity": (
        "Popularity", "Popularity@2", "Popularity(count=records)", "Popularity(scale=share)@3",
        "Popularity(scale=quantile)@3", "Popularity(count=records, scale=quantile)",
        "Popularity(cold=drop)@2", "Popularity(scale=max, cold=drop)@3", "Popularity(scale=max)", "APLT",
        "APLT@2", "APLT(head=0.5)@3", "APLT(head=0.9, by=items)", "ACLT@3", "ACLT(head=0.2, by=items)",
        "PopularityLift", "PopularityLift@2",
    ),
    "diversity": (
        "ILD(features=features)", "ILD(features=features)@2",
        "ILD(features=features, distance=euclidean)@3", "ILD(features=features, distance=sqeuclidean)",
        "ILD(features=x+y, distance=hamming)@4", "ILD(features=x)@3", "ILD(features=category)",
        "ILD(features=category)@3", "ILD(features=category, distance=jaccard)",
        "ILD(features=category, distance=jaccard)@3", "ILD(features=features, denom=n)@3",
        "ILD(features=x+y, distance=hamming, lone=zero)@3", "ILD(features=category, denom=n, lone=zero)",
        "ILD(features=category, lone=zero)@1", "ILS(features=features)@3",
        "ILS(features=category, similarity=jaccard)",
    ),
    "calibration": (
        "Calibration(category=category)", "Calibration(category=category)@2",
        "Calibration(category=category, alpha=0.2)@3", "Calibration(category=category, discount=log2)@3",
        "Calibration(category=category, weight=weight)",
        "Calibration(category=category, distance=hellinger)@3",
        "Calibration(category=category, distance=js)",
    ),
    "exposure": (
        "DP(protected=g)", "DP(protected=g, scale=log)@3",
        "DP(protected=h, discount=geometric, p=0.5, per=group)@2", "EUR(protected=g)",
        "EUR(protected=h, scale=log)@3", "RUR(protected=g)@3", "RUR(protected=h, rel=2)",
    ),
    "shares": (
        "AWRF", "AWRF@2", "AWRF(target=relevant)@3", "AWRF(target=equal, distance=l1)@3",
        "AWRF(distance=l1, discount=reciprocal)", "AWRF(target=relevant, distance=l1, rel=2)", "IAA",
        "IAA@2", "IAA(by=group)@3", "IAA(discount=geometric, p=0.5)@3", "RSP", "RSP@2", "REO", "REO@3",
    ),
    "expected exposure": (
        "EEL", "EEL@2", "EEL(by=group)@3", "EEL(discount=geometric, p=0.5, rel=2)", "EED@2",
        "EED(by=group)", "EER", "EER(by=group)@2",
    ),
}  # fmt: skip
ALL = tuple(text for texts in BY_FAMILY.values() for text in texts)
