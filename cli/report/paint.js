// SPDX-License-Identifier: Apache-2.0
// paint.js - rows of a timeline as paths, one for each kind of block.
//
// What is at least two pixels wide is a block. Narrower ones are added up pixel by pixel, and a column is as high as the
// share of the pixel's time that they take: what is seen is true at every zoom, and a redraw costs as much as the page is
// wide, however many spans there are.
(() => {
  const { draw, shorten, spans } = fabricast;
  const WIDE = 2, NARROW = 20, MOST_LABELS = 400, LETTER = 6.3;

  const styleOf = (kind, name) => {
    if (kind === 1) return "hidden";
    if (kind === 2) return "load";
    if (kind === 3) return "wait";
    return name.startsWith("forward") ? "forward" : name.startsWith("backward") ? "backward" : "compute";
  };

  const box = (x0, x1, y, height) =>
    `M${x0.toFixed(1)} ${y.toFixed(1)}h${(x1 - x0).toFixed(1)}v${height.toFixed(1)}h${(x0 - x1).toFixed(1)}z`;

  class Painter {
    constructor(scale, y, height) {
      Object.assign(this, { scale, y, height, width: Math.ceil(scale.range()[1]), paths: new Map(),
        columns: new Map() });
    }

    add(style, start, end) {
      const x0 = this.scale(start), x1 = this.scale(end);
      if (x1 - x0 >= WIDE) {
        this.block(style, x0 + (x1 - x0 > 4 ? 0.5 : 0), x1, this.y, this.height);
        return;
      }
      if (!this.columns.has(style)) this.columns.set(style, new Float32Array(this.width + 1));
      const cover = this.columns.get(style), first = Math.max(0, Math.floor(x0)), last = Math.min(this.width - 1,
        Math.floor(x1));
      for (let x = first; x <= last; x++) cover[x] += Math.max(0, Math.min(x1, x + 1) - Math.max(x0, x));
    }

    block(style, x0, x1, y, height) {
      this.paths.set(style, (this.paths.get(style) ?? "") + box(x0, x1, y, height));
    }

    // Columns of several styles stand on one another; neighbours of one height are one.
    stack() {
      const styles = [...this.columns.keys()], open = styles.map(() => null);
      const close = (i) => {
        if (open[i]) this.block(styles[i], open[i].x, open[i].end, open[i].y, open[i].height);
        open[i] = null;
      };
      for (let x = 0; x < this.width; x++) {
        let foot = this.y + this.height;
        styles.forEach((style, i) => {
          const cover = Math.min(1, this.columns.get(style)[x]);
          const height = cover > 0 ? Math.max(1, Math.round(cover * this.height)) : 0;
          foot = Math.max(this.y, foot - height);
          if (open[i] && open[i].height === height && open[i].y === foot) {
            open[i].end = x + 1;
            return;
          }
          close(i);
          if (height > 0) open[i] = { x, end: x + 1, y: foot, height };
        });
      }
      styles.forEach((_, i) => close(i));
    }

    drawn() {
      this.stack();
      return [...this.paths].map(([style, d]) => draw("path", { class: "b-" + style, d }));
    }
  }

  // Intervals of a flat list that touch [from, to].
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

  const eachPart = (flat, visit) => {
    for (let i = 0; i < flat.length; i += 2) visit(flat[i], flat[i + 1]);
  };

  // Communication in two styles: hidden under compute, and where nothing hides it.
  const addComm = (painter, compute, start, end) => {
    const whole = [start, end], bare = spans.without(whole, near(compute, start, end));
    eachPart(spans.without(whole, bare), (a, b) => painter.add("hidden", a, b));
    eachPart(bare, (a, b) => painter.add("exposed", a, b));
  };

  // A block's name as far as it fits, and what tells it from its neighbours first: "forward block12.experts", "block12.experts",
  // "12 experts", "12".
  const fitting = (name, most) => {
    const bare = name.replace(/^\S+ /, ""), numbered = /^(?:block|layer)(\d+)(?:\.(.*))?$/.exec(bare);
    const ways = [name, bare, ...(numbered ? [[numbered[1], numbered[2]].filter(Boolean).join(" "), numbered[1]] : [])];
    return ways.find((way) => way.length <= most) ?? (most >= 6 ? shorten(bare, most) : null);
  };

  const label = (lane, i, name, x, width, y, height) => {
    const most = Math.floor((width - 8) / LETTER), times = lane.count[i] > 1 ? ` \u00d7${lane.count[i]}` : "";
    const text = fitting(fabricast.clean(name), most - times.length) ?? fitting(fabricast.clean(name), most);
    return text && draw("text", { x: x + 4, y: y + height / 2 + 4, class: lane.kind[i] === 3 ? "dark" : null },
      text + (text.length + times.length <= most ? times : ""));
  };

  const lane = (names, { lane, one, top }, height, scale, [from, to], labels) => {
    const painter = new Painter(scale, top, height);
    for (let i = spans.firstAfter(lane.end, from); i < lane.n && lane.start[i] < to; i++) {
      const start = Math.max(lane.start[i], from), end = Math.min(lane.end[i], to), name = names[lane.name[i]];
      if (lane.kind[i] === 1) addComm(painter, one.compute, start, end);
      else painter.add(styleOf(lane.kind[i], name), start, end);
      const width = scale(end) - scale(start);
      const text = width > NARROW && labels.length < MOST_LABELS ? label(lane, i, name, scale(start), width, top, height) : null;
      if (text) labels.push(text);
    }
    return painter.drawn();
  };

  // Lists of intervals by style, in one row.
  const flat = (parts, top, height, scale, [from, to]) => {
    const painter = new Painter(scale, top, height);
    for (const [style, all] of parts)
      eachPart(near(all, from, to), (a, b) => painter.add(style, Math.max(a, from), Math.min(b, to)));
    return painter.drawn();
  };

  fabricast.paint = { lane, flat, near, styleOf, fitting };
})();
