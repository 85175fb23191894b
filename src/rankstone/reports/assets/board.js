// The leaderboard: plots in its rows, order, search; a pair that is chosen; tables of means and pairs.
const Board = (() => {
  const {
    D,
    W,
    $,
    el,
    say,
    count,
    shown,
    decimals,
    pValue,
    compare,
    table,
    whenOpened,
  } = Page;

  function plots(board) {
    const measure = D.measures[0];
    const dense = board.classList.contains("dense");
    const rival = D.baselines[0] ?? 0;
    const height = dense ? 16 : 30;
    const scale = Draw.scale(
      dense && measure.bounds
        ? [
            measure.bounds[0],
            Math.min(
              measure.bounds[1],
              Math.ceil(10 * Math.max(...measure.mean, ...measure.high)) / 10,
            ),
          ]
        : measure.bounds,
      [...measure.mean, ...measure.low, ...measure.high],
    );
    board
      .querySelector("thead .pl")
      .append(
        Draw.axis(
          board.querySelector(".pl").clientWidth < 130
            ? { ...scale, ticks: [scale.low, scale.high] }
            : scale,
        ),
      );
    const open = D.systems
      .map((_, at) => at)
      .filter((at) => {
        const pair = at === rival ? -1 : Pair.indexOf(at, rival);
        return pair < 0 || !"bw".includes(D.pairs.measures[0].verdict[pair]);
      });
    const near = open.map((at) => measure.mean[at]);
    const side = (value, at) => {
      const beyond = measure.mean
        .filter((_, other) => !open.includes(other))
        .filter((mean) => (at ? mean > value : mean < value));
      return beyond.length
        ? (value + (at ? Math.min(...beyond) : Math.max(...beyond))) / 2
        : at
          ? scale.to
          : scale.from;
    };
    const band = [side(Math.min(...near), 0), side(Math.max(...near), 1)];
    for (const row of board.tBodies[0].rows) {
      const at = Number(row.dataset.at);
      const kind = D.baselines.includes(at)
        ? "cb hollow"
        : D.baselines.length || open.includes(at)
          ? "ca"
          : "cb";
      row
        .querySelector(".pl")
        .replaceChildren(
          Draw.mean(
            scale,
            { mean: measure.mean[at], low: measure.low[at], high: measure.high[at] },
            height,
            kind,
            band,
          ),
        );
    }
  }
  function sorting(board) {
    const heads = [...board.tHead.rows[0].cells];
    heads.forEach((head, at) =>
      head.querySelector(".so")?.addEventListener("click", () => {
        const down = head.hasAttribute("aria-sort")
          ? head.getAttribute("aria-sort") === "ascending"
          : at > 2;
        const value = (row) => {
          const text = row.cells[at].dataset.v;
          return text === "" || isNaN(text) ? text : Number(text);
        };
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        board.tBodies[0].append(
          ...[...board.tBodies[0].rows].sort((x, y) =>
            compare(value(x), value(y), down),
          ),
        );
      }),
    );
  }
  function search(board) {
    const box = $("find");
    const rows = [...board.tBodies[0].rows];
    const all = $("all");
    if (!box) return;
    const tell = () => {
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
          !row.querySelector(".nm").title.toLowerCase().includes(wanted);
      tell();
    });
    all.addEventListener("click", () => {
      board.classList.add("every");
      all.hidden = true;
      tell();
    });
    addEventListener("beforeprint", () => board.classList.add("every"));
    tell();
  }

  // -- a pair ---------------------------------------------------------------------------------------------
  let opened = null;
  function open(a, b, id) {
    const at = Pair.indexOf(a, b);
    if (at < 0) return;
    const two = Pair.of(at);
    const said = Pair.sentence(two);
    const place = $("pair");
    const key = `${two.a}-${two.b}`;
    if (opened !== key) {
      const close = el(
        "button",
        {
          type: "button",
          class: "close noprint",
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
          Pair.badge(said.verdict),
          el("h3", { class: "verdict" }, said.claim),
          el("p", {}, said.numbers),
          Pair.picture(two),
          ...Pair.sections(two).filter(Boolean),
        ),
      );
      opened = key;
      for (const cell of document.querySelectorAll(".hm td[aria-current]"))
        cell.removeAttribute("aria-current");
      document
        .querySelector(`.hm a[href="#pair=${key}"]`)
        ?.parentNode.setAttribute("aria-current", "true");
      const boxes = $("choose").querySelectorAll("select");
      if (boxes.length)
        [boxes[0].value, boxes[boxes.length - 1].value] =
          boxes.length > 1 ? [two.a, two.b] : [two.a, two.a];
    }
    if (id) place.querySelector(".examples")?.goTo(id);
    else {
      place.scrollIntoView();
      place.focus({ preventScroll: true });
    }
  }
  function chooser() {
    const box = (chosen, label, without, among) => {
      const made = el(
        "select",
        { "aria-label": label },
        D.short.map((name, at) =>
          at === without || (among && !among.includes(at))
            ? null
            : el(
                "option",
                { value: at, title: D.systems[at] },
                D.ranks ? `${D.ranks[at]} ${name}` : name,
              ),
        ),
      );
      made.value = chosen;
      return made;
    };
    if (D.baselines.length === 1) {
      const [baseline] = D.baselines;
      const one = box(baseline === 0 ? 1 : 0, W.system, baseline);
      const go = () => {
        location.hash = `pair=${one.value}-${baseline}`;
      };
      one.addEventListener("change", go);
      $("choose").append(
        el("span", {}, W.choose_pair),
        one,
        el("span", {}, `${W.choose_with} ${D.short[baseline]}`),
        el("button", { type: "button", onclick: go }, "→"),
      );
      return;
    }
    const several = D.baselines.length;
    const last = several ? D.baselines[0] : 1;
    const one = box(last === 0 ? 1 : 0, W.choose_pair);
    const other = box(last, W.choose_with, -1, several ? D.baselines : null);
    const go = () => {
      if (one.value !== other.value) location.hash = `pair=${one.value}-${other.value}`;
    };
    one.addEventListener("change", go);
    other.addEventListener("change", go);
    $("choose").append(
      el("span", {}, W.choose_pair),
      one,
      el("span", {}, W.choose_with),
      other,
      el("button", { type: "button", "aria-label": W.choose_pair, onclick: go }, "→"),
    );
  }
  // -- the matrix of pairs: cells with numbers, or pixels where there are many ------------------------------
  function strengths() {
    const n = D.systems.length;
    const mean = D.measures[0].mean;
    const clear = [];
    const cells = Array.from({ length: n }, () => new Array(n).fill(-1));
    D.pairs.one.forEach((one, at) => {
      const [a, b] =
        one < D.pairs.other[at] ? [one, D.pairs.other[at]] : [D.pairs.other[at], one];
      const gap = Math.abs(mean[a] - mean[b]);
      const found = "bw".includes(D.pairs.measures[0].verdict[at]);
      cells[a][b] = found ? gap : -0.5;
      if (found) clear.push(gap);
    });
    clear.sort((x, y) => x - y);
    const round = (share) =>
      Number((clear[Math.floor(share * (clear.length - 1))] || 0).toPrecision(1));
    const steps = [...new Set([round(0.4), round(0.75)])].filter(
      (step) => step > 0 && clear.length > 2,
    );
    const kind = (gap) =>
      gap === -1 ? -1 : gap < 0 ? 0 : 1 + steps.filter((step) => gap >= step).length;
    return {
      steps,
      kinds: cells.map((row) => row.map(kind)),
      gap: (a, b) => Math.abs(mean[a] - mean[b]),
    };
  }
  function matrix() {
    const place = $("matrix");
    if (!place) return;
    const many = document.querySelector(".lb.dense");
    const { steps, kinds, gap } = strengths();
    const key = (kind, words) =>
      el("span", { class: "key" }, el("i", { class: `h${kind}` }), words);
    const ahead = steps.length
      ? [
          key(1, say("ahead_less", { step: steps[0] })),
          ...steps.map((step, at) => key(at + 2, say("ahead_from", { step }))),
        ]
      : [key(1, W.ahead_any)];
    place.append(
      el("p", { class: "leg small" }, key(many ? "0 p" : "0", W.too_close), ahead),
      many ? pixels(kinds) : cells(kinds, gap),
    );
  }
  function cells(kinds, gap) {
    const rows = [...document.querySelectorAll(".lb tbody tr")];
    const digits = (rows[0].querySelector(".me").textContent.trim().split(".")[1] || "")
      .length;
    return el(
      "table",
      { class: "hm" },
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          el("th", { class: "hn", scope: "col" }, W.system),
          kinds
            .slice(1)
            .map((_, at) =>
              el("th", { scope: "col", title: D.systems[at + 1] }, String(at + 2)),
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
              el("span", { class: "hr" }, String(a + 1)),
              D.short[a],
            ),
            row
              .slice(1)
              .map((kind, at) =>
                kind < 0
                  ? el("td")
                  : el(
                      "td",
                      { class: `h${kind}` },
                      el(
                        "a",
                        { href: `#pair=${a}-${at + 1}`, tabindex: -1 },
                        shown(gap(a, at + 1), digits),
                      ),
                    ),
              ),
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
        class: "px",
        role: "img",
        "aria-label": W.who_beats_whom,
      },
      tip,
      Object.entries(paths).map(([kind, d]) =>
        Page.svg("path", { class: `h${kind}`, d }),
      ),
    );
    const at = (event) => {
      const box = picture.getBoundingClientRect();
      return [
        Math.floor((n * (event.clientY - box.top)) / box.height),
        Math.floor((n * (event.clientX - box.left)) / box.width),
      ];
    };
    picture.addEventListener("click", (event) => {
      const [a, b] = at(event);
      if (a !== b && D.systems[a] && D.systems[b]) location.hash = `pair=${a}-${b}`;
    });
    picture.addEventListener("mousemove", (event) => {
      const [a, b] = at(event);
      if (D.systems[a] && D.systems[b])
        tip.textContent = `${a + 1} ${D.short[a]} – ${b + 1} ${D.short[b]}`;
    });
    return picture;
  }

  // -- tables ---------------------------------------------------------------------------------------------
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
          D.systems.map((name, at) => [
            name,
            ...D.measures.map((measure) => measure.mean[at]),
          ]),
        ),
      ),
    );
    whenOpened($("table"), (place) => {
      const columns = D.pairs.measures[0];
      const rows = D.pairs.one.map((one, at) => [
        D.systems[one],
        D.systems[D.pairs.other[at]],
        columns.difference[at],
        columns.low[at],
        columns.high[at],
        columns.p[at],
        columns.wins[at],
        D.measures[0].n - columns.wins[at] - columns.losses[at],
        columns.losses[at],
        W["badge_" + Pair.NAMES[columns.verdict[at]]],
        columns.needed[at],
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
    const board = document.querySelector(".lb");
    plots(board);
    sorting(board);
    search(board);
    chooser();
    matrix();
    tables();
  }
  return { start, open };
})();
