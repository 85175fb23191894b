// Two systems: the picture of their difference, queries won and lost, all measures,
// segments.
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
      .flatMap((part, place) => (place ? [el("b", {}, mark), part] : [part]));

  // How the other system does against the first.
  const TURNED = { b: "w", w: "b", h: "l", l: "h" };

  // The numbers of one row of columns; turned, they are those of the other system
  // against the first.
  function numbers(columns, index, turned) {
    const low = columns.low[index];
    const high = columns.high[index];
    const wins = columns.wins[index];
    const losses = columns.losses[index];
    const letter = columns.verdict[index];
    const difference = columns.difference[index];
    if (!turned)
      return { value: difference, low, high, verdict: NAMES[letter], wins, losses };
    const negative = (value) => (value === null ? null : -value);
    return {
      value: negative(difference),
      low: negative(high),
      high: negative(low),
      verdict: NAMES[TURNED[letter] || letter],
      wins: losses,
      losses: wins,
    };
  }
  function sideOf(system, measure) {
    const side = { name: D.short[system], mean: measure.mean[system] };
    if (!measure.low.length) return side;
    return { ...side, low: measure.low[system], high: measure.high[system] };
  }
  // Everything about two systems: `a` is the candidate, or the better one of a
  // leaderboard; `b` its baseline or rival.
  function comparison(index) {
    const pairs = D.pairs;
    const systems = [pairs.one[index], pairs.other[index]];
    const turned = !D.two && !D.baselines.length && systems[0] > systems[1];
    const [a, b] = turned ? systems.reverse() : systems;
    const measures = D.measures.map((measure, place) => {
      const column = pairs.measures[place];
      const difference = numbers(column, index, turned);
      const { wins, losses } = difference;
      return {
        measure,
        a: sideOf(a, measure),
        b: sideOf(b, measure),
        counts: [wins, measure.n - wins - losses, losses],
        p: column.p[index],
        needed: column.needed[index],
        difference,
      };
    });
    return { a, b, measures, lead: measures[0] };
  }
  function indexOf(a, b) {
    return D.pairs.one.findIndex((system, index) => {
      const other = D.pairs.other[index];
      return (system === a && other === b) || (system === b && other === a);
    });
  }

  // -- the sentence of two systems, as at the top of a page of two --------------------
  const isNeutral = (verdict) => verdict === "higher" || verdict === "lower";
  function numbersText({ difference: d, counts, needed }, parts) {
    if (d.verdict === "identical") return say("numbers_same", parts);
    if (d.verdict === "equivalent")
      return say("numbers", parts) + say("too_small", parts);
    if (d.verdict === "inconclusive")
      return say("numbers", parts) + (needed ? say("would_confirm", parts) : "");
    const [wins, , losses] = counts;
    const isWorse = d.verdict === "worse" || d.verdict === "lower";
    return (
      say(d.value > 0 ? "numbers_up" : "numbers_down", parts) +
      say("of_queries_" + d.verdict, {
        ...parts,
        count: count(isWorse ? losses : wins),
      })
    );
  }
  function sentence(two) {
    const { measure, a, b, difference: d, needed } = two.lead;
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
    const text = numbersText(two.lead, parts);
    return {
      claim: say("claim_" + d.verdict, parts),
      numbers: bold(text, shown(d.value, digits, true)),
      verdict: d.verdict,
    };
  }
  const SIGNS = {
    better: "▲",
    higher: "▲",
    worse: "▼",
    lower: "▼",
    equivalent: "=",
    identical: "=",
  };
  function badge(verdict) {
    return el(
      "span",
      { class: `badge ${verdict}` },
      el("span", { "aria-hidden": "true" }, SIGNS[verdict] || "◌"),
      el("span", {}, W["badge_" + verdict]),
    );
  }

  function captionOfInterval(difference) {
    const { low, verdict } = difference;
    if (low === null || verdict === "identical") return "";
    if (verdict === "equivalent") return say("caption_inside", { margin: D.margin });
    return verdict === "inconclusive" ? W.caption_crosses : W.caption_clear;
  }
  function picture(two) {
    const { measure, a, b, difference: d } = two.lead;
    const digits = decimalsOf(a.mean, b.mean, d.value, d.low, d.high);
    const ranks = D.correction === "nemenyi";
    const higher = isNeutral(d.verdict) ? "higher_than" : "better_than";
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
    const caption = [
      say("caption_pair", { measure: measure.name, level: D.level }),
      ranks ? W.caption_ranks : "",
      captionOfInterval(d),
      D.two || D.baselines.length ? "" : W.caption_at_once,
    ].filter(Boolean);
    return el("figure", {}, chart, el("figcaption", {}, caption.join(W.space)));
  }

  // -- queries ------------------------------------------------------------------------
  function queriesOf(two) {
    const values = D.queries.values;
    const sign = two.lead.measure.sign;
    return D.queries.ids
      .map((id, index) => ({
        id,
        index,
        text: D.queries.texts[index] || "",
        attributes: D.queries.attributes[index] || "",
        a: values[two.a][index],
        b: values[two.b][index],
      }))
      .filter((query) => query.a !== null && query.b !== null)
      .map((query) => ({
        ...query,
        difference: Math.abs(query.a - query.b) < 1e-9 ? 0 : query.a - query.b,
      }))
      .sort((x, y) => sign * (y.difference - x.difference) || x.index - y.index);
  }
  const titleOf = (query) => query.text || query.id;
  const differenceOf = (query) =>
    shown(query.difference, decimals([query.difference]), true);
  // Where queries are too many for the page, the differences are quantiles of all of
  // them.
  function differencesOf(measure, queries, many) {
    if (!many) return queries.map((query) => query.difference);
    const { quantiles } = D.queries;
    return measure.sign < 0 ? [...quantiles].reverse() : quantiles;
  }
  function helpOfStrip(many, curve) {
    if (many) return "where_curve";
    return curve ? "where_sample" : "where_help";
  }
  function where(two, queries) {
    const { measure, counts, difference: d } = two.lead;
    const many = D.queries.quantiles.length > 0 && D.two;
    const curve = many || queries.length > 1000;
    const values = differencesOf(measure, queries, many);
    const neither = isNeutral(d.verdict);
    const words = {
      wins: several(neither ? "count_higher" : "count_better", counts[0]),
      equal: several("count_equal", counts[1]),
      losses: several(neither ? "count_lower" : "count_worse", counts[2]),
    };
    const names = queries.map((query) => `${titleOf(query)}  ${differenceOf(query)}`);
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
      const { index } = event.target.dataset;
      if (index) location.hash = address(two, queries[index]);
    });
    const help = say(helpOfStrip(many, curve), {
      measure: measure.name,
      a: two.lead.a.name,
      b: two.lead.b.name,
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
  // Queries with the greatest differences, each with its values and what was not
  // judged.
  function queryList(two, queries, kind) {
    const unjudgedText = (query) => {
      const unjudged = Examples.unjudged(two.a, query.id);
      if (!unjudged) return "";
      const k = Examples.length(two.a, query.id);
      return " · " + say("unjudged_of", { count: unjudged, a: two.lead.a.name, k });
    };
    const item = (query) => {
      const digits = decimalsOf(query.a, query.b, query.difference);
      const values = `${shown(query.b, digits)} → ${shown(query.a, digits)}`;
      return el(
        "li",
        {},
        el("a", { href: address(two, query), title: query.id }, titleOf(query)),
        el("b", { class: kind }, shown(query.difference, digits, true)),
        el("span", {}, values + unjudgedText(query)),
      );
    };
    return el("ol", { class: "query-list" }, queries.map(item));
  }
  function extremes(two, queries) {
    const sign = two.lead.measure.sign;
    const losses = queries.filter((query) => query.difference * sign < 0).reverse();
    const wins = queries.filter((query) => query.difference * sign > 0);
    const block = (title, some, none, kind) =>
      el(
        "div",
        {},
        el("h3", {}, title),
        some.length
          ? queryList(two, some.slice(0, 5), kind)
          : el("p", { class: "small" }, none),
      );
    return el(
      "div",
      { class: "two-columns" },
      block(W.losses, losses, W.no_losses, "loss"),
      block(W.wins, wins, W.no_wins, "win"),
    );
  }

  // -- measures and segments ----------------------------------------------------------
  function line(scale, row) {
    const d = row.difference;
    const digits = decimals([d.value, d.low, d.high], [d.low, d.high]);
    const sign = d.low !== null && d.low < 0;
    return el(
      "div",
      { class: row.decides ? "measure-row primary" : "measure-row" },
      el(
        "div",
        { class: "measure-name" },
        el("b", {}, row.name),
        row.decides ? el("em", {}, W.decides) : null,
        row.note ? el("span", { class: "small" }, " " + row.note) : null,
      ),
      el("div", { class: "measure-plot" }, Draw.row(scale, row.a, row.b)),
      el(
        "div",
        { class: "measure-difference right" },
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
        { class: "measure-tally" },
        el(
          "span",
          { class: "tally-bar", "aria-hidden": "true" },
          row.counts.map((part, place) =>
            el("i", { class: ["wins", null, "losses"][place], style: `flex:${part}` }),
          ),
        ),
        el("span", { class: "tally-numbers" }, row.counts.map(count).join(" / ")),
      ),
    );
  }
  function block(title, help, two, rows, id) {
    const neither = isNeutral(two.lead.difference.verdict);
    const groups = [];
    for (const row of rows) {
      const { bounds } = row.measure;
      const key = JSON.stringify(bounds);
      const last = groups[groups.length - 1];
      if (last && last.key === key && bounds) last.rows.push(row);
      else groups.push({ key, bounds, rows: [row] });
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
          el("span", {}, el("i", { class: "outlined" }), two.lead.b.name),
          el("span", {}, el("i"), two.lead.a.name),
        ),
      ),
      groups.map((group, place) => {
        const sides = group.rows.flatMap((row) => [row.a, row.b]);
        const scale = Draw.scale(
          group.bounds,
          sides.flatMap((side) => [side.mean, side.low, side.high]),
        );
        return [
          el(
            "div",
            { class: "measure-row head" },
            el("div"),
            el("div", {}, Draw.axis(scale)),
            el("div", { class: "right small" }, place ? "" : W.difference),
            el(
              "div",
              { class: "small" },
              place ? "" : W[neither ? "tally_neither" : "tally"],
            ),
          ),
          group.rows.map((row) => line(scale, row)),
        ];
      }),
    );
  }
  const OPPOSITE = {
    better: "worse",
    worse: "better",
    higher: "lower",
    lower: "higher",
  };
  function titleOfMeasures(two) {
    const lead = two.lead.difference.verdict;
    const verdicts = two.measures
      .filter((row) => !row.measure.primary)
      .map((row) => row.difference.verdict);
    if (!verdicts.length) return W.measures_one;
    const opposed = verdicts.filter((verdict) => verdict === OPPOSITE[lead]).length;
    if (opposed)
      return say("measures_disagree", { count: opposed, of: verdicts.length });
    if (verdicts.every((verdict) => verdict === lead)) return W.measures_agree;
    const clearer = !OPPOSITE[lead] && verdicts.some((verdict) => OPPOSITE[verdict]);
    return clearer ? W.measures_clearer : W.measures_open;
  }
  function measures(two) {
    const title = titleOfMeasures(two);
    const rows = two.measures.map((row) => ({
      ...row,
      name: row.measure.name,
      decides: row.measure.primary,
    }));
    return block(title, W.measures_help, two, rows, D.two ? "measures" : null);
  }
  function segments(two) {
    const columns = D.segments;
    const rows = [];
    for (let index = 0; index < (columns.name || []).length; index++) {
      const [system, other] = [columns.one[index], columns.other[index]];
      const turned = system === two.b && other === two.a;
      if (!turned && (system !== two.a || other !== two.b)) continue;
      const n = columns.n[index];
      const means = [columns.mean[index], columns.mean_versus[index]];
      const difference = numbers(columns, index, turned);
      const { wins, losses } = difference;
      rows.push({
        measure: two.lead.measure,
        name: columns.name[index],
        note: several("n_queries", n),
        difference,
        counts: [wins, n - wins - losses, losses],
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
    comparison,
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
