// SPDX-License-Identifier: Apache-2.0
// outlook.js - what limits a step, how sure a figure is, and what would change it; and links in plain words.
(() => {
  const { make, percent, shorten, digits, time } = fabricast;
  const WIDE = 2; // upper over lower bound from which a figure is not to be trusted by itself

  // A time that is only roughly known: three digits.
  const roughly = (seconds) => {
    const [factor, unit] = [[1, "s"], [1e-3, "ms"], [1e-6, "\u00b5s"], [1e-9, "ns"]].find(([least]) =>
      seconds >= 0.9995 * least) ?? [1e-9, "ns"];
    return seconds >= 1000 || !(seconds > 0) ? time(seconds) : digits(seconds / factor, 3) + "\u00a0" + unit;
  };

  const bandOf = (run, figure) => (run.band ?? []).find((one) => one.figure === figure) ?? null;

  const isWide = (band) => band !== null && band.low_s > 0 ? band.high_s / band.low_s >= WIDE
    : band !== null && band.high_s > 0;

  const range = (band) => `${roughly(band.low_s)} to ${roughly(band.high_s)}`;

  // --- links in plain words ---

  const KINDS = [[/nvlink|nvswitch/i, "NVLink"], [/pcie/i, "PCIe"], [/^ib|infiniband/i, "InfiniBand"],
    [/roce|eth/i, "Ethernet"], [/efa/i, "EFA"], [/xgmi|infinity/i, "Infinity Fabric"]];
  const technology = (spec) => KINDS.find(([pattern]) => pattern.test(spec ?? ""))?.[1] ?? null;

  const isInside = (vertex) => /^node\d+\//.test(vertex);
  const part = (vertex) => vertex.replace(/^node\d+\//, "").replace(/[\d#]+$/, "");
  const PARTS = { gpu: "a GPU", nic: "a network card", nvswitch: "the NVSwitch", pcie_switch: "a PCIe switch", cpu: "a CPU",
                  switch: "the switch", leaf: "a leaf switch", spine: "a spine switch", core: "a core switch" };
  const named = (vertex) => PARTS[part(vertex)] ?? "the " + shorten(part(vertex).replaceAll("_", " "), 30);

  // "from a network card of a node to the switch": where a link is, for somebody who has never seen one.
  const where = (from, to) => {
    const a = named(from), b = named(to);
    if (isInside(from) && isInside(to)) return `from ${a} to ${b === a ? b.replace(/^an? |^the /, "another ") : b} inside a node`;
    if (isInside(from)) return `from ${a} of a node to ${b}`;
    return isInside(to) ? `from ${a} to ${b} of a node` : `from ${a} to ${b === a ? b.replace(/^an? |^the /, "another ") : b}`;
  };

  const called = (spec) => shorten(spec, 40) + (technology(spec) && !new RegExp(technology(spec), "i").test(spec)
    ? ` (${technology(spec)})` : "");

  // --- sentences ---

  const sure = (run, step) => {
    const band = bandOf(run, "step"), exposed = bandOf(run, "exposed"), said = [];
    if (run.band === null) return "The band is being computed: it takes several more simulations.";
    if (!band && run.outlook) return run.outlook === "certain"
      ? "Nothing in this setting has a known uncertainty, so there is no band. That does not make the figure certain."
      : shorten(run.outlook, 300);
    if (!band)
      return ["This run carries no band, so the page cannot say how far the step may be off. A run without ",
        make("code", {}, "--no-band"), " finds it."];
    said.push(`In ${Math.round(100 * band.coverage_fraction)} of 100 cases a measured step is expected from `,
      make("b", {}, range(band)));
    said.push(exposed && exposed.high_s > exposed.low_s ? [", with ", make("b", {}, range(exposed)),
      " of exposed communication. "] : ". ");
    if (band.reason) said.push(`Most of this width comes from ${shorten(band.reason, 90)}. `);
    if (isWide(band)) said.push(make("strong", {}, "Do not quote the step by itself: "),
      `the upper bound is ${digits(band.high_s / Math.max(band.low_s, 1e-12), 2)} times the lower one. `
      + "Comparisons of two settings are safer than the figure, and a measurement of this fabric narrows the band.");
    else if (band.high_s > band.low_s) said.push(`The bounds are ${digits(100 * (1 - band.low_s / step.step_s), 2)}\u00a0% below and `
      + `${digits(100 * (band.high_s / step.step_s - 1), 2)}\u00a0% above the forecast.`);
    if (run.seeds) said.push(spread(run.seeds));
    return said;
  };

  // What several seeds say: everything random in the scenario drawn anew each time.
  const spread = ({ n, step }) => step.p50 === step.max
    ? ` All ${n} seeds give the same step: nothing that decides it is random.`
    : ` Over ${n} seeds half of the steps take at most ${roughly(step.p50)}, 95\u00a0% at most ${roughly(step.p95)}, and the longest ${roughly(step.max)}.`;

  // --- what limits the step ---

  const LEAST = 0.01; // a lever that saves less changes nothing to speak of (FAB_BOTTLENECK_LEAST)

  // The levers of a run were played by the program, best first: `first` limits the step. A file of an older program,
  // and a run with --no-bottleneck, have none; null: they are on their way.
  const limits = (run) => ({ isKnown: Boolean(run.levers?.length), isAwaited: run.levers === null,
    first: run.levers?.find((one) => one.limits) ?? null });

  const parts = (step) => `${percent(step.compute_s / step.step_s)} of the step is compute, `
    + `${percent(step.exposed_s / step.step_s)} exposed communication and ${percent(step.idle_s / step.step_s)} idle.`;

  const isEmpty = (step) => !step.compute_s && !step.comm_s; // it has no lever that could be missing

  // The sentences of the program, or what the step consists of where it did not look for what limits it.
  const waits = (run, step) => {
    const { isKnown, isAwaited } = limits(run);
    const finding = run.verdict.find((one) => one.code.startsWith("waits_for_"));
    if (isKnown && finding) return shorten(finding.text, 900).replaceAll(" %", "\u00a0%");
    if (isAwaited) return `What limits the step is being computed. ${parts(step)}`;
    if (isEmpty(step)) return parts(step);
    if (run.outlook) return `What limits the step was not computed here; the command finds it. ${parts(step)}`;
    return ["This run does not say what limits the step; a run without ", make("code", {}, "--no-bottleneck"),
      ` finds it. ${parts(step)}`];
  };

  // "−35.4 %": the step with it against the step without.
  const saving = (one) => Math.abs(one.saved_fraction) < 0.0005 ? "no change"
    : (one.saved_fraction > 0 ? "\u2212" : "+") + percent(Math.abs(one.saved_fraction));

  // Entries of links that leave a node: faster ones are what people ask for first.
  const ports = (run) => new Set(fabricast.places.kinds(run.links).filter((group) => group.carried > 0
    && !(group.from_inside && group.to_inside)).map((group) => group.spec));

  // A lever of links is called after their entry, "ib-hdr", and after the scenario's own rate, "ib-hdr at 100 Gb/s".
  const isOf = (one, spec) => one.name === spec || one.name.startsWith(`${spec} at `);

  // What saves something, best first, then the links between nodes that do not.
  const changes = (run, step) => {
    if (run.levers === null) return "Changes of the machine and of the software are being tried.";
    const levers = run.levers ?? [], between = ports(run);
    const shown = [...levers.filter((one) => one.saved_fraction >= LEAST), ...levers.filter((one) =>
      one.kind === "link" && one.saved_fraction < LEAST && [...between].some((spec) => isOf(one, spec)))];
    if (shown.length === 0) return null;
    return [table(shown), levers[0].n_seeds > 1
      && make("p", { class: "about" }, `Each change was tried with ${levers[0].n_seeds} seeds; the difference is the median.`),
      levers[0].fidelity && make("p", { class: "about" }, elsewhere(levers[0], step))];
  };

  // The step that levers of another fidelity start from. Where it is far from the run's, they are of another step.
  const elsewhere = (lever, step) => {
    const away = lever.base_step_s / step.step_s - 1;
    return `The changes were simulated at fidelity ${lever.fidelity}, where the step is ${time(lever.base_step_s)}.`
      + (Math.abs(away) > 0.05 ? ` That is ${change(1, 1 + away)} from the step above: queues may decide what helps.` : "");
  };

  const table = (levers) => make("table", { class: "levers" },
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "what if"), ["step", "difference"].map((name) =>
      make("th", { scope: "col", class: "number" }, name)))),
    make("tbody", {}, levers.map((one) => make("tr", { class: one.limits ? "limits" : null },
      make("td", {}, shorten(one.change, 90)), make("td", { class: "number" }, time(one.step_s)),
      make("td", { class: "number" }, saving(one))))));

  // By how much one figure differs from another.
  const change = (before, after) => {
    if (!(before > 0) || !(after > 0)) return "";
    const factor = after / before;
    if (Math.abs(factor - 1) < 0.0005) return "the same";
    return factor >= 2 ? `${digits(factor, 3)}\u00a0times` : (factor > 1 ? "+" : "\u2212") + percent(Math.abs(factor - 1));
  };

  Object.assign(fabricast, { change, outlook: { bandOf, isWide, range, roughly, where, called, sure, limits, waits, saving, changes } });
})();
