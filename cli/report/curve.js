// SPDX-License-Identifier: Apache-2.0
// curve.js - a figure over values of one key: lines with points, told apart by shape as well as by colour.
(() => {
  const { draw, make, shorten, tip } = fabricast;
  const HEIGHT = 280, LEFT = 74, RIGHT = 14, TOP = 14, BOTTOM = 46, STYLES = 6;

  // "400Gb/s": [400, "Gb/s"]; of keys that move together the first.
  const split = (text) => {
    const found = /^\s*(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*([^\s\d&][^\s&]*)?\s*(?:&.*)?$/i.exec(text);
    return found ? [Number(found[1]), found[2] ?? ""] : null;
  };

  // Positions of values: numbers of one unit as numbers, by their logarithm where they grow by factors; else by place.
  const placesOf = (texts) => {
    const parts = texts.map(split), unit = parts[0]?.[1];
    if (texts.length > 1 && parts.every((part) => part && part[1] === unit)) {
      const numbers = parts.map((part) => part[0]), rising = numbers.every((x, i) => i === 0 || x > numbers[i - 1]);
      const last = numbers.length - 1;
      if (rising && numbers[0] > 0 && last > 1 && numbers[last] / numbers[last - 1] > 1.4
        && numbers[last] / numbers[0] > 7)
        return { at: numbers, scale: d3.scaleLog() };
      if (rising) return { at: numbers, scale: d3.scaleLinear() };
    }
    return { at: texts.map((_, i) => i), scale: d3.scaleLinear() };
  };

  const SHAPES = ["M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", "M-3.7 -3.7h7.4v7.4h-7.4z", "M0 -5l4.8 8.5h-9.6z",
    "M0 -5.2l5.2 5.2l-5.2 5.2l-5.2 -5.2z",
                  "M0 5l4.8 -8.5h-9.6z", "M-5 -1.6h3.4v-3.4h3.2v3.4h3.4v3.2h-3.4v3.4h-3.2v-3.4h-3.4z"];

  // The last text ends where the drawing does.
  const ticksOf = (texts, x, at, width) => {
    const shown = [], last = texts.length - 1;
    let free = -Infinity;
    texts.forEach((text, i) => {
      const half = Math.min(12, text.length) * 3.2 + 5, middle = x(at[i]);
      if (middle - half < free && i < last) return;
      if (i === last) while (shown.length > 0 && shown[shown.length - 1].right > middle - half) shown.pop();
      shown.push({ i, right: middle + half });
      free = middle + half;
    });
    return shown.map(({ i, right }) => draw("text", { class: "tick", x: right > width ? width : x(at[i]),
      y: HEIGHT - BOTTOM + 18, "text-anchor": right > width ? "end" : "middle" }, shorten(texts[i], 13)));
  };

  // xs: texts; series: [{ name, points: [{ i, y, kind, lines }] }], kind: a number for colour and shape; show: writes y.
  const curve = (width, { xs, xName, yName, series, show, zero = true, about }) => {
    const { at, scale } = placesOf(xs), all = series.flatMap((one) => one.points), ys = all.map((point) => point.y);
    const x = scale.domain(d3.extent(at)).range([LEFT + 10, width - RIGHT - 10]);
    if (at[0] === at[at.length - 1]) x.range([width / 2, width / 2]);
    const y = d3.scaleLinear().domain([zero ? 0 : d3.min(ys), d3.max(ys) || 1]).nice(5).range([HEIGHT - BOTTOM, TOP]);
    const svg = draw("svg", { class: "curve", width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, role: "img",
      "aria-label": about });
    for (const tick of y.ticks(5))
      svg.append(draw("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(tick), y2: y(tick) }),
        draw("text", { class: "tick", x: LEFT - 6, y: y(tick) + 4, "text-anchor": "end" }, show(tick)));
    svg.append(...ticksOf(xs, x, at, width), draw("text", { class: "axis-name", x: (LEFT + width - RIGHT) / 2, y: HEIGHT - 8,
      "text-anchor": "middle" }, shorten(xName, 60)),
      draw("text", { class: "axis-name", transform: `translate(13,${(HEIGHT - BOTTOM + TOP) / 2}) rotate(-90)`,
        "text-anchor": "middle" }, shorten(yName, 40)));
    series.forEach((one, s) => {
      const d = one.points.map((point, i) => `${i === 0 ? "M" : "L"}${x(at[point.i])},${y(point.y)}`).join("");
      svg.append(draw("path", { class: `line line-${s % STYLES}`, d }));
      for (const point of one.points)
        svg.append(tip.attach(draw("path", { class: `dot dot-${point.kind % STYLES}`, tabindex: all.length <= 60 ? 0
          : null, role: "img",
          "aria-label": `${xs[point.i]}: ${show(point.y)}`, d: SHAPES[point.kind % SHAPES.length],
          transform: `translate(${x(at[point.i]).toFixed(1)},${y(point.y).toFixed(1)})` }), () => point.lines));
    });
    return svg;
  };

  const dots = (names) => make("ul", { class: "legend" }, names.map((name, i) =>
    make("li", {}, draw("svg", { width: 14, height: 14, "aria-hidden": "true" },
      draw("path", { class: `dot dot-${i % STYLES}`, d: SHAPES[i % SHAPES.length], transform: "translate(7,7)" })),
        shorten(name, 90))));

  Object.assign(fabricast, { curve, dots });
})();
