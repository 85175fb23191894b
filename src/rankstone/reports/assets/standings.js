// Pages of boards over many data sets: the table with its intervals of ranks, cells, chances, data sets.
const Standings = (() => {
  const { D, W, $, el, svg, table, shown, count, say, compare } = Page;
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
  const B = D.board;
  const all = B ? D.systems.map((_, at) => at) : [];
  const K = all.length;

  // -- the table: a dot for the rank, a line for the ranks that are left, a thick one for a system alone -----------
  const scale = () => Draw.scale([1, Math.max(K, 2)], []);
  function plot(at) {
    const x = scale();
    const y = 15;
    const line = (low, high, kind, width) =>
      svg("line", {
        class: `${kind} iv`,
        style: `stroke-width:${width}`,
        x1: x.at(low) + "%",
        x2: x.at(high) + "%",
        y1: y,
        y2: y,
      });
    return svg(
      "svg",
      {
        class: "c",
        height: 30,
        role: "img",
        "aria-label": `${range(B.rank_low[at], B.rank_high[at])}`,
      },
      line(B.rank_low[at], B.rank_high[at], "cb", 2),
      line(B.single_low[at], B.single_high[at], "ca", 5),
      svg("circle", { class: "cn", cx: x.at(B.rank[at]) + "%", cy: y, r: 5 }),
    );
  }
  const COLUMNS = [
    [
      "rank",
      (at) => B.rank[at],
      (at) => [
        el("b", {}, count(B.rank[at])),
        el("span", {}, range(B.rank_low[at], B.rank_high[at])),
      ],
      "rk",
    ],
    [
      "tier",
      (at) => B.tier[at],
      (at) =>
        el(
          "span",
          { class: `tier t${Math.min(B.tier[at] - 1, 3)}` },
          count(B.tier[at]),
        ),
      "ti",
    ],
    ["system", (at) => D.systems[at], (at) => D.systems[at], "nm"],
    ["ranks_left", (at) => B.rank_high[at], plot, "pl"],
    ["mean", (at) => B.mean[at], (at) => el("b", {}, number(B.mean[at])), "me r"],
    [
      "is_first",
      (at) => B.first[at],
      (at) => named("is_first", share(B.first[at])),
      "ju r",
    ],
    ...(D.complete
      ? []
      : [
          [
            "n_scores",
            (at) => B.datasets[at],
            (at) =>
              el(
                "span",
                { class: B.datasets[at] < D.datasets.length ? "low" : null },
                count(B.datasets[at]),
              ),
            "xx r",
          ],
        ]),
    ...((D.left || []).length
      ? [
          [
            "left_out",
            (at) => B.without_high[at] - B.without_low[at],
            (at) => range(B.without_low[at], B.without_high[at]),
            "xx r",
          ],
        ]
      : []),
    [
      "other_rules",
      (at) => B.rules_high[at] - B.rules_low[at],
      (at) => named("other_rules", range(B.rules_low[at], B.rules_high[at])),
      "ap r",
    ],
  ];
  function named(name, text) {
    return [el("span", { class: "wd" }, W[name] + " "), text];
  }
  function ranks() {
    let order = all;
    let every = K <= FEW;
    let wanted = "";
    const body = el("tbody");
    const counter = el("span", { class: "small" });
    const more = el(
      "button",
      {
        type: "button",
        onclick: () => {
          every = true;
          draw();
        },
      },
      say("show_all", { count: count(K) }),
    );
    function draw() {
      const found = order.filter((at) => D.systems[at].toLowerCase().includes(wanted));
      const some = every ? found : found.slice(0, FEW);
      body.replaceChildren(
        ...some.map((at) =>
          el(
            "tr",
            {},
            COLUMNS.map(([name, , show, kind]) =>
              name === "system"
                ? el(
                    "th",
                    { scope: "row", class: kind, title: D.systems[at] },
                    show(at),
                  )
                : el("td", { class: kind }, show(at)),
            ),
          ),
        ),
      );
      more.hidden = some.length === found.length;
      counter.textContent = say("shown_of", {
        shown: count(some.length),
        all: count(K),
      });
    }
    const heads = COLUMNS.map(([name, value, , kind], column) => {
      const words = name === "mean" ? W["of_" + D.estimate] : W[name];
      const label = words[0].toUpperCase() + words.slice(1);
      const head = el(
        "th",
        { scope: "col", class: kind },
        el(
          "button",
          {
            type: "button",
            class: "so",
            onclick: () => {
              const down = head.hasAttribute("aria-sort")
                ? head.getAttribute("aria-sort") === "ascending"
                : column > 3;
              for (const other of heads) other.removeAttribute("aria-sort");
              head.setAttribute("aria-sort", down ? "descending" : "ascending");
              order = [...all].sort((x, y) => compare(value(x), value(y), down));
              draw();
            },
          },
          label,
        ),
        name === "ranks_left" ? axis() : null,
      );
      return head;
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
    addEventListener("beforeprint", () => {
      every = true;
      draw();
    });
    draw();
    return [
      heading(W.standings_title, say("standings_help", { level: D.level })),
      K > FEW ? overview() : null,
      el("div", { class: "find noprint" }, K > 12 ? find : null, counter),
      el(
        "div",
        {
          class: "scroll",
          tabindex: 0,
          role: "group",
          "aria-label": W.standings_title,
        },
        el("table", { class: "lb st" }, el("thead", {}, el("tr", {}, heads)), body),
      ),
      el("p", { class: "noprint" }, more),
      el(
        "p",
        { class: "leg small" },
        [
          ["cb", 2, "key_together"],
          ["ca", 5, "key_alone"],
        ].map(([kind, width, name]) =>
          el(
            "span",
            { class: "key" },
            svg(
              "svg",
              { width: 28, height: 12, "aria-hidden": "true" },
              svg("line", {
                class: `${kind} iv`,
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
  // All systems in one picture: a line each.
  function overview() {
    const lines = (low, high) =>
      all.map((at) => `M${low[at] - 1} ${at + 0.5}H${high[at]}`).join("");
    const height = Math.min(360, 2 * K + 60);
    const picture = svg(
      "svg",
      {
        class: "over",
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
        d: all.map((at) => `M${B.rank[at] - 1} ${at + 0.5}h1`).join(""),
      }),
    );
    const tip = svg("title", {}, W.overview);
    picture.append(tip);
    picture.addEventListener("mousemove", (event) => {
      const box = picture.getBoundingClientRect();
      const at = Math.max(
        0,
        Math.min(K - 1, Math.floor((K * (event.clientY - box.top)) / box.height)),
      );
      tip.textContent = `${D.systems[at]}: ${range(B.rank_low[at], B.rank_high[at])}`;
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

  // -- the critical-difference diagram: mean ranks on an axis, names at both sides, bars of those that do not differ ----
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
    const row = (at) => first + 20 * (at < half ? at : n - 1 - at);
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
    const text = (at, y, words, about) =>
      parts.push(svg("text", { x: pct(at), y, ...about }, words));
    line(side, top, 100 - side, top, "ax");
    for (const tick of Draw.ticksOf(
      Math.ceil(low),
      high,
      Math.max(1, Draw.step(low, high, narrow ? 4 : 8)),
    ).filter(Number.isInteger)) {
      line(x(tick), top - 5, x(tick), top, "ax");
      text(x(tick), top - 9, String(tick), { "text-anchor": "middle" });
    }
    plan.names.forEach((name, at) => {
      const left = at < half;
      const end = left ? side - 1 : 101 - side;
      const most = narrow ? 13 : 30;
      const cut = name.length > most ? name.slice(0, most - 1) + "…" : name;
      line(x(plan.ranks[at]), top, x(plan.ranks[at]), row(at), "gl");
      line(x(plan.ranks[at]), row(at), end, row(at), "gl");
      parts.push(
        svg(
          "text",
          {
            x: pct(end),
            dx: left ? -6 : 6,
            y: row(at) + 4,
            "text-anchor": left ? "end" : "start",
            class: "e",
          },
          `${cut} ${shown(plan.ranks[at], 2)}`,
          svg("title", {}, name),
        ),
      );
    });
    plan.bars.forEach(([begin, end], at) =>
      line(
        x(plan.ranks[begin]) - 0.4,
        top + 9 + 9 * at,
        x(plan.ranks[end]) + 0.4,
        top + 9 + 9 * at,
        "ca",
        4,
      ),
    );
    if (plan.reach < high - low)
      line(x(low), bottom + 8, x(low + plan.reach), bottom + 8, "cn", 2);
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
            class: "c",
            height: bottom + 34,
            role: "img",
            "aria-label": plan.names
              .map((name, at) => `${name} ${shown(plan.ranks[at], 2)}`)
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

  // -- scores of systems on data sets: shades by the place within the data set --------------------------------------
  function shades(rows) {
    return D.datasets.map((_, of) => {
      const known = rows
        .map((at) => D.cells[at][of])
        .filter((value) => value !== null)
        .sort((x, y) => (D.lower ? y - x : x - y));
      return (value) =>
        value === null
          ? "gap"
          : `h${Math.min(3, Math.floor((4 * known.findIndex((one) => one === value)) / known.length))}`;
    });
  }
  function cells() {
    const few = all.slice(0, FEW);
    const kinds = shades(few);
    const n = D.datasets.length;
    const legend = el(
      "p",
      { class: "leg small" },
      ["h3", "h2", "h1", "h0", ...(D.complete ? [] : ["gap"])].map((kind, at) =>
        el("span", { class: "key" }, el("i", { class: kind }), W[`shade_${kind}`]),
      ),
    );
    const detail = el(
      "table",
      { class: "sc" },
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
        few.map((at) =>
          el(
            "tr",
            {},
            el("th", { scope: "row", title: D.systems[at] }, D.systems[at]),
            D.cells[at].map((value, of) =>
              el(
                "td",
                { class: kinds[of](value), title: value === null ? W.shade_gap : null },
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
      K > FEW ? el("h3", { class: "sub" }, say("best_of", { count: FEW })) : null,
      el(
        "div",
        { class: "scroll", tabindex: 0, role: "group", "aria-label": W.cells_title },
        detail,
      ),
    ];
  }
  function pixels(kinds, n) {
    const paths = {};
    const tip = svg("title", {}, W.cells_title);
    all.forEach((at) => {
      const row = D.cells[at].map((value, of) => kinds[of](value));
      for (let x = 0, end = 1; x < n; x = end, end++) {
        while (end < n && row[end] === row[x]) end++;
        paths[row[x]] = `${paths[row[x]] || ""}M${x} ${at}h${end - x}v1H${x}z`;
      }
    });
    const picture = svg(
      "svg",
      {
        viewBox: `0 0 ${n} ${K}`,
        preserveAspectRatio: "none",
        height: Math.min(480, Math.max(240, K)),
        "shape-rendering": "crispEdges",
        class: "px wholly",
        role: "img",
        "aria-label": W.cells_title,
      },
      tip,
      Object.entries(paths).map(([kind, d]) => svg("path", { class: kind, d })),
    );
    picture.addEventListener("mousemove", (event) => {
      const box = picture.getBoundingClientRect();
      const at = Math.max(
        0,
        Math.min(K - 1, Math.floor((K * (event.clientY - box.top)) / box.height)),
      );
      const of = Math.max(
        0,
        Math.min(n - 1, Math.floor((n * (event.clientX - box.left)) / box.width)),
      );
      tip.textContent = `${D.systems[at]} · ${D.datasets[of]}: ${D.cells[at][of] ?? W.shade_gap}`;
    });
    return picture;
  }

  // -- chances, and boards without a data set ------------------------------------------------------------------------
  function chances() {
    const some = D.chances.length;
    const kind = (chance) =>
      chance >= 95 ? "h3" : chance >= 80 ? "h2" : chance >= 65 ? "h1" : "h0";
    const rows = all.slice(0, some);
    const percent = (chance) =>
      chance === null
        ? "–"
        : chance >= 100
          ? ">99"
          : chance <= 0
            ? "<1"
            : shown(chance, 0);
    return [
      heading(W.chances_title, W.chances_help),
      el(
        "div",
        { class: "scroll", tabindex: 0, role: "group", "aria-label": W.chances_title },
        el(
          "table",
          { class: "hm ch" },
          el(
            "thead",
            {},
            el(
              "tr",
              {},
              el("th", { class: "hn", scope: "col" }, W.system),
              rows
                .slice(1)
                .map((at) =>
                  el("th", { scope: "col", title: D.systems[at] }, String(at + 1)),
                ),
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
                  el("span", { class: "hr" }, String(a + 1)),
                  D.systems[a],
                ),
                rows
                  .slice(1)
                  .map((b) =>
                    b <= a
                      ? el("td")
                      : el(
                          "td",
                          {
                            class: kind(
                              Math.max(D.chances[a][b], 100 - D.chances[a][b]),
                            ),
                            title: `${D.systems[a]} – ${D.systems[b]}`,
                          },
                          percent(D.chances[a][b]),
                        ),
                  ),
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
