// Pages of boards over many data sets: intervals of ranks, cells, chances, data sets.
const Standings = (() => {
  const { D, W, $, el, svg, table, shown, count, say, compare, markSorted } = Page;
  const FEW = 40;
  const number = (value) => (value === null ? "–" : shown(value, D.decimals));
  const share = (value) =>
    value === null ? "–" : say("percent", { number: shown(100 * value, 0) });
  const range = (low, high) =>
    low === high ? count(low) : `${count(low)}–${count(high)}`;
  const heading = (title, help) => [
    el("h2", {}, title),
    help ? el("p", { class: "lede" }, help) : null,
  ];
  // B: the columns of the board; K: how many systems it has
  const B = D.board;
  const all = B ? D.systems.map((_, system) => system) : [];
  const K = all.length;

  // -- the table ----------------------------------------------------------------------
  // A dot for the rank, a line for the ranks that are left, a thick one for a system
  // alone.
  const scale = () => Draw.scale([1, Math.max(K, 2)], []);
  function plot(system) {
    const x = scale();
    const y = 15;
    const line = (low, high, kind, width) =>
      svg("line", {
        class: `${kind} interval`,
        style: `stroke-width:${width}`,
        x1: x.position(low) + "%",
        x2: x.position(high) + "%",
        y1: y,
        y2: y,
      });
    return svg(
      "svg",
      {
        class: "chart",
        height: 30,
        role: "img",
        "aria-label": range(B.rank_low[system], B.rank_high[system]),
      },
      line(B.rank_low[system], B.rank_high[system], "baseline", 2),
      line(B.single_low[system], B.single_high[system], "candidate", 5),
      svg("circle", {
        class: "neutral",
        cx: x.position(B.rank[system]) + "%",
        cy: y,
        r: 5,
      }),
    );
  }
  const tier = (number) =>
    el(
      "span",
      { class: number > 3 ? "tier" : `tier tier-${number - 1}` },
      count(number),
    );
  // A column by the name of its heading: by what it is sorted, what it shows, and its
  // classes.
  const COLUMNS = [
    {
      name: "rank",
      kind: "rank",
      value: (system) => B.rank[system],
      show: (system) => [
        el("b", {}, count(B.rank[system])),
        el("span", {}, range(B.rank_low[system], B.rank_high[system])),
      ],
    },
    {
      name: "tier",
      kind: "group",
      value: (system) => B.tier[system],
      show: (system) => tier(B.tier[system]),
    },
    {
      name: "system",
      kind: "system-name",
      value: (system) => D.systems[system],
      show: (system) => D.systems[system],
    },
    {
      name: "ranks_left",
      kind: "plot",
      value: (system) => B.rank_high[system],
      show: plot,
    },
    {
      name: "mean",
      kind: "mean right",
      value: (system) => B.mean[system],
      show: (system) => el("b", {}, number(B.mean[system])),
    },
    {
      name: "is_first",
      kind: "share right",
      value: (system) => B.first[system],
      show: (system) => named("is_first", share(B.first[system])),
    },
    {
      name: "n_scores",
      kind: "wide-only right",
      isLeftOut: D.complete,
      value: (system) => B.datasets[system],
      show: (system) =>
        el(
          "span",
          { class: B.datasets[system] < D.datasets.length ? "low" : null },
          count(B.datasets[system]),
        ),
    },
    {
      name: "left_out",
      kind: "wide-only right",
      isLeftOut: !(D.left || []).length,
      value: (system) => B.without_high[system] - B.without_low[system],
      show: (system) => range(B.without_low[system], B.without_high[system]),
    },
    {
      name: "other_rules",
      kind: "secondary right",
      value: (system) => B.rules_high[system] - B.rules_low[system],
      show: (system) =>
        named("other_rules", range(B.rules_low[system], B.rules_high[system])),
    },
  ].filter((column) => !column.isLeftOut);
  function named(name, text) {
    return [el("span", { class: "narrow-label" }, W[name] + " "), text];
  }
  function cellOf({ name, kind, show }, system) {
    if (name !== "system") return el("td", { class: kind }, show(system));
    const title = D.systems[system];
    return el("th", { scope: "row", class: kind, title }, show(system));
  }
  function ranks() {
    let order = all;
    let every = K <= FEW;
    let wanted = "";
    const body = el("tbody");
    const counter = el("span", { class: "small" });
    function showAll() {
      every = true;
      draw();
    }
    const more = el(
      "button",
      { type: "button", onclick: showAll },
      say("show_all", { count: count(K) }),
    );
    function draw() {
      const isWanted = (system) => D.systems[system].toLowerCase().includes(wanted);
      const systems = order.filter(isWanted);
      const visible = every ? systems : systems.slice(0, FEW);
      body.replaceChildren(
        ...visible.map((system) =>
          el(
            "tr",
            {},
            COLUMNS.map((column) => cellOf(column, system)),
          ),
        ),
      );
      more.hidden = visible.length === systems.length;
      counter.textContent = say("shown_of", {
        shown: count(visible.length),
        all: count(K),
      });
    }
    // A column of numbers is sorted from the highest at first.
    function sortBy(column) {
      const head = heads[column];
      const { value } = COLUMNS[column];
      const down = head.hasAttribute("aria-sort")
        ? head.getAttribute("aria-sort") === "ascending"
        : column > 3;
      markSorted(heads, head, down);
      order = [...all].sort((x, y) => compare(value(x), value(y), down));
      draw();
    }
    const heads = COLUMNS.map(({ name, kind }, column) => {
      const words = name === "mean" ? W["of_" + D.estimate] : W[name];
      const label = words[0].toUpperCase() + words.slice(1);
      return el(
        "th",
        { scope: "col", class: kind },
        el(
          "button",
          { type: "button", class: "sort-button", onclick: () => sortBy(column) },
          label,
        ),
        name === "ranks_left" ? axis() : null,
      );
    });
    const find = el("input", {
      type: "search",
      "aria-label": W.find_system,
      placeholder: W.find_system,
      oninput: () => {
        wanted = find.value.trim().toLowerCase();
        draw();
      },
    });
    addEventListener("beforeprint", showAll);
    draw();
    return [
      heading(W.standings_title, say("standings_help", { level: D.level })),
      K > FEW ? overview() : null,
      el("div", { class: "find screen-only" }, K > 12 ? find : null, counter),
      Page.scrollable(
        W.standings_title,
        el(
          "table",
          { class: "leaderboard standings-table" },
          el("thead", {}, el("tr", {}, heads)),
          body,
        ),
      ),
      el("p", { class: "screen-only" }, more),
      el(
        "p",
        { class: "legend small" },
        [
          ["baseline", 2, "key_together"],
          ["candidate", 5, "key_alone"],
        ].map(([kind, width, name]) =>
          el(
            "span",
            { class: "key" },
            svg(
              "svg",
              { width: 28, height: 12, "aria-hidden": "true" },
              svg("line", {
                class: `${kind} interval`,
                style: `stroke-width:${width}`,
                x1: 3,
                x2: 25,
                y1: 6,
                y2: 6,
              }),
            ),
            say(name, { level: D.level }),
          ),
        ),
      ),
    ];
  }
  const axis = () => Draw.axis({ ...scale(), ticks: [1, K] });
  // Which of n equal cells along a side a pointer is over.
  const cellUnder = (offset, length, n) =>
    Math.max(0, Math.min(n - 1, Math.floor((n * offset) / length)));
  // All systems in one picture: a line each.
  function overview() {
    const lines = (low, high) =>
      all
        .map((system) => `M${low[system] - 1} ${system + 0.5}H${high[system]}`)
        .join("");
    const height = Math.min(360, 2 * K + 60);
    const picture = svg(
      "svg",
      {
        class: "overview",
        viewBox: `0 0 ${K} ${K}`,
        preserveAspectRatio: "none",
        height,
        role: "img",
        "aria-label": W.overview,
      },
      svg("path", { class: "wide", d: lines(B.rank_low, B.rank_high) }),
      svg("path", { class: "near", d: lines(B.single_low, B.single_high) }),
      svg("path", {
        class: "dot",
        d: all.map((system) => `M${B.rank[system] - 1} ${system + 0.5}h1`).join(""),
      }),
    );
    const tip = svg("title", {}, W.overview);
    picture.append(tip);
    picture.addEventListener("mousemove", (event) => {
      const box = picture.getBoundingClientRect();
      const system = cellUnder(event.clientY - box.top, box.height, K);
      const ranks = range(B.rank_low[system], B.rank_high[system]);
      tip.textContent = `${D.systems[system]}: ${ranks}`;
    });
    return el(
      "figure",
      {},
      picture,
      el(
        "div",
        { class: "ends small" },
        el("span", {}, say("rank_at", { rank: 1 })),
        el("span", {}, say("rank_at", { rank: count(K) })),
      ),
      el("figcaption", {}, W.overview_help),
    );
  }

  // -- the critical-difference diagram ------------------------------------------------
  // Mean ranks on an axis, names at both sides, bars of those that do not differ.
  function critical() {
    const plan = D.critical;
    const n = plan.names.length;
    const half = Math.ceil(n / 2);
    const low = plan.ranks[0];
    const high = plan.ranks[n - 1];
    const narrow = innerWidth < 760;
    const side = narrow ? 34 : 28;
    const pct = (x) => x.toFixed(2) + "%";
    const x = (rank) => side + ((100 - 2 * side) * (rank - low)) / (high - low || 1);
    const top = 26;
    const first = top + 14 + 9 * plan.bars.length;
    const row = (place) => first + 20 * (place < half ? place : n - 1 - place);
    const bottom = first + 20 * half;
    const parts = [];
    const line = (x1, y1, x2, y2, kind, width) =>
      parts.push(
        svg("line", {
          class: kind,
          style: width ? `stroke-width:${width}` : null,
          x1: pct(x1),
          x2: pct(x2),
          y1,
          y2,
        }),
      );
    const text = (position, y, words, attributes) =>
      parts.push(svg("text", { x: pct(position), y, ...attributes }, words));
    line(side, top, 100 - side, top, "axis");
    const by = Math.max(1, Draw.step(low, high, narrow ? 4 : 8));
    const ticks = Draw.ticksOf(Math.ceil(low), high, by).filter(Number.isInteger);
    for (const tick of ticks) {
      line(x(tick), top - 5, x(tick), top, "axis");
      text(x(tick), top - 9, String(tick), { "text-anchor": "middle" });
    }
    plan.names.forEach((name, place) => {
      const rank = plan.ranks[place];
      const left = place < half;
      const end = left ? side - 1 : 101 - side;
      const most = narrow ? 13 : 30;
      const cut = name.length > most ? name.slice(0, most - 1) + "…" : name;
      line(x(rank), top, x(rank), row(place), "leader-line");
      line(x(rank), row(place), end, row(place), "leader-line");
      parts.push(
        svg(
          "text",
          {
            x: pct(end),
            dx: left ? -6 : 6,
            y: row(place) + 4,
            "text-anchor": left ? "end" : "start",
            class: "label",
          },
          `${cut} ${shown(rank, 2)}`,
          svg("title", {}, name),
        ),
      );
    });
    plan.bars.forEach(([begin, end], place) => {
      const y = top + 9 + 9 * place;
      const from = x(plan.ranks[begin]) - 0.4;
      const to = x(plan.ranks[end]) + 0.4;
      line(from, y, to, y, "candidate", 4);
    });
    if (plan.reach < high - low)
      line(x(low), bottom + 8, x(low + plan.reach), bottom + 8, "neutral", 2);
    text(x(low), bottom + 26, say("critical_reach", { reach: shown(plan.reach, 2) }), {
      "text-anchor": "start",
    });
    return [
      heading(W.critical_title, say("critical_help", { level: D.level })),
      el(
        "figure",
        {},
        svg(
          "svg",
          {
            class: "chart",
            height: bottom + 34,
            role: "img",
            "aria-label": plan.names
              .map((name, place) => `${name} ${shown(plan.ranks[place], 2)}`)
              .join(", "),
          },
          parts,
        ),
        el(
          "figcaption",
          {},
          say("critical_caption", {
            p: Page.pValue(plan.p),
            systems: count(plan.systems),
            shown: count(n),
          }),
        ),
      ),
    ];
  }

  // -- scores of systems on data sets: shades by the place within the data set --------
  function shades(rows) {
    return D.datasets.map((_, dataset) => {
      const known = rows
        .map((system) => D.cells[system][dataset])
        .filter((value) => value !== null)
        .sort((x, y) => (D.lower ? y - x : x - y));
      return (value) => {
        if (value === null) return "gap";
        const quarter = Math.floor((4 * known.indexOf(value)) / known.length);
        return `shade-${Math.min(3, quarter)}`;
      };
    });
  }
  function cells() {
    const few = all.slice(0, FEW);
    const kinds = shades(few);
    const n = D.datasets.length;
    const key = (kind, words) =>
      el("span", { class: "key" }, el("i", { class: kind }), words);
    const legend = el(
      "p",
      { class: "legend small" },
      [3, 2, 1, 0].map((step) => key(`shade-${step}`, W[`shade_${step}`])),
      D.complete ? null : key("gap", W.shade_gap),
    );
    const detail = el(
      "table",
      { class: "score-cells" },
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          el("th", { scope: "col" }, W.system),
          D.datasets.map((name) =>
            el("th", { scope: "col", title: name }, el("span", {}, name)),
          ),
        ),
      ),
      el(
        "tbody",
        {},
        few.map((system) =>
          el(
            "tr",
            {},
            el("th", { scope: "row", title: D.systems[system] }, D.systems[system]),
            D.cells[system].map((value, dataset) =>
              el(
                "td",
                {
                  class: kinds[dataset](value),
                  title: value === null ? W.shade_gap : null,
                },
                value === null ? "" : shown(value, 2),
              ),
            ),
          ),
        ),
      ),
    );
    return [
      heading(W.cells_title, W.cells_help),
      legend,
      K > FEW ? pixels(shades(all), n) : null,
      K > FEW
        ? el("h3", { class: "subheading" }, say("best_of", { count: FEW }))
        : null,
      Page.scrollable(W.cells_title, detail),
    ];
  }
  function pixels(kinds, n) {
    const paths = {};
    const tip = svg("title", {}, W.cells_title);
    all.forEach((system) => {
      const row = D.cells[system].map((value, dataset) => kinds[dataset](value));
      for (let x = 0, end = 1; x < n; x = end, end++) {
        while (end < n && row[end] === row[x]) end++;
        paths[row[x]] = `${paths[row[x]] || ""}M${x} ${system}h${end - x}v1H${x}z`;
      }
    });
    const picture = svg(
      "svg",
      {
        viewBox: `0 0 ${n} ${K}`,
        preserveAspectRatio: "none",
        height: Math.min(480, Math.max(240, K)),
        "shape-rendering": "crispEdges",
        class: "pixels full-width",
        role: "img",
        "aria-label": W.cells_title,
      },
      tip,
      Object.entries(paths).map(([kind, d]) => svg("path", { class: kind, d })),
    );
    picture.addEventListener("mousemove", (event) => {
      const box = picture.getBoundingClientRect();
      const system = cellUnder(event.clientY - box.top, box.height, K);
      const dataset = cellUnder(event.clientX - box.left, box.width, n);
      const score = D.cells[system][dataset] ?? W.shade_gap;
      tip.textContent = `${D.systems[system]} · ${D.datasets[dataset]}: ${score}`;
    });
    return picture;
  }

  // -- chances, and boards without a data set -----------------------------------------
  function chances() {
    const some = D.chances.length;
    const shade = (chance) =>
      `shade-${[65, 80, 95].filter((least) => chance >= least).length}`;
    const rows = all.slice(0, some);
    function percent(chance) {
      if (chance === null) return "–";
      if (chance >= 100) return ">99";
      return chance <= 0 ? "<1" : shown(chance, 0);
    }
    const head = (system) =>
      el("th", { scope: "col", title: D.systems[system] }, String(system + 1));
    const cell = (a, b) => {
      const chance = D.chances[a][b];
      return el(
        "td",
        {
          class: shade(Math.max(chance, 100 - chance)),
          title: `${D.systems[a]} – ${D.systems[b]}`,
        },
        percent(chance),
      );
    };
    return [
      heading(W.chances_title, W.chances_help),
      Page.scrollable(
        W.chances_title,
        el(
          "table",
          { class: "pair-matrix chances" },
          el(
            "thead",
            {},
            el(
              "tr",
              {},
              el("th", { class: "name-column", scope: "col" }, W.system),
              rows.slice(1).map((system) => head(system)),
            ),
          ),
          el(
            "tbody",
            {},
            rows.slice(0, -1).map((a) =>
              el(
                "tr",
                {},
                el(
                  "th",
                  { scope: "row", title: D.systems[a] },
                  el("span", { class: "row-rank" }, String(a + 1)),
                  D.systems[a],
                ),
                rows.slice(1).map((b) => (b <= a ? el("td") : cell(a, b))),
              ),
            ),
          ),
        ),
      ),
    ];
  }
  function left() {
    return [
      heading(W.left_title, W.left_help),
      table(
        [
          { label: W.data_set },
          { label: W.weight, show: share },
          { label: W.n_scores, show: count },
          { label: "τ", show: (value) => shown(value, 3) },
          { label: W.first_without },
          { label: W.largest_move, show: count },
          { label: W.of_system },
        ],
        D.left.map((row) => [
          row.dataset,
          row.weight,
          row.scores,
          row.tau,
          row.first,
          row.moved,
          row.mover,
        ]),
      ),
    ];
  }
  const sections = { ranks, critical, cells, chances, left };
  function start() {
    for (const [name, fill] of Object.entries(sections))
      if ($(name)?.tagName === "SECTION")
        $(name).append(...[fill()].flat(5).filter(Boolean));
  }
  return { start };
})();
