// SPDX-License-Identifier: Apache-2.0
// outlook.js - how sure a figure is, and what would change it, in sentences; and links in plain words.
(() => {
  const { make, percent, rate, shorten, link, digits, time } = fabricast;
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

  const faster = (run, step) => (run.faster ?? []).map((one) => {
    const gain = 1 - one.step_s / step.step_s, next = one.binding_spec && one.binding_spec !== one.spec
      ? ` ${fabricast.isByEnds(run) ? `The slowest link would then be ${called(one.binding_spec)},`
        : `Then ${called(one.binding_spec)} would set the pace,`} ${where(one.binding_from, one.binding_to)}.` : "";
    const links = `If every ${called(one.spec)} link were ${digits(one.rate_factor)} times as fast, the step would `;
    if (Math.abs(gain) < 0.001) return `${links}not change.${next} `;
    if (Math.abs(gain) < 0.01) return `${links}hardly change (${gain > 0 ? "\u2212" : "+"}${percent(Math.abs(gain))}).${next} `;
    return `${links}take ${time(one.step_s)} instead of ${time(step.step_s)} (${gain > 0 ? "\u2212" : "+"}${percent(Math.abs(gain))}).${next} `;
  });

  Object.assign(fabricast, { outlook: { bandOf, isWide, range, roughly, where, called, sure, faster, link, rate } });
})();
