"use strict";
// What all pages have in common: data, elements, numbers, tables, theme, print.
// What comes from files is put on the page as text, never as markup.
const Page = (() => {
  // D: the data of the page; W: its words, by name; $: an element, by id
  const D = JSON.parse(document.getElementById("data").textContent);
  const W = D.words;
  const root = document.documentElement;
  root.classList.add("scripted");
  const $ = (id) => document.getElementById(id);

  // -- elements -----------------------------------------------------------------------
  const SVG = "http://www.w3.org/2000/svg";
  const isMissing = (value) => value === null || value === undefined;
  const isLeftOut = (value) => isMissing(value) || value === false;
  function assemble(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (!isLeftOut(value)) node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.flat(4).filter((child) => !isLeftOut(child)));
    return node;
  }
  const el = (tag, attributes = {}, ...children) =>
    assemble(document.createElement(tag), attributes, children);
  const svg = (tag, attributes = {}, ...children) =>
    assemble(document.createElementNS(SVG, tag), attributes, children);

  // A part of the page that scrolls sideways by itself, by keyboard, too.
  const scrollable = (label, child) =>
    el(
      "div",
      { class: "scroll", tabindex: 0, role: "group", "aria-label": label },
      child,
    );

  // -- words and numbers --------------------------------------------------------------
  // A part is filled in, or the words that agree with it: {n:query|queries}.
  const filled = (text, parts) =>
    text.replace(
      /\{(\w+)(?::([^|{}]*)\|((?:[^{}]|\{\w+\})*))?\}/g,
      (_, part, single, plural) => {
        if (plural === undefined) return parts[part];
        return filled(String(parts[part]) === "1" ? single : plural, parts);
      },
    );
  const say = (name, parts = {}) => filled(W[name], parts);
  const count = (n) => n.toLocaleString("en");
  const several = (name, n, parts = {}) =>
    say(n === 1 && W[name + "_1"] ? name + "_1" : name, { ...parts, count: count(n) });
  function shown(value, digits, sign = false) {
    if (isMissing(value)) return "–";
    const text = Math.abs(value).toLocaleString("en", {
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    });
    if (!/[1-9]/.test(text)) return text;
    if (value < 0) return "−" + text;
    return sign ? "+" + text : text;
  }
  function leastDecimals(values) {
    const largest = Math.max(0, ...values.map(Math.abs));
    if (largest < 100) return 2;
    return largest < 1000 ? 1 : 0;
  }
  // Two decimals, more where two would be equal or show 0; as the sentence at the top
  // of the page.
  function decimals(values, ...apart) {
    const known = values.filter((value) => !isMissing(value));
    for (let digits = leastDecimals(known); digits < 6; digits++) {
      const hides = known.some(
        (value) => value !== 0 && !/[1-9]/.test(shown(value, digits)),
      );
      const same = apart.some(
        ([a, b]) =>
          a !== null &&
          b !== null &&
          shown(a, 6) !== shown(b, 6) &&
          shown(a, digits) === shown(b, digits),
      );
      if (!hides && !same) return digits;
    }
    return 6;
  }
  // Decimals of two numbers and their difference: up to two more where the numbers
  // shown would not add up.
  function decimalsOf(a, b, difference, low = null, high = null) {
    const least = decimals([a, b, difference, low, high], [a, b], [low, high]);
    const units = (value, digits) =>
      Math.sign(value) * Number(shown(Math.abs(value), digits).replace(/[.,]/g, ""));
    const addsUp = (digits) =>
      digits <= 6 && units(a, digits) - units(b, digits) === units(difference, digits);
    return [least, least + 1, least + 2].find(addsUp) ?? least;
  }
  const about = (n) => count(Number(n.toPrecision(2)));
  function pValue(p) {
    if (p === null) return "–";
    if (p < 0.0001) return "<0.0001";
    return p < 0.1 ? String(Number(p.toPrecision(2))) : p.toFixed(2);
  }

  // -- copying and messages -----------------------------------------------------------
  function announce(text) {
    const status = $("status");
    status.textContent = text;
    status.classList.add("shown");
    setTimeout(() => {
      status.classList.remove("shown");
      status.textContent = "";
    }, 1500);
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
    announce(W.copied);
  }
  function asCsv(columns, rows) {
    const cell = (value) => {
      let text = isMissing(value) ? "" : String(value);
      // no formula for a spreadsheet
      if (typeof value === "string" && /^[=+\-@\t]/.test(text)) text = "'" + text;
      return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    const lines = [
      columns.map((column) => cell(column.label)),
      ...rows.map((row) => columns.map((_, index) => cell(row[index]))),
    ];
    return lines.map((line) => line.join(",") + "\n").join("");
  }

  // -- tables: columns {label, show(value)} of numbers, {label} of texts; rows are arrays
  function cellText(column, value, row) {
    if (!column.show) return String(value ?? "–");
    return isMissing(value) ? "–" : column.show(value, row);
  }
  function bodyRow(columns, row) {
    return el(
      "tr",
      {},
      columns.map((column, index) => {
        const text = cellText(column, row[index], row);
        return index === 0
          ? el("th", { scope: "row", title: text }, text)
          : el("td", { class: column.show ? "right" : null }, text);
      }),
    );
  }
  function table(columns, rows, most = 200) {
    const body = el("tbody");
    const counter = el("span", { class: "small" });
    let order = rows;
    let sortedBy = null;
    let down = false;
    let limit = most;
    const more = el(
      "button",
      {
        type: "button",
        onclick: () => {
          limit *= 5;
          draw();
        },
      },
      W.more,
    );
    function draw() {
      body.replaceChildren(
        ...order.slice(0, limit).map((row) => bodyRow(columns, row)),
      );
      more.hidden = order.length <= limit;
      counter.textContent =
        order.length > limit
          ? say("rows_of", { shown: count(limit), all: count(order.length) })
          : "";
    }
    function sortBy(index) {
      down = sortedBy === index ? !down : Boolean(columns[index].show);
      sortedBy = index;
      markSorted(heads, heads[index], down);
      order = [...rows].sort((a, b) => compare(a[index], b[index], down));
      draw();
    }
    const heads = columns.map((column, index) =>
      el(
        "th",
        { scope: "col", class: column.show ? "right" : null },
        el(
          "button",
          { type: "button", class: "sort-button", onclick: () => sortBy(index) },
          column.label,
        ),
      ),
    );
    draw();
    return el(
      "div",
      {},
      el(
        "div",
        { class: "toolbar" },
        counter,
        el(
          "button",
          { type: "button", onclick: () => copy(asCsv(columns, order)) },
          W.copy_csv,
        ),
      ),
      scrollable(
        columns.map((column) => column.label).join(", "),
        el(
          "table",
          { class: "data-table" },
          el("thead", {}, el("tr", {}, heads)),
          body,
        ),
      ),
      more,
    );
  }
  function markSorted(heads, head, down) {
    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
  }
  // Missing values come last, whichever way the others are sorted.
  function compare(a, b, down) {
    if (a === null && b === null) return 0;
    if (a === null) return 1;
    if (b === null) return -1;
    const numeric = typeof a === "number" && typeof b === "number";
    const order = numeric
      ? a - b
      : String(a).localeCompare(String(b), D.lang, { numeric: true });
    return down ? -order : order;
  }

  // -- folds that are filled when they are opened, and before printing ----------------
  const fills = new Map();
  function whenOpened(fold, fill) {
    const fillOnce = () => {
      if (fills.delete(fold)) fill(fold.querySelector(".fold"));
    };
    fills.set(fold, fillOnce);
    fold.addEventListener("toggle", () => {
      if (fold.open) fillOnce();
    });
  }
  addEventListener("beforeprint", () => {
    for (const fold of document.querySelectorAll("details:not(#table)")) {
      fills.get(fold)?.();
      fold.open = true;
    }
  });

  // -- light and dark -----------------------------------------------------------------
  const dark = matchMedia("(prefers-color-scheme: dark)");
  $("theme").addEventListener("click", () => {
    const theme = root.dataset.theme || (dark.matches ? "dark" : "light");
    root.dataset.theme = theme === "dark" ? "light" : "dark";
  });
  $("print").addEventListener("click", () => window.print());
  return {
    D,
    W,
    $,
    el,
    svg,
    scrollable,
    say,
    several,
    count,
    shown,
    decimals,
    decimalsOf,
    about,
    pValue,
    table,
    compare,
    markSorted,
    whenOpened,
  };
})();
