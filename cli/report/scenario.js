// SPDX-License-Identifier: Apache-2.0
// scenario.js - the scenario that gives this run again, and where the numbers of its catalogue entries come from.
(() => {
  const { make, clean, shorten, download, state } = fabricast;

  const source = (one) => make("tr", {},
    make("td", {}, one.section), make("td", {}, make("b", {}, shorten(one.name, 60)), make("br"),
      shorten(one.summary ?? "", 200)),
    make("td", {}, shorten(one.source ?? "no source is given", 1200), make("br"),
      make("span", { class: "about" }, [one.date && shorten(one.date, 20), one.file
        && `${shorten(one.file, 60)}, line ${one.line}`].filter(Boolean).join("; "))));

  const sources = (run) => {
    if (!run.sources)
      return make("p", { class: "about" }, "The sources of its numbers are not here: this program has no such entries, or the page was made without them.");
    return make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Sources" },
      make("table", { class: "sources" },
      make("thead", {}, make("tr", {}, ["kind", "entry", "source"].map((name) => make("th", { scope: "col" }, name)))),
      make("tbody", {}, run.sources.map(source))));
  };

  const folded = (id, name, ...content) => {
    const box = make("details", { open: Boolean(state.open[id]), ontoggle: () => { state.open[id] = box.open; } },
      make("summary", {}, make("b", {}, name)), ...content);
    return box;
  };

  fabricast.parts.scenario = (host, run) => {
    host.replaceChildren();
    if (!run) return;
    const text = run.scenario ?? "";
    host.append(make("h2", {}, "Scenario and sources"),
      make("p", {}, `Run ${run.run} was simulated by Fabricast ${shorten(run.version, 20)} with seed ${run.seed}. `
        + "Below is its scenario with every default filled in. Run it again, and the numbers are the same."),
      folded("yaml", "The resolved scenario",
        make("p", { class: "controls" }, make("button", { type: "button", onclick: () => download("scenario.yaml",
          text, "text/plain") }, "Save as YAML")),
        make("pre", { tabindex: 0, role: "region", "aria-label": "The resolved scenario" }, text.split("\n").map((line) => clean(line.slice(0, 4000))).join("\n"))),
      folded("sources", `Where its numbers come from (${(run.sources ?? []).length} entries)`, sources(run)));
  };
})();
