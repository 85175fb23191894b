// Charts as SVG: x in per cent of the width, y in pixels, so that text keeps its size.
const Draw = (() => {
  const { svg, shown } = Page;

  // Round steps for about so many ticks.
  function step(low, high, ticks) {
    const raw = (high - low) / ticks || 1;
    const power = 10 ** Math.floor(Math.log10(raw));
    return power * [1, 2, 2.5, 5, 10].find((factor) => factor * power >= raw * 0.999);
  }
  function ticksOf(low, high, by) {
    const ticks = [];
    for (let n = Math.ceil(low / by - 1e-9); n <= high / by + 1e-9; n++)
      ticks.push(n * by);
    return ticks;
  }
  // Decimals that tell steps apart: one more for steps of 2.5.
  function digitsOf(by) {
    const power = Math.floor(Math.log10(by) + 1e-9);
    const isHalf = Math.abs(by / 10 ** power - 2.5) < 1e-6;
    return Math.max(0, Math.min(6, -power + (isHalf ? 1 : 0)));
  }

  // The scale of a measure: its own range, or that of the numbers with 0 in it; a
  // little room at both ends.
  function scale(bounds, values, room = 0.015) {
    const known = values.filter((value) => value !== null && value !== undefined);
    let [low, high] = bounds || [Math.min(0, ...known), Math.max(0, ...known)];
    if (!(high > low)) high = low + 1;
    const by = step(low, high, 5);
    if (!bounds) {
      low = Math.floor(low / by + 1e-9) * by;
      high = Math.ceil(high / by - 1e-9) * by;
    }
    return spread(low, high, by, room);
  }
  function spread(low, high, by, room) {
    const pad = (high - low) * room;
    const from = low - pad;
    const wide = high - low + 2 * pad;
    return {
      low,
      high,
      by,
      from,
      to: from + wide,
      position: (value) => (100 * (value - from)) / wide,
      ticks: ticksOf(low, high, by),
      digits: digitsOf(by),
    };
  }
  const mark = (tick, digits, sign = false) =>
    shown(tick, digits, sign)
      .replace(/(\.\d*?)0+$/, "$1")
      .replace(/\.$/, "");
  const pct = (x) => x.toFixed(2) + "%";
  // How a text is anchored that would leave the picture within so many per cent of its
  // edges.
  function anchor(x, room = 12) {
    if (x < room) return "start";
    return x > 100 - room ? "end" : "middle";
  }
  const text = (x, y, words, attributes = {}) =>
    svg(
      "text",
      {
        x: typeof x === "number" ? pct(x) : x,
        y,
        "text-anchor": "middle",
        ...attributes,
      },
      words,
    );
  const across = (scale, low, high, y, kind) =>
    svg("line", {
      class: kind,
      x1: pct(scale.position(low)),
      x2: pct(scale.position(high)),
      y1: y,
      y2: y,
    });
  const upright = (x, y1, y2, kind) =>
    svg("line", { class: kind, x1: pct(x), x2: pct(x), y1, y2 });
  const dot = (x, y, kind, r = 6.5) =>
    svg("circle", { class: kind, cx: pct(x), cy: y, r });
  const diamond = (x, y, kind, r = 8) =>
    svg(
      "svg",
      { x: pct(x), y, overflow: "visible" },
      svg("path", { class: kind, d: `M0-${r} ${r} 0 0 ${r}-${r} 0z` }),
    );
  function numbers(scale, y) {
    const anchors = scale.ticks.map(() => "middle");
    if (anchors.length) anchors[anchors.length - 1] = "end";
    if (anchors.length) anchors[0] = "start";
    return scale.ticks.map((tick, index) =>
      text(scale.position(tick), y, mark(tick, scale.digits), {
        "text-anchor": anchors[index],
      }),
    );
  }
  const grid = (scale, y1, y2) =>
    scale.ticks.map((tick) => upright(scale.position(tick), y1, y2, "grid"));
  // A line across at a tick, with its number at the left; 0 is drawn as the axis.
  const lineAt = (tick, by, y, left, right, words) => [
    svg("line", {
      class: Math.abs(tick) < by / 2 ? "axis" : "grid",
      x1: pct(left),
      x2: right,
      y1: y,
      y2: y,
    }),
    text(left, y + 4, words, { dx: -8, "text-anchor": "end" }),
  ];
  // A drawing of 1000 units across, stretched over its part of the picture.
  const stretched = (left, wide, height, attributes, ...children) =>
    svg(
      "svg",
      {
        x: pct(left),
        y: 0,
        width: pct(wide),
        height,
        viewBox: `0 0 1000 ${height}`,
        preserveAspectRatio: "none",
        ...attributes,
      },
      ...children,
    );
  const chart = (height, label, ...children) =>
    svg(
      "svg",
      {
        class: "chart",
        height,
        ...(label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" }),
      },
      ...children,
    );

  const DOTS = {
    better: "candidate",
    higher: "candidate",
    worse: "loss",
    lower: "loss",
  };

  // The ends of an interval: beside it, or below it where there is no room.
  function intervalEnds(left, right, low, high, narrow) {
    const edge = narrow ? 14 : 6;
    const label = (x, y, words, anchor, dx = null) =>
      text(x, y, words, { class: "label", dx, "text-anchor": anchor });
    return [
      left > edge ? label(left, 201, low, "end", -8) : label(left, 214, low, "start"),
      right < 100 - edge
        ? label(right, 201, high, "start", 8)
        : label(right, 214, high, "end"),
    ];
  }
  // The means of two systems, and below them the difference on an axis of its own, its
  // 0 under the baseline.
  function pair(plot) {
    const { measure, a, b, difference: d, narrow } = plot;
    const own = scale(measure.bounds, [a.mean, a.low, a.high, b.mean, b.low, b.high]);
    const margins = plot.margin ? [plot.margin, -plot.margin] : [plot.margin];
    const reach = [d.value, d.low, d.high, ...margins].filter(
      (value) => value !== null && value !== undefined,
    );
    const room = 0.14 * (own.high - own.low);
    const zero = plot.ranks ? 0 : b.mean;
    const ends = plot.ranks
      ? [Math.min(...reach, -room), Math.max(...reach, room)]
      : [
          Math.min(own.low, zero + Math.min(...reach), zero - room),
          Math.max(own.high, zero + Math.max(...reach), zero + room),
        ];
    const by = plot.ranks ? step(ends[0], ends[1], 5) : own.by;
    const lower = spread(ends[0], ends[1], by, 0.015);
    const upper = plot.ranks ? own : { ...own, position: lower.position };
    const x = (value) => lower.position(zero + value);
    const xa = upper.position(a.mean);
    const xb = upper.position(b.mean);
    const xd = x(d.value);
    const name = (system, place, y) =>
      text(place, y, `${system.name} ${shown(system.mean, plot.digits)}`, {
        class: "label-strong",
        "text-anchor": anchor(place, narrow ? 33 : 12),
      });
    const kind = DOTS[d.verdict] || "neutral";
    const open = d.verdict === "inconclusive";
    const marks = ticksOf(ends[0] - zero, ends[1] - zero, by);
    const parts = [
      grid(upper, 0, 112),
      across(upper, own.low, own.high, 112, "axis"),
      numbers(upper, 130),
      plot.ranks
        ? upright(x(0), 186, 222, "guide")
        : [upright(xb, 38, 222, "guide"), upright(xa, 86, 196, "guide")],
      plot.margin
        ? svg("rect", {
            x: pct(x(-plot.margin)),
            width: pct(x(plot.margin) - x(-plot.margin)),
            y: 182,
            height: 40,
            fill: "var(--open)",
          })
        : null,
      b.low !== undefined
        ? across(upper, b.low, b.high, 38, "baseline interval")
        : null,
      dot(xb, 38, "baseline hollow"),
      name(b, xb, 22),
      a.low !== undefined
        ? across(upper, a.low, a.high, 86, "candidate interval")
        : null,
      dot(xa, 86, "candidate"),
      name(a, xa, 70),
    ];
    if (d.low !== null) {
      const [xl, xh] = [x(d.low), x(d.high)];
      const ends = [shown(d.low, plot.digits, true), shown(d.high, plot.digits, true)];
      parts.push(
        across(lower, zero + d.low, zero + d.high, 196, `${kind} interval`),
        intervalEnds(xl, xh, ...ends, narrow),
      );
    }
    parts.push(
      diamond(xd, 196, open ? `${kind} hollow` : kind),
      text(xd, 178, `${plot.words.difference} ${shown(d.value, plot.digits, true)}`, {
        class: "label-strong",
        "text-anchor": anchor(xd),
      }),
      across(lower, ends[0], ends[1], 222, "axis"),
      marks.map((value) => [
        upright(x(value), 222, 227, "axis"),
        text(x(value), 242, mark(value, digitsOf(by), true), {
          "text-anchor": anchor(x(value), 4),
        }),
      ]),
      sides(x(0), 264, plot.words, narrow),
    );
    return chart(narrow || x(0) < 16 || x(0) > 84 ? 294 : 276, plot.label, ...parts);
  }
  // Which side is whose, below an axis; both at one side of 0 where there is no room at
  // the other.
  function sides(zero, y, words, narrow) {
    const [left, right] = [`← ${words.left}`, `${words.right} →`];
    const start = { "text-anchor": "start" };
    const end = { "text-anchor": "end" };
    if (narrow) return [text("0", y, left, start), text("100%", y + 18, right, end)];
    if (zero < 16)
      return [
        text("0", y, left, { ...start, dx: 0 }),
        text(zero, y + 18, right, { ...start, dx: 14 }),
      ];
    if (zero < 30)
      return [
        text(zero, y, left, { ...end, dx: -6 }),
        text(zero, y, right, { ...start, dx: 14 }),
      ];
    if (zero > 84)
      return [
        text(zero, y, left, { ...end, dx: -14 }),
        text("100%", y + 18, right, { ...end, dx: 0 }),
      ];
    return [
      text(zero, y, left, { ...end, dx: -14 }),
      text(zero, y, right, { ...start, dx: zero > 70 ? 6 : 14 }),
    ];
  }

  // Differences of queries in order, the best left: a bar each, or a curve of very
  // many.
  function strip(plot) {
    const { values, narrow } = plot;
    const height = 220;
    const left = narrow ? 13 : 6;
    const room = 100 - left;
    const wide = plot.curve ? room : Math.min(room, 5 * values.length);
    const high = Math.max(0, ...values);
    const low = Math.min(0, ...values);
    const by = step(low, high, 4);
    const top = Math.max(high, by * 0.4);
    const bottom = Math.min(low, -by * 0.4);
    const y = (value) => 20 + ((height - 40) * (top - value)) / (top - bottom);
    const levels = ticksOf(bottom, top, by).map((tick) =>
      lineAt(tick, by, y(tick), left, "100%", mark(tick, digitsOf(by), true)),
    );
    return chart(
      height,
      plot.label,
      levels,
      plot.curve
        ? stripCurve(plot, y, left, wide, height)
        : stripBars(plot, y, left, wide),
      stripLabels(plot, y, left, wide, high, low),
    );
  }
  function stripCurve(plot, y, left, wide, height) {
    const { values } = plot;
    const zero = y(0);
    const points = values.map((value, index) => [
      (1000 * (index + 0.5)) / values.length,
      y(value),
    ]);
    function area(isShaded, kind) {
      const edge = points.map(([x, height], index) => {
        const shaded = isShaded(values[index]) ? height : zero;
        return `L${x.toFixed(1)} ${shaded.toFixed(1)}`;
      });
      return svg("path", {
        class: `${kind} area`,
        d: `M0 ${zero}${edge.join("")}L1000 ${zero}z`,
      });
    }
    const curve = points.map(([x, height]) => `${x.toFixed(1)} ${height.toFixed(1)}`);
    return stretched(
      left,
      wide,
      height,
      {},
      area((value) => value * plot.sign > 0, "candidate"),
      area((value) => value * plot.sign < 0, "loss"),
      svg("path", { class: "neutral line", d: "M" + curve.join("L") }),
    );
  }
  function stripBars(plot, y, left, wide) {
    const { values } = plot;
    const each = wide / values.length;
    const gap = values.length > 200 ? 0 : each * 0.22;
    const bar = (value, index) =>
      svg(
        "rect",
        {
          class: value * plot.sign > 0 ? "candidate" : "loss",
          x: pct(left + index * each + gap / 2),
          width: pct(each - gap),
          y: Math.min(y(value), y(0)),
          height: Math.max(1, Math.abs(y(value) - y(0))),
          "data-index": index,
        },
        svg("title", {}, plot.names[index]),
      );
    return svg(
      "g",
      { class: "bars" },
      values.map((value, index) => (value === 0 ? null : bar(value, index))),
    );
  }
  // How many queries are won, equal and lost, each over its part of the strip, or
  // beside it where that is small.
  function stripLabels(plot, y, left, wide, high, low) {
    const { words } = plot;
    const right = left + wide;
    const [wins, equal, losses] = plot.counts;
    const total = wins + equal + losses;
    const won = left + (wide * wins) / total;
    const lost = right - (wide * losses) / total;
    const small = plot.narrow ? 24 : 12;
    const start = { "text-anchor": "start" };
    const end = { "text-anchor": "end" };
    function ofLosses() {
      if (right - lost >= small)
        return text((lost + right) / 2, y(0) - 6, words.losses);
      if (right < 30) return text(lost, y(low) + 15, words.losses, start);
      return text(right, y(low) + 15, words.losses, end);
    }
    const ofWins = () =>
      won - left < small
        ? text(left, y(high) - 6, words.wins, start)
        : text((left + won) / 2, y(0) + 16, words.wins);
    return [
      wins ? ofWins() : null,
      losses ? ofLosses() : null,
      equal && lost - won > small
        ? text((won + lost) / 2, y(0) + 16, words.equal)
        : null,
    ];
  }

  // One row of a measure: both systems on its scale.
  function row(scale, a, b, height = 44) {
    return chart(
      height,
      null,
      grid(scale, 0, height),
      b.low !== undefined
        ? across(scale, b.low, b.high, 15, "baseline interval")
        : null,
      dot(scale.position(b.mean), 15, "baseline hollow", 5),
      a.low !== undefined
        ? across(scale, a.low, a.high, 29, "candidate interval")
        : null,
      dot(scale.position(a.mean), 29, "candidate", 5),
    );
  }
  // A mean with its interval; perhaps a band behind it.
  function mean(scale, estimate, height, kind, band) {
    const y = height / 2;
    const small = height < 24;
    return chart(
      height,
      null,
      band
        ? svg("rect", {
            x: pct(scale.position(band[0])),
            width: pct(scale.position(band[1]) - scale.position(band[0])),
            y: -1,
            height: height + 2,
            fill: "var(--soft)",
          })
        : null,
      grid(scale, 0, height),
      estimate.low !== undefined && estimate.low !== null
        ? svg("line", {
            class: `${kind} interval`,
            style: `stroke-width:${small ? 2 : 3}`,
            x1: pct(scale.position(estimate.low)),
            x2: pct(scale.position(estimate.high)),
            y1: y,
            y2: y,
          })
        : null,
      dot(scale.position(estimate.mean), y, kind, small ? 3.5 : 5),
    );
  }
  // A bar from 0, with its interval.
  function bar(scale, estimate, height, kind) {
    const y = height / 2;
    const from = Math.min(0, estimate.value);
    const to = Math.max(0, estimate.value);
    return chart(
      height,
      null,
      grid(scale, 0, height),
      svg(
        "g",
        { class: "bars" },
        svg("rect", {
          class: kind,
          x: pct(scale.position(from)),
          width: pct(scale.position(to) - scale.position(from)),
          y: y - 8,
          height: 16,
        }),
      ),
      upright(scale.position(0), 0, height, "axis"),
      svg("line", {
        class: "neutral interval",
        style: "stroke-width:1.5",
        x1: pct(scale.position(estimate.low)),
        x2: pct(scale.position(estimate.high)),
        y1: y,
        y2: y,
      }),
    );
  }
  // Ranges in order, each with a mark inside it: worst, median and best of many.
  function ranges(plot) {
    const height = 260;
    const left = plot.narrow ? 12 : 6;
    const isShare = plot.rows.every((row) => row.low >= 0 && row.high <= 1);
    const values = plot.rows.flatMap((row) => [row.low, row.high]);
    const vertical = scale(isShare ? [0, 1] : null, values, 0);
    const each = (98 - left) / plot.rows.length;
    const y = (value) => height - 20 - riseOf(vertical, value, height - 40);
    const levels = vertical.ticks.map((tick) =>
      lineAt(tick, vertical.by, y(tick), left, "98%", mark(tick, vertical.digits)),
    );
    const radius = Math.max(1.5, Math.min(4, 300 / plot.rows.length));
    const lines = plot.rows.map((row, index) => {
      const x = left + (index + 0.5) * each;
      return svg(
        "g",
        {},
        svg("line", {
          class: "baseline interval",
          style: `stroke-width:${Math.min(3, radius)}`,
          x1: pct(x),
          x2: pct(x),
          y1: y(row.low),
          y2: y(row.high),
        }),
        dot(x, y(row.middle), "candidate", radius),
        svg("title", {}, row.name),
      );
    });
    return chart(height, plot.label, levels, lines);
  }
  // How far a value lies above the lower end of a scale that is so many pixels high.
  const riseOf = (scale, value, height) =>
    (height * (value - scale.low)) / (scale.high - scale.low);
  const axis = (scale, height = 20) => chart(height, null, numbers(scale, height - 6));

  // Lines over x with bands; names at their ends where there is room, otherwise in a
  // legend that the caller makes.
  function lines(plot) {
    const height = 320;
    const left = plot.narrow ? 12 : 6;
    const wide = 98 - left;
    const values = plot.lines.flatMap((line) => [
      ...line.y,
      ...(line.low || []),
      ...(line.high || []),
    ]);
    const isShare = values.every(
      (value) => value === null || (value >= 0 && value <= 1),
    );
    const vertical = scale(isShare ? [0, 1] : null, values, 0);
    const across = acrossOf(plot);
    const x = (value) =>
      (1000 * (value - across.low)) / (across.high - across.low || 1);
    const y = (value) => height - 40 - riseOf(vertical, value, height - 60);
    const number = (tick) =>
      plot.percent ? shown(100 * tick, 0) + "%" : mark(tick, vertical.digits);
    return chart(
      height,
      plot.label,
      vertical.ticks.map((tick) =>
        lineAt(tick, vertical.by, y(tick), left, "98%", number(tick)),
      ),
      across.ticks.map((tick) =>
        text(left + (wide * x(tick)) / 1000, height - 20, across.label(tick)),
      ),
      text(98, height - 2, plot.across, { "text-anchor": "end" }),
      stretched(
        left,
        wide,
        height,
        { overflow: "visible" },
        plot.lines.map((line, index) => lineWithBand(line, index, x, y)),
      ),
    );
  }
  // What is across: numbers, or days since the start, of which only whole ones are
  // labelled.
  function acrossOf(plot) {
    const values = plot.lines.flatMap((line) => line.x);
    const low = Math.min(...values);
    const high = Math.max(...values);
    if (plot.start) {
      const by = Math.max(1, step(low, high, plot.narrow ? 3 : 5));
      const start = Date.parse(plot.start);
      return {
        low,
        high,
        ticks: ticksOf(low, high, by).filter(Number.isInteger),
        label: (day) => new Date(start + 864e5 * day).toISOString().slice(0, 10),
      };
    }
    const by = step(low, high, plot.narrow ? 3 : 8);
    return {
      low,
      high,
      ticks: ticksOf(low, high, by),
      label: (value) => mark(value, digitsOf(by)),
    };
  }
  function lineWithBand(line, index, x, y) {
    const points = (values) =>
      values
        .map((value, place) =>
          value === null
            ? null
            : `${x(line.x[place]).toFixed(1)} ${y(value).toFixed(1)}`,
        )
        .filter(Boolean);
    const middle = points(line.y);
    const up = line.high ? points(line.high) : [];
    const down = line.low ? points(line.low).reverse() : [];
    const kind = `series-${index % 4}`;
    return [
      up.length
        ? svg("path", { class: `${kind} area`, d: `M${[...up, ...down].join("L")}z` })
        : null,
      middle.length
        ? svg("path", { class: `${kind} line`, d: "M" + middle.join("L") })
        : null,
    ];
  }
  return { scale, pair, strip, row, mean, bar, ranges, axis, lines, step, ticksOf };
})();
