// SPDX-License-Identifier: Apache-2.0
// bars.js - stacked bars with a name, a total and a tip for each part; the only chart that needs no axis.
(() => {
  const { make, draw, percent, shorten, tip } = fabricast;
  const BAR = 18, LETTER = 6.4;

  // items: [{ name, note, parts: [[style, what, value]], total, most, mark }]; `show` writes a value. Bars share one scale.
  const bars = (host, items, show) => {
    const wide = host.clientWidth > 620, most = Math.max(...items.map((item) => Math.max(item.most ?? 0, item.total)),
      1e-300);
    const list = make("div", { class: "bars" + (wide ? " wide" : ""), role: "list" });
    for (const item of items) {
      const frame = make("div", { class: "bar", role: "listitem",
        "aria-label": `${shorten(item.name, 60)}: ` + item.parts.map(([, what, value]) => `${what} ${show(value)}`)
          .join(", ") },
        make("span", { class: "bar-name" + (item.mark ? " marked" : "") }, shorten(item.name, 80)),
          make("span", { class: "bar-box" }),
        make("span", { class: "bar-note" }, item.note ?? show(item.total)));
      list.append(frame);
    }
    host.append(list);
    const boxes = [...list.querySelectorAll(".bar-box")], width = Math.max(100, boxes[0]?.clientWidth || 500);
    items.forEach((item, i) => boxes[i].append(drawBar(item, width, most, show)));
    return list;
  };

  const drawBar = (item, width, most, show) => {
    const svg = draw("svg", { width, height: BAR, "aria-hidden": "true" });
    let at = 0;
    if (item.most > item.total)
      svg.append(draw("rect", { class: "room", x: 0, y: 0.5, width: Math.max(0, (item.most / most) * width - 1),
        height: BAR - 1 }));
    for (const [style, what, value] of item.parts) {
      const length = (value / most) * width, text = percent(value / item.total);
      if (!(length > 0)) continue;
      svg.append(tip.attach(draw("rect", { class: "b-" + style, x: at, y: 0, width: Math.max(0.5, length - 0.7),
        height: BAR }),
        () => [shorten(item.name, 80), [what, show(value)], ["of the bar", text]]));
      if (length > text.length * LETTER + 8)
        svg.append(draw("text", { class: "in-bar " + style, x: at + 5, y: BAR / 2 + 4 }, text));
      at += length;
    }
    if (item.most > 0 && item.most < item.total)
      svg.append(draw("line", { class: "limit", x1: (item.most / most) * width, x2: (item.most / most) * width, y1: 0,
        y2: BAR }));
    return svg;
  };

  const key = (entries) => make("ul", { class: "legend" }, entries.map(([style, text]) =>
    make("li", {}, draw("svg", { width: 18, height: 12, "aria-hidden": "true" },
      draw("rect", { class: "b-" + style, x: 0.5, y: 0.5, width: 17, height: 11 })), text)));

  Object.assign(fabricast, { bars, key });
})();
