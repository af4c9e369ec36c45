// SPDX-License-Identifier: Apache-2.0
// answer.js - the answer in words and in a few figures.
(() => {
  const { make, time, percent, bytes, rate, count, plural, shorten, link, op, outlook, state } = fabricast;
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

  // Without a summary: the name and what is trained.
  const title = (run) => shorten(run.words?.summary ?? (run.words?.model
    ? `${run.name}: ${run.words.model} with ${strategy(run.words)} on ${plural(run.ranks, "GPU")}`
    : run.name ?? "run " + run.run), 160);

  // The class of ranks whose memory is fullest.
  const fullest = (run) => {
    const sums = new Map();
    for (const part of run.memory) sums.set(part.rank_class, (sums.get(part.rank_class) ?? 0) + part.bytes);
    return Math.max(0, ...sums.values());
  };

  // What limits the step, as the commands say it (outlook.limits); nothing where nobody tried.
  const limited = (run) => {
    const { isKnown, first } = outlook.limits(run);
    return isKnown && make("b", {}, (first ? `The step is limited by ${shorten(first.name, 40)}.`
      : "No single change shortens this step by 1\u00a0%.") + " ");
  };

  const headline = (run, last, exposed) => [limited(run), "A step takes ",
    make("b", {}, time(last.step_s)), " on ", plural(run.ranks, "GPU"), ". ",
    exposed >= 0.0005
      ? ["For ", make("b", { class: "exposed-ink" }, time(last.exposed_s) + " (" + percent(exposed) + ")"),
         " of it the GPUs wait for communication that nothing hides."]
      : last.comm_s > 0 ? "Compute hides all of its communication." : "Nothing is communicated."];

  // A fact about the machine, and no reason: a faster one may change nothing.
  const slowest = (run, last) => {
    const found = run.slowest[0];
    if (!found) return "";
    const what = last.exposed_s > 0 ? "the exposed communication" : "the communication";
    return [` The slowest link of the collectives with ${percent(found.share)} of ${what} is `,
      make("b", {}, link(found.link_from, found.link_to)), `, ${outlook.called(found.spec)} with `
      + `${rate(found.rate_bytes_per_s)} one way. It leads ${outlook.where(found.link_from, found.link_to)}`
      + (found.busy === null ? "." : ` and is busy for ${percent(found.busy)} of the step.`)];
  };

  const most = (run, last, exposed) => {
    const top = run.exposure.find((row) => row.exposed_s > 0);
    const others = run.exposure.some((row) => row.dimension !== "other");
    if (top && last.compute_s === 0 && run.exposure.length === 1)
      return `All of it is ${op(top.op)}: there is no compute that could hide it.`;
    if (!top || exposed < 0.0005) return "Nothing that the GPUs send or receive makes them wait.";
    return `Most of the exposed time is ${op(top.op)}` + (top.dimension !== "other"
      ? ` of ${DIMENSIONS[top.dimension] ?? shorten(top.dimension)}` : others ? " outside all dimensions of parallelism" : "")
      + `: ${time(top.exposed_s)}.` + (last.comm_s > 0
        ? ` Compute hides ${percent(last.overlapped_s / last.comm_s)} of all communication.` : "");
  };

  const said = (term, ...text) => make("div", {}, make("dt", {}, term), make("dd", {}, text));

  const lead = (run) => {
    const last = step(run);
    return make("p", { class: "lead" }, headline(run, last, last.step_s > 0 ? last.exposed_s / last.step_s : 0));
  };

  // What it waits for, how sure that is, what would change it.
  const verdict = (run) => {
    const last = step(run), exposed = last.step_s > 0 ? last.exposed_s / last.step_s : 0;
    const changes = outlook.changes(run, last);
    return make("dl", { class: "verdict" },
      said("What it waits for", make("p", {}, outlook.waits(run, last)),
        make("p", {}, most(run, last, exposed), slowest(run, last))),
      said("How sure this is", outlook.sure(run, last)),
      changes && said("What would change it", changes));
  };

  // The findings of these severities, a paragraph each; what the step waits for stands in the verdict.
  const findings = (run, severities, attributes) => run.verdict.filter((one) => severities.includes(one.severity)
    && !one.code.startsWith("waits_for_"))
    .map((one) => make("p", attributes, shorten(one.text, 600), one.advice ? " " + shorten(one.advice, 400) : ""));

  const reservations = (run) => {
    const there = findings(run, ["warns", "notes"], {});
    return there.length === 0 ? null : make("div", { class: "reservations" },
      make("h2", {}, "What to know before you quote a figure"), there);
  };

  // The picture of the step; beside a run that was kept for comparison (fabricast.state.kept), below that one.
  const picture = (host, run) => {
    const kept = state.kept, items = [{ name: "this setting", step: step(run), band: outlook.bandOf(run, "step") }];
    if (kept && kept.run !== run)
      items.unshift({ name: kept.name, step: step(kept.run), band: outlook.bandOf(kept.run, "step") });
    fabricast.picture(host, items);
    if (items.length > 1) host.append(make("p", { class: "against" }, against(kept.run, run)));
  };

  const against = (before, after) => {
    const a = step(before), b = step(after), change = fabricast.change(a.step_s, b.step_s);
    if (change === "the same") return "Both steps take equally long.";
    return `This setting takes ${time(b.step_s)} per step instead of ${time(a.step_s)} (${change}), and exposes `
      + `${percent(b.exposed_s / b.step_s)} of it instead of ${percent(a.exposed_s / a.step_s)}.`;
  };

  const tile = (name, value, note, extra) =>
    make("div", { class: "tile" + (extra ? " " + extra : "") }, make("dt", {}, name), make("dd", {}, value),
      note && make("dd", { class: "note" }, note));

  const banded = (run, figure, note) => {
    const band = outlook.bandOf(run, figure);
    return [note, band && band.high_s > band.low_s ? `; band ${outlook.range(band)}` : ""].join("");
  };

  const limitTile = (run) => {
    const { isKnown, isAwaited, first } = outlook.limits(run);
    if (isAwaited) return tile("Limited by", "\u2026", "is being computed");
    return isKnown && tile("Limited by", first ? shorten(first.name, 24) : "nothing alone", first
      ? `${shorten(first.change, 60)}: ${outlook.saving(first)}` : "no single change saves 1\u00a0%");
  };

  const tiles = (run) => {
    const last = step(run), used = fullest(run), found = run.slowest[0], doubt = outlook.isWide(outlook.bandOf(run, "step"));
    const days = run.train_tokens > 0 && last.tokens_per_s > 0 ? run.train_tokens / last.tokens_per_s : 0;
    const lasting = (run.goodput ?? [])[0];
    const unsure = doubt ? "; as unsure as the step" : "";
    return make("dl", { class: "tiles" },
      tile("Step", time(last.step_s), banded(run, "step", `iteration ${last.iteration + 1} of ${run.iterations.length}`)),
      tile("Exposed", time(last.exposed_s), banded(run, "exposed", percent(last.exposed_s / last.step_s) + " of the step"), "hot"),
      last.mfu_fraction !== null && tile("MFU", percent(last.mfu_fraction), "HFU " + percent(last.hfu_fraction) + unsure),
      last.tokens_per_s > 0 && tile("Tokens per second", count(last.tokens_per_s), "of the whole job" + unsure),
      lasting && lasting.calendar_s > 0 && tile("Calendar days", time(lasting.calendar_s),
        `with the failures of ${shorten(lasting.failures, 30)}: ${percent(lasting.ettr_fraction)} of the time is useful` + unsure),
      days > 0 && tile(lasting ? "Without failures" : "Whole training", time(days), count(run.train_tokens / 1e9) + "\u00a0billion tokens" + unsure),
      limitTile(run),
      found && tile("Slowest link", shorten(found.spec, 24), `${link(found.link_from, found.link_to)}, ${rate(found.rate_bytes_per_s)}`),
      used > 0 && tile("Memory", bytes(used), run.memory_bytes > 0
        ? (used > run.memory_bytes ? "does not fit in " : "of ") + bytes(run.memory_bytes) : "of the fullest GPU",
        run.memory_bytes > 0 && used > run.memory_bytes ? "hot" : ""));
  };

  const machine = (run) => {
    const words = run.words ?? {}, parts = [plural(run.ranks, "GPU")];
    if (words.node) parts.push(count(run.nodes) + "\u00a0\u00d7\u00a0" + shorten(words.node, 40));
    const isSet = words.nic_rate && !/^0\D*$/.test(words.nic_rate);
    if (words.nic || isSet) parts.push(shorten(`${words.nic ?? "ports"}${isSet ? ` at ${words.nic_rate}` : ""}`, 60));
    if (words.fabric) parts.push("fabric " + shorten(words.fabric, 40));
    if (words.model) parts.push(shorten(words.model, 40));
    parts.push(strategy(words), "fidelity " + shorten(run.fidelity, 20));
    return parts.filter(Boolean).join(" \u00b7 ");
  };

  fabricast.step = step;
  fabricast.fullest = fullest;
  fabricast.strategy = (run) => strategy(run.words ?? {});
  fabricast.runTitle = title;
  fabricast.parts.answer = (host, run, data) => {
    host.replaceChildren();
    if (!run) return;
    if (data.runs.length > 1) fabricast.differences(host, data, run);
    host.append(make(data.runs.length > 1 ? "h2" : "h1", {}, title(run)), make("p", { class: "machine" }, machine(run)),
      ...findings(run, ["stops"], { class: "lead stop" }), lead(run));
    if (data.runs.length < 2) picture(host, run);
    host.append(verdict(run), tiles(run), reservations(run) ?? "");
    fabricast.linkTerms(host);
  };
})();
