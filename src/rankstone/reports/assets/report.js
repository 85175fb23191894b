"use strict";
// The pages of a comparison.
(() => {
  const { D, W, main, el, fill, count, shown, label, table, columnsOf, width, figure, on } = Page;

  // -- what the reader looks at: in the address, so that it can be sent --------------------------
  const first = D.questions[0];
  const state = { page: "verdict", m: D.primary[0], a: first.system, b: first.versus, q: null, f: "" };
  function address(changes = {}) {
    const { page, ...rest } = { ...state, ...changes }, parts = new URLSearchParams();
    if (page === "query") { if (rest.q !== null) parts.set("q", rest.q); }
    else if (["queries", "statistics", "verdict", "segments"].includes(page)) for (const name of ["m", "a", "b", "f"]) if (rest[name]) parts.set(name, rest[name]);
    const text = parts.toString();
    return "#" + page + (text ? "?" + text : "");
  }
  function go(changes, quietly = false) {
    Object.assign(state, changes);
    if (quietly) history.replaceState(null, "", address());
    else if (location.hash === address()) show();
    else location.hash = address();
  }
  const open = (query) => go({ page: "query", q: query });
  const measures = D.measures.map((m) => m.name), sign = Object.fromEntries(D.measures.map((m) => [m.name, m.sign]));
  function choice(name, text, values, on) {
    const box = el("select", { onchange: () => on(box.value) }, ...values.map((v) => el("option", { value: v, selected: v === state[name] }, v)));
    return el("label", {}, text, box);
  }

  // -- rows of queries for two systems and a measure ------------------------------------------------
  function differences() {
    const values = D.queries.values[state.m], one = values[D.systems.indexOf(state.a)], other = values[D.systems.indexOf(state.b)];
    const most = Math.max(...[...one, ...other].map((v) => Math.abs(v || 0)).slice(0, 50000), 0);
    const rows = [];
    D.queries.ids.forEach((query_id, at) => {
      if (one[at] === null || other[at] === null) return;
      let difference = one[at] - other[at];
      if (Math.abs(difference) <= 1e-12 * most) difference = 0;
      difference = Number(difference.toPrecision(6));
      const good = difference * sign[state.m];
      rows.push({ query_id, text: D.queries.texts[at] ?? null, value: one[at], value_versus: other[at], difference, sign: good > 0 ? "+" : good < 0 ? "−" : "0" });
    });
    rows.sort((x, y) => x.difference - y.difference);
    rows.forEach((row, at) => { row.place = at + 1; });
    return rows;
  }
  function thinned(rows, most = 1500) {
    if (rows.length <= most) return rows;
    const ends = most / 3, kept = new Set();
    for (let at = 0; at < ends; at++) kept.add(at).add(rows.length - 1 - at);
    for (let at = 0; at < ends; at++) kept.add(Math.round((at * (rows.length - 1)) / (ends - 1)));
    return [...kept].sort((x, y) => x - y).map((at) => rows[at]);
  }
  const asked = (row) => [...D.by.map((name) => row[name]), `${row.system} − ${row.versus}`].join(" · ");
  const questionRows = (rows, m) => rows.filter((row) => row.measure === m && row.difference !== null).map((row) => ({ ...row, question: asked(row) }));
  const questionColumns = (more = []) => [
    ...D.by.filter(() => more.includes("by")).map((name) => ({ name, label: name, kind: null })),
    ...columnsOf(["measure", "role", "system", "versus"]), ...columnsOf(["n"], { n: "number" }),
    ...columnsOf(["difference", "low", "high"], { difference: "signed", low: "signed", high: "signed" }),
    { name: "interval_kind", label: W.interval_kind, kind: null, text: (row) => W[row.interval_kind] },
    ...columnsOf(["p_adjusted"], { p_adjusted: "p" }), ...columnsOf(["wins", "ties", "losses"], { wins: "number", ties: "number", losses: "number" }),
    { name: "verdict", label: W.judgement, kind: null, mark: true, text: (row) => W[row.verdict] },
    ...columnsOf(["needed"], { needed: "number" })];

  // -- pages -------------------------------------------------------------------------------------------
  const forestColumns = [{ name: "question", label: W.system, kind: null }, ...columnsOf(["difference", "low", "high"], { difference: "signed", low: "signed", high: "signed" }),
    { name: "verdict", label: W.judgement, kind: null, text: (row) => W[row.verdict], mark: true }];
  const queryColumns = () => [{ name: "query_id", label: W.query_id, kind: null, link: (row) => address({ page: "query", q: row.query_id }) },
    ...(D.queries.texts.length ? [{ name: "text", label: W.text, kind: null }] : []),
    { name: "value", label: state.a, kind: "score" }, { name: "value_versus", label: state.b, kind: "score" }, { name: "difference", label: W.difference, kind: "signed" }];
  const again = (page) => (value) => (name) => go({ page, [value]: name });
  const chooseMeasure = (page) => choice("m", W.choose_measure, measures, again(page)("m"));
  const choosePair = (page) => [choice("a", W.choose_system, D.systems, again(page)("a")), choice("b", W.choose_versus, D.systems, again(page)("b"))];
  const titled = (kind) => ({ forest: `${W.differences}: ${state.m}`, pair: `${state.m}: ${state.a} − ${state.b}`, against: `${state.m}: ${state.a} / ${state.b}` })[kind];

  const pages = {
    verdict(page) {
      const chart = figure("forest", forestColumns);
      page.querySelectorAll(".made").forEach((old) => old.remove());
      page.append(el("div", { class: "made" }, el("h3", {}, W.differences), el("p", { class: "help" }, W.differences_help),
        el("div", { class: "controls" }, chooseMeasure("verdict")), chart, table(questionColumns(), D.questions, { filtered: () => {}, most: 30 })));
      return chart.bring(questionRows(D.questions, state.m), titled("forest"));
    },
    measures(page) {
      const best = {};
      for (const m of D.measures) {
        const means = D.means.filter((row) => row.measure === m.name && row.mean !== null).map((row) => row.mean * m.sign);
        best[m.name] = Math.max(...means) * m.sign;
      }
      const judged = D.judgments.judged, rows = D.systems.map((system) => {
        const mine = D.means.filter((row) => row.system === system), row = { system, runs: mine[0].runs };
        for (const one of mine) { row[one.measure] = one.mean; row[one.measure + " sd"] = one.sd; }
        if (judged) row["\u0000judged"] = mine[0].judged;
        return row;
      });
      const columns = [...columnsOf(["system"]), ...measures.map((m) => ({ name: m, label: m, kind: "score", text: (row) =>
        shown(row[m], "score") + (row[m + " sd"] === null ? "" : " ±" + shown(row[m + " sd"], "score")) + (row[m] !== null && row[m] === best[m] ? " ●" : "") }))];
      if (rows.some((row) => row.runs > 1)) columns.push(...columnsOf(["runs"], { runs: "number" }));
      if (judged && !measures.includes(judged)) columns.push({ name: "\u0000judged", label: judged, kind: "score" });
      page.replaceChildren(el("h2", {}, W.measures), el("p", { class: "help" }, W.means_help), table(columns, rows, { filtered: rows.length > 12 ? () => {} : null }));
    },
    async queries(page) {
      const rows = differences(), some = thinned(rows), bars = figure("differences", queryColumns()), dots = figure("scatter", queryColumns());
      const note = [];
      if (D.queries.n > D.queries.ids.length) note.push(fill(W.sampled, { n: count(D.queries.n), shown: count(D.queries.ids.length) }));
      if (some.length < rows.length) note.push(fill(W.thinned, { n: count(rows.length), shown: count(some.length) }));
      const columns = [...["measure", "system", "versus"].map((name) => ({ name, label: W[name], kind: null })),
        ...Object.keys(D.quantiles[0]).filter((name) => name.endsWith("%")).map((name) => ({ name, label: name, kind: "signed" }))];
      page.replaceChildren(el("h2", {}, W.queries), ...note.map((text) => el("p", { class: "note" }, text)),
        el("div", { class: "controls" }, chooseMeasure("queries"), ...choosePair("queries")), el("p", { class: "help" }, W.queries_help), bars, dots,
        table(queryColumns(), rows, { filter: state.f, filtered: (text) => go({ f: text }, true) }), el("h3", {}, W.quantiles), table(columns, D.quantiles, { most: 30 }));
      await bars.bring(some, titled("pair"));
      const chart = D.charts.scatter.spec.layer ? D.charts.scatter.spec.layer[1].encoding : D.charts.scatter.spec.encoding;
      chart.x.title = state.b;
      chart.y.title = state.a;
      await dots.bring(some, titled("against"));
    },
    query(page) {
      const known = Object.keys(D.lists.queries), box = el("select", { onchange: () => open(box.value) },
        ...(state.q !== null && !known.includes(state.q) ? [el("option", { value: state.q, selected: true }, state.q)] : []),
        ...known.map((q) => el("option", { value: q, selected: q === state.q }, q)));
      page.replaceChildren(el("h2", {}, W.query + (state.q === null ? "" : " " + state.q)));
      const asked = D.queries.texts[D.queries.ids.indexOf(state.q)];
      if (asked) page.append(el("p", { class: "asked" }, asked));
      if (D.lists.note) page.append(el("p", { class: "note" }, D.lists.note));
      else if (D.lists.of > known.length) page.append(el("p", { class: "note" }, fill(W.lists_of, { shown: count(known.length), n: count(D.lists.of) })));
      if (known.length) page.append(el("div", { class: "controls" }, el("label", {}, W.choose_query, box), ...sides()));
      if (state.q === null) return;
      page.append(scoresOf(state.q));
      const here = D.lists.queries[state.q];
      if (!here) { if (known.length) page.append(el("p", { class: "note" }, W.no_list)); return; }
      page.append(el("p", { class: "help" }, W.legend));
      const names = [left, right];
      page.append(el("div", { class: "two" }, ...names.map((name, at) => listed(here, name, names[1 - at]))));
      page.append(el("h3", {}, W.derivation), el("div", { class: "two" }, ...names.map((name) => derivation(here[name].sheet))));
    },
    async curves(page) {
      page.replaceChildren(el("h2", {}, W.curves), ...D.notes.map((text) => el("p", { class: "note" }, text)));
      const names = Object.keys(D.charts).filter((name) => name.startsWith("curve"));
      if (names.length) page.append(el("p", { class: "help" }, W.curves_help));
      const columns = [...columnsOf(["run"]), { name: "x", label: "x", kind: "number" }, { name: "mean", label: W.mean, kind: "score" },
        { name: "ci_low", label: W.low, kind: "score" }, { name: "ci_high", label: W.high, kind: "score" }];
      for (const name of names) {
        const chart = figure(name, columns);
        page.append(chart);
        await chart.bring(null);
        if (name === "curve0" && D.charts.cloud) await cloud(page, columns);
      }
    },
    segments(page) {
      const chart = figure("segments", forestColumns);
      page.replaceChildren(el("h2", {}, W.segments), el("div", { class: "controls" }, chooseMeasure("segments")), chart,
        table(questionColumns(["by"]), D.segments, { filtered: () => {} }));
      return chart.bring(questionRows(D.segments, state.m), titled("forest"));
    },
    statistics(page) {
      const spread = figure("histogram", queryColumns());
      const kinds = { difference: "signed", p: "p", p_adjusted: "p", p_t: "p", d_z: "number", g: "number", es_hsd: "number", detectable: "number" };
      const columns = [...columnsOf(["measure", "system", "versus"]), ...columnsOf(Object.keys(kinds), kinds),
        { name: "verdict", label: W.judgement, kind: null, text: (row) => W[row.verdict], mark: true }];
      page.replaceChildren(el("h2", {}, W.statistics), el("div", { class: "controls" }, chooseMeasure("statistics"), ...choosePair("statistics")),
        el("h3", {}, W.matrix), el("p", { class: "help" }, W.matrix_help), matrix(), spread, el("h3", {}, W.tests), table(columns, D.questions, { filtered: () => {}, most: 50 }));
      if (D.by_test.length) page.append(el("h3", {}, W.by_test), el("p", { class: "help" }, fill(W.by_test_help, { alpha: String(Number(D.alpha.toPrecision(6))) })), byTest());
      if (D.anova.length) page.append(el("h3", {}, W.anova), table([...columnsOf(["measure"]), { name: "f", label: "F", kind: "number" }, { name: "p", label: "p", kind: "p" },
        { name: "df", label: "df", kind: "number" }, { name: "df_error", label: "df₂", kind: "number" }, { name: "error", label: "MSE", kind: "number" }], D.anova));
      if (D.friedman.length) page.append(el("h3", {}, W.friedman), table([...columnsOf(["measure"]), { name: "chi_square", label: "χ²", kind: "number" }, { name: "p_chi_square", label: "p (χ²)", kind: "p" },
        { name: "f", label: "F", kind: "number" }, { name: "p", label: "p", kind: "p" }, { name: "df", label: "df", kind: "number" }, { name: "df_error", label: "df₂", kind: "number" }], D.friedman));
      return spread.bring(thinned(differences()), titled("pair"));
    },
    judgments(page) {
      const J = D.judgments;
      page.replaceChildren(el("h2", {}, W.judgments));
      if (!J.counts.length) { page.append(el("p", { class: "note" }, W.no_judgments)); return; }
      const cutoffs = [...new Set(J.unjudged.map((row) => row.k))].sort((x, y) => x - y);
      const rows = J.counts.map(({ run }) => ({ run, ...Object.fromEntries(J.unjudged.filter((row) => row.run === run).map((row) => ["k" + row.k, row.share])) }));
      if (cutoffs.length) page.append(el("h3", {}, W.unjudged_at), table([...columnsOf(["run"]), ...cutoffs.map((k) => ({ name: "k" + k, label: "k = " + k, kind: "score" }))], rows));
      const names = ["queries", "missing", "extra", "retrieved", "judged", "tied", "duplicates"];
      page.append(el("h3", {}, W.alignment), table([...columnsOf(["run"]), ...names.map((name) => ({ name, label: { retrieved: W.documents, queries: W.n }[name] || W[name], kind: "number" }))], J.counts));
      page.append(el("h3", {}, W.bounds), J.bounds.length ? table([...columnsOf(["measure", "system", "versus"]),
        ...columnsOf(["difference", "lowest", "highest"], { difference: "signed", lowest: "signed", highest: "signed" })], J.bounds) : el("p", { class: "help" }, W.no_bounds));
    },
    provenance(page) {
      const P = D.provenance, pairs = (rows) => table(columnsOf(["name", "value"]), rows.map(([name, value]) => ({ name, value })), { most: 200 });
      page.replaceChildren(el("h2", {}, W.provenance));
      if (P.command) page.append(el("h3", {}, W.command), el("pre", {}, P.command));
      page.append(el("h3", {}, W.inputs), table(columnsOf(["name", "source"]).concat({ name: "sha256", label: "SHA-256", kind: null }), P.inputs),
        el("h3", {}, W.alignment), el("ul", {}, ...P.audit.map((line) => el("li", {}, line))),
        el("h3", {}, W.libraries), said(),
        el("h3", {}, W.conventions), pairs(P.conventions), el("h3", {}, W.comparison), pairs(P.comparison),
        el("h3", {}, W.versions), table([...columnsOf(["name"]), { name: "version", label: W.versions, kind: null }], P.versions));
    },
  };

  // -- parts of pages ------------------------------------------------------------------------------------
  let clouded = null;
  async function cloud(page, columns) {
    const by = D.charts.cloud.by, runs = Object.keys(by), chart = figure("cloud", columns.slice(1)), help = el("p", { class: "help" });
    const bring = (run) => {
      clouded = run;
      help.textContent = fill(W.cloud_help, { shown: count(new Set(by[run].map((row) => row.query_id).filter((id) => id !== undefined)).size) });
      return chart.bring(by[run], `${run}: ${D.charts.curve0.spec.title}`);
    };
    const box = el("select", { onchange: () => bring(box.value) }, ...runs.map((run) => el("option", { value: run, selected: run === clouded }, run)));
    page.append(el("div", { class: "controls" }, el("label", {}, W.choose_system, box)), help, chart);
    await bring(clouded ?? runs[0]);
  }
  function byTest() {
    const tests = Object.keys(D.by_test[0]).filter((name) => !["measure", "system", "versus", "agree"].includes(name) && D.by_test.some((row) => row[name] !== null));
    return table([...columnsOf(["measure", "system", "versus"]), ...columnsOf(tests, Object.fromEntries(tests.map((name) => [name, "p"]))),
      { name: "agree", label: W.agree, kind: null, text: (row) => (row.agree ? "=" : "≠") }], D.by_test, { filtered: () => {}, most: 30 });
  }
  function said() {
    const L = D.libraries;
    if (L.note) return el("p", { class: "note" }, L.note);
    const columns = [...columnsOf(["measure"]), { name: "means", label: W.means_so, kind: null }, { name: "one", label: L.systems[0], kind: "score" }, { name: "other", label: L.systems[1], kind: "score" },
      { name: "difference", label: W.difference, kind: "signed", text: (row) => shown(row.difference, "signed") + (row.turned ? " ⇄" : "") }, { name: "libraries", label: W.named, kind: null }];
    return el("div", {}, el("p", { class: "help" }, W.libraries_help), table(columns, L.rows, { filtered: () => {}, most: 30 }));
  }
  let [left, right] = D.lists.systems;
  function sides() {
    const side = (name, on) => {
      const box = el("select", { onchange: () => { on(box.value); show(); } }, ...D.lists.systems.map((s) => el("option", { value: s, selected: s === name }, s)));
      return el("label", {}, W.system, box);
    };
    return D.lists.systems.length > 2 ? [side(left, (s) => { left = s; }), side(right, (s) => { right = s; })] : [];
  }
  function scoresOf(query) {
    const at = D.queries.ids.indexOf(query);
    if (at < 0) return el("p", { class: "note" }, W.no_list);
    const rows = D.systems.map((system, place) => ({ system, ...Object.fromEntries(measures.map((m) => [m, D.queries.values[m][place][at]])) }));
    return table([...columnsOf(["system"]), ...measures.map((m) => ({ name: m, label: m, kind: "score" }))], rows);
  }
  function chip(relevance, judged) {
    if (!judged || relevance === null) return el("span", { class: "chip unknown", title: W.unjudged }, "?");
    return el("span", { class: relevance > 0 ? "chip yes" : "chip no" }, String(Number(relevance.toFixed(2))));
  }
  function listed(here, name, other) {
    const mine = here[name], ranks = new Map(Object.entries(here[other].ranks));
    const rows = mine.rows.map(([rank, doc, relevance, judged, adds]) => {
      const there = ranks.get(doc), moved = there === undefined ? W.absent : there === rank ? "=" : (there > rank ? "▲ " : "▼ ") + there;
      return el("tr", {}, el("td", { class: "n" }, String(rank)), el("td", { class: "long" }, doc), el("td", {}, chip(relevance, judged)),
        el("td", { class: "n" }, adds === null ? "" : shown(adds, "score")), el("td", { class: there === undefined || there === rank ? "help" : null }, moved));
    });
    const heads = [W.rank, W.document, W.relevance, W.contribution, W.moved];
    return el("div", { class: "list" }, el("h3", {}, `${name} · ${D.lists.measure} = ${shown(mine.value, "score")}`),
      el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ...heads.map((text, at) => el("th", { class: at % 3 === 0 ? "n" : null }, text)))), el("tbody", {}, ...rows))),
      mine.retrieved > mine.rows.length ? el("p", { class: "help" }, fill(W.retrieved, { shown: mine.rows.length, n: count(mine.retrieved) })) : null);
  }
  function derivation(sheet) {
    const parts = sheet.parts.map((part) => {
      if (part.lines) return el("div", {}, el("h4", {}, part.title), el("ul", {}, ...part.lines.map((line) => el("li", {}, line))));
      const kind = part.numeric.map((numeric) => (numeric ? "n" : null)), last = part.rows.length - part.total;
      return el("div", {}, el("h4", {}, part.title), el("div", { class: "scroll" }, el("table", {},
        el("thead", {}, el("tr", {}, ...part.head.map((text, at) => el("th", { class: kind[at] }, text)))),
        el("tbody", {}, ...part.rows.map((row, place) => el("tr", { class: place >= last ? "sum" : null }, ...row.map((text, at) => el("td", { class: kind[at] }, text))))))));
    });
    return el("div", { class: "derivation" }, el("p", {}, sheet.title), ...[sheet.formula, sheet.symbols].filter(Boolean).map((text) => el("p", { class: "formula" }, text)), ...parts);
  }
  function matrix() {
    const marks = { better: "▲", higher: "▲", worse: "▼", lower: "▼", equivalent: "≈", identical: "=", inconclusive: "·" };
    const turned = { better: "worse", worse: "better", higher: "lower", lower: "higher" }, cells = new Map();
    for (const row of D.questions.filter((one) => one.measure === state.m)) {
      cells.set(row.system + "\u0000" + row.versus, [row.verdict, row.p_adjusted]);
      cells.set(row.versus + "\u0000" + row.system, [turned[row.verdict] || row.verdict, row.p_adjusted]);
    }
    const body = D.systems.map((one) => el("tr", {}, el("th", { scope: "row" }, one), ...D.systems.map((other) => {
      const cell = cells.get(one + "\u0000" + other);
      return el("td", { class: cell ? "n " + cell[0] : "n", title: cell ? `${one} − ${other}: ${W[cell[0]]}` : null }, cell ? `${marks[cell[0]]} ${shown(cell[1], "p")}` : "");
    })));
    return el("div", { class: "scroll matrix" }, el("table", {}, el("thead", {}, el("tr", {}, el("th", {}), ...D.systems.map((name) => el("th", { scope: "col" }, name)))), el("tbody", {}, ...body)));
  }

  // -- pages in their place, tabs, the address ----------------------------------------------------------
  const names = Object.keys(pages).filter((name) => name !== "segments" || D.segments);
  const tabs = document.getElementById("tabs"), drawn = {};
  for (const name of names) {
    if (name !== "verdict") main.append(el("section", { id: "page-" + name, role: "tabpanel", "aria-label": W[name], hidden: true }));
    tabs.append(el("button", { type: "button", role: "tab", id: "tab-" + name, "aria-controls": "page-" + name, onclick: () => go({ page: name }) }, W[name]));
  }
  tabs.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key], at = names.indexOf(state.page);
    const to = step ? names[(at + step + names.length) % names.length] : { Home: names[0], End: names[names.length - 1] }[event.key];
    if (!to) return;
    event.preventDefault();
    go({ page: to });
    document.getElementById("tab-" + to).focus();
  });
  function fresh(name) {
    const key = JSON.stringify([state.m, state.a, state.b, name === "query" ? [state.q, left, right] : 0, Math.round(width(900) / 40)]);
    if (drawn[name] === key) return null;
    drawn[name] = key;
    return pages[name](document.getElementById("page-" + name));
  }
  function show() {
    for (const name of names) {
      const here = name === state.page, tab = document.getElementById("tab-" + name);
      document.getElementById("page-" + name).hidden = !here;
      tab.setAttribute("aria-selected", String(here));
      tab.tabIndex = here ? 0 : -1;
      if (here) tab.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
    return fresh(state.page);
  }
  function read() {
    const [page, text] = location.hash.slice(1).split("?"), parts = new URLSearchParams(text || "");
    state.page = names.includes(page) ? page : "verdict";
    if (measures.includes(parts.get("m"))) state.m = parts.get("m");
    for (const name of ["a", "b"]) if (D.systems.includes(parts.get(name))) state[name] = parts.get(name);
    if (parts.has("f")) state.f = parts.get("f");
    if (parts.has("q")) state.q = parts.get("q");
    if (state.q === null) state.q = Object.keys(D.lists.queries)[0] ?? null;
    return show();
  }
  window.addEventListener("hashchange", () => { read(); window.scrollTo(0, 0); });
  window.addEventListener("resize", () => { clearTimeout(read.later); read.later = setTimeout(show, 150); });
  on.datum = (datum) => { if (datum.query_id !== undefined) open(datum.query_id); };
  on.print = async () => { for (const name of names) await fresh(name); };
  Page.drawn(read());
})();
