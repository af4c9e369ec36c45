// SPDX-License-Identifier: Apache-2.0
// sums.js - below a timeline: what the shown part of it consists of, by kind, and a search for blocks by name.
(() => {
  const { make, time, percent, plural, shorten, op, spans, paint, copyTable } = fabricast;
  const STYLES = { forward: "forward", backward: "backward", compute: "other compute", load: "host work",
                   wait: "waiting for other ranks" };

  // What a span counts as: the kind of compute, or the operation and what it is for.
  const kindOf = (run, lane, i) => {
    const form = lane.form[i] >= 0 ? run.timeline.forms[lane.form[i]] : null;
    const style = paint.styleOf(lane.kind[i], run.timeline.names[lane.name[i]]);
    if (lane.kind[i] !== 1 || !form) return { style, text: STYLES[style] ?? "communication" };
    return { style, text: op(form.op) + (form.dimension ? `, ${shorten(form.dimension, 20)}` : "") };
  };

  const clipped = (flat, from, to) => {
    let sum = 0;
    for (let i = 0; i < flat.length; i += 2) sum += Math.max(0, Math.min(flat[i + 1], to) - Math.max(flat[i], from));
    return sum;
  };

  // Rows { style, text, n, sum, exposed, longest }, longest sum first; times are ns within [from, to].
  const rowsOf = (run, one, [from, to]) => {
    const rows = new Map();
    for (const lane of one.lanes)
      for (let i = spans.firstAfter(lane.end, from); i < lane.n && lane.start[i] < to; i++) {
        const { style, text } = kindOf(run, lane, i), part = [Math.max(lane.start[i], from), Math.min(lane.end[i], to)];
        const row = rows.get(text) ?? { style, text, n: 0, sum: 0, exposed: 0, longest: 0 };
        rows.set(text, row);
        row.n += lane.count[i];
        row.sum += part[1] - part[0];
        row.longest = Math.max(row.longest, part[1] - part[0]);
        if (lane.kind[i] === 1) row.exposed += clipped(spans.without(part, paint.near(one.compute, ...part)), ...part);
      }
    return [...rows.values()].sort((a, b) => b.sum - a.sum);
  };

  const HEAD = ["what", "blocks", "sum", "of the part shown", "exposed", "longest"];
  const cellsOf = (row, length) => [row.text, String(row.n), time(row.sum / 1e9), percent(row.sum / length),
    row.exposed > 0 ? time(row.exposed / 1e9) : "\u2013", time(row.longest / 1e9)];

  const table = (rows, length) => make("table", { class: "sums" },
    make("thead", {}, make("tr", {}, HEAD.map((name, i) => make("th", { scope: "col", class: i > 0 ? "number" : null }, name)))),
    make("tbody", {}, rows.map((row) => make("tr", {}, cellsOf(row, length).map((cell, i) =>
      make(i === 0 ? "th" : "td", { scope: i === 0 ? "row" : null, class: i > 0 ? "number" : null }, cell))))));

  // Blocks of all classes whose name holds the words, in their order of time: [{ one, lane, i }].
  const found = (run, classes, words) => {
    const low = words.toLowerCase(), hits = run.timeline.names.map((name) => name.toLowerCase().includes(low)), all = [];
    for (const one of classes)
      for (const lane of one.lanes)
        for (let i = 0; i < lane.n; i++) if (hits[lane.name[i]]) all.push({ one, lane, i });
    return all.sort((a, b) => a.lane.start[a.i] - b.lane.start[b.i]);
  };

  const sumOf = (hits) => hits.reduce((sum, { lane, i }) => sum + lane.end[i] - lane.start[i], 0);

  // A box to search with. Enter leads to the next block, around which the timeline zooms.
  const search = (timeline) => {
    const said = make("span", { class: "about", role: "status" });
    let hits = [], at = -1;
    const look = (words) => {
      hits = words.length > 0 ? found(timeline.run, timeline.classes, words) : [];
      at = -1;
      said.textContent = words.length === 0 ? "" : hits.length === 0 ? "No block has this in its name."
        : `${plural(hits.length, "block")}, ${time(sumOf(hits) / 1e9)} in all; Enter shows the next.`;
    };
    const next = (by) => {
      if (hits.length === 0) return;
      at = (at + by + hits.length) % hits.length;
      const { lane, i } = hits[at], length = lane.end[i] - lane.start[i], middle = (lane.start[i] + lane.end[i]) / 2;
      const half = Math.max(length * 2, 500);
      timeline.showRange(Math.max(0, middle - half), Math.min(timeline.duration, middle + half));
      said.textContent = `${at + 1} of ${hits.length}: ${shorten(timeline.run.timeline.names[lane.name[i]], 60)}, `
        + `${time(length / 1e9)} at ${time(lane.start[i] / 1e9)}`;
    };
    const box = make("input", { type: "search", placeholder: "Find a block", "aria-label": "Find a block by its name",
      oninput: () => look(box.value.trim()), onkeydown: (event) => {
        if (event.key !== "Enter") return;
        event.preventDefault();
        next(event.shiftKey ? -1 : 1);
      } });
    return make("p", { class: "controls find" }, box, said);
  };

  // What is drawn below the timeline, and follows what it shows.
  const panel = (timeline) => {
    const body = make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "What the part shown consists of" });
    const head = make("b", {}), copied = make("span", { class: "about", role: "status" });
    let rows = [], length = 1;
    const copy = make("button", { type: "button", onclick: () =>
      copyTable([HEAD, ...rows.map((row) => cellsOf(row, length))], copied) }, "Copy as a table");
    const show = (view) => {
      const one = timeline.classes[0];
      length = Math.max(1, view[1] - view[0]);
      rows = rowsOf(timeline.run, one, view);
      head.textContent = `In ${time(length / 1e9)}` + (timeline.classes.length > 1
        ? `, on ${fabricast.lanes.className(timeline.run, one.index)}` : "");
      body.replaceChildren(table(rows, length));
    };
    const node = make("figure", { class: "sums-of" }, body, make("p", { class: "controls" }, copy, copied),
      make("figcaption", {}, make("b", {}, "What does the part shown consist of? "), head,
        ". Zoom, or drag over the strip, and the sums follow. Streams run at once, so that sums may be more than the part is long."));
    return { node, show };
  };

  fabricast.sums = { panel, search, rowsOf };
})();
