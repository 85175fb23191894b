// The leaderboard: plots in its rows, order, search; a pair that is chosen; tables of
// means and pairs.
const Board = (() => {
  const {
    D,
    W,
    $,
    el,
    say,
    count,
    shown,
    pValue,
    compare,
    markSorted,
    table,
    whenOpened,
  } = Page;

  // -- plots: means with intervals, over the band of those not told from a rival ------
  // A range that ends at the highest number, so that many rows have room.
  function cutRange(measure) {
    const [low, high] = measure.bounds;
    const highest = Math.max(...measure.mean, ...measure.high);
    return [low, Math.min(high, Math.ceil(10 * highest) / 10)];
  }
  function isOpen(system, rival) {
    const pair = system === rival ? -1 : Pair.indexOf(system, rival);
    return pair < 0 || !"bw".includes(D.pairs.measures[0].verdict[pair]);
  }
  // From halfway to the next mean below the open systems to halfway to the next one
  // above.
  function bandOf(means, open, scale) {
    const others = means.filter((_, system) => !open.includes(system));
    const lowest = Math.min(...open.map((system) => means[system]));
    const highest = Math.max(...open.map((system) => means[system]));
    const below = others.filter((mean) => mean < lowest);
    const above = others.filter((mean) => mean > highest);
    return [
      below.length ? (lowest + Math.max(...below)) / 2 : scale.from,
      above.length ? (highest + Math.min(...above)) / 2 : scale.to,
    ];
  }
  function dotOf(system, open) {
    if (D.baselines.includes(system)) return "baseline hollow";
    return D.baselines.length || open.includes(system) ? "candidate" : "baseline";
  }
  function plots(board) {
    const measure = D.measures[0];
    const dense = board.classList.contains("dense");
    const rival = D.baselines[0] ?? 0;
    const height = dense ? 16 : 30;
    const scale = Draw.scale(
      dense && measure.bounds ? cutRange(measure) : measure.bounds,
      [...measure.mean, ...measure.low, ...measure.high],
    );
    const narrow = board.querySelector(".plot").clientWidth < 130;
    const ticks = narrow ? [scale.low, scale.high] : scale.ticks;
    board.querySelector("thead .plot").append(Draw.axis({ ...scale, ticks }));
    const systems = D.systems.map((_, system) => system);
    const open = systems.filter((system) => isOpen(system, rival));
    const band = bandOf(measure.mean, open, scale);
    for (const row of board.tBodies[0].rows) {
      const system = Number(row.dataset.index);
      const numbers = {
        mean: measure.mean[system],
        low: measure.low[system],
        high: measure.high[system],
      };
      row
        .querySelector(".plot")
        .replaceChildren(Draw.mean(scale, numbers, height, dotOf(system, open), band));
    }
  }

  // -- order and search ---------------------------------------------------------------
  function sorting(board) {
    const body = board.tBodies[0];
    const heads = [...board.tHead.rows[0].cells];
    function valueOf(row, column) {
      const text = row.cells[column].dataset.sort;
      return text === "" || isNaN(text) ? text : Number(text);
    }
    function isDown(head, column) {
      if (!head.hasAttribute("aria-sort")) return column > 2;
      return head.getAttribute("aria-sort") === "ascending";
    }
    heads.forEach((head, column) =>
      head.querySelector(".sort-button")?.addEventListener("click", () => {
        const down = isDown(head, column);
        const inOrder = (x, y) => compare(valueOf(x, column), valueOf(y, column), down);
        markSorted(heads, head, down);
        body.append(...[...body.rows].sort(inOrder));
      }),
    );
  }
  function search(board) {
    const box = $("find");
    const rows = [...board.tBodies[0].rows];
    const all = $("all");
    if (!box) return;
    const showCount = () => {
      $("shown").textContent = say("shown_of", {
        shown: count(rows.filter((row) => row.offsetParent !== null).length),
        all: count(rows.length),
      });
    };
    box.addEventListener("input", () => {
      const wanted = box.value.trim().toLowerCase();
      board.classList.toggle("every", Boolean(wanted) || all.hidden);
      for (const row of rows)
        row.hidden =
          wanted !== "" &&
          !row.querySelector(".system-name").title.toLowerCase().includes(wanted);
      showCount();
    });
    all.addEventListener("click", () => {
      board.classList.add("every");
      all.hidden = true;
      showCount();
    });
    addEventListener("beforeprint", () => board.classList.add("every"));
    showCount();
  }

  // -- a pair -------------------------------------------------------------------------
  let opened = null;
  function open(a, b, id) {
    const index = Pair.indexOf(a, b);
    if (index < 0) return;
    const two = Pair.comparison(index);
    const sentence = Pair.sentence(two);
    const place = $("pair");
    const key = `${two.a}-${two.b}`;
    if (opened !== key) {
      const close = el(
        "button",
        {
          type: "button",
          class: "close screen-only",
          onclick: () => {
            opened = null;
            place.replaceChildren();
            history.replaceState(null, "", "#pairs");
          },
        },
        W.close,
      );
      place.replaceChildren(
        el(
          "div",
          { class: "opened" },
          close,
          Pair.badge(sentence.verdict),
          el("h3", { class: "verdict" }, sentence.claim),
          el("p", {}, sentence.numbers),
          Pair.picture(two),
          ...Pair.sections(two).filter(Boolean),
        ),
      );
      opened = key;
      for (const cell of document.querySelectorAll(".pair-matrix td[aria-current]"))
        cell.removeAttribute("aria-current");
      document
        .querySelector(`.pair-matrix a[href="#pair=${key}"]`)
        ?.parentNode.setAttribute("aria-current", "true");
      const [box, rivalBox] = $("choose").querySelectorAll("select");
      if (box) box.value = two.a;
      if (rivalBox) rivalBox.value = two.b;
    }
    if (id) place.querySelector(".examples")?.goTo(id);
    else {
      place.scrollIntoView();
      place.focus({ preventScroll: true });
    }
  }
  // A list of systems to choose from: all but `without`, or only those `among`.
  function systemBox(chosen, label, { without, among } = {}) {
    const isOffered = (system) =>
      system !== without && (!among || among.includes(system));
    const option = (name, system) =>
      el(
        "option",
        { value: system, title: D.systems[system] },
        D.ranks ? `${D.ranks[system]} ${name}` : name,
      );
    const box = el(
      "select",
      { "aria-label": label },
      D.short.map((name, system) => (isOffered(system) ? option(name, system) : null)),
    );
    box.value = chosen;
    return box;
  }
  function chooser() {
    if (D.baselines.length === 1) {
      const [baseline] = D.baselines;
      const box = systemBox(baseline === 0 ? 1 : 0, W.system, { without: baseline });
      const go = () => {
        location.hash = `pair=${box.value}-${baseline}`;
      };
      box.addEventListener("change", go);
      $("choose").append(
        el("span", {}, W.choose_pair),
        box,
        el("span", {}, `${W.choose_with} ${D.short[baseline]}`),
        el("button", { type: "button", onclick: go }, "→"),
      );
      return;
    }
    const rivals = D.baselines.length ? D.baselines : null;
    const rival = rivals ? rivals[0] : 1;
    const box = systemBox(rival === 0 ? 1 : 0, W.choose_pair);
    const rivalBox = systemBox(rival, W.choose_with, { among: rivals });
    const go = () => {
      if (box.value !== rivalBox.value)
        location.hash = `pair=${box.value}-${rivalBox.value}`;
    };
    box.addEventListener("change", go);
    rivalBox.addEventListener("change", go);
    $("choose").append(
      el("span", {}, W.choose_pair),
      box,
      el("span", {}, W.choose_with),
      rivalBox,
      el("button", { type: "button", "aria-label": W.choose_pair, onclick: go }, "→"),
    );
  }

  // -- the matrix of pairs: cells with numbers, or pixels where there are many --------
  function strengths() {
    const n = D.systems.length;
    const mean = D.measures[0].mean;
    const clear = [];
    const cells = Array.from({ length: n }, () => new Array(n).fill(-1));
    D.pairs.one.forEach((system, index) => {
      const other = D.pairs.other[index];
      const gap = Math.abs(mean[system] - mean[other]);
      const isClear = "bw".includes(D.pairs.measures[0].verdict[index]);
      cells[Math.min(system, other)][Math.max(system, other)] = isClear ? gap : -0.5;
      if (isClear) clear.push(gap);
    });
    clear.sort((x, y) => x - y);
    const round = (share) =>
      Number((clear[Math.floor(share * (clear.length - 1))] || 0).toPrecision(1));
    const steps = [...new Set([round(0.4), round(0.75)])].filter(
      (step) => step > 0 && clear.length > 2,
    );
    const kind = (gap) => {
      if (gap === -1) return -1;
      return gap < 0 ? 0 : 1 + steps.filter((step) => gap >= step).length;
    };
    return {
      steps,
      kinds: cells.map((row) => row.map(kind)),
      gap: (a, b) => Math.abs(mean[a] - mean[b]),
    };
  }
  function matrix() {
    const place = $("matrix");
    if (!place) return;
    const many = document.querySelector(".leaderboard.dense");
    const { steps, kinds, gap } = strengths();
    const key = (kind, words) =>
      el("span", { class: "key" }, el("i", { class: `shade-${kind}` }), words);
    const ahead = steps.length
      ? [
          key(1, say("ahead_less", { step: steps[0] })),
          ...steps.map((step, index) => key(index + 2, say("ahead_from", { step }))),
        ]
      : [key(1, W.ahead_any)];
    place.append(
      el(
        "p",
        { class: "legend small" },
        key(many ? "0 pixel" : "0", W.too_close),
        ahead,
      ),
      many ? pixels(kinds) : cells(kinds, gap),
    );
  }
  // As many decimals as the leaderboard shows.
  function decimalsShown() {
    const mean = document.querySelector(".leaderboard tbody .mean").textContent;
    return (mean.trim().split(".")[1] || "").length;
  }
  function cells(kinds, gap) {
    const digits = decimalsShown();
    const cell = (kind, a, b) =>
      el(
        "td",
        { class: `shade-${kind}` },
        el("a", { href: `#pair=${a}-${b}`, tabindex: -1 }, shown(gap(a, b), digits)),
      );
    return el(
      "table",
      { class: "pair-matrix" },
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          el("th", { class: "name-column", scope: "col" }, W.system),
          kinds
            .slice(1)
            .map((_, index) =>
              el(
                "th",
                { scope: "col", title: D.systems[index + 1] },
                String(index + 2),
              ),
            ),
        ),
      ),
      el(
        "tbody",
        {},
        kinds.slice(0, -1).map((row, a) =>
          el(
            "tr",
            {},
            el(
              "th",
              { scope: "row", title: D.systems[a] },
              el("span", { class: "row-rank" }, String(a + 1)),
              D.short[a],
            ),
            row
              .slice(1)
              .map((kind, index) => (kind < 0 ? el("td") : cell(kind, a, index + 1))),
          ),
        ),
      ),
    );
  }
  function pixels(kinds) {
    const n = kinds.length;
    const paths = {};
    const tip = Page.svg("title", {}, W.who_beats_whom);
    kinds.forEach((row, y) => {
      for (let x = 0, end = 1; x < n; x = end, end++) {
        while (end < n && row[end] === row[x]) end++;
        if (row[x] >= 0)
          paths[row[x]] = `${paths[row[x]] || ""}M${x} ${y}h${end - x}v1H${x}z`;
      }
    });
    const picture = Page.svg(
      "svg",
      {
        viewBox: `0 0 ${n} ${n}`,
        "shape-rendering": "crispEdges",
        class: "pixels",
        role: "img",
        "aria-label": W.who_beats_whom,
      },
      tip,
      Object.entries(paths).map(([kind, d]) =>
        Page.svg("path", { class: `shade-${kind}`, d }),
      ),
    );
    const pairUnder = (event) => {
      const box = picture.getBoundingClientRect();
      return [
        Math.floor((n * (event.clientY - box.top)) / box.height),
        Math.floor((n * (event.clientX - box.left)) / box.width),
      ];
    };
    picture.addEventListener("click", (event) => {
      const [a, b] = pairUnder(event);
      if (a !== b && D.systems[a] && D.systems[b]) location.hash = `pair=${a}-${b}`;
    });
    picture.addEventListener("mousemove", (event) => {
      const [a, b] = pairUnder(event);
      if (D.systems[a] && D.systems[b])
        tip.textContent = `${a + 1} ${D.short[a]} – ${b + 1} ${D.short[b]}`;
    });
    return picture;
  }

  // -- tables -------------------------------------------------------------------------
  function tables() {
    const digits = D.digits;
    const number = (value) => shown(value, digits);
    const signed = (value) => shown(value, digits, true);
    whenOpened($("means"), (place) =>
      place.append(
        table(
          [
            { label: W.system.toLowerCase() },
            ...D.measures.map((measure) => ({ label: measure.name, show: number })),
          ],
          D.systems.map((name, system) => [
            name,
            ...D.measures.map((measure) => measure.mean[system]),
          ]),
        ),
      ),
    );
    whenOpened($("table"), (place) => {
      const columns = D.pairs.measures[0];
      const rows = D.pairs.one.map((system, index) => [
        D.systems[system],
        D.systems[D.pairs.other[index]],
        columns.difference[index],
        columns.low[index],
        columns.high[index],
        columns.p[index],
        columns.wins[index],
        D.measures[0].n - columns.wins[index] - columns.losses[index],
        columns.losses[index],
        W["badge_" + Pair.NAMES[columns.verdict[index]]],
        columns.needed[index],
      ]);
      const heads = W.tally.split(" / ");
      place.append(
        table(
          [
            { label: W.system.toLowerCase() },
            { label: W.versus },
            { label: W.difference, show: signed },
            { label: W.low, show: signed },
            { label: W.high, show: signed },
            { label: W.p_adjusted, show: pValue },
            ...heads.map((label) => ({ label, show: count })),
            { label: W.verdict },
            { label: W.queries_needed, show: count },
          ],
          rows,
          100,
        ),
      );
    });
  }
  function start() {
    const board = document.querySelector(".leaderboard");
    plots(board);
    sorting(board);
    search(board);
    chooser();
    matrix();
    tables();
  }
  return { start, open };
})();
