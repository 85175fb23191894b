// Pages of curves, score bounds, scores beyond accuracy and retention: sections of
// charts and tables.
const Results = (() => {
  const { D, W, $, el, table, shown, count, say, decimals, pValue } = Page;
  const number = (value) => shown(value, D.digits);
  const share = (value) => say("percent", { number: shown(100 * value, 1) });
  const points = (value) => shown(100 * value, 1, true);
  const groups = (rows, name) =>
    Object.values(
      rows.reduce((groups, row) => {
        (groups["_" + row[name]] ??= []).push(row);
        return groups;
      }, {}),
    );

  // A table of some columns of rows: [name, how it is shown, its heading].
  function tableOf(rows, columns) {
    return table(
      columns.map(([name, show, label]) => ({ label: label || W[name] || name, show })),
      rows.map((row) => columns.map(([name]) => row[name] ?? null)),
      50,
    );
  }
  const heading = (id, title, help) => [
    el("h2", {}, title),
    help ? el("p", { class: "lede" }, help) : null,
  ];
  function legend(names) {
    if (names.length < 2) return null;
    const sample = (index) =>
      Page.svg(
        "svg",
        { width: 26, height: 10, "aria-hidden": "true" },
        Page.svg("path", { class: `series-${index % 4} line`, d: "M1 5H25" }),
      );
    return el(
      "p",
      { class: "small" },
      names.map((name, index) => el("span", { class: "key" }, sample(index), name)),
    );
  }
  function lines(lines, across, more = {}) {
    return [
      Draw.lines({
        lines,
        across,
        ...more,
        narrow: Pair.narrow(),
        label: lines.map((line) => line.name).join(", "),
      }),
      legend(lines.map((line) => line.name)),
    ];
  }
  const column = (rows, name) => rows.map((row) => row[name]);

  // Rows of runs, grouped by measure, each group on a scale of its own.
  function plots(rows) {
    return groups(
      rows.filter((row) => row.value !== null),
      "measure",
    ).map((some) => {
      const all = some.flatMap((row) => [row.value, row.low, row.high]);
      const { measure, run } = some[0];
      const hasSpan = measure in D.spans && run !== D.pair;
      const scale = Draw.scale(hasSpan ? D.spans[measure] : null, all);
      const digits = Math.max(3, decimals(all));
      return [
        el(
          "div",
          { class: "measure-row head" },
          el("div", { class: "small" }, measure),
          el("div", {}, Draw.axis(scale)),
          el("div"),
          el("div"),
        ),
        some.map((row) =>
          el(
            "div",
            { class: "measure-row" },
            el("div", { class: "measure-name" }, row.run),
            el(
              "div",
              { class: "measure-plot" },
              Draw.mean(
                scale,
                { mean: row.value, low: row.low, high: row.high },
                30,
                "candidate",
              ),
            ),
            el(
              "div",
              { class: "measure-difference right" },
              el("b", {}, shown(row.value, digits)),
            ),
            el(
              "div",
              { class: "measure-tally tally-numbers" },
              row.low === null || row.low === undefined
                ? ""
                : say("range", {
                    low: shown(row.low, digits),
                    high: shown(row.high, digits),
                  }),
            ),
          ),
        ),
      ];
    });
  }

  // How a column of the table of values is shown: numbers of things, other numbers,
  // texts.
  function formatOf(name) {
    if (name === "n" || name === "n_undefined") return count;
    const value = D.table.find((row) => row[name] !== null)?.[name];
    return typeof value === "number" ? number : undefined;
  }

  // -- sections, by the name of their place -------------------------------------------
  const sections = {
    curve: () => (D.curves ? curves() : retained()),
    bounds: () => [
      heading("bounds", W.bounds_title, W.bounds_help),
      plots(D.bounds.filter((row) => row.run !== D.pair)),
      D.pair
        ? [
            el("h3", { class: "subheading" }, D.pair.replace(" - ", " − ")),
            plots(D.bounds.filter((row) => row.run === D.pair)),
          ]
        : null,
    ],
    measures: () => [
      heading("measures", W.beyond_title, W.beyond_help),
      plots(D.measures),
    ],
    table: () => [
      heading("table", W.values),
      tableOf(
        D.table,
        Object.keys(D.table[0] || {}).map((name) => [name, formatOf(name)]),
      ),
    ],
    cohorts: () => [
      heading(
        "cohorts",
        W.retention_cohorts,
        say("retention_cohorts_help", { unit: W[D.unit] }),
      ),
      D.cohorts.map(heatmap),
    ],
    fates: () => [
      heading(
        "fates",
        W.fates_title,
        say("fates_help", {
          first: D.first,
          last: D.last,
          level: say("percent", { number: D.level }),
        }),
      ),
      plots(D.measures),
    ],
    leaders: () => [
      heading(
        "leaders",
        W.leaders_title,
        say("leaders_help", { level: say("percent", { number: D.level }) }),
      ),
      plots(D.measures),
    ],
    topics: () => [
      heading(
        "topics",
        W.topics_title,
        say("topics_help", { measure: D.measures[0].measure }),
      ),
      Draw.ranges({
        narrow: Pair.narrow(),
        label: W.topics_title,
        rows: D.topics.map((row) => ({
          low: Math.min(row.best, row.worst),
          high: Math.max(row.best, row.worst),
          middle: row.median,
          name: say("topic_of", {
            query: row.query_id,
            best: shown(row.best, D.digits),
            best_run: row.best_run,
            median: shown(row.median, D.digits),
            worst: shown(row.worst, D.digits),
            worst_run: row.worst_run,
          }),
        })),
      }),
    ],
    tables: () =>
      D.tables.map(({ title, head, numeric, rows }) => [
        heading("tables", title),
        table(
          head.map((label, index) => ({
            label,
            show: numeric[index] ? String : undefined,
          })),
          rows,
          20,
        ),
      ]),
    periods,
    differences,
    slices,
  };
  function curves() {
    return D.curves.map(([name, across]) => {
      const rows = D.curve.filter((row) => row.curve === name);
      const runs = D.runs.map((run) => [run, rows.filter((row) => row.run === run)]);
      const band = D.drawn && runs.length <= 4;
      const axis = W["axis_" + across] || across;
      const drawn = runs.map(([run, some]) => ({
        name: run,
        x: column(some, "x"),
        y: column(some, "mean"),
        ...(band ? { low: column(some, "ci_low"), high: column(some, "ci_high") } : {}),
      }));
      return [
        heading(
          "curve",
          name,
          say(band ? "curve_help" : "curve_help_plain", {
            n: count(Math.max(...column(rows, "n"))),
            level: say("percent", { number: D.confidence }),
          }),
        ),
        lines(drawn, axis),
        tableOf(rows, [
          ["run"],
          ["x", String, axis],
          ["mean", number],
          ...(D.drawn
            ? [
                ["ci_low", number, W.low],
                ["ci_high", number, W.high],
              ]
            : []),
          ["n", count],
        ]),
      ];
    });
  }
  function retained() {
    const drawn = D.runs
      .map((run) => D.points.filter((row) => row.run === run))
      .map((some) => ({
        name: D.by === null ? W.all : some[0].run,
        x: column(some, "day"),
        y: column(some, "rate"),
        ...(D.runs.length <= 4
          ? { low: column(some, "low"), high: column(some, "high") }
          : {}),
      }));
    return [
      heading("curve", W.retention_curve, W.retention_curve_help),
      drawn.length ? lines(drawn, W[D.unit], { percent: true }) : null,
      tableOf(D.curve, [
        ...(D.by === null ? [] : [[D.by]]),
        ["at", String, W[D.unit]],
        ["cohorts", count],
        ["censored", count],
        ["users", count],
        ["retained", count],
        ["rate", share],
        ["low", share],
        ["high", share],
      ]),
    ];
  }
  function heatmap(segment) {
    const ages = [...new Map(segment.rows.map((row) => [row.at, row.age]))].sort(
      (x, y) => x[1] - y[1],
    );
    const rates = segment.rows
      .filter((row) => row.age > 0)
      .map((row) => row.rate)
      .sort((x, y) => x - y);
    const top = rates[Math.floor(0.98 * (rates.length - 1))] || 1;
    const shade = (rate) => {
      if (rate === undefined) return null;
      if (rate <= 0) return "shade-0";
      if (rate < top / 3) return "shade-1";
      return rate < (2 * top) / 3 ? "shade-2" : "shade-3";
    };
    return [
      segment.segment === null
        ? null
        : el("h3", { class: "subheading" }, segment.segment),
      Page.scrollable(
        W.retention_cohorts,
        el(
          "table",
          { class: "heatmap" },
          el(
            "thead",
            {},
            el(
              "tr",
              {},
              [W.cohort, W.users, ...ages.map(([at]) => at)].map((name) =>
                el("th", { scope: "col" }, name),
              ),
            ),
          ),
          el(
            "tbody",
            {},
            groups(segment.rows, "cohort").map((some) => {
              const rates = new Map(some.map((row) => [row.at, row.rate]));
              return el(
                "tr",
                {},
                el("th", { scope: "row" }, some[0].cohort),
                el("td", {}, count(some[0].size)),
                ages.map(([at]) =>
                  el(
                    "td",
                    { class: shade(rates.get(at)) },
                    rates.has(at) ? shown(100 * rates.get(at), 0) : "",
                  ),
                ),
              );
            }),
          ),
        ),
      ),
    ];
  }
  function periods() {
    const start = D.bars.map((row) => row.period).sort()[0];
    const drawn = ["new", "returning"]
      .map((kind) => D.bars.filter((row) => row.kind === kind))
      .map((some) => ({
        name: W[some[0].kind],
        x: some.map((row) => (Date.parse(row.period) - Date.parse(start)) / 864e5),
        y: column(some, "users"),
      }));
    return [
      heading("periods", W.retention_periods, W.retention_periods_help),
      drawn[0].x.length > 1 ? lines(drawn, W.period, { start }) : null,
      tableOf(D.periods, [
        ...(D.by === null ? [] : [[D.by]]),
        ["period"],
        ["new", count],
        ["returning", count],
        ["login", count],
        ["login_to_new_ratio", (value) => shown(value, 2)],
      ]),
    ];
  }
  function differences() {
    return [
      heading("differences", W.retention_differences, W.retention_differences_help),
      tableOf(D.differences, [
        ["segment"],
        ["versus"],
        ["at", String, W[D.unit]],
        ["rate", share],
        ["rate_versus", share],
        ["difference", points],
        ["low", points],
        ["high", points],
        ["p_adjusted", pValue],
      ]),
    ];
  }
  // What else is known of a slice: those within it, those that are the same, an
  // example.
  function aboutSlice(row, digits) {
    const sentences = [];
    if (row.within.length) {
      const names = row.within.slice(0, 4).join(" · ");
      sentences.push(
        say("slices_explains", {
          count: count(row.within.length),
          names: row.within.length > 4 ? names + " …" : names,
        }),
      );
    }
    if (row.same.length)
      sentences.push(say("slices_same", { names: row.same.slice(0, 4).join(" · ") }));
    if (row.example !== null) {
      const text = row.example_text ? ` “${row.example_text}”` : "";
      const scores = [row.example_versus, row.example_value]
        .filter((score) => score !== null)
        .map((score) => shown(score, digits));
      sentences.push(
        say("slices_example", {
          query: row.example + text,
          scores: scores.join(" → "),
        }),
      );
    }
    return sentences;
  }
  // Groups of queries: a bar for each gap, and below a row what else is known of the
  // slice.
  function slices() {
    const S = D.slices;
    const ends = S.rows.flatMap((row) => [row.low, row.high]);
    const scale = Draw.scale(null, ends);
    const digits = Math.max(3, decimals(ends));
    const barOf = (row) => {
      if (!S.found) return "baseline";
      return row.gap * S.sign < 0 ? "loss" : "candidate";
    };
    const scores = (row) => {
      const signed = row.difference !== null;
      const here = shown(row.difference ?? row.value, digits, signed);
      return `${here} / ${shown(row.elsewhere, digits, signed)}`;
    };
    return [
      heading(
        "slices",
        S.found ? W.slices_found : W.slices_none,
        say(`slices_help_${S.against}`, {
          level: say("percent", { number: S.level }),
          systems: S.systems.join(" − "),
        }),
      ),
      el(
        "div",
        { class: "measure-row head" },
        el("div"),
        el("div", {}, Draw.axis(scale)),
        el("div", { class: "right small" }, W.slices_gap),
        el("div", { class: "small" }, W.slices_here),
      ),
      S.rows.map((row) => [
        el(
          "div",
          { class: "measure-row" },
          el(
            "div",
            { class: "measure-name" },
            el("b", {}, row.slice),
            el(
              "span",
              { class: "small" },
              " " + say(`slices_${S.kind}`, { count: count(row.n) }),
            ),
          ),
          el(
            "div",
            { class: "measure-plot" },
            Draw.bar(
              scale,
              { value: row.gap, low: row.low, high: row.high },
              34,
              barOf(row),
            ),
          ),
          el(
            "div",
            { class: "measure-difference right" },
            el("b", {}, shown(row.gap, digits, true)),
            el(
              "span",
              { class: "small" },
              say("range", {
                low: shown(row.low, digits, true),
                high: shown(row.high, digits, true),
              }),
            ),
          ),
          el("div", { class: "measure-tally tally-numbers" }, scores(row)),
        ),
        aboutSlice(row, digits).map((text) => el("p", { class: "small" }, text)),
      ]),
      (D.two ? S.visible : []).map((line) => el("p", { class: "small" }, line)),
    ];
  }
  function fill(name) {
    $(name).append(...[sections[name]()].flat(5).filter(Boolean));
  }
  function start() {
    for (const name of Object.keys(sections))
      if ($(name)?.tagName === "SECTION") fill(name);
  }
  return { start, fill };
})();
