// SPDX-License-Identifier: Apache-2.0
// lanes.js - what stands below one another in a timeline, and what a pointer over it is told.
(() => {
  const { draw, time, bytes, rate, plural, shorten, op, link, spans, paint, state } = fabricast;
  const BAR = 16, HEAD = 20, MOST_CLASSES = 16;

  const ranksOf = (run, index) => {
    const one = run.classes[index];
    return !one ? "" : one.ranks === 1 ? `rank ${one.first_rank}`
      : `${plural(one.ranks, "rank")} from ${one.first_rank}`;
  };

  const className = (run, index) => {
    const name = run.classes[index]?.name;
    return name && name !== "all" ? shorten(name, 24) : ranksOf(run, index) || "class " + index;
  };

  const isOpen = (classes, index) => state.open[`class ${index}`]
    ?? (classes.length <= 2 || index === classes[0].index);

  const rowsOfClass = (run, one, open, several, height) => {
    const name = className(run, one.index), about = `${name} (${ranksOf(run, one.index)})`;
    if (!open) return [{ type: "summary", one, open, text: name, about, height }];
    return [...(several ? [{ type: "head", one, open, text: about, height: HEAD }] : []),
            ...one.lanes.map((lane) => ({ type: "lane", one, lane, text: shorten(lane.stream, 40), height })),
            { type: "exposed", one, text: "exposed", height }];
  };

  // A row's name stands beside it, on a phone above it.
  const rowsOf = (run, classes, wide) => {
    const above = wide ? 3 : 13, shown = state.open.classes ? classes : classes.slice(0, MOST_CLASSES);
    const rows = shown.flatMap((one) =>
      rowsOfClass(run, one, isOpen(classes, one.index), classes.length > 1, BAR + above + 3));
    let y = 0;
    for (const row of rows) {
      row.y = y;
      row.top = y + above; // of the bar
      y += row.height;
    }
    return { rows, height: y, left: classes.length - shown.length };
  };

  // A lane in which nothing can be seen says why: what it has lies elsewhere, or is too short.
  const whyEmpty = (lane, scale, [from, to]) => {
    const first = spans.firstAfter(lane.end, from);
    let seen = 0, n = 0;
    for (let i = first; i < lane.n && lane.start[i] < to && seen < 3; i++) {
      seen += scale(Math.min(lane.end[i], to)) - scale(Math.max(lane.start[i], from));
      n += lane.count[i];
    }
    if (seen >= 3 || lane.n === 0) return null;
    if (n > 0) return `${plural(n, "block")} at ${time(lane.start[first] / 1e9)}, too short to see`;
    return first < lane.n ? `next at ${time(lane.start[first] / 1e9)}` : `the last ended at ${time(lane.end[lane.n - 1] / 1e9)}`;
  };

  const drawWhy = (row, scale, view) => {
    const why = whyEmpty(row.lane, scale, view);
    return why ? [draw("text", { class: "why dark", x: scale.range()[0] + 4, y: row.top + BAR / 2 + 4 }, why)] : [];
  };

  const drawRow = (run, row, scale, view, labels) => {
    const { one, top } = row;
    if (row.type === "lane") labels.push(...drawWhy(row, scale, view));
    if (row.type === "lane") return paint.lane(run.timeline.names, row, BAR, scale, view, labels);
    if (row.type === "exposed") return paint.flat([["exposed", one.exposed]], top, BAR, scale, view);
    return row.type === "summary" ? paint.flat(partsOf(one), top, BAR, scale, view) : [];
  };

  const partsOf = (one) => [["backward", one.compute], ["exposed", one.exposed], ["idle", one.idle]];

  // --- what is under the pointer ---

  const formLines = (form, seconds, alone) => [
    ["operation", op(form.op) + (form.dimension ? ", " + shorten(form.dimension, 20) : "")],
    form.bytes > 0 && ["size", bytes(form.bytes)],
    ["ranks", String(form.ranks)],
    form.algorithm && ["algorithm", [form.algorithm, form.protocol].filter(Boolean).map((text) => shorten(text, 20))
      .join(", ")],
    alone && form.bytes > 0 && ["algorithm bandwidth", rate(form.bytes / seconds)],
    form.link_from && ["set by", link(form.link_from, form.link_to)],
    form.spec && ["", shorten(form.spec, 40)],
  ];

  const spanLines = (run, lane, i) => {
    const { names, forms } = run.timeline, form = lane.form[i] >= 0 ? forms[lane.form[i]] : null;
    const seconds = (lane.end[i] - lane.start[i]) / 1e9, alone = lane.count[i] === 1;
    return [shorten(names[lane.name[i]], 120),
      !alone && ["drawn as one", plural(lane.count[i], "span")],
      ["begins at", time(lane.start[i] / 1e9)],
      ["takes", time(seconds)],
      lane.kind[i] === 3 && "waits for the last rank to arrive",
      ...(form ? formLines(form, seconds, alone && lane.kind[i] === 1) : [])];
  };

  const flatLines = (name, flat, at) => {
    const [start, end] = paint.near(flat, at, at + 1);
    return start <= at ? [name, ["begins at", time(start / 1e9)], ["takes", time((end - start) / 1e9)]] : null;
  };

  // Lines for a tip at a time in a row; null where nothing is.
  const tell = (run, row, at, slack) => {
    if (row.type === "head") return null;
    if (row.type === "lane") {
      const i = spans.firstAfter(row.lane.end, at - slack);
      return i < row.lane.n && row.lane.start[i] <= at + slack ? spanLines(run, row.lane, i) : null;
    }
    const { one } = row, exposed = flatLines("exposed communication", one.exposed, at);
    if (row.type === "exposed") return exposed;
    const lines = exposed ?? flatLines("compute", one.compute, at) ?? flatLines("idle", one.idle, at);
    return lines && [row.about, ...lines];
  };

  fabricast.lanes = { BAR, HEAD, className, rowsOf, drawRow, partsOf, tell };
})();
