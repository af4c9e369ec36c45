// SPDX-License-Identifier: Apache-2.0
// timeline.js - one iteration, stream by stream, to zoom into: by buttons, keys, wheel, fingers, and a strip of the whole.
(() => {
  const { make, draw, time, plural, shorten, spans, lanes, paint, sums, state, tip } = fabricast;
  const AXIS = 24, STRIP = 26, SIDE = 100;
  const LEGEND = [["forward", "forward"], ["backward", "backward"], ["compute", "other compute"],
                  ["hidden", "communication, hidden under compute"], ["exposed", "communication, exposed"],
                  ["wait", "waiting for other ranks"], ["load", "host work"], ["idle", "idle"]];

  const eventOf = (event) => d3.event ?? event; // D3 5 keeps it, later ones hand it over

  const unitOf = (length) =>
    length >= 2e9 ? [1e9, "s"] : length >= 2e6 ? [1e6, "ms"] : length >= 2e3 ? [1e3, "\u00b5s"] : [1, "ns"];

  const drawAxis = (scale, view, height, wide) => {
    const [factor, unit] = unitOf(view[1] - view[0]), n = wide ? 8 : 4, most = scale.range()[1];
    const inUnit = scale.copy().domain(view.map((at) => at / factor)), text = inUnit.tickFormat(n);
    return inUnit.ticks(n).flatMap((tick) => {
      const x = inUnit(tick), anchor = x < 16 ? "start" : x > most - 26 ? "end" : "middle"; // 26: half of "1,000 ms"
      return [draw("line", { class: "grid", x1: x, x2: x, y1: 0, y2: height }),
              draw("text", { class: "tick", x, y: height + 16, "text-anchor": anchor }, text(tick) + "\u00a0" + unit)];
    });
  };

  const usedStyles = (run, classes) => {
    const used = new Set();
    for (const one of classes) {
      for (const lane of one.lanes)
        for (let i = 0; i < lane.n; i++) used.add(paint.styleOf(lane.kind[i], run.timeline.names[lane.name[i]]));
      if (one.exposed.length > 0) used.add("exposed");
      if (classes.length > 1 && one.idle.length > 0) used.add("idle");
    }
    return used;
  };

  let made = 0;

  class Timeline {
    constructor(host, run) {
      this.within = `within-${made++}`; // a page may have two
      const { duration, classes } = spans.prepare(run.timeline), room = fabricast.width(host), wide = room > 560;
      Object.assign(this, { run, duration, classes, wide, left: wide ? SIDE : 0 });
      this.width = room - this.left - 2;
      this.layout = lanes.rowsOf(run, classes, wide);
      this.whole = d3.scaleLinear().range([0, this.width]).domain([0, duration]);
      this.build();
      this.bindZoom();
      this.bindPointer();
      this.bindKeys();
      this.bindStrip();
      if (state.view) this.showRange(...state.view.map((part) => part * duration));
      else this.reset();
    }

    build() {
      const { width, left, layout: { height } } = this, all = width + left + 2;
      this.lanes = draw("g", { class: "lanes", "clip-path": `url(#${this.within})` });
      this.axis = draw("g", {});
      this.cover = draw("rect", { class: "cover", width, height, fill: "transparent" });
      this.svg = draw("svg", { class: "timeline", width: all, height: height + AXIS,
        viewBox: `0 0 ${all} ${height + AXIS}`,
                               tabindex: 0, role: "group", "aria-label": this.summary() },
        draw("clipPath", { id: this.within }, draw("rect", { width, height: height + 1 })),
        draw("g", { transform: `translate(${left},0)` }, this.axis, this.lanes, this.cover), this.names());
      this.strip = draw("svg", { class: "strip", width: all, height: STRIP, "aria-hidden": "true" });
      this.status = make("span", { class: "about", "aria-live": "polite" });
    }

    summary() {
      const last = fabricast.step(this.run);
      return `Timeline of iteration ${this.run.timeline.iteration + 1}: ${time(last.step_s)}, of it compute `
        + `${time(last.compute_s)}, exposed communication ${time(last.exposed_s)}, idle ${time(last.idle_s)}.`;
    }

    // Names of classes are buttons that open and fold them.
    names() {
      return draw("g", {}, this.layout.rows.map((row) => {
        const isButton = row.type === "head" || row.type === "summary", beside = this.wide && row.type !== "head";
        const y = row.type === "head" ? row.y + lanes.HEAD - 6 : this.wide ? row.top + lanes.BAR - 4 : row.top - 3;
        const text = (isButton ? (row.open ? "\u25be " : "\u25b8 ") : "") + shorten(row.text, beside ? 14 : 60);
        return draw("text", { class: isButton ? "class-name" : "row-name", x: beside ? this.left - 8 : 0, y,
          "text-anchor": beside ? "end" : null, tabindex: isButton ? 0 : null, role: isButton ? "button" : null,
          "aria-expanded": isButton ? String(row.open) : null, onclick: isButton ? () => this.toggle(row) : () => {},
          onkeydown: (event) => this.toggleByKey(event, isButton && row) }, text);
      }));
    }

    toggle(row) {
      state.open[`class ${row.one.index}`] = !row.open;
      fabricast.redraw();
    }

    toggleByKey(event, row) {
      if (!row || (event.key !== "Enter" && event.key !== " ")) return;
      event.preventDefault();
      this.toggle(row);
    }

    // --- zoom: the transform of D3 is what holds ---

    bindZoom() {
      const extent = [[0, 0], [this.width, this.layout.height]];
      this.zoom = d3.zoom().scaleExtent([1, Math.max(2, this.duration / 100)]).extent(extent).translateExtent(extent)
        .filter((given) => {
          const event = eventOf(given);
          return event.type === "wheel" ? event.ctrlKey || event.metaKey : !event.button;
        })
        .on("zoom", (given) => this.show(eventOf(given).transform));
      this.stage = d3.select(this.cover).call(this.zoom).on("dblclick.zoom", () => this.scaleBy(2.5));
      this.cover.style.touchAction = "pan-y"; // a page that scrolls stays one
    }

    scaleBy(factor) { this.stage.call(this.zoom.scaleBy, factor); }
    moveBy(part) { this.stage.call(this.zoom.translateBy, (part * this.width) / this.transform.k, 0); }
    reset() { this.stage.call(this.zoom.transform, d3.zoomIdentity); }

    showRange(from, to) {
      const k = this.width / Math.max(1e-3, this.whole(to) - this.whole(from));
      this.stage.call(this.zoom.transform, d3.zoomIdentity.scale(k).translate(-this.whole(from), 0));
    }

    show(transform) {
      this.transform = transform;
      this.scale = transform.rescaleX(this.whole);
      state.view = transform.k > 1.0001 ? this.scale.domain().map((at) => at / this.duration) : null;
      if (!this.isPainted) this.paint();
      else this.waiting ??= requestAnimationFrame(() => this.paint());
    }

    paint() {
      const view = this.scale.domain(), labels = [];
      this.waiting = null;
      this.isPainted = true;
      this.lanes.replaceChildren(...this.layout.rows.flatMap((row) => lanes.drawRow(this.run, row, this.scale, view,
        labels)),
        ...labels);
      this.axis.replaceChildren(...drawAxis(this.scale, view, this.layout.height, this.wide));
      this.status.textContent = state.view
        ? `${time(view[0] / 1e9)} to ${time(view[1] / 1e9)} of ${time(this.duration / 1e9)}`
        : `the whole iteration, ${time(this.duration / 1e9)}`;
      this.onView?.(view);
      if (this.brush && !this.isBrushing)
        d3.select(this.brushed).call(this.brush.move, state.view ? view.map(this.whole) : null);
    }

    bindPointer() {
      this.cover.addEventListener("pointermove", (event) => {
        const spot = this.cover.getBoundingClientRect(), x = event.clientX - spot.left, y = event.clientY - spot.top;
        const row = this.layout.rows.find((one) => y >= one.y && y < one.y + one.height), at = this.scale.invert(x);
        const lines = row ? lanes.tell(this.run, row, at, this.scale.invert(x + 2) - at) : null;
        if (lines) tip.show(event.clientX, event.clientY, lines);
        else tip.hide();
      });
      this.cover.addEventListener("pointerleave", tip.hide);
    }

    bindKeys() {
      const keys = { "+": () => this.scaleBy(1.6), "=": () => this.scaleBy(1.6), "-": () => this.scaleBy(1 / 1.6),
                     "0": () => this.reset(), Home: () => this.reset(),
                     ArrowLeft: () => this.moveBy(0.2), ArrowRight: () => this.moveBy(-0.2) };
      this.svg.addEventListener("keydown", (event) => {
        if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        keys[event.key]();
      });
    }

    // The whole iteration of the first class, over which a drag chooses what is shown.
    bindStrip() {
      const first = this.classes[0], parts = first ? lanes.partsOf(first) : [];
      this.brush = d3.brushX().extent([[0, 0], [this.width, STRIP - 2]]).on("start brush end", (given) =>
        this.brushing(eventOf(given)));
      this.brushed = draw("g", {});
      this.strip.append(draw("g", { transform: `translate(${this.left},0)` },
        ...paint.flat(parts, 6, STRIP - 14, this.whole, [0, this.duration]), this.brushed));
      d3.select(this.brushed).call(this.brush);
    }

    brushing(event) {
      const { selection, sourceEvent, type } = event;
      if (!sourceEvent || sourceEvent.type === "zoom") return; // moved by us
      this.isBrushing = type !== "end";
      if (selection && selection[1] - selection[0] > 1) this.showRange(...selection.map(this.whole.invert));
      else if (type === "end") this.reset();
    }

    buttons() {
      const button = (text, name, action) =>
        make("button", { type: "button", "aria-label": name, title: name, onclick: action }, text);
      return make("p", { class: "controls" }, button("+", "Zoom in", () => this.scaleBy(1.8)),
        button("\u2212", "Zoom out", () => this.scaleBy(1 / 1.8)), button("\u25c2", "Earlier", () => this.moveBy(0.4)),
        button("\u25b8", "Later", () => this.moveBy(-0.4)), button("Whole", "The whole iteration", () => this.reset()),
          this.status);
    }
  }

  const more = (left) => left > 0 && make("button", { type: "button", onclick: () => {
    state.open.classes = true;
    fabricast.redraw();
  } }, `Show ${plural(left, "more class", "more classes")} of ranks`);

  const hints = ({ recorded, short_ns }) => [
    make("p", { class: "about hint" }, "Zoom with the buttons, Ctrl and the wheel, two fingers, or a drag over the strip; with "
      + "the keyboard: + and \u2212, arrow keys, 0 for the whole. Where blocks are narrower than a pixel, a column is as high as "
      + "the share of time that they take."),
    short_ns > 0 && make("p", { class: "about" },
      `Of ${plural(recorded, "span")}, those shorter than ${time(short_ns / 1e9)} that `
      + "follow one another are drawn as one.")];

  fabricast.parts.timeline = (host, run) => {
    host.replaceChildren();
    if (!run || run.timeline.lanes.length === 0) return;
    const last = fabricast.step(run), frame = make("div", { class: "frame" });
    host.append(make("h2", {}, "Timeline of an iteration"),
      make("p", {}, `Iteration ${last.iteration + 1} of ${run.iterations.length}. Compute above, communication below it; orange and `
        + "hatched is where communication runs and compute stands still."), frame);
    const timeline = new Timeline(frame, run), used = usedStyles(run, timeline.classes);
    fabricast.timeline = timeline;
    const panel = sums.panel(timeline);
    timeline.onView = panel.show;
    panel.show(timeline.scale.domain());
    frame.append(timeline.buttons(), sums.search(timeline), timeline.svg, timeline.strip, more(timeline.layout.left) || "",
      fabricast.key(LEGEND.filter(([style]) => used.has(style))), ...hints(run.timeline).filter(Boolean));
    host.append(panel.node);
  };
})();
