// Examples: queries won and lost, and the two lists of the one that is chosen.
const Examples = (() => {
  const { D, W, el, say, several, count, shown, decimals, decimalsOf } = Page;
  const lists = () => D.lists;

  function listOf(system, id) {
    const query = lists().queries[id];
    if (!query || system >= lists().systems) return null;
    return query.ranks[system]
      .map((rank, doc) => ({ rank, doc }))
      .filter((entry) => entry.rank > 0 && entry.rank <= lists().k)
      .sort((x, y) => x.rank - y.rank || x.doc - y.doc);
  }
  function unjudged(system, id) {
    const list = listOf(system, id) || [];
    return list.filter((entry) => lists().queries[id].grades[entry.doc] === null)
      .length;
  }
  const length = (system, id) => (listOf(system, id) || []).length;
  // The colour of a grade: one hue, three steps; grades between or beyond them share a
  // step and keep their number.
  function stepOf(grade, highest) {
    if (grade <= 0) return 0;
    if (highest === 1) return 3;
    if (highest <= 3 && Number.isInteger(grade)) return grade;
    return Math.max(1, Math.min(3, Math.ceil((3 * grade) / highest)));
  }
  function chip(grade, highest) {
    if (grade === null)
      return el(
        "span",
        {
          class: "chip unjudged",
          title: W.not_judged,
          role: "img",
          "aria-label": W.not_judged,
        },
        "?",
      );
    const label = say("grade_is", { grade });
    const step = stepOf(grade, highest);
    return el(
      "span",
      {
        class: step ? `chip grade-${step}` : "chip",
        title: label,
        role: "img",
        "aria-label": label,
      },
      String(grade),
    );
  }
  const highest = () =>
    Math.max(
      1,
      ...Object.values(lists().queries).flatMap((query) =>
        query.grades.filter((grade) => grade !== null),
      ),
    );

  // -- two lists, with the rank of each document in the other -------------------------
  function movement(side, rank, there) {
    if (there === 0) return ["", W.not_there];
    if (there === rank) return ["", W.same_there];
    return [
      (side === "a" ? there > rank : there < rank) ? "rising" : "falling",
      say("rank_there", { rank: count(there) }),
    ];
  }
  function column(two, id, side, top) {
    const query = lists().queries[id];
    const list = listOf(two[side], id);
    const other = two[side === "a" ? "b" : "a"];
    const heading = el(
      "h4",
      { class: "list-heading" },
      el("i", { class: side === "b" ? "outlined" : null }),
      two.lead[side].name,
    );
    if (!list || !list.length)
      return el("div", {}, heading, el("p", { class: "small" }, W.empty_list));
    return el(
      "div",
      {},
      heading,
      el(
        "ol",
        { class: "result-list" },
        list.map(({ rank, doc }) => {
          const id = query.docs[doc];
          const about = (query.about || [])[doc] || {};
          const [way, words] = movement(side, rank, query.ranks[other][doc]);
          return el(
            "li",
            {},
            el("span", { class: "rank" }, count(rank)),
            chip(query.grades[doc], top),
            el(
              "span",
              { class: "identifier", title: id },
              about.title || id,
              about.title ? el("span", {}, id) : null,
              about.text ? el("span", { class: "excerpt" }, about.text) : null,
              about.cost || about.class
                ? el("span", {}, [about.class, about.cost].filter(Boolean).join(" · "))
                : null,
            ),
            el("span", { class: `movement ${way}` }, words),
          );
        }),
      ),
    );
  }
  function detail(two, query) {
    const { a, b } = two.lead;
    const digits = decimalsOf(query.a, query.b, query.difference);
    const held = lists().queries[query.id];
    const about = [
      query.text ? say("query_named", { id: query.id }) : null,
      query.attributes,
    ]
      .filter(Boolean)
      .join(" · ");
    const head = [
      el(
        "h3",
        { class: "query-heading" },
        query.text || say("query_named", { id: query.id }),
      ),
      about ? el("p", { class: "small" }, about) : null,
      el(
        "p",
        {},
        `${two.lead.measure.name} ${shown(query.b, digits)} → ${shown(query.a, digits)} `,
        el("b", {}, `(${shown(query.difference, digits, true)})`),
      ),
    ];
    if (!held || two.a >= lists().systems || two.b >= lists().systems)
      return [...head, el("p", { class: "note" }, W.no_list)];
    const [mine, theirs] = [listOf(two.a, query.id), listOf(two.b, query.id)];
    const shared = mine.filter((entry) =>
      theirs.some((other) => other.doc === entry.doc),
    ).length;
    const relevant = (list) =>
      list.filter((entry) => held.grades[entry.doc] > 0).length;
    const missing = [
      [a, unjudged(two.a, query.id), mine.length],
      [b, unjudged(two.b, query.id), theirs.length],
    ].filter(([, n]) => n);
    const facts = [
      el(
        "li",
        {},
        say("in_both", { count: shared, k: Math.max(mine.length, theirs.length) }),
      ),
      el(
        "li",
        {},
        say("relevant_in", {
          a: a.name,
          b: b.name,
          count_a: relevant(mine),
          count_b: relevant(theirs),
        }),
      ),
      missing.map(([system, n, k]) =>
        el("li", {}, el("b", {}, say("never_judged", { count: n, a: system.name, k }))),
      ),
      missing.length ? null : el("li", {}, W.all_judged),
    ];
    const top = highest();
    return [
      ...head,
      el("ul", { class: "why" }, facts),
      el(
        "div",
        { class: "lists" },
        column(two, query.id, "b", top),
        column(two, query.id, "a", top),
      ),
      el(
        "p",
        { class: "small grade-legend" },
        [
          [top, "legend_grade"],
          [0, "legend_zero"],
          [null, "legend_unjudged"],
        ].map(([grade, name]) =>
          el("span", { class: "key" }, chip(grade, top), W[name]),
        ),
      ),
    ];
  }

  // -- the list of queries, grouped, the greatest loss first --------------------------
  function section(two, queries) {
    const id = D.two ? "examples" : null;
    if (!lists().k)
      return el(
        "section",
        { id },
        el("h2", {}, W.examples),
        el("p", { class: "note" }, W[lists().note]),
      );
    const sign = two.lead.measure.sign;
    const most = Math.max(1e-12, ...queries.map((query) => Math.abs(query.difference)));
    const losses = queries.filter((query) => query.difference * sign < 0).reverse();
    const wins = queries.filter((query) => query.difference * sign > 0);
    const groups = [
      ["group_worse", losses, 20],
      ["group_better", wins, 20],
      ["group_equal", queries.filter((query) => query.difference === 0), 5],
    ];
    const place = el("div");
    const links = new Map();
    let current = null;
    const mark = () => {
      for (const [id, link] of links) {
        if (id === current) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      }
    };
    const open = (query) => {
      current = query.id;
      mark();
      place.replaceChildren(...detail(two, query).flat().filter(Boolean));
    };
    const item = (query) => {
      const share = (50 * Math.abs(query.difference)) / most;
      const loss = query.difference * sign < 0;
      const address = Pair.address(two, query);
      const link = el(
        "a",
        {
          href: address,
          title: query.id,
          onclick: (event) => {
            event.preventDefault();
            history.replaceState(null, "", address);
            open(query);
          },
        },
        el("span", {}, Pair.titleOf(query)),
        el(
          "span",
          { class: "spark", "aria-hidden": "true" },
          query.difference === 0
            ? null
            : el("i", {
                class: loss ? "loss" : "win",
                style: `${loss ? "right" : "left"}:50%;width:${share}%`,
              }),
        ),
        el(
          "span",
          { class: "right" },
          shown(query.difference, decimals([query.difference]), true),
        ),
      );
      links.set(query.id, link);
      return el("li", {}, link);
    };
    const side = el("div", { class: "side" });
    const box = el("input", {
      type: "search",
      placeholder: W.find_query,
      "aria-label": W.find_query,
    });
    const fill = () => {
      const wanted = box.value.trim().toLowerCase();
      links.clear();
      side.replaceChildren(
        ...groups.flatMap(([name, some, most]) => {
          const kept = wanted
            ? some.filter((query) =>
                `${query.id} ${query.text}`.toLowerCase().includes(wanted),
              )
            : some;
          if (!kept.length) return [];
          const list = el("ol", {}, kept.slice(0, most).map(item));
          const more = el(
            "button",
            {
              type: "button",
              onclick: () => {
                list.append(...kept.slice(most).map(item));
                more.remove();
                mark();
              },
            },
            say("show_all", { count: count(kept.length) }),
          );
          return [
            el(
              "h3",
              {},
              say(name, { a: two.lead.a.name }),
              el("span", {}, several("n_queries", kept.length)),
            ),
            list,
            kept.length > most ? more : null,
          ].filter(Boolean);
        }),
      );
      mark();
    };
    box.addEventListener("input", fill);
    fill();
    const first =
      [...losses, ...wins, ...queries].find((query) => lists().queries[query.id]) ||
      queries[0];
    if (first) open(first);
    const node = el(
      "section",
      { id, class: "examples" },
      el("h2", {}, W.examples),
      el("p", { class: "lede" }, say("examples_help", { k: lists().k })),
      el(
        "div",
        { class: "split" },
        el("div", { class: "screen-only" }, box, side),
        place,
      ),
    );
    node.goTo = (id) => {
      const query = queries.find((known) => known.id === id);
      if (query) {
        open(query);
        node.scrollIntoView();
      }
    };
    return node;
  }
  return { section, unjudged, length };
})();
