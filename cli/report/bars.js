// SPDX-License-Identifier: Apache-2.0
// bars.js - stacked bars with a name, a total and a tip for each part; the only chart that needs no axis.
(() => {
  const { make, draw, percent, shorten, tip, copyTable } = fabricast;
  const BAR = 18, LETTER = 6.4, PAPER = 260; // PAPER: width of a bar on a printed page

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
    host.append(list, copier(items, show));
    const boxes = [...list.querySelectorAll(".bar-box")], width = Math.max(100, boxes[0]?.clientWidth || 500);
    items.forEach((item, i) => boxes[i].append(drawBar(item, width, most, show)));
    return list;
  };

  // A row for each bar, a column for each part that any of them has.
  const copier = (items, show) => {
    const names = [...new Set(items.flatMap((item) => item.parts.map(([, what]) => what)))];
    const rows = items.map((item) => [item.name, ...names.map((name) => {
      const one = item.parts.find(([, what]) => what === name);
      return one ? show(one[2]) : "";
    }), item.note ?? show(item.total)]);
    const said = make("span", { class: "about", role: "status" });
    return make("p", { class: "controls copier" }, make("button",
      { type: "button", onclick: () => copyTable([["", ...names, "whole"], ...rows], said) }, "Copy as a table"), said);
  };

  const part = (value) => (100 * value).toFixed(3) + "%";

  // Lengths are shares of the box, so that a bar fits on paper too; `width` only says which labels have room.
  const drawBar = (item, width, most, show) => {
    const svg = draw("svg", { width: "100%", height: BAR, "aria-hidden": "true" });
    let at = 0;
    if (item.most > item.total)
      svg.append(draw("rect", { class: "room", x: 0, y: 0.5, width: part(item.most / most), height: BAR - 1 }));
    for (const [style, what, value] of item.parts) {
      const share = value / most, text = percent(value / item.total), room = text.length * LETTER + 8;
      if (!(share > 0)) continue;
      svg.append(tip.attach(draw("rect", { class: "part b-" + style, x: part(at), y: 0,
        width: part(Math.max(share, 0.5 / width)), height: BAR }),
        () => [shorten(item.name, 80), [what, show(value)], ["of the bar", text]]));
      if (share * width > room)
        svg.append(draw("text", { class: "in-bar " + style + (share * PAPER > room ? "" : " tight"), x: part(at), dx: 5,
          y: BAR / 2 + 4 }, text));
      at += share;
    }
    if (item.most > 0 && item.most < item.total)
      svg.append(draw("line", { class: "limit", x1: part(item.most / most), x2: part(item.most / most), y1: 0,
        y2: BAR }));
    return svg;
  };

  const key = (entries) => make("ul", { class: "legend" }, entries.map(([style, text]) =>
    make("li", {}, draw("svg", { width: 18, height: 12, "aria-hidden": "true" },
      draw("rect", { class: "b-" + style, x: 0.5, y: 0.5, width: 17, height: 11 })), text)));

  Object.assign(fabricast, { bars, key });
})();
