"use strict";
// What all pages have in common: data, elements, numbers, tables, theme, print.  What comes from files is put on the page as
// text, never as markup.
const Page = (() => {
  const D = JSON.parse(document.getElementById("data").textContent);
  const W = D.words;
  const root = document.documentElement;
  root.classList.add("js");
  const $ = (id) => document.getElementById(id);

  // -- elements -----------------------------------------------------------------------------------
  function made(node, about, kids) {
    for (const [name, value] of Object.entries(about)) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value !== null && value !== undefined && value !== false)
        node.setAttribute(name, value === true ? "" : value);
    }
    node.append(
      ...kids
        .flat(4)
        .filter((kid) => kid !== null && kid !== undefined && kid !== false),
    );
    return node;
  }
  const el = (tag, about = {}, ...kids) =>
    made(document.createElement(tag), about, kids);
  const svg = (tag, about = {}, ...kids) =>
    made(document.createElementNS("http://www.w3.org/2000/svg", tag), about, kids);

  // -- words and numbers --------------------------------------------------------------------------
  // A part is filled in, or the words that agree with it: {n:query|queries}.
  const filled = (text, parts) =>
    text.replace(
      /\{(\w+)(?::([^|{}]*)\|((?:[^{}]|\{\w+\})*))?\}/g,
      (_, part, one, other) =>
        other === undefined
          ? parts[part]
          : filled(String(parts[part]) === "1" ? one : other, parts),
    );
  const say = (name, parts = {}) => filled(W[name], parts);
  const count = (n) => n.toLocaleString("en");
  const several = (name, n, parts = {}) =>
    say(n === 1 && W[name + "_1"] ? name + "_1" : name, { ...parts, count: count(n) });
  function shown(value, digits, sign = false) {
    if (value === null || value === undefined) return "–";
    const text = Math.abs(value).toLocaleString("en", {
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    });
    if (!/[1-9]/.test(text)) return text;
    return (value < 0 ? "−" : sign ? "+" : "") + text;
  }
  // Two decimals, more where two would be equal or show 0; as the sentence at the top of the page.
  function decimals(values, ...apart) {
    const known = values.filter((value) => value !== null && value !== undefined);
    const largest = Math.max(0, ...known.map(Math.abs));
    for (
      let digits = largest < 100 ? 2 : largest < 1000 ? 1 : 0;
      digits < 6;
      digits++
    ) {
      const hides = known.some(
        (value) => value !== 0 && !/[1-9]/.test(shown(value, digits)),
      );
      const same = apart.some(
        ([one, other]) =>
          one !== null &&
          other !== null &&
          shown(one, 6) !== shown(other, 6) &&
          shown(one, digits) === shown(other, digits),
      );
      if (!hides && !same) return digits;
    }
    return 6;
  }
  // Decimals of two numbers and their difference: up to two more where the numbers shown would not add up.
  function decimalsOf(a, b, difference, low = null, high = null) {
    const least = decimals([a, b, difference, low, high], [a, b], [low, high]);
    const units = (value, digits) =>
      Math.sign(value) * Number(shown(Math.abs(value), digits).replace(/[.,]/g, ""));
    return (
      [least, least + 1, least + 2].find(
        (digits) =>
          digits <= 6 &&
          units(a, digits) - units(b, digits) === units(difference, digits),
      ) ?? least
    );
  }
  const about = (n) => count(Number(n.toPrecision(2)));
  const pValue = (p) =>
    p === null
      ? "–"
      : p < 0.0001
        ? "<0.0001"
        : p < 0.1
          ? String(Number(p.toPrecision(2)))
          : p.toFixed(2);

  // -- copying and messages -----------------------------------------------------------------------
  function tell(text) {
    const place = $("said");
    place.textContent = text;
    place.classList.add("on");
    setTimeout(() => {
      place.classList.remove("on");
      place.textContent = "";
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
    tell(W.copied);
  }
  function asCsv(columns, rows) {
    const cell = (value) => {
      let text = value === null || value === undefined ? "" : String(value);
      if (typeof value === "string" && /^[=+\-@\t]/.test(text)) text = "'" + text; // no formula for a spreadsheet
      return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    return (
      [
        columns.map((c) => cell(c.label)),
        ...rows.map((row) => columns.map((c, at) => cell(row[at]))),
      ]
        .map((r) => r.join(","))
        .join("\n") + "\n"
    );
  }

  // -- tables: columns {label, show(value)} for numbers, {label} for texts; rows are arrays -------------
  function table(columns, rows, most = 200) {
    const body = el("tbody");
    const told = el("span", { class: "small" });
    let order = rows;
    let by = null;
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
        ...order.slice(0, limit).map((row) =>
          el(
            "tr",
            {},
            columns.map((c, at) => {
              const text = c.show
                ? row[at] === null || row[at] === undefined
                  ? "–"
                  : c.show(row[at], row)
                : String(row[at] ?? "–");
              return at === 0
                ? el("th", { scope: "row", title: text }, text)
                : el("td", { class: c.show ? "r" : null }, text);
            }),
          ),
        ),
      );
      more.hidden = order.length <= limit;
      told.textContent =
        order.length > limit
          ? say("rows_of", { shown: count(limit), all: count(order.length) })
          : "";
    }
    const heads = columns.map((c, at) => {
      const head = el(
        "th",
        { scope: "col", class: c.show ? "r" : null },
        el(
          "button",
          {
            type: "button",
            class: "so",
            onclick: () => {
              down = by === at ? !down : Boolean(c.show);
              by = at;
              for (const other of heads) other.removeAttribute("aria-sort");
              head.setAttribute("aria-sort", down ? "descending" : "ascending");
              order = [...rows].sort((a, b) => compare(a[at], b[at], down));
              draw();
            },
          },
          c.label,
        ),
      );
      return head;
    });
    draw();
    return el(
      "div",
      {},
      el(
        "div",
        { class: "bar" },
        told,
        el(
          "button",
          { type: "button", onclick: () => copy(asCsv(columns, order)) },
          W.copy_csv,
        ),
      ),
      el(
        "div",
        {
          class: "scroll",
          tabindex: 0,
          role: "group",
          "aria-label": columns.map((c) => c.label).join(", "),
        },
        el("table", { class: "tb" }, el("thead", {}, el("tr", {}, heads)), body),
      ),
      more,
    );
  }
  function compare(a, b, down) {
    if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
    const way =
      typeof a === "number" && typeof b === "number"
        ? a - b
        : String(a).localeCompare(String(b), D.lang, { numeric: true });
    return down ? -way : way;
  }

  // -- folds that are filled when they are opened, and before printing ------------------------------
  const fills = new Map();
  function whenOpened(fold, fill) {
    const once = () => {
      if (fills.delete(fold)) fill(fold.querySelector(".fold"));
    };
    fills.set(fold, once);
    fold.addEventListener("toggle", () => {
      if (fold.open) once();
    });
  }
  addEventListener("beforeprint", () => {
    for (const fold of document.querySelectorAll("details:not(#table)")) {
      fills.get(fold)?.();
      fold.open = true;
    }
  });

  // -- light and dark -----------------------------------------------------------------------------
  const dark = matchMedia("(prefers-color-scheme: dark)");
  $("theme").addEventListener("click", () => {
    root.dataset.theme =
      (root.dataset.theme || (dark.matches ? "dark" : "light")) === "dark"
        ? "light"
        : "dark";
  });
  $("print").addEventListener("click", () => window.print());
  return {
    D,
    W,
    $,
    el,
    svg,
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
    whenOpened,
  };
})();
