// SPDX-License-Identifier: Apache-2.0
// timeline.js - one iteration, stream by stream, to zoom into.
//
// What falls into one pixel is drawn as one, and each kind of block of a row is one path: a redraw costs as much as
// the page is wide, however many spans there are.
(() => {
  const { make, draw, time, bytes, rate, plural, shorten, op, link, spans, state, tip } = fabricast;
  const BAR = 16, HEAD = 20, AXIS = 24, STRIP = 26, MOST_CLASSES = 16, MOST_LABELS = 240, LETTER = 6.3;
  const LEGEND = [["forward", "forward"], ["backward", "backward"], ["compute", "other compute"],
                  ["hidden", "communication, hidden under compute"], ["exposed", "communication, exposed"],
                  ["wait", "waiting for other ranks"], ["load", "host work"], ["idle", "idle"]];

  const styleOf = (kind, name) => {
    if (kind === 1) return "hidden";
    if (kind === 2) return "load";
    if (kind === 3) return "wait";
    return name.startsWith("forward") ? "forward" : name.startsWith("backward") ? "backward" : "compute";
  };

  // --- rows ---

  const className = (run, index) => {
    const one = run.classes[index];
    if (!one) return "class " + index;
    const ranks = one.ranks === 1 ? `rank ${one.first_rank}` : plural(one.ranks, "rank") + ` from ${one.first_rank}`;
    return one.name && one.name !== "all" ? `${shorten(one.name, 24)} (${ranks})` : `every rank (${ranks})`;
  };

  const isOpen = (run, classes, index) =>
    state.open[`class ${index}`] ?? (classes.length <= 2 || index === classes[0].index);

  // What stands below one another: heads, streams, and summaries of classes that are folded.
  // A row's name stands beside it, on a phone above it.
  const rowsOf = (run, classes, wide) => {
    const rows = [], several = classes.length > 1, name = wide ? 3 : 13, ROW = BAR + name + 3;
    const shown = state.open.classes ? classes : classes.slice(0, MOST_CLASSES);
    for (const one of shown) {
      const open = isOpen(run, classes, one.index);
      if (several) rows.push({ type: "head", one, open, text: className(run, one.index), height: HEAD });
      if (open) {
        for (const lane of one.lanes)
          rows.push({ type: "lane", one, lane, text: shorten(lane.stream, 16), height: ROW });
        rows.push({ type: "exposed", one, text: "exposed", height: ROW });
      } else {
        rows.push({ type: "summary", one, text: "", height: ROW });
      }
    }
    let y = 0;
    for (const row of rows) {
      row.y = y;
      row.top = y + name; // of the bar
      y += row.height;
    }
    return { rows, height: y, left: classes.length - shown.length };
  };

  // --- paths ---

  const box = (x0, x1, y, height) => `M${x0.toFixed(1)} ${y}h${(x1 - x0).toFixed(1)}v${height}h${(x0 - x1).toFixed(1)}z`;

  // Collects blocks per style; a block that begins in the pixel where the last one ended goes on.
  const collector = (scale, y, height) => {
    const last = new Map(), texts = new Map();
    const flush = (style) => {
      const open = last.get(style);
      if (open) texts.set(style, (texts.get(style) ?? "") + box(open[0], Math.max(open[1], open[0] + 0.6), y, height));
    };
    return {
      add(style, start, end) {
        const x0 = scale(start), x1 = scale(end), open = last.get(style);
        if (open && x0 - open[1] < 0.35 && (x1 - x0 < 2 || open[1] - open[0] < 2)) {
          open[1] = Math.max(open[1], x1);
          return;
        }
        flush(style);
        last.set(style, [x0 + (x1 - x0 > 3 ? 0.5 : 0), x1]);
      },
      paths() {
        for (const style of last.keys()) flush(style);
        return [...texts].map(([style, d]) => draw("path", { class: "b-" + style, d }));
      },
    };
  };

  const eachWithin = (flat, from, to, visit) => {
    for (let i = 0; i < flat.length && flat[i] < to; i += 2)
      if (flat[i + 1] > from) visit(Math.max(flat[i], from), Math.min(flat[i + 1], to));
  };

  const drawLane = (run, row, scale, view, labels) => {
    const { lane, one } = row, [from, to] = view, y = row.top, blocks = collector(scale, y, BAR);
    const { names } = run.timeline;
    for (let i = spans.firstAfter(lane.end, from); i < lane.n && lane.start[i] < to; i++) {
      const start = Math.max(lane.start[i], from), end = Math.min(lane.end[i], to), name = names[lane.name[i]];
      blocks.add(styleOf(lane.kind[i], name), start, end);
      const width = scale(end) - scale(start);
      if (width > 44 && labels.length < MOST_LABELS)
        labels.push(draw("text", { x: scale(start) + 4, y: y + BAR / 2 + 4, class: lane.kind[i] === 3 ? "dark" : null },
          shorten(name + (lane.count[i] > 1 ? ` \u00d7${lane.count[i]}` : ""), Math.floor((width - 8) / LETTER))));
    }
    const paths = blocks.paths();
    if (lane.kind.includes(1)) { // where nothing hides it
      const bare = collector(scale, y, BAR);
      for (let i = spans.firstAfter(lane.end, from); i < lane.n && lane.start[i] < to; i++)
        if (lane.kind[i] === 1)
          eachWithin(spans.without([Math.max(lane.start[i], from), Math.min(lane.end[i], to)], near(one.compute, lane.start[i], lane.end[i])),
            from, to, (a, b) => bare.add("exposed", a, b));
      paths.push(...bare.paths());
    }
    return paths;
  };

  // Intervals of a flat list around [from, to].
  const near = (flat, from, to) => {
    let low = 0, high = flat.length / 2;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (flat[2 * middle + 1] <= from) low = middle + 1;
      else high = middle;
    }
    let end = low;
    while (2 * end < flat.length && flat[2 * end] < to) end++;
    return flat.slice(2 * low, 2 * end);
  };

  const drawFlat = (parts, y, height, scale, [from, to]) => {
    const blocks = collector(scale, y, height);
    for (const [style, flat] of parts)
      eachWithin(flat, from, to, (a, b) => blocks.add(style, a, b));
    return blocks.paths();
  };

  const drawRow = (run, row, scale, view, labels) => {
    const y = row.top, { one } = row;
    if (row.type === "lane") return drawLane(run, row, scale, view, labels);
    if (row.type === "exposed") return drawFlat([["exposed", one.exposed]], y, BAR, scale, view);
    if (row.type === "summary")
      return drawFlat([["backward", one.compute], ["exposed", one.exposed], ["idle", one.idle]], y, BAR, scale, view);
    return [];
  };

  // --- what is under the pointer ---

  const lines = (run, lane, i) => {
    const { names, forms } = run.timeline, form = lane.form[i] >= 0 ? forms[lane.form[i]] : null;
    const seconds = (lane.end[i] - lane.start[i]) / 1e9, alone = lane.count[i] === 1;
    return [shorten(names[lane.name[i]], 120),
      !alone && ["drawn as one", plural(lane.count[i], "span")],
      ["begins at", time(lane.start[i] / 1e9)], ["takes", time(seconds)],
      lane.kind[i] === 3 && "waits for the last rank to arrive",
      form && ["operation", op(form.op) + (form.dimension ? ", " + shorten(form.dimension, 20) : "")],
      form && form.bytes > 0 && ["size", bytes(form.bytes)], form && ["ranks", String(form.ranks)],
      form && form.algorithm && ["algorithm", shorten(form.algorithm, 24) + (form.protocol ? ", " + shorten(form.protocol, 16) : "")],
      form && alone && lane.kind[i] === 1 && form.bytes > 0 && ["algorithm bandwidth", rate(form.bytes / seconds)],
      form && form.link_from && ["set by", link(form.link_from, form.link_to)],
      form && form.spec && ["", shorten(form.spec, 40)]];
  };

  const spanAt = (lane, at, slack) => {
    const i = spans.firstAfter(lane.end, at - slack);
    return i < lane.n && lane.start[i] <= at + slack ? i : -1;
  };

  const flatAt = (flat, at) => {
    const found = near(flat, at, at + 1);
    return found.length > 0 && found[0] <= at ? found : null;
  };

  const tell = (run, row, at, slack) => {
    if (row.type === "lane") {
      const i = spanAt(row.lane, at, slack);
      return i >= 0 ? lines(run, row.lane, i) : null;
    }
    for (const [name, flat] of [["exposed communication", row.one.exposed], ["compute", row.one.compute], ["idle", row.one.idle]]) {
      const found = row.type === "summary" || name.startsWith("exposed") ? flatAt(flat, at) : null;
      if (found)
        return [name, ["begins at", time(found[0] / 1e9)], ["takes", time((found[1] - found[0]) / 1e9)]];
    }
    return null;
  };

  // --- the axis ---

  const axisFormat = ([from, to]) => {
    const length = to - from;
    const [factor, unit] = length >= 2e9 ? [1e9, "s"] : length >= 2e6 ? [1e6, "ms"] : length >= 2e3 ? [1e3, "\u00b5s"] : [1, "ns"];
    return { factor, unit };
  };

  const drawAxis = (scale, view, height, wide) => {
    const { factor, unit } = axisFormat(view), inUnit = scale.copy().domain(view.map((at) => at / factor));
    const ticks = inUnit.ticks(wide ? 8 : 4), shown = inUnit.tickFormat(wide ? 8 : 4);
    return [ticks.map((tick) => draw("line", { class: "grid", x1: inUnit(tick), x2: inUnit(tick), y1: 0, y2: height })),
            ticks.map((tick) => draw("text", { class: "tick", x: inUnit(tick), y: height + 16,
              "text-anchor": inUnit(tick) < 16 ? "start" : inUnit(tick) > scale.range()[1] - 16 ? "end" : "middle" },
              shown(tick) + "\u00a0" + unit))];
  };

  // --- the figure ---

  const legend = (used) => make("ul", { class: "legend" }, LEGEND.filter(([style]) => used.has(style)).map(([style, text]) =>
    make("li", {}, draw("svg", { width: 18, height: 12, "aria-hidden": "true" },
      draw("rect", { class: "b-" + style, x: 0.5, y: 0.5, width: 17, height: 11 })), text)));

  const patterns = () => draw("defs", {},
    draw("pattern", { id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      draw("rect", { class: "hatch-ground", width: 6, height: 6 }), draw("rect", { class: "hatch-line", width: 2, height: 6 })),
    draw("pattern", { id: "dots", width: 5, height: 5, patternUnits: "userSpaceOnUse" },
      draw("rect", { class: "dots-ground", width: 5, height: 5 }), draw("circle", { class: "dots-dot", cx: 2.5, cy: 2.5, r: 0.9 })),
    draw("pattern", { id: "bars", width: 4, height: 4, patternUnits: "userSpaceOnUse" },
      draw("rect", { class: "bars-ground", width: 4, height: 4 }), draw("rect", { class: "bars-line", width: 1.4, height: 4 })));

  const usedStyles = (run, classes) => {
    const used = new Set();
    for (const one of classes) {
      for (const lane of one.lanes)
        for (let i = 0; i < lane.n; i++) used.add(styleOf(lane.kind[i], run.timeline.names[lane.name[i]]));
      if (one.exposed.length > 0) used.add("exposed");
    }
    if (classes.length > 1) used.add("idle");
    return used;
  };

  const about = (run) => {
    const { recorded, short_ns } = run.timeline;
    return "Zoom with the buttons, Ctrl and the wheel, two fingers, or a drag over the strip; with the keyboard: + and \u2212, "
      + "arrow keys, 0 for the whole."
      + (short_ns > 0 ? ` Of ${plural(recorded, "span")}, those shorter than ${time(short_ns / 1e9)} that follow one another are `
        + "drawn as one." : "");
  };

  class Timeline {
    constructor(host, run) {
      const { duration, classes } = spans.prepare(run.timeline);
      Object.assign(this, { run, duration, classes });
      this.wide = fabricast.width(host) > 560;
      this.left = this.wide ? 88 : 0;
      this.width = fabricast.width(host) - this.left - 2;
      this.layout = rowsOf(run, classes, this.wide);
      this.scale = d3.scaleLinear().range([0, this.width]).domain([0, duration]);
      this.whole = this.scale.copy();
      this.build();
    }

    build() {
      const { layout, width, left } = this, height = layout.height;
      this.lanes = draw("g", { class: "lanes", "clip-path": "url(#within)" });
      this.axis = draw("g", { class: "axis" });
      this.cover = draw("rect", { class: "cover", width, height, fill: "transparent" });
      const clip = draw("clipPath", { id: "within" }, draw("rect", { width, height: height + 1 }));
      this.svg = draw("svg", { class: "timeline", width: width + left + 2, height: height + AXIS, viewBox: `0 0 ${width + left + 2} ${height + AXIS}`, tabindex: 0, role: "img",
        "aria-label": this.summary() },
        draw("defs", {}, clip), draw("g", { transform: `translate(${left},0)` }, this.axis, this.lanes, this.cover), this.names());
      this.strip = draw("svg", { class: "strip", width: width + left + 2, height: STRIP, "aria-hidden": "true" });
      this.status = make("span", { class: "about", "aria-live": "polite" });
      this.bindZoom();
      this.bindPointer();
      this.bindKeys();
      this.bindStrip();
      this.restore();
    }

    summary() {
      const last = fabricast.step(this.run);
      return `Timeline of iteration ${this.run.timeline.iteration + 1}: ${time(last.step_s)}, of it compute ${time(last.compute_s)}, `
        + `exposed communication ${time(last.exposed_s)}, idle ${time(last.idle_s)}.`;
    }

    // Names of rows at the left; on a phone small, over the rows' beginnings.
    names() {
      const { rows } = this.layout;
      return draw("g", { class: "names" }, rows.filter((row) => row.text).map((row) => {
        if (row.type === "head")
          return draw("text", { class: "class-name", x: 0, y: row.y + HEAD - 6, tabindex: 0, role: "button",
            "aria-expanded": row.open ? "true" : "false",
            onclick: () => this.toggle(row), onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); this.toggle(row); } } },
            (row.open ? "\u25be " : "\u25b8 ") + row.text);
        return this.wide ? draw("text", { class: "row-name", x: this.left - 8, y: row.top + BAR - 4, "text-anchor": "end" }, shorten(row.text, 13))
          : draw("text", { class: "row-name", x: 0, y: row.top - 3 }, shorten(row.text, 40));
      }));
    }

    toggle(row) {
      state.open[`class ${row.one.index}`] = !row.open;
      fabricast.redraw();
    }

    bindZoom() {
      const { width, layout } = this, extent = [[0, 0], [width, layout.height]];
      const eventOf = (event) => d3.event ?? event;
      this.zoom = d3.zoom().scaleExtent([1, Math.max(2, this.duration / 100)]).extent(extent).translateExtent(extent)
        .filter((given) => {
          const event = eventOf(given);
          return event.type === "wheel" ? event.ctrlKey || event.metaKey : !event.button;
        })
        .on("zoom", (given) => this.show(eventOf(given).transform));
      this.stage = d3.select(this.cover).call(this.zoom).on("dblclick.zoom", null);
      this.stage.on("dblclick", () => this.scaleBy(2.5));
      this.cover.style.touchAction = "pan-y";
    }

    scaleBy(factor) { this.stage.call(this.zoom.scaleBy, factor); }
    moveBy(part) { this.stage.call(this.zoom.translateBy, (part * this.width) / this.transform.k, 0); }
    reset() { this.stage.call(this.zoom.transform, d3.zoomIdentity); }
    showRange(from, to) {
      const k = this.width / Math.max(1, this.whole(to) - this.whole(from));
      this.stage.call(this.zoom.transform, d3.zoomIdentity.scale(k).translate(-this.whole(from), 0));
    }

    restore() {
      if (state.view) this.showRange(state.view[0] * this.duration, state.view[1] * this.duration);
      else this.reset();
    }

    show(transform) {
      this.transform = transform;
      this.scale = transform.rescaleX(this.whole);
      const [from, to] = this.scale.domain();
      state.view = transform.k > 1.0001 ? [from / this.duration, to / this.duration] : null;
      if (!this.waiting) this.waiting = requestAnimationFrame(() => this.paint());
      if (!this.painted) this.paint();
    }

    paint() {
      const view = this.scale.domain(), labels = [];
      cancelAnimationFrame(this.waiting);
      this.waiting = 0;
      this.painted = true;
      this.lanes.replaceChildren(...this.layout.rows.flatMap((row) => drawRow(this.run, row, this.scale, view, labels)), ...labels);
      this.axis.replaceChildren(...drawAxis(this.scale, view, this.layout.height, this.wide).flat());
      this.status.textContent = state.view
        ? `${time(view[0] / 1e9)} to ${time(view[1] / 1e9)} of ${time(this.duration / 1e9)}` : `the whole iteration, ${time(this.duration / 1e9)}`;
      if (this.brush && !this.isBrushing)
        d3.select(this.brushed).call(this.brush.move, state.view ? view.map(this.whole) : null);
    }

    bindPointer() {
      this.cover.addEventListener("pointermove", (event) => {
        const spot = this.cover.getBoundingClientRect(), x = event.clientX - spot.left, y = event.clientY - spot.top;
        const row = this.layout.rows.find((one) => y >= one.y && y < one.y + one.height);
        const slack = this.scale.invert(x + 2) - this.scale.invert(x);
        const told = row && row.type !== "head" ? tell(this.run, row, this.scale.invert(x), slack) : null;
        if (told) tip.show(event.clientX, event.clientY, told);
        else tip.hide();
      });
      this.cover.addEventListener("pointerleave", tip.hide);
    }

    bindKeys() {
      const keys = { "+": () => this.scaleBy(1.6), "=": () => this.scaleBy(1.6), "-": () => this.scaleBy(1 / 1.6), "0": () => this.reset(),
                     Home: () => this.reset(), ArrowLeft: () => this.moveBy(0.2), ArrowRight: () => this.moveBy(-0.2) };
      this.svg.addEventListener("keydown", (event) => {
        if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        keys[event.key]();
      });
    }

    // The whole iteration of the first class, over which a drag chooses what is shown.
    bindStrip() {
      const eventOf = (event) => d3.event ?? event, first = this.classes[0], all = [0, this.duration];
      this.brush = d3.brushX().extent([[0, 0], [this.width, STRIP - 2]])
        .on("start brush end", (given) => {
          const event = eventOf(given);
          if (!event.sourceEvent || event.sourceEvent.type === "zoom") return;
          this.isBrushing = event.type !== "end";
          if (event.selection && event.selection[1] - event.selection[0] > 1) this.showRange(...event.selection.map(this.whole.invert));
          else if (event.type === "end") this.reset();
        });
      this.brushed = draw("g", {});
      this.strip.append(draw("g", { transform: `translate(${this.left},0)` },
        ...(first ? drawFlat([["backward", first.compute], ["exposed", first.exposed], ["idle", first.idle]], 6, STRIP - 14, this.whole, all) : []),
        this.brushed));
      d3.select(this.brushed).call(this.brush);
    }

    buttons() {
      const button = (text, name, action) => make("button", { type: "button", "aria-label": name, title: name, onclick: action }, text);
      return make("p", { class: "controls" }, button("+", "Zoom in", () => this.scaleBy(1.8)), button("\u2212", "Zoom out", () => this.scaleBy(1 / 1.8)),
        button("\u25c2", "Earlier", () => this.moveBy(0.4)), button("\u25b8", "Later", () => this.moveBy(-0.4)),
        button("Whole", "The whole iteration", () => this.reset()), this.status);
    }
  }

  const more = (left) => left > 0 && make("button", { type: "button", onclick: () => { state.open.classes = true; fabricast.redraw(); } },
    `Show ${plural(left, "more class", "more classes")} of ranks`);

  fabricast.parts.timeline = (host, run) => {
    host.replaceChildren();
    if (!run || run.timeline.lanes.length === 0) return;
    const last = fabricast.step(run), frame = make("div", { class: "frame" });
    host.append(make("h2", {}, "Timeline of an iteration"),
      make("p", {}, `Iteration ${last.iteration + 1} of ${run.iterations.length}. Compute above, communication below it; orange and hatched is `
        + "where communication runs and compute stands still."));
    host.append(draw("svg", { class: "patterns", width: 0, height: 0, "aria-hidden": "true" }, patterns()), frame);
    const timeline = new Timeline(frame, run);
    fabricast.timeline = timeline;
    frame.append(timeline.buttons(), timeline.svg, timeline.strip, more(timeline.layout.left) || "", legend(usedStyles(run, timeline.classes)),
      make("p", { class: "about" }, about(run)));
  };
})();
