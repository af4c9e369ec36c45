// SPDX-License-Identifier: Apache-2.0
// differences.js - what two runs differ in and what comes of it: sentences first, then a table side by side.
(() => {
  const { make, time, bytes, percent, count, plural, shorten, change, outlook } = fabricast;
  const LABELS = { node: "node", nic: "network card", nics_per_node: "network cards per node", nic_rate: "rate of a card",
    fabric: "fabric", route: "routing", job: "strategy", stage: "stage", model: "model", micro_batch: "micro-batch",
    tensor: "tensor parallelism", pipeline: "pipeline parallelism", expert: "expert parallelism",
    context: "context parallelism" };

  const share = (run) => { const step = fabricast.step(run); return step.exposed_s / step.step_s; };
  const memory = (run) => fabricast.fullest(run);

  // [label, value of a run as text]
  const CAUSES = [["GPUs", (run) => count(run.ranks)], ["nodes", (run) => count(run.nodes)],
    ...Object.entries(LABELS).map(([key, label]) => [label, (run) => shorten(run.words?.[key] ?? "\u2013", 40)]),
    ["fidelity", (run) => shorten(run.fidelity, 20)], ["seed", (run) => String(run.seed)],
    ["program", (run) => shorten(run.version, 20)]];

  // [label, value, how it is shown, less is better]
  const EFFECTS = [["step", (run) => fabricast.step(run).step_s, time, true],
    ["compute", (run) => fabricast.step(run).compute_s, time, true],
    ["communication", (run) => fabricast.step(run).comm_s, time, true],
    ["exposed communication", (run) => fabricast.step(run).exposed_s, time, true],
    ["exposed share of the step", share, percent, true], ["idle", (run) => fabricast.step(run).idle_s, time, true],
    ["MFU", (run) => fabricast.step(run).mfu_fraction, percent, false],
    ["tokens per second", (run) => fabricast.step(run).tokens_per_s || null, count, false],
    ["memory of the fullest GPU", (run) => memory(run) || null, bytes, true]];

  // What limits a step, as its verdict says; null: nobody tried.
  const limit = (run) => {
    const { isKnown, first } = outlook.limits(run);
    return isKnown ? shorten(first?.name ?? "nothing alone", 40) : null;
  };

  const changed = (a, b) => CAUSES.filter(([, text]) => text(a) !== text(b));

  const overlap = (a, b) => {
    const x = outlook.bandOf(a, "step"), y = outlook.bandOf(b, "step");
    return x && y ? x.low_s <= y.high_s && y.low_s <= x.high_s : null;
  };

  // What is different, in words: a against b, both with their numbers.
  const sentences = (a, b) => {
    const x = fabricast.step(a), y = fabricast.step(b), causes = changed(a, b), said = [];
    const factor = x.step_s / y.step_s;
    said.push(Math.abs(factor - 1) < 0.0005 ? `Run ${b.run} takes as long as run ${a.run}: ${time(y.step_s)} per step.`
      : `A step of run ${b.run} takes ${time(y.step_s)}, ${factor > 1 ? "less" : "more"} than the ${time(x.step_s)} of run ${a.run} `
        + `(${change(x.step_s, y.step_s)}).`);
    said.push(`The GPUs wait ${time(y.exposed_s)} for communication in run ${b.run} and ${time(x.exposed_s)} in run ${a.run}.`);
    said.push(causes.length === 0 ? "No setting that this page knows differs; compare the scenarios below."
      : `The runs differ in ${causes.slice(0, 4).map(([label, text]) => `${label} (${text(a)} \u2192 ${text(b)})`).join(", ")}`
        + `${causes.length > 4 ? ` and ${plural(causes.length - 4, "more setting")}` : ""}.`);
    if (limit(a) !== null && limit(b) !== null)
      said.push(limit(a) === limit(b) ? `Both steps are limited by ${limit(a)}.`
        : `The step of run ${a.run} is limited by ${limit(a)}, that of run ${b.run} by ${limit(b)}.`);
    if (overlap(a, b) && Math.abs(factor - 1) >= 0.0005)
      said.push("The bands of the two steps overlap. Their errors mostly go the same way, so the order is more certain than either figure.");
    return said;
  };

  const table = (runs) => {
    const rows = (entries, show) => entries.map(([label, ...rest]) => make("tr", {}, make("th", { scope: "row" }, label),
      show(...rest)));
    const causes = CAUSES.filter(([, text]) => new Set(runs.map(text)).size > 1), [first] = runs;
    return make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "The runs side by side" },
      make("table", { class: "sides" },
        make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "what"), runs.map((run) =>
          make("th", { scope: "col" }, `run ${run.run}: ${shorten(run.name, 30)}`)))),
        make("tbody", {}, rows(causes, (text) => runs.map((run) => make("td", { class: "differs" }, text(run))))),
        runs.some((run) => limit(run) !== null) && make("tbody", {}, rows([["limited by"]], () => runs.map((run) =>
          make("td", {}, limit(run) ?? "\u2013")))),
        make("tbody", {}, rows(EFFECTS.filter(([, value]) => runs.some((run) => value(run) !== null)),
          (value, show) => runs.map((run) => make("td", { class: "number" },
            value(run) === null ? "\u2013" : show(value(run)),
            run !== first && value(run) !== null && value(first) !== null
              ? make("span", { class: "about" }, " " + change(value(first), value(run))) : "")))))); };

  fabricast.differences = (host, data, run) => {
    if (data.runs.length < 2) return;
    const others = data.runs.filter((one) => one !== run), other = run === data.runs[0] ? others[0] : data.runs[0];
    const [a, b] = run === data.runs[0] ? [run, other] : [other, run];
    host.append(make("section", { class: "differences", "aria-labelledby": "differences" },
      make("h1", { id: "differences" }, data.runs.length === 2 ? "What differs between the two runs"
        : `What differs between run ${a.run} and run ${b.run}`),
      sentences(a, b).map((text, i) => make("p", { class: i === 0 ? "lead" : null }, text))));
    fabricast.picture(host.lastChild, data.runs.slice(0, 6).map((one) => ({
      name: `run ${one.run}: ${shorten(one.name, 40)}, ${plural(one.ranks, "GPU")}`, step: fabricast.step(one),
      band: outlook.bandOf(one, "step") })));
    host.lastChild.append(table(data.runs.slice(0, 6)));
  };
})();
