"use strict";
// What pages have in common: tables, charts, light and dark.  What comes from files is put on the page as text, never
// as markup.
const Page = (() => {
  const D = JSON.parse(document.getElementById("data").textContent);
  const W = D.words, main = document.getElementById("main");
  const signed = new Set(["difference", "low", "high", "lowest", "highest"]);
  const figures = {
    p: (v) => (v < 0.0001 ? "<0.0001" : v < 0.1 ? String(Number(v.toPrecision(2))) : v.toFixed(2)),
    signed: (v) => (v > 0 ? "+" : v < 0 ? "−" : "") + Math.abs(v).toFixed(D.digits),
    number: (v) => (Number.isInteger(v) ? v.toLocaleString("en") : v.toFixed(D.digits)).replace("-", "−"),
    score: (v) => v.toFixed(D.digits).replace("-", "−"),
  };
  const fill = (text, parts) => text.replace(/\{(\w+)\}/g, (_, name) => parts[name]);
  const count = (n) => n.toLocaleString("en");

  function el(tag, about = {}, ...kids) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(about)) {
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...kids.filter((kid) => kid !== null && kid !== undefined));
    return made;
  }
  function shown(value, kind) {
    if (value === null || value === undefined) return "–";
    return typeof value === "number" ? (figures[kind] || figures.number)(value) : String(value);
  }
  function say(text) {
    const place = document.getElementById("said");
    place.textContent = text;
    place.classList.add("on");
    setTimeout(() => place.classList.remove("on"), 1500);
  }
  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = el("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    say(W.copied);
  }

  // -- tables: columns say what they hold; sorted, filtered and copied by the reader ----------------
  const tex = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "−": "$-$", "–": "--",
    "●": "$\\bullet$", "▲": "$\\blacktriangle$", "▼": "$\\blacktriangledown$", "≈": "$\\approx$", "·": "$\\cdot$",
    "<": "$<$", ">": "$>$" };
  const latex = (text) => {
    let out = "";
    for (const sign of text) out += tex[sign] ?? ("&%$#_{}".includes(sign) ? "\\" + sign : sign);
    return out;
  };
  function asCsv(columns, rows) {
    const cell = (value) => {
      let text = value === null || value === undefined ? "" : String(value);
      if (typeof value === "string" && /^[=+\-@\t]/.test(text)) text = "'" + text;  // no formula for a spreadsheet
      return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    return [columns.map((c) => cell(c.label)), ...rows.map((row) => columns.map((c) => cell(row[c.name])))].map((r) => r.join(",")).join("\n") + "\n";
  }
  function asLatex(columns, rows) {
    const shape = columns.map((c) => (c.kind ? "r" : "l")).join("");
    const lines = rows.map((row) => columns.map((c) => latex(label(c, row))).join(" & ") + " \\\\");
    return [`\\begin{tabular}{${shape}}`, "\\toprule", columns.map((c) => latex(c.label)).join(" & ") + " \\\\", "\\midrule", ...lines, "\\bottomrule", "\\end{tabular}", ""].join("\n");
  }
  const label = (column, row) => (column.text ? column.text(row) : shown(row[column.name], column.kind));
  function keeps(text, columns) {
    const asked = text.trim(), condition = /^(>=|<=|>|<|=)\s*([+-]?[\d.]+)$/.exec(asked.replace("−", "-"));
    if (!asked) return () => true;
    const by = columns.find((c) => c.name === "difference") || columns.find((c) => c.kind);
    if (condition && by) {
      const bar = Number(condition[2]);
      const holds = { ">": (v) => v > bar, "<": (v) => v < bar, ">=": (v) => v >= bar, "<=": (v) => v <= bar, "=": (v) => v === bar }[condition[1]];
      return (row) => typeof row[by.name] === "number" && holds(row[by.name]);
    }
    const low = asked.toLowerCase(), texts = columns.filter((c) => !c.kind);
    return (row) => texts.some((c) => label(c, row).toLowerCase().includes(low));
  }
  function table(columns, rows, how = {}) {
    const state = { by: null, down: false, filter: how.filter || "", most: how.most || 100 };
    const body = el("tbody"), told = el("span", { class: "help", "aria-live": "polite" });
    const more = el("button", { type: "button", onclick: () => { state.most *= 5; draw(); } }, W.more);
    let kept = rows;
    function draw() {
      const test = keeps(state.filter, columns);
      kept = rows.filter(test);
      if (state.by) {
        const name = state.by.name, turn = state.down ? -1 : 1;
        kept = [...kept].sort((a, b) => {
          const [x, y] = [a[name], b[name]];
          if (x === null || x === undefined || y === null || y === undefined) return (x === y ? 0 : x === null || x === undefined ? 1 : -1);
          return turn * (typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), D.lang, { numeric: true }));
        });
      }
      body.replaceChildren(...kept.slice(0, state.most).map((row) => el("tr", {}, ...columns.map((c) => {
        const text = label(c, row), to = c.link && c.link(row);
        return el("td", { class: [c.kind ? "n" : text.length > 30 ? "long" : "", c.mark ? row[c.name] : ""].join(" ").trim() || null }, to ? el("a", { href: to }, text) : text);
      }))));
      told.textContent = fill(W.rows, { shown: count(Math.min(kept.length, state.most)), all: count(rows.length) });
      more.hidden = kept.length <= state.most;
      told.hidden = !how.filtered && more.hidden;
    }
    const heads = columns.map((c) => {
      const head = el("th", { scope: "col", class: c.kind ? "n" : null }, el("button", { type: "button", onclick: () => {
        state.down = state.by === c ? !state.down : Boolean(c.kind);
        state.by = c;
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", state.down ? "descending" : "ascending");
        draw();
      } }, c.label));
      return head;
    });
    const bar = el("div", { class: "controls tablebar" });
    if (how.filtered) {
      const box = el("input", { type: "search", placeholder: W.filter_help, "aria-label": W.filter, size: 28, oninput: () => {
        state.filter = box.value;
        draw();
        how.filtered(box.value);
      } });
      box.value = state.filter;
      bar.append(el("label", {}, W.filter, box));
    }
    bar.append(told, el("button", { type: "button", onclick: () => copy(asCsv(columns, kept)) }, W.copy_csv),
      el("button", { type: "button", onclick: () => copy(asLatex(columns, kept)) }, W.copy_latex));
    draw();
    return el("div", { class: "table" }, bar, el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ...heads)), body)), more);
  }
  const columnsOf = (names, kinds = {}) => names.map((name) => ({ name, label: W[name] || name, kind: kinds[name] || null }));

  // -- charts: specifications made beforehand, rows brought to them here ---------------------------
  const look = {
    background: null, font: "system-ui, sans-serif", view: { stroke: null }, title: { color: "currentColor", fontSize: 13, anchor: "start" },
    axis: { labelColor: "currentColor", titleColor: "currentColor", domainColor: "#8a939d", tickColor: "#8a939d", gridColor: "rgba(128,138,148,0.22)", titleFontWeight: "normal" },
    legend: { labelColor: "currentColor", titleColor: "currentColor" }, rule: { color: "currentColor" },
  };
  function width(most) {
    const room = main.clientWidth - 8;
    return Math.max(200, Math.min(most, room));
  }
  // what a page does when somebody clicks what a chart shows, and before it is printed
  const on = { datum: () => {}, print: async () => {} };
  async function draw(host, id, rows, title) {
    const chart = D.charts[id];
    if (!chart) return;
    const spec = structuredClone(chart.spec), square = id === "scatter";
    spec.datasets = { [chart.data]: rows || chart.rows };
    spec.config = look;
    spec.autosize = { type: "fit-x", contains: "padding" };
    if (title) spec.title = title;
    spec.title = { text: spec.title, limit: width(900) - 20 };
    spec.width = square ? width(480) : width(900);
    for (const layer of spec.layer || [spec]) for (const channel of ["color", "shape"]) {
      const told = layer.encoding && layer.encoding[channel];
      if (told && told.legend && told.legend.columns) told.legend.columns = Math.max(1, Math.floor(spec.width / 190));
    }
    if (spec.height && spec.height.step) spec.height = spec.height.step * Math.max(1, new Set((rows || chart.rows).map((row) => row.question)).size);
    if (square) spec.height = Math.min(380, spec.width - 60);
    try {
      const found = await window.vegaEmbed(host, spec, { ast: true, renderer: "svg", tooltip: { theme: "dark" }, downloadFileName: id,
        actions: { export: true, source: false, compiled: false, editor: false } });
      found.view.addEventListener("click", (_event, item) => { if (item && item.datum) on.datum(item.datum); });
    } catch (error) {
      host.textContent = String(error);
      throw error;
    }
  }
  function figure(id, columns) {
    const host = el("div"), data = el("div"), fold = el("details", {}, el("summary", {}, W.data), data);
    const made = el("figure", { class: "figure", "data-chart": id }, host, fold);
    made.bring = (rows, title) => {
      const own = rows || (D.charts[id] && D.charts[id].rows) || [];
      const told = id === "cloud" ? own.filter((row) => row.query_id === undefined) : own;
      fold.ontoggle = () => { if (fold.open) data.replaceChildren(table(columns, told)); };
      if (fold.open) fold.ontoggle();
      return draw(host, id, rows, title);
    };
    return made;
  }

  const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)");
  document.getElementById("theme").addEventListener("click", () => {
    root.dataset.theme = (root.dataset.theme || (dark.matches ? "dark" : "light")) === "dark" ? "light" : "dark";
  });
  document.getElementById("print").addEventListener("click", async () => {
    await on.print();
    window.print();
  });
  const drawn = (whole) => { root.dataset.ready = "yes"; Promise.resolve(whole).then(() => { root.dataset.drawn = "yes"; }); };
  return { D, W, main, el, fill, count, shown, label, table, columnsOf, width, figure, on, drawn };
})();
