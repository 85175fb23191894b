// Two systems: the picture of their difference, queries won and lost, all measures, segments.
const Pair = (() => {
  const {
    D,
    W,
    $,
    el,
    say,
    several,
    count,
    shown,
    decimals,
    decimalsOf,
    about,
    pValue,
  } = Page;
  const NAMES = {
    b: "better",
    w: "worse",
    h: "higher",
    l: "lower",
    e: "equivalent",
    i: "identical",
    o: "inconclusive",
  };
  const narrow = () => document.querySelector("main").clientWidth < 620;
  const bold = (text, mark) =>
    text
      .split("\u0000")
      .flatMap((part, at) => (at ? [el("b", {}, mark), part] : [part]));

  const TURNED = { b: "w", w: "b", h: "l", l: "h" };

  // The numbers of one row of columns; turned, they are those of the other system against the first.
  function numbers(columns, at, turned) {
    const [low, high] = turned
      ? [columns.high[at], columns.low[at]]
      : [columns.low[at], columns.high[at]];
    const signed = (value) => (value === null || !turned ? value : -value);
    const letter = columns.verdict[at];
    const [wins, losses] = turned
      ? [columns.losses[at], columns.wins[at]]
      : [columns.wins[at], columns.losses[at]];
    return {
      value: signed(columns.difference[at]),
      low: signed(low),
      high: signed(high),
      verdict: NAMES[(turned && TURNED[letter]) || letter],
      wins,
      losses,
    };
  }
  // Everything about two systems: `a` is the candidate, or the better one of a leaderboard; `b` its baseline or rival.
  function of(at) {
    const pairs = D.pairs;
    const turned = !D.two && !D.baselines.length && pairs.one[at] > pairs.other[at];
    const [a, b] = turned
      ? [pairs.other[at], pairs.one[at]]
      : [pairs.one[at], pairs.other[at]];
    const measures = D.measures.map((measure, m) => {
      const column = pairs.measures[m];
      const side = (s) => ({
        name: D.short[s],
        mean: measure.mean[s],
        ...(measure.low.length ? { low: measure.low[s], high: measure.high[s] } : {}),
      });
      const difference = numbers(column, at, turned);
      const { wins, losses } = difference;
      return {
        measure,
        a: side(a),
        b: side(b),
        counts: [wins, measure.n - wins - losses, losses],
        p: column.p[at],
        needed: column.needed[at],
        difference,
      };
    });
    return { at, a, b, measures, lead: measures[0] };
  }
  function indexOf(a, b) {
    return D.pairs.one.findIndex(
      (one, at) =>
        (one === a && D.pairs.other[at] === b) ||
        (one === b && D.pairs.other[at] === a),
    );
  }

  // -- the sentence of two systems, by the same phrases as the one at the top of a page of two ------------------
  function sentence(two) {
    const { measure, a, b, difference: d, counts, needed } = two.lead;
    const known = d.low !== null;
    const digits = decimalsOf(a.mean, b.mean, d.value, d.low, d.high);
    const parts = {
      a: a.name,
      b: b.name,
      measure: measure.name,
      mean_a: shown(a.mean, digits),
      mean_b: shown(b.mean, digits),
      level: D.pair_level,
      low: shown(d.low, digits, known && d.low < 0),
      high: shown(d.high, digits, known && d.low < 0),
      n: count(measure.n),
      margin: D.margin,
      needed: needed && about(needed),
      difference: "\u0000",
    };
    parts.interval = say(known ? "interval" : "no_interval", parts);
    const kind = ["equivalent", "identical", "inconclusive"].includes(d.verdict)
      ? d.verdict
      : "apart";
    let text = say(
      kind === "apart"
        ? d.value > 0
          ? "numbers_up"
          : "numbers_down"
        : kind === "identical"
          ? "numbers_same"
          : "numbers",
      parts,
    );
    if (kind === "apart")
      text += say("of_queries_" + d.verdict, {
        ...parts,
        count: count(["worse", "lower"].includes(d.verdict) ? counts[2] : counts[0]),
      });
    else if (kind === "equivalent") text += say("too_small", parts);
    else if (needed) text += say("would_confirm", parts);
    return {
      claim: say("claim_" + d.verdict, parts),
      numbers: bold(text, shown(d.value, digits, true)),
      verdict: d.verdict,
    };
  }
  function badge(verdict) {
    const sign =
      {
        better: "▲",
        higher: "▲",
        worse: "▼",
        lower: "▼",
        equivalent: "=",
        identical: "=",
      }[verdict] || "◌";
    return el(
      "span",
      { class: `badge ${verdict}` },
      el("span", { "aria-hidden": "true" }, sign),
      el("span", {}, W["badge_" + verdict]),
    );
  }

  function picture(two) {
    const { measure, a, b, difference: d } = two.lead;
    const digits = decimalsOf(a.mean, b.mean, d.value, d.low, d.high);
    const ranks = D.correction === "nemenyi";
    const higher = ["higher", "lower"].includes(d.verdict)
      ? "higher_than"
      : "better_than";
    const [left, right] = measure.sign < 0 ? [a.name, b.name] : [b.name, a.name];
    const words = {
      difference: W.difference,
      left: say(higher, { a: left }),
      right: say(higher, { a: right }),
    };
    const label = say("aria_pair", {
      a: a.name,
      b: b.name,
      mean_a: shown(a.mean, digits),
      mean_b: shown(b.mean, digits),
      difference: shown(d.value, digits, true),
      low: shown(d.low, digits, true),
      high: shown(d.high, digits, true),
    });
    const chart = Draw.pair({
      measure,
      a,
      b,
      difference: d,
      digits,
      ranks,
      margin: D.margin,
      words,
      label,
      narrow: narrow(),
    });
    const fact =
      d.low === null || d.verdict === "identical"
        ? ""
        : d.verdict === "equivalent"
          ? say("caption_inside", { margin: D.margin })
          : ["better", "worse", "higher", "lower"].includes(d.verdict)
            ? W.caption_clear
            : W.caption_crosses;
    const caption = [
      say("caption_pair", { measure: measure.name, level: D.level }),
      ranks ? W.caption_ranks : "",
      fact,
      D.two || D.baselines.length ? "" : W.caption_at_once,
    ].filter(Boolean);
    return el("figure", {}, chart, el("figcaption", {}, caption.join(W.space)));
  }

  // -- queries ------------------------------------------------------------------------------------------
  function queriesOf(two) {
    const values = D.queries.values;
    const sign = two.lead.measure.sign;
    return D.queries.ids
      .map((id, at) => ({
        id,
        at,
        text: D.queries.texts[at] || "",
        attributes: D.queries.attributes[at] || "",
        a: values[two.a][at],
        b: values[two.b][at],
      }))
      .filter((query) => query.a !== null && query.b !== null)
      .map((query) => ({
        ...query,
        difference: Math.abs(query.a - query.b) < 1e-9 ? 0 : query.a - query.b,
      }))
      .sort((x, y) => sign * (y.difference - x.difference) || x.at - y.at);
  }
  const titleOf = (query) => query.text || query.id;
  function where(two, queries) {
    const { measure, counts, difference: d } = two.lead;
    const many = D.queries.quantiles.length > 0 && D.two;
    const curve = many || queries.length > 1000;
    const [a, b] = [two.lead.a.name, two.lead.b.name];
    const values = many
      ? measure.sign < 0
        ? [...D.queries.quantiles].reverse()
        : D.queries.quantiles
      : queries.map((query) => query.difference);
    const neither = ["higher", "lower"].includes(d.verdict);
    const words = {
      wins: several(neither ? "count_higher" : "count_better", counts[0]),
      equal: several("count_equal", counts[1]),
      losses: several(neither ? "count_lower" : "count_worse", counts[2]),
    };
    const names = queries.map(
      (query) =>
        `${titleOf(query)}  ${shown(query.difference, decimals([query.difference]), true)}`,
    );
    const chart = Draw.strip({
      values,
      names,
      counts,
      words,
      curve,
      sign: measure.sign,
      narrow: narrow(),
      label: `${words.wins}, ${words.equal}, ${words.losses}`,
    });
    chart.addEventListener("click", (event) => {
      if (event.target.dataset.at)
        location.hash = address(two, queries[event.target.dataset.at]);
    });
    const help = say(many ? "where_curve" : curve ? "where_sample" : "where_help", {
      measure: measure.name,
      a,
      b,
      n: count(many ? D.queries.n : queries.length),
    });
    return el(
      "section",
      { id: D.two ? "queries" : null },
      el("h2", {}, W.where),
      counts[0] + counts[2]
        ? [el("p", { class: "lede" }, help), chart]
        : el("p", { class: "lede" }, words.equal),
      queries.length < D.queries.n
        ? el(
            "p",
            { class: "small" },
            say("kept_of", { kept: count(queries.length), n: count(D.queries.n) }),
          )
        : null,
      counts[0] + counts[2] ? extremes(two, queries) : null,
    );
  }
  const address = (two, query) =>
    (D.two ? "" : `#pair=${two.a}-${two.b}&`).replace(/^$/, "#") +
    `q=${encodeURIComponent(query.id)}`;
  function extremes(two, queries) {
    const sign = two.lead.measure.sign;
    const name = two.lead.a.name;
    const list = (title, some, none, kind) =>
      el(
        "div",
        {},
        el("h3", {}, title),
        some.length
          ? el(
              "ol",
              { class: "ql" },
              some.map((query) => {
                const digits = decimalsOf(query.a, query.b, query.difference);
                const unjudged = Examples.unjudged(two.a, query.id);
                return el(
                  "li",
                  {},
                  el(
                    "a",
                    { href: address(two, query), title: query.id },
                    titleOf(query),
                  ),
                  el("b", { class: kind }, shown(query.difference, digits, true)),
                  el(
                    "span",
                    {},
                    `${shown(query.b, digits)} → ${shown(query.a, digits)}` +
                      (unjudged
                        ? " · " +
                          say("unjudged_of", {
                            count: unjudged,
                            a: name,
                            k: Examples.length(two.a, query.id),
                          })
                        : ""),
                  ),
                );
              }),
            )
          : el("p", { class: "small" }, none),
      );
    const losses = queries.filter((query) => query.difference * sign < 0).reverse();
    const wins = queries.filter((query) => query.difference * sign > 0);
    return el(
      "div",
      { class: "two" },
      list(W.losses, losses.slice(0, 5), W.no_losses, "l"),
      list(W.wins, wins.slice(0, 5), W.no_wins, "w"),
    );
  }

  // -- measures and segments ------------------------------------------------------------------------
  function line(scale, one, name, tag) {
    const d = one.difference;
    const digits = decimals([d.value, d.low, d.high], [d.low, d.high]);
    const sign = d.low !== null && d.low < 0;
    return el(
      "div",
      { class: tag ? "mr prim" : "mr" },
      el(
        "div",
        { class: "mn" },
        el("b", {}, name),
        tag ? el("em", {}, W.decides) : null,
        one.note ? el("span", { class: "small" }, " " + one.note) : null,
      ),
      el("div", { class: "mp" }, Draw.row(scale, one.a, one.b)),
      el(
        "div",
        { class: "md r" },
        el("b", {}, shown(d.value, digits, true)),
        d.low === null
          ? null
          : el(
              "span",
              { class: "small" },
              say("range", {
                low: shown(d.low, digits, sign),
                high: shown(d.high, digits, sign),
              }),
            ),
      ),
      el(
        "div",
        { class: "mw" },
        el(
          "span",
          { class: "wl", "aria-hidden": "true" },
          one.counts.map((part, at) =>
            el("i", { class: ["b", null, "w"][at], style: `flex:${part}` }),
          ),
        ),
        el("span", { class: "wn" }, one.counts.map(count).join(" / ")),
      ),
    );
  }
  function block(title, help, two, rows, id) {
    const neither = ["higher", "lower"].includes(two.lead.difference.verdict);
    const groups = [];
    for (const one of rows) {
      const key = JSON.stringify(one.measure.bounds);
      const last = groups[groups.length - 1];
      if (last && last.key === key && one.measure.bounds) last.rows.push(one);
      else groups.push({ key, rows: [one] });
    }
    return el(
      "section",
      { id },
      el("h2", {}, title),
      el(
        "p",
        { class: "lede" },
        help + " ",
        el(
          "span",
          { class: "dots" },
          el("span", {}, el("i", { class: "o" }), two.lead.b.name),
          el("span", {}, el("i"), two.lead.a.name),
        ),
      ),
      groups.map((group, at) => {
        const scale = Draw.scale(
          group.rows[0].measure.bounds,
          group.rows.flatMap((one) => [
            one.a.mean,
            one.a.low,
            one.a.high,
            one.b.mean,
            one.b.low,
            one.b.high,
          ]),
        );
        return [
          el(
            "div",
            { class: "mr head" },
            el("div"),
            el("div", {}, Draw.axis(scale)),
            el("div", { class: "r small" }, at ? "" : W.difference),
            el(
              "div",
              { class: "small" },
              at ? "" : W[neither ? "tally_neither" : "tally"],
            ),
          ),
          group.rows.map((one) => line(scale, one, one.name, one.tag)),
        ];
      }),
    );
  }
  function measures(two) {
    const lead = two.lead.difference.verdict;
    const others = two.measures.filter((one) => !one.measure.primary);
    const opposite = {
      better: "worse",
      worse: "better",
      higher: "lower",
      lower: "higher",
    };
    const opposed = others.filter(
      (one) => one.difference.verdict === opposite[lead],
    ).length;
    const clearer =
      !opposite[lead] && others.some((one) => opposite[one.difference.verdict]);
    const same = others.every((one) => one.difference.verdict === lead);
    const title = !others.length
      ? W.measures_one
      : opposed
        ? say("measures_disagree", { count: opposed, of: others.length })
        : same
          ? W.measures_agree
          : clearer
            ? W.measures_clearer
            : W.measures_open;
    const rows = two.measures.map((one) => ({
      ...one,
      name: one.measure.name,
      tag: one.measure.primary,
    }));
    return block(title, W.measures_help, two, rows, D.two ? "measures" : null);
  }
  function segments(two) {
    const columns = D.segments;
    const rows = [];
    for (let at = 0; at < (columns.name || []).length; at++) {
      const turned = columns.one[at] === two.b && columns.other[at] === two.a;
      if (!turned && (columns.one[at] !== two.a || columns.other[at] !== two.b))
        continue;
      const difference = numbers(columns, at, turned);
      const means = [columns.mean[at], columns.mean_versus[at]];
      rows.push({
        measure: two.lead.measure,
        name: columns.name[at],
        note: several("n_queries", columns.n[at]),
        difference,
        counts: [
          difference.wins,
          columns.n[at] - difference.wins - difference.losses,
          difference.losses,
        ],
        a: { mean: means[turned ? 1 : 0] },
        b: { mean: means[turned ? 0 : 1] },
      });
    }
    return rows.length
      ? block(W.segments, W.segments_help, two, rows, D.two ? "segments" : null)
      : null;
  }
  function sections(two) {
    const queries = queriesOf(two);
    return [
      where(two, queries),
      Examples.section(two, queries),
      measures(two),
      segments(two),
    ];
  }
  return {
    of,
    indexOf,
    sentence,
    badge,
    picture,
    sections,
    queriesOf,
    titleOf,
    address,
    narrow,
    NAMES,
  };
})();
