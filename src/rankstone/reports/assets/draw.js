// Charts as SVG: x in per cent of the width, y in pixels, so that text keeps its size.
const Draw = (() => {
  const { svg, shown } = Page;

  // Round steps for about so many ticks.
  function step(low, high, ticks) {
    const raw = (high - low) / ticks || 1;
    const power = 10 ** Math.floor(Math.log10(raw));
    return power * [1, 2, 2.5, 5, 10].find((one) => one * power >= raw * 0.999);
  }
  function ticksOf(low, high, by) {
    const found = [];
    for (let at = Math.ceil(low / by - 1e-9); at <= high / by + 1e-9; at++)
      found.push(at * by);
    return found;
  }
  const digitsOf = (by) =>
    Math.max(
      0,
      Math.min(
        6,
        -Math.floor(Math.log10(by) + 1e-9) +
          (Math.abs(by / 10 ** Math.floor(Math.log10(by) + 1e-9) - 2.5) < 1e-6 ? 1 : 0),
      ),
    );

  // The scale of a measure: its own range, or that of the numbers with 0 in it; a little room at both ends.
  function scale(bounds, values, room = 0.015) {
    const known = values.filter((value) => value !== null && value !== undefined);
    let [low, high] = bounds || [Math.min(0, ...known), Math.max(0, ...known)];
    if (!(high > low)) high = low + 1;
    const by = step(low, high, 5);
    if (!bounds)
      [low, high] = [
        Math.floor(low / by + 1e-9) * by,
        Math.ceil(high / by - 1e-9) * by,
      ];
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
      at: (value) => (100 * (value - from)) / wide,
      ticks: ticksOf(low, high, by),
      digits: digitsOf(by),
    };
  }
  const mark = (tick, digits, sign = false) =>
    shown(tick, digits, sign)
      .replace(/(\.\d*?)0+$/, "$1")
      .replace(/\.$/, "");
  const pct = (x) => x.toFixed(2) + "%";
  const anchor = (x) => (x < 12 ? "start" : x > 88 ? "end" : "middle");
  const text = (x, y, words, about = {}) =>
    svg(
      "text",
      { x: typeof x === "number" ? pct(x) : x, y, "text-anchor": "middle", ...about },
      words,
    );
  const across = (scale, low, high, y, kind) =>
    svg("line", {
      class: kind,
      x1: pct(scale.at(low)),
      x2: pct(scale.at(high)),
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
    return scale.ticks.map((tick, at) =>
      text(scale.at(tick), y, mark(tick, scale.digits), {
        "text-anchor":
          at === 0 ? "start" : at === scale.ticks.length - 1 ? "end" : "middle",
      }),
    );
  }
  const grid = (scale, y1, y2) =>
    scale.ticks.map((tick) => upright(scale.at(tick), y1, y2, "gr"));
  const chart = (height, label, ...kids) =>
    svg(
      "svg",
      {
        class: "c",
        height,
        ...(label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" }),
      },
      ...kids,
    );

  // The means of two systems, and below them the difference on an axis of its own, its 0 under the baseline.
  function pair(of) {
    const { measure, a, b, difference: d, narrow } = of;
    const own = scale(measure.bounds, [a.mean, a.low, a.high, b.mean, b.low, b.high]);
    const reach = [
      d.value,
      d.low,
      d.high,
      of.margin,
      of.margin ? -of.margin : null,
    ].filter((value) => value !== null && value !== undefined);
    const room = 0.14 * (own.high - own.low);
    const zero = of.ranks ? 0 : b.mean;
    const ends = of.ranks
      ? [Math.min(...reach, -room), Math.max(...reach, room)]
      : [
          Math.min(own.low, zero + Math.min(...reach), zero - room),
          Math.max(own.high, zero + Math.max(...reach), zero + room),
        ];
    const by = of.ranks ? step(ends[0], ends[1], 5) : own.by;
    const lower = of.ranks
      ? spread(ends[0], ends[1], by, 0.015)
      : spread(ends[0], ends[1], own.by, 0.015);
    const upper = of.ranks ? own : { ...own, at: lower.at };
    const x = (value) => lower.at(zero + value);
    const xa = upper.at(a.mean);
    const xb = upper.at(b.mean);
    const xd = x(d.value);
    const name = (system, place, y) =>
      text(place, y, `${system.name} ${shown(system.mean, of.digits)}`, {
        class: "k",
        "text-anchor": narrow
          ? place < 33
            ? "start"
            : place > 67
              ? "end"
              : "middle"
          : anchor(place),
      });
    const kind =
      { better: "ca", higher: "ca", worse: "cl", lower: "cl" }[d.verdict] || "cn";
    const open = d.verdict === "inconclusive";
    const marks = ticksOf(ends[0] - zero, ends[1] - zero, by);
    const parts = [
      grid(upper, 0, 112),
      svg("line", {
        class: "ax",
        x1: pct(upper.at(own.low)),
        x2: pct(upper.at(own.high)),
        y1: 112,
        y2: 112,
      }),
      numbers(upper, 130),
      of.ranks
        ? upright(x(0), 186, 222, "gd")
        : [upright(xb, 38, 222, "gd"), upright(xa, 86, 196, "gd")],
      of.margin
        ? svg("rect", {
            x: pct(x(-of.margin)),
            width: pct(x(of.margin) - x(-of.margin)),
            y: 182,
            height: 40,
            fill: "var(--open)",
          })
        : null,
      b.low !== undefined ? across(upper, b.low, b.high, 38, "cb iv") : null,
      dot(xb, 38, "cb hollow"),
      name(b, xb, 22),
      a.low !== undefined ? across(upper, a.low, a.high, 86, "ca iv") : null,
      dot(xa, 86, "ca"),
      name(a, xa, 70),
    ];
    if (d.low !== null) {
      const [xl, xh] = [x(d.low), x(d.high)];
      parts.push(
        svg("line", {
          class: `${kind} iv`,
          x1: pct(xl),
          x2: pct(xh),
          y1: 196,
          y2: 196,
        }),
        xl > (narrow ? 14 : 6)
          ? text(xl, 201, shown(d.low, of.digits, true), {
              class: "e",
              dx: -8,
              "text-anchor": "end",
            })
          : text(xl, 214, shown(d.low, of.digits, true), {
              class: "e",
              "text-anchor": "start",
            }),
        xh < (narrow ? 86 : 94)
          ? text(xh, 201, shown(d.high, of.digits, true), {
              class: "e",
              dx: 8,
              "text-anchor": "start",
            })
          : text(xh, 214, shown(d.high, of.digits, true), {
              class: "e",
              "text-anchor": "end",
            }),
      );
    }
    parts.push(
      diamond(xd, 196, open ? `${kind} hollow` : kind),
      text(xd, 178, `${of.words.difference} ${shown(d.value, of.digits, true)}`, {
        class: "k",
        "text-anchor": anchor(xd),
      }),
      svg("line", {
        class: "ax",
        x1: pct(lower.at(ends[0])),
        x2: pct(lower.at(ends[1])),
        y1: 222,
        y2: 222,
      }),
      marks.map((value) => [
        svg("line", {
          class: "ax",
          x1: pct(x(value)),
          x2: pct(x(value)),
          y1: 222,
          y2: 227,
        }),
        text(x(value), 242, mark(value, digitsOf(by), true), {
          "text-anchor": x(value) < 4 ? "start" : x(value) > 96 ? "end" : "middle",
        }),
      ]),
      sides(x(0), 264, of.words, narrow),
    );
    return chart(narrow || x(0) < 16 || x(0) > 84 ? 294 : 276, of.label, ...parts);
  }
  // Which side is whose, below an axis; both at one side of 0 where there is no room at the other.
  function sides(zero, y, words, narrow) {
    const [left, right] = [`← ${words.left}`, `${words.right} →`];
    if (narrow)
      return [
        text("0", y, left, { "text-anchor": "start" }),
        text("100%", y + 18, right, { "text-anchor": "end" }),
      ];
    if (zero < 30)
      return [
        text(zero, y, left, {
          dx: -6,
          "text-anchor": zero < 16 ? "start" : "end",
          ...(zero < 16 ? { x: "0", dx: 0 } : {}),
        }),
        text(zero, y + (zero < 16 ? 18 : 0), right, { dx: 14, "text-anchor": "start" }),
      ];
    if (zero > 70)
      return [
        text(zero, y, left, { dx: -14, "text-anchor": "end" }),
        text(zero, y + (zero > 84 ? 18 : 0), right, {
          ...(zero > 84 ? { x: "100%", dx: 0 } : { dx: 6 }),
          "text-anchor": zero > 84 ? "end" : "start",
        }),
      ];
    return [
      text(zero, y, left, { dx: -14, "text-anchor": "end" }),
      text(zero, y, right, { dx: 14, "text-anchor": "start" }),
    ];
  }

  // Differences of queries in order, the best left: a bar each, or a curve of very many.
  function strip(of) {
    const { values, narrow } = of;
    const height = 220;
    const left = narrow ? 13 : 6;
    const wide = of.curve ? 100 - left : Math.min(100 - left, 5 * values.length);
    const right = left + wide;
    const high = Math.max(0, ...values);
    const low = Math.min(0, ...values);
    const by = step(low, high, 4);
    const top = Math.max(high, by * 0.4);
    const bottom = Math.min(low, -by * 0.4);
    const y = (value) => 20 + ((height - 40) * (top - value)) / (top - bottom);
    const parts = [];
    for (const tick of ticksOf(bottom, top, by)) {
      parts.push(
        svg("line", {
          class: Math.abs(tick) < by / 2 ? "ax" : "gr",
          x1: pct(left),
          x2: "100%",
          y1: y(tick),
          y2: y(tick),
        }),
        text(left, y(tick) + 4, mark(tick, digitsOf(by), true), {
          dx: -8,
          "text-anchor": "end",
        }),
      );
    }
    const n = values.length;
    const kind = (value) =>
      value * of.sign > 0 ? "ca" : value * of.sign < 0 ? "cl" : "cb";
    if (of.curve) {
      const points = values.map((value, at) => [(1000 * (at + 0.5)) / n, y(value)]);
      const zero = y(0);
      const area = (test, tone) =>
        svg("path", {
          class: `${tone} area`,
          d:
            "M0 " +
            zero +
            points
              .map(
                ([px, py], at) =>
                  `L${px.toFixed(1)} ${(test(values[at]) ? py : zero).toFixed(1)}`,
              )
              .join("") +
            `L1000 ${zero}z`,
        });
      parts.push(
        svg(
          "svg",
          {
            x: pct(left),
            y: 0,
            width: pct(wide),
            height,
            viewBox: `0 0 1000 ${height}`,
            preserveAspectRatio: "none",
          },
          area((value) => value * of.sign > 0, "ca"),
          area((value) => value * of.sign < 0, "cl"),
          svg("path", {
            class: "cn line",
            d:
              "M" +
              points.map(([px, py]) => `${px.toFixed(1)} ${py.toFixed(1)}`).join("L"),
          }),
        ),
      );
    } else {
      const each = wide / n;
      const gap = n > 200 ? 0 : each * 0.22;
      parts.push(
        svg(
          "g",
          { class: "bars" },
          values.map((value, at) =>
            value === 0
              ? null
              : svg(
                  "rect",
                  {
                    class: kind(value),
                    x: pct(left + at * each + gap / 2),
                    width: pct(each - gap),
                    y: Math.min(y(value), y(0)),
                    height: Math.max(1, Math.abs(y(value) - y(0))),
                    "data-at": at,
                  },
                  svg("title", {}, of.names[at]),
                ),
          ),
        ),
      );
    }
    const wins = of.counts[0];
    const losses = of.counts[2];
    const total = wins + of.counts[1] + losses;
    const cross = left + (wide * wins) / total;
    const lost = right - (wide * losses) / total;
    const few = narrow ? 24 : 12;
    const start = { "text-anchor": "start" };
    const end = { "text-anchor": "end" };
    if (wins)
      parts.push(
        cross - left < few
          ? text(left, y(high) - 6, of.words.wins, start)
          : text((left + cross) / 2, y(0) + 16, of.words.wins),
      );
    if (losses)
      parts.push(
        right - lost < few
          ? right < 30
            ? text(lost, y(low) + 15, of.words.losses, start)
            : text(right, y(low) + 15, of.words.losses, end)
          : text((lost + right) / 2, y(0) - 6, of.words.losses),
      );
    if (of.counts[1] && lost - cross > few)
      parts.push(text((cross + lost) / 2, y(0) + 16, of.words.equal));
    return chart(height, of.label, ...parts);
  }

  // One row of a measure: both systems on its scale.
  function row(scale, a, b, height = 44) {
    return chart(
      height,
      null,
      grid(scale, 0, height),
      b.low !== undefined ? across(scale, b.low, b.high, 15, "cb iv") : null,
      dot(scale.at(b.mean), 15, "cb hollow", 5),
      a.low !== undefined ? across(scale, a.low, a.high, 29, "ca iv") : null,
      dot(scale.at(a.mean), 29, "ca", 5),
    );
  }
  // A mean with its interval; perhaps a band behind it.
  function mean(scale, one, height, kind, band) {
    const y = height / 2;
    const small = height < 24;
    return chart(
      height,
      null,
      band
        ? svg("rect", {
            x: pct(scale.at(band[0])),
            width: pct(scale.at(band[1]) - scale.at(band[0])),
            y: -1,
            height: height + 2,
            fill: "var(--soft)",
          })
        : null,
      grid(scale, 0, height),
      one.low !== undefined && one.low !== null
        ? svg("line", {
            class: `${kind} iv`,
            style: `stroke-width:${small ? 2 : 3}`,
            x1: pct(scale.at(one.low)),
            x2: pct(scale.at(one.high)),
            y1: y,
            y2: y,
          })
        : null,
      dot(scale.at(one.mean), y, kind, small ? 3.5 : 5),
    );
  }
  // A bar from 0, with its interval.
  function bar(scale, one, height, kind) {
    const y = height / 2;
    const [from, to] = [Math.min(0, one.value), Math.max(0, one.value)];
    return chart(
      height,
      null,
      grid(scale, 0, height),
      svg(
        "g",
        { class: "bars" },
        svg("rect", {
          class: kind,
          x: pct(scale.at(from)),
          width: pct(scale.at(to) - scale.at(from)),
          y: y - 8,
          height: 16,
        }),
      ),
      svg("line", {
        class: "ax",
        x1: pct(scale.at(0)),
        x2: pct(scale.at(0)),
        y1: 0,
        y2: height,
      }),
      svg("line", {
        class: "cn iv",
        style: "stroke-width:1.5",
        x1: pct(scale.at(one.low)),
        x2: pct(scale.at(one.high)),
        y1: y,
        y2: y,
      }),
    );
  }
  // Ranges in order, each with a mark inside it: worst, median and best of many.
  function ranges(of) {
    const height = 260;
    const left = of.narrow ? 12 : 6;
    const sy = scale(
      of.rows.every((row) => row.low >= 0 && row.high <= 1) ? [0, 1] : null,
      of.rows.flatMap((row) => [row.low, row.high]),
      0,
    );
    const each = (98 - left) / of.rows.length;
    const y = (value) =>
      height - 20 - ((height - 40) * (value - sy.low)) / (sy.high - sy.low);
    const parts = [];
    for (const tick of sy.ticks)
      parts.push(
        svg("line", {
          class: Math.abs(tick) < sy.by / 2 ? "ax" : "gr",
          x1: pct(left),
          x2: "98%",
          y1: y(tick),
          y2: y(tick),
        }),
        text(left, y(tick) + 4, mark(tick, sy.digits), {
          dx: -8,
          "text-anchor": "end",
        }),
      );
    const r = Math.max(1.5, Math.min(4, 300 / of.rows.length));
    of.rows.forEach((row, at) => {
      const x = left + (at + 0.5) * each;
      parts.push(
        svg(
          "g",
          {},
          svg("line", {
            class: "cb iv",
            style: `stroke-width:${Math.min(3, r)}`,
            x1: pct(x),
            x2: pct(x),
            y1: y(row.low),
            y2: y(row.high),
          }),
          dot(x, y(row.middle), "ca", r),
          svg("title", {}, row.name),
        ),
      );
    });
    return chart(height, of.label, ...parts);
  }
  const axis = (scale, height = 20) => chart(height, null, numbers(scale, height - 6));

  // Lines over x with bands; names at their ends where there is room, otherwise in a legend that the caller makes.
  function lines(of) {
    const height = 320;
    const left = of.narrow ? 12 : 6;
    const xs = of.lines.flatMap((line) => line.x);
    const ys = of.lines.flatMap((line) => [
      ...line.y,
      ...(line.low || []),
      ...(line.high || []),
    ]);
    const bounds = ys.every((value) => value === null || (value >= 0 && value <= 1))
      ? [0, 1]
      : null;
    const sy = scale(bounds, ys, 0);
    const xl = Math.min(...xs);
    const xh = Math.max(...xs);
    const by = Math.max(
      of.start ? 1 : 0,
      step(xl, xh, of.narrow ? 3 : of.start ? 5 : 8),
    );
    const y = (value) =>
      height - 40 - ((height - 60) * (value - sy.low)) / (sy.high - sy.low);
    const x = (value) => (1000 * (value - xl)) / (xh - xl || 1);
    const wide = 98 - left;
    const parts = [];
    for (const tick of sy.ticks)
      parts.push(
        svg("line", {
          class: Math.abs(tick) < sy.by / 2 ? "ax" : "gr",
          x1: pct(left),
          x2: "98%",
          y1: y(tick),
          y2: y(tick),
        }),
        text(
          left,
          y(tick) + 4,
          of.percent ? shown(100 * tick, 0) + "%" : mark(tick, sy.digits),
          { dx: -8, "text-anchor": "end" },
        ),
      );
    for (const tick of ticksOf(xl, xh, by).filter(
      (tick) => !of.start || Number.isInteger(tick),
    ))
      parts.push(
        text(
          left + (wide * x(tick)) / 1000,
          height - 20,
          of.start
            ? new Date(Date.parse(of.start) + 864e5 * tick).toISOString().slice(0, 10)
            : mark(tick, digitsOf(by)),
        ),
      );
    parts.push(text(98, height - 2, of.across, { "text-anchor": "end" }));
    const path = (line, name) =>
      line.x
        .map((px, at) =>
          line[name][at] === null
            ? null
            : `${x(px).toFixed(1)} ${y(line[name][at]).toFixed(1)}`,
        )
        .filter(Boolean);
    parts.push(
      svg(
        "svg",
        {
          x: pct(left),
          y: 0,
          width: pct(wide),
          height,
          viewBox: `0 0 1000 ${height}`,
          preserveAspectRatio: "none",
          overflow: "visible",
        },
        of.lines.map((line, at) => {
          const tone = `s${at % 4}`;
          const up = line.high ? path(line, "high") : [];
          const down = line.low ? path(line, "low").reverse() : [];
          return [
            up.length
              ? svg("path", {
                  class: `${tone} area`,
                  d: "M" + [...up, ...down].join("L") + "z",
                })
              : null,
            path(line, "y").length
              ? svg("path", {
                  class: `${tone} line`,
                  d: "M" + path(line, "y").join("L"),
                })
              : null,
          ];
        }),
      ),
    );
    return chart(height, of.label, ...parts);
  }
  return { scale, pair, strip, row, mean, bar, ranges, axis, lines, step, ticksOf };
})();
