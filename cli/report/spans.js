// SPDX-License-Identifier: Apache-2.0
// spans.js - the timeline's data made ready: lanes of spans, and per class of ranks what was exposed and idle.
//
// A list of intervals is flat, [start, end, start, end, ...], in order and without overlaps; times are ns.
(() => {
  const KINDS = ["compute", "comm", "load", "wait"];

  const decode = (lane) => {
    const n = lane.spans.length / 6, spans = lane.spans;
    const out = { class: lane.class, stream: lane.stream, n, kind: new Uint8Array(n), start: new Float64Array(n),
                  end: new Float64Array(n), name: new Uint32Array(n), form: new Int32Array(n),
                    count: new Uint32Array(n) };
    let at = 0;
    for (let i = 0, k = 0; i < n; i++, k += 6) {
      at += spans[k + 1];
      out.kind[i] = spans[k];
      out.start[i] = at;
      out.end[i] = at + spans[k + 2];
      out.name[i] = spans[k + 3];
      out.form[i] = spans[k + 4];
      out.count[i] = spans[k + 5];
    }
    return out;
  };

  // Of [start, end] pairs in any order.
  const union = (pairs) => {
    pairs.sort((a, b) => a[0] - b[0]);
    const out = [];
    for (const [start, end] of pairs)
      if (out.length > 0 && start <= out[out.length - 1]) out[out.length - 1] = Math.max(out[out.length - 1], end);
      else out.push(start, end);
    return out;
  };

  // What of `a` lies outside `b`.
  const without = (a, b) => {
    const out = [];
    let j = 0;
    for (let i = 0; i < a.length; i += 2) {
      let start = a[i];
      const end = a[i + 1];
      while (j < b.length && b[j + 1] <= start) j += 2;
      for (let k = j; k < b.length && b[k] < end; k += 2) {
        if (b[k] > start) out.push(start, b[k]);
        start = Math.max(start, b[k + 1]);
      }
      if (start < end) out.push(start, end);
    }
    return out;
  };

  const pairsOf = (lanes, kind) => {
    const pairs = [];
    for (const lane of lanes)
      for (let i = 0; i < lane.n; i++)
        if (lane.kind[i] === kind) pairs.push([lane.start[i], lane.end[i]]);
    return pairs;
  };

  const known = new WeakMap();

  // { duration, classes: [{ index, lanes, compute, comm, exposed, idle }] }
  const prepare = (timeline) => {
    if (known.has(timeline)) return known.get(timeline);
    const classes = [], byClass = new Map();
    for (const lane of timeline.lanes.map(decode)) {
      if (!byClass.has(lane.class)) {
        byClass.set(lane.class, { index: lane.class, lanes: [] });
        classes.push(byClass.get(lane.class));
      }
      byClass.get(lane.class).lanes.push(lane);
    }
    for (const one of classes) {
      one.lanes.sort((a, b) => b.kind.includes(0) - a.kind.includes(0)); // compute on top
      one.compute = union(pairsOf(one.lanes, 0));
      one.comm = union(pairsOf(one.lanes, 1));
      one.exposed = without(one.comm, one.compute);
      one.idle = without([0, timeline.duration_ns], union([...toPairs(one.compute), ...toPairs(one.comm)]));
    }
    const ready = { duration: timeline.duration_ns, classes };
    known.set(timeline, ready);
    return ready;
  };

  const toPairs = (flat) => {
    const pairs = [];
    for (let i = 0; i < flat.length; i += 2) pairs.push([flat[i], flat[i + 1]]);
    return pairs;
  };

  // Index of the first span of a lane that ends after `time`; its spans do not overlap.
  const firstAfter = (ends, time) => {
    let low = 0, high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle] <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  };

  fabricast.spans = { KINDS, prepare, firstAfter, union, without };
})();
