// SPDX-License-Identifier: Apache-2.0
// exposed.js - where the time of a step goes: of runs side by side, of iterations, of classes of ranks; why; memory.
(() => {
  const { make, time, bytes, percent, plural, shorten, op, link, bars, key, figure, state } = fabricast;
  const MOST = 24;
  const PARTS = [["backward", "compute alone"], ["hidden", "compute, with communication under it"],
                 ["exposed", "exposed communication"], ["idle", "idle"]];
  const COLOURS = ["backward", "load", "hidden", "wait", "forward", "compute"];

  const partsOf = (one) => [["backward", "compute alone", one.compute_s - one.overlapped_s],
    ["hidden", "compute with communication", one.overlapped_s], ["exposed", "exposed communication", one.exposed_s],
    ["idle", "idle", one.idle_s]];

  const itemOf = (name, one, mark) => ({ name, parts: partsOf(one), total: one.step_s, mark,
    note: time(one.step_s) + ", exposed " + percent(one.exposed_s / one.step_s) });

  // As shares every bar has the same length.
  const asShares = (item) => ({ ...item, total: 1, parts: item.parts.map(([style, what, value]) =>
    [style, what, value / item.total]) });

  const stacked = (host, title, about, items) => {
    const block = figure(title, about), left = items.length - MOST;
    host.append(block);
    const shown = items.slice(0, MOST).filter((item) => item.total > 0);
    if (shown.length === 0) return;
    if (state.open.shares) bars(block, shown.map(asShares), percent);
    else bars(block, shown, time);
    if (left > 0) block.append(make("p", { class: "about" }, `and ${plural(left, "more", "more")}: see the tables`));
  };

  const compared = (host, data, run) => {
    if (data.runs.length < 2) return;
    stacked(host, "Runs", "How do strategies and scales compare? The step of the last iteration, mean over ranks.",
      data.runs.map((one) => itemOf(`${one.run}: ${shorten(one.name, 40)}, ${plural(one.ranks, "GPU")}`,
        fabricast.step(one), one === run)));
    fabricast.scaling(data.runs)?.(host);
  };

  const why = (host, run) => {
    const rows = run.exposure.filter((row) => row.comm_s > 0).slice(0, MOST);
    const isPlain = run.exposure.every((row) => row.dimension === "other"); // collectives alone, or traffic
    if (rows.length > 0) {
      const block = figure("Communication, by what it is for",
        "Which communication is exposed? Mean over ranks. Dimensions that communicate at once share the exposed time.");
      host.append(block);
      bars(block, rows.map((row) => ({ name: isPlain ? op(row.op) : `${shorten(row.dimension, 20)}: ${op(row.op)}`,
        total: row.comm_s,
        parts: [["hidden", "hidden under compute", Math.max(0, row.comm_s - row.exposed_s)],
          ["exposed", "exposed", row.exposed_s]],
        note: `${time(row.comm_s)}, exposed ${time(row.exposed_s)}` })), time);
    }
    const path = pathOf(run), step = fabricast.step(run).step_s;
    if (path.length === 0) return;
    const block = figure("Critical path",
      "Which chain of tasks is as long as the step? These tasks form the critical path: each one started when the one before it "
      + "ended. A shorter task elsewhere changes nothing.");
    host.append(block);
    bars(block, path.slice(0, 10).map((part) =>
      ({ name: pathName(part), total: step, note: `${time(part.time_s)}, ${percent(part.time_s / step)}`,
      parts: [[part.kind === "comm" ? "exposed" : part.kind === "load" ? "load" : "backward", "on the critical path",
        part.time_s]] })), time);
  };

  // Links of one kind together: the same work over one node's link or another's is one line.
  const pathOf = (run) => {
    const kinds = new Map();
    for (const part of run.path.filter((one) => one.time_s > 0)) {
      const key = `${part.kind}\n${part.dimension}\n${part.spec}`, known = kinds.get(key);
      if (known) Object.assign(known, { time_s: known.time_s + part.time_s, n: known.n + 1 });
      else kinds.set(key, { ...part, n: 1 });
    }
    return [...kinds.values()].sort((a, b) => b.time_s - a.time_s);
  };

  const pathName = (part) => part.kind === "compute" ? "compute" : part.kind === "load" ? "host work"
    : (part.dimension === "other" ? "communication" : shorten(part.dimension ?? "", 20)) + (!part.link_from ? "" : part.n > 1
      ? `; slowest link ${shorten(part.spec, 24)}, ${part.n} of them`
      : `; slowest link ${link(part.link_from, part.link_to)} (${shorten(part.spec, 24)})`);

  const memory = (host, run) => {
    const classes = new Map();
    for (const part of run.memory) {
      if (!classes.has(part.rank_class)) classes.set(part.rank_class, []);
      classes.get(part.rank_class).push(part);
    }
    if (classes.size === 0) return;
    const names = [...new Set(run.memory.map((part) => part.part))], styles = new Map(names.map((name, i) =>
      [name, COLOURS[i % COLOURS.length]]));
    const block = figure("Memory of a GPU", run.memory_bytes > 0
      ? `Does the job fit? The frame is the ${bytes(run.memory_bytes)} that a GPU has.` : "What fills the memory?");
    host.append(block);
    bars(block, [...classes].slice(0, MOST).map(([index, parts]) => {
      const total = d3.sum(parts, (part) => part.bytes);
      return { name: shorten(run.classes[index]?.name ?? "class " + index, 30), total, most: run.memory_bytes,
        note: bytes(total) + (run.memory_bytes > 0 ? `, ${percent(total / run.memory_bytes)}` : ""),
        parts: parts.map((part) => [styles.get(part.part), shorten(part.part, 30), part.bytes]) };
    }), bytes);
    block.append(key([...styles].map(([name, style]) => [style, shorten(name, 30)])));
  };

  const toggle = () => make("p", { class: "controls" }, ["time", "share of the step"].map((text, i) =>
    make("button", { type: "button", "aria-pressed": String(Boolean(state.open.shares) === (i === 1)),
      onclick: () => { state.open.shares = i === 1; fabricast.redraw(); } }, text)));

  fabricast.parts.exposed = (host, run, data) => {
    host.replaceChildren();
    if (!run) return;
    host.append(make("h2", {}, "Where the time of a step goes"), toggle(), key(PARTS));
    compared(host, data, run);
    stacked(host, "Iterations", "Are all iterations alike? The last one stands for the steady state.", run.iterations.slice(-12).map((one) => itemOf(`iteration ${one.iteration + 1}`,
      one)));
    if (run.classes.length > 1)
      stacked(host, "Classes of ranks", "Which ranks wait for others? Ranks that do the same at the same time are one class; the last iteration.",
        run.classes.map((one) => itemOf(`${shorten(one.name, 24)} (${plural(one.ranks, "rank")})`, one)));
    why(host, run);
    memory(host, run);
  };
})();
