// SPDX-License-Identifier: Apache-2.0
// answer.js - the answer in words and in a few figures.
(() => {
  const { make, time, percent, bytes, rate, count, plural, shorten, link, op, digits } = fabricast;
  const DIMENSIONS = { data: "data parallelism", tensor: "tensor parallelism", pipeline: "the pipeline",
                       context: "context parallelism", expert: "expert parallelism" };

  const step = (run) => run.iterations[run.iterations.length - 1];

  const strategy = (words) => {
    const name = shorten(words.job ?? "", 20);
    const parts = [words.stage ? name + "-" + shorten(words.stage, 4) : name];
    for (const [key, short] of [["tensor", "TP"], ["pipeline", "PP"], ["context", "CP"], ["expert", "EP"]])
      if (Number(words[key]) > 1) parts.push(short + shorten(words[key], 6));
    return parts.filter(Boolean).join(" ");
  };

  const title = (run) => shorten(run.words?.summary ?? run.name ?? "run " + run.run, 160);

  // The class of ranks whose memory is fullest.
  const fullest = (run) => {
    const sums = new Map();
    for (const part of run.memory) sums.set(part.rank_class, (sums.get(part.rank_class) ?? 0) + part.bytes);
    return Math.max(0, ...sums.values());
  };

  // Of one link where one sets the pace, else of its kind.
  const pace = (run, last) => {
    const bound = run.binding[0], kinds = run.bound_by.filter((one) => one.share >= 0.005);
    const what = last.exposed_s > 0 ? "the exposed communication" : "the communication";
    const name = make("b", {}, link(bound.link_from, bound.link_to)), busy = bound.busy === null ? ""
      : `busy ${percent(bound.busy)} of the step`;
    if (bound.share >= 0.5)
      return ["The link that sets the pace: ", name,
        ` (${shorten(bound.spec, 40)}, ${rate(bound.rate_bytes_per_s)} one way), for `
        + `${percent(bound.share)} of ${what}${busy && "; it is " + busy}.`];
    return ["What sets the pace: ", kinds.slice(0, 3).map((one, i) => [i > 0 ? ", " : "", make("b", {},
      shorten(one.spec, 40)),
      ` for ${percent(one.share)}`]), ` of ${what}. First among these links is `, name, busy && `, ${busy}`, "."];
  };

  const sentences = (run) => {
    const last = step(run), exposed = last.step_s > 0 ? last.exposed_s / last.step_s : 0, said = [];
    said.push(make("p", { class: "lead" }, "A step takes ", make("b", {}, time(last.step_s)), " on ",
      plural(run.ranks, "GPU"), ". ",
      exposed >= 0.0005
        ? ["For ", make("b", { class: "exposed-ink" }, time(last.exposed_s) + " (" + percent(exposed) + ")"),
           " of it the GPUs wait for communication that nothing hides."]
        : last.comm_s > 0 ? "Compute hides all of its communication." : "Nothing is communicated."));
    const top = run.exposure.find((row) => row.exposed_s > 0);
    const others = run.exposure.some((row) => row.dimension !== "other");
    if (top && last.compute_s === 0 && run.exposure.length === 1)
      said.push(make("p", {}, `All of it is ${op(top.op)}: there is no compute that could hide it.`));
    else if (top && exposed >= 0.0005)
      said.push(make("p", {}, "Most of that is ", op(top.op),
        top.dimension !== "other" ? [" of ", DIMENSIONS[top.dimension] ?? shorten(top.dimension)]
          : others ? " outside all dimensions of parallelism" : "",
        ": " + time(top.exposed_s) + ". ",
        last.comm_s > 0 ? `Of all communication, ${percent(last.overlapped_s / last.comm_s)} is hidden under compute.`
          : ""));
    if (run.binding[0]) said.push(make("p", {}, pace(run, last)));
    return said;
  };

  // The findings of these severities, a paragraph each.
  const findings = (run, severities, attributes) => run.verdict.filter((one) => severities.includes(one.severity))
    .map((one) => make("p", attributes, shorten(one.text, 600), one.advice ? " " + shorten(one.advice, 400) : ""));

  const tile = (name, value, note, extra) =>
    make("div", { class: "tile" + (extra ? " " + extra : "") }, make("dt", {}, name), make("dd", {}, value),
      note && make("dd", { class: "note" }, note));

  const tiles = (run) => {
    const last = step(run), used = fullest(run), bound = run.binding[0];
    const days = run.train_tokens > 0 && last.tokens_per_s > 0 ? run.train_tokens / last.tokens_per_s : 0;
    return make("dl", { class: "tiles" },
      tile("Step", time(last.step_s), `iteration ${last.iteration + 1} of ${run.iterations.length}`),
      tile("Exposed", time(last.exposed_s), percent(last.exposed_s / last.step_s) + " of the step", "hot"),
      last.mfu_fraction !== null && tile("MFU", percent(last.mfu_fraction), "HFU " + percent(last.hfu_fraction)),
      last.tokens_per_s > 0 && tile("Tokens per second", count(last.tokens_per_s), "of the whole job"),
      days > 0 && tile("Whole training", time(days), count(run.train_tokens / 1e9) + "\u00a0billion tokens"),
      bound && tile("Binding link", shorten(run.bound_by[0]?.spec ?? bound.spec, 24),
        bound.share >= 0.5 ? link(bound.link_from, bound.link_to) : plural(run.bound_by[0].links, "link")),
      used > 0 && tile("Memory", bytes(used), run.memory_bytes > 0
        ? (used > run.memory_bytes ? "does not fit in " : "of ") + bytes(run.memory_bytes) : "of the fullest GPU",
        run.memory_bytes > 0 && used > run.memory_bytes ? "hot" : ""));
  };

  const machine = (run) => {
    const words = run.words ?? {}, parts = [plural(run.ranks, "GPU")];
    if (words.node) parts.push(count(run.nodes) + "\u00a0\u00d7\u00a0" + shorten(words.node, 40));
    if (words.nic) parts.push(shorten(words.nic, 40));
    if (words.fabric) parts.push("fabric " + shorten(words.fabric, 40));
    if (words.model) parts.push(shorten(words.model, 40));
    parts.push(strategy(words), "fidelity " + shorten(run.fidelity, 20));
    return parts.filter(Boolean).join(" \u00b7 ");
  };

  fabricast.step = step;
  fabricast.strategy = (run) => strategy(run.words ?? {});
  fabricast.runTitle = title;
  fabricast.parts.answer = (host, run) => host.replaceChildren(...(run
    ? [make("h1", {}, title(run)), make("p", { class: "machine" }, machine(run)), ...findings(run, ["stops"], { class: "lead stop" }),
       ...sentences(run), tiles(run), ...findings(run, ["warns", "notes"], {})]
    : []));
})();
