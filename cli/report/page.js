// SPDX-License-Identifier: Apache-2.0
// page.js - the page as a whole: which run is shown, and `fabricast.render (data)`, which draws everything anew.
(() => {
  const { make, shorten, state, parts } = fabricast;
  const SECTIONS = [["answer", "Verdict"], ["links", "Machine"], ["timeline", "Timeline"], ["exposed", "Time"],
                    ["sweeps", "Sweeps"], ["scenario", "Scenario"], ["tables", "Tables"], ["terms", "Terms"]];

  const chosen = (data) => data.runs.find((run) => run.run === state.run) ?? data.runs[0] ?? null;

  const label = (run) => `run ${run.run}: ${shorten(run.name, 50)}, ${fabricast.plural(run.ranks, "GPU")}`;

  const chooser = (data, run) => data.runs.length < 2 ? null
    : make("label", { class: "chooser" }, "Shown ",
      make("select", { onchange: (event) => { state.run = Number(event.target.value); state.view = null; drawAll(); } },
        data.runs.map((one) => make("option", { value: one.run, selected: one === run }, label(one)))));

  const contents = (data, run) => {
    const links = SECTIONS.filter(([id]) => document.getElementById(id).childElementCount > 0)
      .map(([id, name]) => make("a", { href: "#" + id }, name));
    document.getElementById("contents").replaceChildren(...links, chooser(data, run) ?? "");
  };

  const foot = (data) => document.getElementById("foot").replaceChildren(
    make("p", {}, `Made by Fabricast ${shorten(data.program, 20)}; a forecast of a simulator, not a measurement. `
      + `Charts: D3 ${d3.version}, \u00a9 Mike Bostock, BSD-3-Clause (the licence stands in this file).`));

  const drawAll = () => {
    const { data } = fabricast, run = chosen(data);
    state.run = run ? run.run : null;
    fabricast.tip.hide();
    for (const [id] of SECTIONS)
      if (parts[id]) parts[id](document.getElementById(id), run, data);
    contents(data, run);
    foot(data);
  };

  fabricast.redraw = drawAll;
  fabricast.render = (data) => {
    fabricast.data = data;
    drawAll();
  };

  let width = 0, waiting = 0;
  window.addEventListener("resize", () => {
    if (document.documentElement.clientWidth === width) return;
    width = document.documentElement.clientWidth;
    clearTimeout(waiting);
    waiting = setTimeout(drawAll, 120);
  });

  width = document.documentElement.clientWidth;
  const begun = performance.now();
  fabricast.render(JSON.parse(document.getElementById("data").textContent));
  fabricast.drawnIn = performance.now() - begun; // ms, for measurements
})();
