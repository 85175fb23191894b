"use strict";
// The page of retention.
(() => {
  const { D, W, el, fill, count, table, columnsOf, figure, on } = Page;
  const place = (name) => document.getElementById("page-" + name);
  const kinds = { age: "number", size: "number", users: "number", users_versus: "number", retained: "number", cohorts: "number", censored: "number",
    new: "number", returning: "number", login: "number", rate: "score", rate_versus: "score", low: "score", high: "score", churn: "score", mean: "score", mean_low: "score",
    mean_high: "score", difference: "signed", p: "p", p_adjusted: "p", login_to_new_ratio: "score" };
  const own = (names) => columnsOf(names.filter((name) => name !== null), kinds);
  const by = D.by === null ? [] : [{ name: D.by, label: D.by, kind: null }];
  const head = (name, ...more) => place(name).replaceChildren(el("h2", {}, W[name]), ...more.filter((part) => part !== null));
  const watched = (row) => (row.censored ? W.unknown : "");

  const charts = {
    async curve() {
      const chart = figure("curve", [{ name: "run", label: D.by ?? W.all, kind: null }, ...own(["at", "users", "cohorts", "retained", "rate", "low", "high", "mean"])]);
      head("curve", el("p", { class: "help" }, W.curve_help), chart, table([...by, ...own(["at", "cohorts", "censored", "users", "retained", "rate", "low", "high", "churn", "mean", "mean_low", "mean_high"])], D.days, { most: 40 }));
      await chart.bring(null);
    },
    async cohorts() {
      const chart = figure("heatmap", own(["cohort", "at", "size", "retained", "rate", "low", "high"]));
      const bring = (at) => chart.bring(D.heatmaps[at].rows, D.heatmaps[at].title);
      const box = el("select", { onchange: () => bring(Number(box.value)) }, ...D.heatmaps.map((one, at) => el("option", { value: at }, one.segment ?? "–")));
      const triangle = [...by, ...own(["cohort", "size", "at", "retained", "rate", "low", "high"]), { name: "censored", label: W.status, kind: null, text: watched }];
      head("cohorts", el("p", { class: "help" }, W.cohorts_help), D.by === null ? null : el("div", { class: "controls" }, el("label", {}, D.by, box)), chart,
        table(triangle, D.triangle, { filtered: () => {}, most: 30 }));
      if (D.triangle_of > D.triangle.length) place("cohorts").append(el("p", { class: "note" }, fill(W.rows, { shown: count(D.triangle.length), all: count(D.triangle_of) })));
      await bring(0);
    },
    async periods() {
      const chart = figure("periods", own(["period", "kind", "users"]));
      const complete = { name: "complete", label: W.status, kind: null, text: (row) => (row.complete ? "" : W.incomplete) };
      head("periods", el("p", { class: "help" }, W.periods_help), chart, table([...by, ...own(["period", "new", "returning", "login", "login_to_new_ratio"]), complete], D.periods, { filtered: () => {}, most: 30 }));
      await chart.bring(null);
    },
    async differences() {
      if (!D.differences.length) { place("differences").hidden = true; return; }
      head("differences", el("p", { class: "help" }, W.segments_help), table(own(["segment", "versus", "at", "users", "users_versus", "rate", "rate_versus", "difference", "low", "high", "p", "p_adjusted"]), D.differences, { filtered: () => {}, most: 60 }));
    },
    async provenance() {
      const P = D.provenance, pairs = (rows) => table(columnsOf(["name", "value"]), rows.map(([name, value]) => ({ name, value })), { most: 200 });
      head("provenance", P.command ? el("pre", {}, P.command) : null, el("ul", {}, ...P.audit.map((line) => el("li", {}, line))),
        el("h3", {}, W.inputs), pairs(P.inputs), el("h3", {}, W.conventions), pairs(P.conventions),
        el("h3", {}, W.versions), table([...columnsOf(["name"]), { name: "version", label: W.versions, kind: null }], P.versions));
    },
  };
  const show = async () => { for (const draw of Object.values(charts)) await draw(); };
  let room = window.innerWidth;
  window.addEventListener("resize", () => {
    clearTimeout(show.later);
    show.later = setTimeout(() => { if (window.innerWidth !== room) { room = window.innerWidth; show(); } }, 200);
  });
  on.print = async () => {};
  Page.drawn(show());
})();
