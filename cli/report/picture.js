// SPDX-License-Identifier: Apache-2.0
// picture.js - the step as one bar: what the GPUs do in it, and below it the band in which it may lie.
(() => {
  const { make, draw, time, percent, shorten, tip, outlook, figure, key } = fabricast;
  const BAR = 34, GAP = 12, NAME = 18, BAND = 26, AXIS = 22, LETTER = 7;
  const PARTS = [["backward", "compute alone"], ["hidden", "compute, with communication under it"],
                 ["exposed", "exposed communication: the GPUs wait for it"], ["idle", "idle: neither of them"]];

  const partsOf = (step) => [step.compute_s - step.overlapped_s, step.overlapped_s, step.exposed_s, step.idle_s]
    .map((value, i) => ({ style: PARTS[i][0], what: PARTS[i][1], value: Math.max(0, value) }));

  // Up to where the axis reaches: bands that are far wider than their step are cut off, with an arrow.
  const reach = (items) => {
    const steps = d3.max(items, (item) => item.step.step_s), bands = d3.max(items, (item) => item.band?.high_s ?? 0);
    return Math.max(steps * 1.02, Math.min(bands * 1.04, steps * 2.6));
  };

  const drawBar = (item, x, y) => {
    let at = 0;
    return partsOf(item.step).filter((part) => part.value > 0).flatMap((part) => {
      const x0 = x(at), x1 = x(at += part.value), share = percent(part.value / item.step.step_s);
      const text = `${time(part.value)} (${share})`, room = x1 - x0 - 14;
      const label = text.length * LETTER < room ? text : share.length * LETTER < room ? share : null;
      return [tip.attach(draw("rect", { class: "part b-" + part.style, x: x0, y, width: Math.max(0.5, x1 - x0),
        height: BAR }), () => [item.name, [part.what, time(part.value)], ["of the step", share]]),
        label && draw("text", { class: "in-bar " + part.style, x: x0 + 6, y: y + BAR / 2 + 4 }, label)];
    }).filter(Boolean);
  };

  const drawBand = (item, x, y, width) => {
    const { band } = item, end = Math.min(x(band.high_s), width - 3), isCut = x(band.high_s) > width - 3;
    const text = `${Math.round(100 * band.coverage_fraction)}\u00a0% band: ${outlook.range(band)}`, room = text.length * LETTER;
    const start = Math.min(x(band.low_s), end), at = Math.max(0, Math.min(start, width - room));
    return [draw("path", { class: "band", d: `M${start.toFixed(1)} ${y}v8m0 -4H${end.toFixed(1)}`
      + (isCut ? "m-6 -4l6 4l-6 4" : "m0 -4v8") }),
      draw("text", { class: "band-text", x: at, y: y + 21 }, text)];
  };

  const axis = (x, y, width) => {
    const [, most] = x.domain(), unit = most >= 2 ? [1, "s"] : most >= 2e-3 ? [1e-3, "ms"] : [1e-6, "\u00b5s"];
    const scale = x.copy().domain([0, most / unit[0]]), n = width > 560 ? 6 : 3;
    return scale.ticks(n).filter((tick) => scale(tick) < width - 20).flatMap((tick) => [
      draw("line", { class: "grid", x1: scale(tick), x2: scale(tick), y1: 0, y2: y }),
      draw("text", { class: "tick", x: scale(tick), y: y + 15, "text-anchor": tick === 0 ? "start" : "middle" },
        scale.tickFormat(n)(tick).replace(",", "\u202f") + "\u00a0" + unit[1])]);
  };

  const about = (items) => items.map((item) => `${item.name}: a step of ${time(item.step.step_s)}: `
    + partsOf(item.step).filter((part) => part.value > 0).map((part) => `${part.what} ${time(part.value)}`).join(", ")
    + (item.band ? `; the band is ${outlook.range(item.band)}` : "") + ".").join(" ");

  // items: [{ name, step, band }]; several are drawn below one another on one scale, for comparison.
  const chart = (items, width) => {
    const x = d3.scaleLinear().domain([0, reach(items)]).range([0, width]), nodes = [];
    let y = 4;
    for (const item of items) {
      if (items.length > 1) nodes.push(draw("text", { class: "item-name", x: 0, y: y + 12 }, shorten(item.name,
        Math.floor(width / LETTER))));
      y += items.length > 1 ? NAME : 0;
      nodes.push(...drawBar(item, x, y));
      y += BAR + 5;
      if (item.band) nodes.push(...drawBand(item, x, y, width));
      y += (item.band ? BAND : 0) + GAP;
    }
    return draw("svg", { class: "picture", width, height: y + AXIS, viewBox: `0 0 ${width} ${y + AXIS}`, role: "img",
      "aria-label": about(items) }, axis(x, y, width), nodes);
  };

  const QUESTION = "Where does the time of a step go? ";
  fabricast.picture = (host, items) => {
    const frame = make("div", { class: "frame" }), used = new Set(items.flatMap((item) =>
      partsOf(item.step).filter((part) => part.value > 0).map((part) => part.style)));
    const block = figure(null, QUESTION + (items.some((item) => item.band)
      ? "The whole bar is one step, mean over the GPUs. The line below it is the band in which a measured step is expected."
      : "The whole bar is one step, mean over the GPUs."), frame, key(PARTS.filter(([style]) => used.has(style))));
    host.append(block);
    frame.append(chart(items, fabricast.width(frame)));
  };
})();
