// SPDX-License-Identifier: Apache-2.0
// sweeps.js - a sweep over one key as a curve, over two as a map; over more, the others are chosen.
(() => {
  const { make, draw, time, bytes, count, percent, plural, shorten, clean, curve, dots, figure, tip,
    state } = fabricast;
  // Cividis (Nunez, Anderton and Renslow, 2018), which the colour-blind see as others do, at nine of its places.
  const cividis = d3.piecewise(d3.interpolateRgb, ["#002051", "#11366c", "#3c4d6e", "#62646f", "#7f7c75", "#9a9478", "#bbaf71",
    "#e2cb5c", "#fdea45"]);
  const CELL_HEIGHT = 30, LEFT = 92, TOP = 8, BOTTOM = 46;

  const share = (point) => point.step_s > 0 ? point.exposed_s / point.step_s : null;
  // low: less is better.
  const FIGURES = [
    { id: "exposed", name: "exposed communication, share of the step", value: share, show: percent, low: true },
    { id: "step", name: "step", value: (point) => point.step_s, show: time, low: true },
    { id: "mfu", name: "MFU", value: (point) => point.mfu_fraction, show: percent },
    { id: "tokens", name: "tokens per second", value: (point) => point.tokens_per_s, show: count },
    { id: "exposed_time", name: "exposed communication", value: (point) => point.exposed_s, show: time, low: true },
    { id: "train", name: "whole training", value: (point) => point.train_s, show: time, low: true },
    { id: "memory", name: "memory of the fullest GPU", value: (point) => point.memory_bytes, show: bytes, low: true },
  ];

  const pointsOf = (sweep) => sweep.points.map((row) => Object.fromEntries(sweep.columns.map((name, i) =>
    [name, row[i]])));

  // Item of each axis, the last fastest.
  const itemsOf = (sweep, number) => {
    const items = [];
    for (let axis = sweep.axes.length - 1, rest = number; axis >= 0; axis--) {
      const n = sweep.axes[axis].values.length;
      items[axis] = rest % n;
      rest = Math.floor(rest / n);
    }
    return items;
  };

  const settings = (sweep, point) => sweep.axes.map((axis, i) =>
    [shorten(axis.key, 50), shorten(axis.values[itemsOf(sweep, point.point)[i]], 40)]);

  const linesOf = (sweep, point) => [`point ${point.point}`, ...settings(sweep, point),
    ...(point.problem !== null ? ["cannot be simulated: " + shorten(point.problem.split("\n")[0], 200)]
      : [["step", time(point.step_s)], ["exposed", `${time(point.exposed_s)}, ${percent(share(point))}`],
         point.mfu_fraction !== null && ["MFU", percent(point.mfu_fraction)], point.tokens_per_s !== null
           && ["tokens per second", count(point.tokens_per_s)],
         point.train_s !== null && ["whole training", time(point.train_s)],
         point.memory_bytes !== null && ["memory", bytes(point.memory_bytes)], point.ranks !== null
           && ["GPUs", count(point.ranks)],
         point.binding_link_spec && ["slowest link", `${shorten(point.binding_link_spec, 30)}`], point.binding_link
           && ["", shorten(point.binding_link, 60)]])];

  const best = (points, wanted) => {
    const known = points.filter((point) => point.problem === null && Number.isFinite(wanted.value(point) ?? NaN));
    return known.reduce((a, b) => !a || (wanted.low ? wanted.value(b) < wanted.value(a)
      : wanted.value(b) > wanted.value(a)) ? b : a, null);
  };

  const specsOf = (points) => [...new Set(points.filter((point) => point.problem === null).map((point) =>
    point.binding_link_spec ?? "no link"))];

  const drawCurve = (sweep, points, wanted, axis, width) => {
    const specs = specsOf(points), values = sweep.axes[axis].values;
    const known = points.filter((point) => point.problem === null && wanted.value(point) !== null)
      .map((point) => ({ i: itemsOf(sweep, point.point)[axis], y: wanted.value(point),
        kind: specs.indexOf(point.binding_link_spec ?? "no link"), lines: linesOf(sweep, point) }));
    if (known.length === 0) return [make("p", {}, "No point could be simulated.")];
    const top = best(points, wanted);
    return [curve(width, { xs: values.map((value) => clean(value)), xName: sweep.axes[axis].key, yName: wanted.name,
      show: wanted.show,
      series: [{ name: wanted.name, points: known }],
      about: `${wanted.name} over ${shorten(sweep.axes[axis].key, 60)}; ${wanted.low ? "least" : "most"} ${wanted.show(wanted.value(top))}` }),
      make("p", { class: "about" }, "Colour and shape say which link is the slowest:"), dots(specs)];
  };

  const cell = (sweep, point, wanted, colour, box, top) => {
    const value = point && point.problem === null ? wanted.value(point) : null, { x, y, width, height } = box;
    if (!point) return [draw("rect", { class: "cell-none", x, y, width, height })];
    const text = value === null ? "\u00d7" : wanted.show(value), fill = value === null ? null : colour(value);
    const dark = fill ? d3.hcl(fill).l < 62 : false;
    return [tip.attach(draw("rect", { class: "map-cell" + (value === null ? " b-idle" : ""), x, y, width, height, fill,
      role: "img", tabindex: 0,
      "aria-label": settings(sweep, point).map((pair) => pair.join(" ")).join(", ") + ": "
        + (value === null ? "cannot be simulated" : text) }), () => linesOf(sweep, point)),
    width > text.length * 6.2 + 4 || value === null ? draw("text", { class: "map-text" + (value === null ? "" : dark
      ? " bright" : " dark"), x: x + width / 2, y: y + height / 2 + 4, "text-anchor": "middle" }, text) : "",
    point === top ? draw("rect", { class: "map-best", x: x + 1, y: y + 1, width: width - 2, height: height - 2 }) : ""];
  };

  const drawMap = (sweep, points, wanted, [across, down], width) => {
    const columns = sweep.axes[across].values, rows = sweep.axes[down].values,
      each = (width - LEFT - 4) / columns.length;
    const tall = rows.length > 24 ? Math.max(8, 720 / rows.length) : CELL_HEIGHT, height = TOP + rows.length * tall
      + BOTTOM;
    const known = points.filter((point) => point.problem === null && wanted.value(point) !== null).map(wanted.value),
      top = best(points, wanted);
    const [low, high] = d3.extent(known), colour = (value) => cividis(high > low
      ? (value - low) / (high - low) : 0.5);
    const at = new Map(points.map((point) => [itemsOf(sweep, point.point).filter((_, i) => i === across || i === down)
      .join(), point]));
    const svg = draw("svg", { class: "map", width, height, viewBox: `0 0 ${width} ${height}`, role: "group",
      "aria-label": `${wanted.name} over ${shorten(sweep.axes[across].key, 60)} and ${shorten(sweep.axes[down].key, 60)}` });
    rows.forEach((row, y) => {
      if (tall >= 11 || y % Math.ceil(11 / tall) === 0)
        svg.append(draw("text", { class: "tick", x: LEFT - 6, y: TOP + (y + 0.5) * tall + 4, "text-anchor": "end" },
          shorten(row, 13)));
      columns.forEach((_, x) => svg.append(...cell(sweep, at.get(across < down ? `${x},${y}` : `${y},${x}`), wanted,
        colour,
        { x: LEFT + x * each, y: TOP + y * tall, width: Math.max(1, each - 1), height: Math.max(1, tall - 1) }, top)));
    });
    const every = Math.ceil((Math.min(12, d3.max(columns, (text) => text.length)) * 6.4 + 6) / each);
    columns.forEach((text, x) => { if (x % every === 0) svg.append(draw("text", { class: "tick", x: LEFT
      + (x + 0.5) * each, y: TOP + rows.length * tall + 16, "text-anchor": "middle" }, shorten(text, 13))); });
    svg.append(draw("text", { class: "axis-name", x: LEFT + (width - LEFT) / 2, y: height - 8,
      "text-anchor": "middle" }, shorten(sweep.axes[across].key, 60)),
      draw("text", { class: "axis-name", transform: `translate(11,${TOP + (rows.length * tall) / 2}) rotate(-90)`,
        "text-anchor": "middle" }, shorten(sweep.axes[down].key, Math.max(6, Math.floor((rows.length * tall) / 6.5)))));
    return [svg, known.length > 0 ? ramp(low, high, wanted) : make("p", {}, "No point could be simulated.")];
  };

  const ramp = (low, high, wanted) => make("p", { class: "ramp" }, wanted.show(low), draw("svg",
    { width: 120, height: 12, "aria-hidden": "true" },
    d3.range(24).map((i) => draw("rect", { x: i * 5, y: 0, width: 5.5, height: 12,
      fill: cividis(i / 23) }))), wanted.show(high),
    make("span", { class: "about" }, ` ${wanted.name}; the frame is the best, \u00d7 could not be simulated`));

  const sentence = (sweep, points, wanted) => {
    const top = best(points, wanted), failed = points.filter((point) => point.problem !== null).length;
    return make("p", {}, top && [`Best ${wanted.name}: `, make("b", {}, wanted.show(wanted.value(top))), " with ", settings(sweep, top)
      .map((pair) => pair.join(" = ")).join(", "),
      top.binding_link_spec ? `; the slowest link there is ${shorten(top.binding_link_spec, 30)}. ` : ". "],
      points.length < sweep.whole ? `${plural(points.length, "point")} of ${count(sweep.whole)} are there. ` : "",
        failed > 0 ? `${plural(failed, "point")} cannot be simulated.` : "");
  };

  const choose = (name, values, chosen, on) => make("label", {}, shorten(name, 40) + " ", make("select",
    { onchange: (event) => { on(Number(event.target.value)); fabricast.redraw(); } },
    values.map((value, i) => make("option", { value: i, selected: i === chosen }, shorten(value, 60)))));

  // The two longest axes are drawn; of the others one value is.
  const show = (host, sweep) => {
    const id = `sweep ${sweep.sweep}`, kept = (state.open[id] ??= { items: {} }), all = pointsOf(sweep);
    const there = FIGURES.filter((one) => all.some((point) => point.problem === null && (one.value(point)
      ?? null) !== null));
    const wanted = there.find((one) => one.id === kept.figure) ?? there[0] ?? FIGURES[1];
    const long = sweep.axes.map((axis, i) => [axis.values.length, i]).sort((a, b) => b[0] - a[0] || a[1] - b[1])
      .map(([, i]) => i);
    const drawn = long.filter((i) => sweep.axes[i].values.length > 1).slice(0, 2), others = sweep.axes.map((_, i) => i)
      .filter((i) => !drawn.includes(i));
    const points = all.filter((point) => { const items = itemsOf(sweep, point.point); return others.every((i) =>
      items[i] === (kept.items[i] ?? 0)); });
    const block = figure(shorten(sweep.summary ?? sweep.name, 120), null, sentence(sweep, all, wanted),
      make("p", { class: "controls" }, choose("Figure", there.map((one) => one.name), there.indexOf(wanted),
        (i) => { kept.figure = there[i].id; }),
        others.filter((i) => sweep.axes[i].values.length > 1).map((i) => choose(sweep.axes[i].key,
          sweep.axes[i].values, kept.items[i] ?? 0, (item) => { kept.items[i] = item; })),
        csv(sweep)));
    const frame = make("div", { class: "frame" });
    block.append(frame);
    host.append(block);
    const width = Math.max(fabricast.width(frame), 300);
    frame.append(...(drawn.length === 2 ? drawMap(sweep, points, wanted, drawn, width) : drawCurve(sweep, points,
      wanted, drawn[0] ?? 0, width)));
  };

  const csv = (sweep) => {
    const table = (sweep.tables ?? []).find((one) => one.name === "sweep");
    return table && table.rows === table.held && make("button", { type: "button", onclick: async () =>
      fabricast.download(`sweep-${sweep.sweep}.csv`, await fabricast.csvOf(table), "text/csv") }, "Save as CSV");
  };

  // What tells one job from another, whatever its number of GPUs: of the words of a run, and its name where these do not.
  const TRAITS = [(run) => fabricast.strategy(run) || "job", (run) => run.words?.model, (run) => run.words?.node,
    (run) => [Number(run.words?.nics_per_node) > 0 && run.words.nics_per_node + "\u00a0\u00d7", run.words?.nic,
      /^0\D*$/.test(run.words?.nic_rate ?? "0") ? "" : run.words.nic_rate].filter(Boolean).join(" ") || null,
    (run) => run.words?.fabric, (run) => run.words?.route,
    (run) => run.words?.micro_batch ? `micro-batch ${run.words.micro_batch}` : null,
    (run) => `fidelity ${run.fidelity}`];

  // Runs that differ in nothing but their scale are one line, named after what tells the lines apart.
  const seriesOf = (runs) => {
    const traitsOf = (run) => TRAITS.map((trait) => shorten(trait(run) ?? "", 40)), groups = new Map();
    for (const run of runs) {
      const id = traitsOf(run).join("\n");
      groups.set(id, [...(groups.get(id) ?? []), run]);
    }
    const whole = [...groups.values()].flatMap((group) =>
      new Set(group.map((run) => run.ranks)).size === group.length ? [group] : group.map((run) => [run]));
    const differs = TRAITS.map((_, i) => new Set(whole.map((group) => traitsOf(group[0])[i])).size > 1);
    return whole.map((group) => {
      const told = traitsOf(group[0]).filter((text, i) => text && differs[i]).join(", ");
      return { name: group.length === 1 ? `${shorten(group[0].name, 30)}${told && `: ${told}`}`
        : told || traitsOf(group[0])[0], runs: group };
    });
  };

  // Jobs on more and more GPUs: exposed share over GPUs, a line for each.
  fabricast.scaling = (runs) => {
    const scales = [...new Set(runs.map((run) => run.ranks))].sort((a, b) => a - b);
    if (scales.length < 2) return null;
    const groups = seriesOf(runs), names = groups.map((group) => group.name);
    const series = groups.map((group, kind) => ({ name: group.name, points: group.runs.sort((a, b) => a.ranks - b.ranks)
      .map((run) => ({ i: scales.indexOf(run.ranks), y: fabricast.step(run).exposed_s / fabricast.step(run).step_s,
        kind,
        lines: [shorten(run.name, 60), ["GPUs", count(run.ranks)], ["step", time(fabricast.step(run).step_s)],
          ["exposed", percent(fabricast.step(run).exposed_s / fabricast.step(run).step_s)]] })) }));
    return (host) => host.append(figure("Exposed communication over scale", "From how many GPUs on does the network matter?", curve(Math.min(760,
      fabricast.width(host)),
      { xs: scales.map(String), xName: "GPUs", yName: "exposed, share of the step", series, show: percent,
        about: "Exposed share of the step over the number of GPUs" }), dots(names)));
  };

  fabricast.parts.sweeps = (host, run, data) => {
    host.replaceChildren();
    if (data.sweeps.length === 0) return;
    host.append(make("h2", {}, data.sweeps.length > 1 ? "Sweeps" : "Sweep"));
    for (const sweep of data.sweeps) show(host, sweep);
  };
})();
