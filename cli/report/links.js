// SPDX-License-Identifier: Apache-2.0
// links.js - how busy the links are: on a drawing of one node and the tiers above it, and by kind.
(() => {
  const { make, draw, percent, bytes, rate, count, plural, shorten, link, places, figure, tip, state } = fabricast;
  const ROW = 86, BOX = 26, TIER = 30, GAP = 64, TOP = 8, LOOP = 24, MOST_KINDS = 24, CELLS = 48;
  const BOUNDS = [0.05, 0.2, 0.4, 0.6, 0.8];

  const heat = (busy) => "h" + BOUNDS.filter((bound) => busy >= bound).length;
  const thick = (busy) => (1.2 + 4.3 * Math.min(1, busy)).toFixed(1);

  const bare = (name) => shorten(name.replaceAll("#", ""), 40); // without what stands for numbers

  const lines = (group) => [`${bare(group.from)} \u2192 ${bare(group.to)}`,
    ["link", shorten(group.spec, 40) + (group.parallel > 1 ? ` \u00d7${group.parallel}` : "")],
      ["line rate, one way", rate(group.rate_bytes_per_s)],
    ["such links", count(group.n) + (group.carried < group.n ? `, ${count(group.carried)} used` : "")],
    ["busy, mean", percent(group.mean)], group.n > 1 && ["busiest", percent(group.busiest)],
    group.n > 1 && ["it is", link(group.busiest_from, group.busiest_to)], ["carried by all", bytes(group.bytes)]];

  const isSlowest = (run, group) => {
    const found = run.slowest[0];
    if (!found) return false;
    const from = places.placeOf(found.link_from), to = places.placeOf(found.link_to);
    const is = (place, name, inside) => place.inside === Boolean(inside) && (place.name === name
      || (inside && !/\d$/.test(name) && places.partOf(place.name) === places.partOf(name)));
    return is(from, group.from, group.from_inside) && is(to, group.to, group.to_inside);
  };

  const isLoop = (group) => group.from === group.to && group.from_inside === group.to_inside;

  // --- the drawing ---

  // Where every place is: { x, y, half, high } by "1name" in the node and "0name" in the fabric.
  const spots = (layout, width) => {
    const { rows, tiers, groups } = layout, at = new Map(), levels = d3.max(tiers, (tier) => tier.level + 1) ?? 0;
    const left = 8, room = width - 2 * left, above = TOP + (groups.some(isLoop) ? LOOP : 0);
    for (let level = 0; level < levels; level++) {
      const there = tiers.filter((tier) => tier.level === level), each = room / there.length;
      there.forEach((tier, i) => at.set("0" + tier.name,
        { x: left + (i + 0.5) * each, y: above + (levels - 1 - level) * (TIER + GAP) + TIER / 2, half: each / 2 - 6,
          high: TIER, text: tierName(tier) }));
    }
    const top = above + levels * (TIER + GAP) + (levels > 0 ? 8 : 26);
    const each = room / (d3.max(rows, (row) => row.length) ?? 1);
    rows.forEach((row, y) => row.forEach((one) => {
      const spread = row.length === 1 && one.reach[0] !== undefined ? ((one.reach[1] - one.reach[0]) * room) / 2 + 30
        : 0;
      const half = Math.min(room / 2, Math.max(spread, Math.min(one.n > 1 || each > 160 ? 70 : 34, each / 2 - 2)));
      at.set("1" + one.name, { x: Math.max(left + half, Math.min(width - left - half, left + one.x * room)), y: top
        + y * ROW + BOX / 2 + 14, half, high: BOX,
        text: one.n > 1 ? `${count(one.n)} \u00d7 ${boxName(one.name, 16)}` : boxName(one.name,
          Math.max(3, Math.floor((2 * half - 4) / 6))) });
    }));
    return { at, top, height: top + rows.length * ROW - ROW + BOX + 58 };
  };

  const NAMES = [["pcie_switch", "PCIe switch", "PCIe"], ["nvswitch", "NVSwitch", "NVSw"]];

  // "pcie_switch0" as "PCIe switch 0", or "PCIe 0" where there is little room.
  const boxName = (name, most) => {
    const plain = name.replaceAll("#", ""), known = NAMES.find(([raw]) => plain.startsWith(raw));
    if (!known) return shorten(plain, most);
    const number = plain.slice(known[0].length), long = `${known[1]} ${number}`.trim();
    return shorten(long.length <= most ? long : `${known[2]} ${number}`.trim(), most);
  };

  const tierName = (tier) => tier.n > 1 ? `${count(tier.n)} \u00d7 ${bare(tier.name)}` : bare(tier.name);

  // From box to box, the two directions side by side; an arc within a row.
  const way = (from, to, loop) => {
    if (loop) return `M${from.x + from.half - 60} ${from.y - from.high / 2}c0 -28 44 -28 44 0`;
    if (from.y === to.y) {
      const side = from.x < to.x ? 1 : -1, low = Math.min(46, 16 + Math.abs(from.x - to.x) / 9) + side * 3;
      return `M${from.x + side * 6} ${from.y + from.high / 2}Q${(from.x + to.x) / 2} ${from.y + from.high / 2 + low} ${to.x - side * 6} ${to.y + to.high / 2}`;
    }
    const down = from.y < to.y ? 1 : -1, aside = down * 3;
    const meet = (box, other) => Math.max(box.x - box.half + 5, Math.min(box.x + box.half - 5, other.x));
    const isNarrow = from.half < to.half || (from.half === to.half && from.y > to.y); // straight below the narrower one
    const [x0, x1] = isNarrow ? [from.x, meet(to, from)] : [meet(from, to), to.x];
    return `M${(x0 + aside).toFixed(1)} ${from.y + (down * from.high) / 2}L${(x1 + aside).toFixed(1)} ${to.y - (down * to.high) / 2}`;
  };

  const FOLD = 5; // how far the cards behind a node stand out
  const behind = (run) => Math.min(2, run.nodes - 1);

  // The node, and behind it cards for those that are like it.
  const nodeCard = (run, top, width, height) => {
    const n = behind(run), wide = width - 3 - n * FOLD, high = height - top + 8 - n * FOLD;
    const card = (i) => draw("rect", { class: "node-box", x: 1.5 + i * FOLD, y: top - 12 + i * FOLD, width: wide, height: high,
      rx: 8 });
    return [...d3.range(n, -1, -1).map(card),
      draw("text", { class: "node-name", x: 14, y: top - 12 + high - 9 }, shorten(nodeName(run), Math.floor((wide - 24) / 6.5)))];
  };

  const KINDS = [[/^gpu|accelerator/, "gpu"], [/^nic|hca/, "nic"], [/^nvswitch/, "nvswitch"], [/pcie|switch|root/, "pcie"]];
  const kindOf = (key) => key[0] === "0" ? "tier" : "vertex v-" + (KINDS.find(([pattern]) => pattern.test(key.slice(1)))?.[1]
    ?? "other");

  const boxes = (at) => [...at].flatMap(([key, box]) => [
    draw("rect", { class: kindOf(key), x: box.x - box.half, y: box.y - box.high / 2, width: 2 * box.half,
      height: box.high, rx: 5 }),
    draw("text", { x: box.x, y: box.y + 4, "text-anchor": "middle" }, box.text)]);

  const drawing = (run, layout, width) => {
    const { at, top, height } = spots(layout, width - FOLD * behind(run)), slowest = [];
    const svg = draw("svg", { width, height, viewBox: `0 0 ${width} ${height}`, class: "links", role: "img",
      "aria-label": summary(run, layout) });
    if (layout.rows.length > 0) svg.append(...nodeCard(run, top, width, height));
    const drawn = [...layout.groups].sort((a, b) => a.busiest - b.busiest);
    for (const group of drawn) {
      const from = at.get(group.from_inside + group.from), to = at.get(group.to_inside + group.to);
      if (!from || !to) continue;
      const d = way(from, to, isLoop(group)), is = isSlowest(run, group);
      if (is) {
        slowest.push({ group, from, to });
        svg.append(draw("path", { class: "slowest-halo", d, "stroke-width": 13 }));
      }
      svg.append(draw("path", { class: heat(group.busiest), d, "stroke-width": thick(group.busiest) }),
        tip.attach(draw("path", { class: "reach", d }), () =>
          [...lines(group), is && "the slowest link of the collectives with most exposed time"]));
    }
    svg.append(...boxes(at), ...labels(layout, at), ...slowest.slice(0, 1).map((one) => slowestLabel(one, width)));
    return svg;
  };

  // Beside the slowest link, on the side where there is room.
  const slowestLabel = ({ group, from, to }, width) => {
    const text = `slowest link: ${shorten(group.spec, 20)}, ${rate(group.rate_bytes_per_s)}`;
    if (isLoop(group)) return draw("text", { class: "slowest-name", x: from.x + from.half - 124, y: from.y - from.high / 2 - 8,
      "text-anchor": "end" }, text);
    const upper = from.y <= to.y ? from : to, lower = upper === from ? to : from, x = Math.min(upper.half, lower.half) === upper.half
      ? upper.x : lower.x;
    const y = (upper.y + upper.high / 2 + lower.y - lower.high / 2) / 2 - 10, isLeft = x > width / 2;
    return draw("text", { class: "slowest-name", x: x + (isLeft ? -12 : 12), y, "text-anchor": isLeft ? "end" : "start" }, text);
  };

  // How busy, beside the lines: once for each pair of rows, of the busiest there.
  const labels = (layout, at) => {
    const best = new Map();
    for (const group of layout.groups) {
      const from = at.get(group.from_inside + group.from), to = at.get(group.to_inside + group.to);
      if (!from || !to || (from.y === to.y && !isLoop(group))) continue;
      const a = group.from_inside ? places.partOf(group.from) : group.from, b = group.to_inside
        ? places.partOf(group.to) : group.to;
      const key = [a, b].sort().join("\n"), known = best.get(key);
      if (!known || group.busiest > known.group.busiest) best.set(key, { group, from, to });
    }
    return [...best.values()].map(({ group, from, to }) => {
      const upper = from.y < to.y ? from : to, lower = upper === from ? to : from, narrow = upper.half < lower.half
        ? upper : lower;
      if (isLoop(group)) return draw("text", { class: "busy", x: from.x + from.half - 68,
        y: from.y - from.high / 2 - 8, "text-anchor": "end" }, percent(group.busiest));
      return draw("text", { class: "busy", x: narrow.x + 9,
        y: (upper.y + upper.high / 2 + lower.y - lower.high / 2) / 2 + 4 }, percent(group.busiest));
    });
  };

  const nodeName = (run) => `${run.nodes > 1 ? count(run.nodes) + " \u00d7 this node" : "the node"}${run.words?.node
    ? `: ${run.words.node}` : ""}`;

  const summary = (run, layout) => {
    const top = [...layout.groups].sort((a, b) => b.busiest - a.busiest)[0];
    return top ? `Links of a node and of the fabric. The busiest is ${link(top.busiest_from, top.busiest_to)} (${shorten(top.spec, 40)}), ${percent(top.busiest)} busy.`
      : "No link carried anything.";
  };

  const scale = () => make("ul", { class: "legend" }, ["below 5\u00a0%", "5 to 20", "20 to 40", "40 to 60", "60 to 80",
    "80\u00a0% and more"].map((text, i) =>
    make("li", {}, draw("svg", { width: 22, height: 12, "aria-hidden": "true" },
      draw("path", { class: "h" + i, d: "M0 6h22", "stroke-width": thick([0.02, 0.12, 0.3, 0.5, 0.7, 0.9][i]) })),
        text)));

  // --- by kind ---

  const stripOf = (group, width) => {
    const n = Math.min(CELLS, group.strip.length), each = Math.min(16, width / n);
    return draw("svg", { width, height: 16, viewBox: `0 0 ${width} 16`, preserveAspectRatio: "none", role: "img",
      "aria-label": `busiest ${percent(group.busiest)}, mean ${percent(group.mean)}` },
      d3.range(n).map((i) => {
        const busy = group.strip[n > 1 ? Math.round((i * (group.strip.length - 1)) / (n - 1)) : 0] / 1000;
        return draw("rect", { class: "cell " + heat(busy), x: i * each, y: 16 - Math.max(2, 16 * Math.min(1, busy)),
          width: Math.max(0.5, each - (each > 4 ? 1 : 0)), height: Math.max(2, 16 * Math.min(1, busy)) });
      }));
  };

  const byKind = (run, host) => {
    const kinds = places.kinds(run.links), used = kinds.filter((group) => group.carried > 0),
      idle = kinds.filter((group) => group.carried === 0);
    const wide = host.clientWidth > 620, width = wide ? 220 : 110;
    const block = figure("Links by kind", "Is the load even? Each strip is all links of a kind, from the busiest to the idlest: where it falls, load is uneven."
      + (idle.length > 0 ? ` ${plural(d3.sum(idle, (group) => group.n), "link")} of ${plural(idle.length, "more kind")} carried nothing.` : ""),
      make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Links by kind" }, make("table", { class: "kinds" },
        make("thead", {}, make("tr", {}, ["link", "from \u2192 to", "how many", "rate", "mean", "busiest",
          "all of them"].map((name, i) =>
          make("th", { scope: "col", class: i >= 2 && i <= 5 ? "number" : null }, name)))),
        make("tbody", {}, used.slice(0, MOST_KINDS).map((group) => make("tr", {},
          make("td", {}, shorten(group.spec, 40)), make("td", {}, `${bare(group.from)} \u2192 ${bare(group.to)}`),
          make("td", { class: "number" }, count(group.n)), make("td", { class: "number" },
            rate(group.rate_bytes_per_s)),
          make("td", { class: "number" }, percent(group.mean)), make("td", { class: "number" },
            percent(group.busiest)), make("td", {}, stripOf(group, width))))))));
    host.append(block);
  };

  const toggle = () => make("p", { class: "controls" },
    make("button", { type: "button", "aria-pressed": String(Boolean(state.open.idle)),
    onclick: () => { state.open.idle = !state.open.idle; fabricast.redraw(); } }, "Show links that carry nothing"));

  fabricast.parts.links = (host, run) => {
    host.replaceChildren();
    if (!run || run.links.n === 0) return;
    const layout = places.layout(run.links, state.open.idle), busiest = places.kinds(run.links)[0];
    host.append(make("h2", {}, "The machine and its links"));
    if (busiest.carried === 0 && !state.open.idle) {
      host.append(make("p", {}, "No link carried anything."), toggle());
      return;
    }
    host.append(make("p", {}, `The busiest of ${plural(run.links.n, "link")} is ${link(busiest.busiest_from, busiest.busiest_to)} (${shorten(busiest.spec, 40)}): `
      + `${percent(busiest.busiest)} of the step.`), toggle());
    const frame = make("div", { class: "frame", tabindex: 0, role: "region", "aria-label": "Drawing of the machine" });
    const { first } = fabricast.outlook.limits(run);
    host.append(figure(null, "How busy are the links? Colour and width say it. "
      + (run.nodes > 1 ? "The nodes are drawn as one; each line is the busiest of its place. " : "")
      + (run.slowest[0] ? "The link with a halo is the slowest link of the collectives with most exposed time. " : "")
      + (first ? `The step is limited by ${shorten(first.name, 40)}.` : ""), frame));
    const most = d3.max(layout.rows, (row) => row.length) ?? 1;
    frame.append(drawing(run, layout, Math.max(fabricast.width(frame), most * 34)));
    host.append(scale());
    byKind(run, host);
  };
})();
