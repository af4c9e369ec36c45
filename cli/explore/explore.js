// SPDX-License-Identifier: Apache-2.0
// explore.js - knobs that ask the server, and in words what they changed.
"use strict";
(() => {
  const at = (id) => document.getElementById(id);
  const board = JSON.parse(at("board").textContent);
  const client = Array.from(crypto.getRandomValues(new Uint32Array(3)), (word) => word.toString(36)).join("");
  const values = {}, controls = {};
  let shown = null, newest = 0, aborter = null, drawing = 0;

  // --- texts

  const digits = (value, n = 3) => String(Number(value.toPrecision(n)));
  const scaled = (value, scale) => {
    const [factor, unit] = scale.find(([least]) => Math.abs(value) >= least) ?? scale[scale.length - 1];
    return digits(value / factor) + "\u00a0" + unit;
  };
  const time = (seconds) => scaled(seconds, [[1, "s"], [1e-3, "ms"], [1e-6, "\u00b5s"], [1e-9, "ns"]]);
  const size = (bytes) => scaled(bytes, [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]]);
  const percent = (fraction) => (100 * fraction).toFixed(1) + "\u00a0%";
  const shorten = (text) => (text.length > 60 ? text.slice(0, 59) + "\u2026" : text);
  const exposed = (figures) => (figures.step_s > 0 ? figures.exposed_s / figures.step_s : 0);
  const differs = (a, b, least) => Math.abs(a - b) > least * Math.max(Math.abs(a), Math.abs(b));
  const fromTo = (before, after, show) =>
    show(before) === show(after) ? show(after) : show(before) + " \u2192 " + show(after);

  const spoken = (knob, value) => String(value) + (knob.unit ? "\u00a0" + knob.unit : "");

  // --- what changed, in words

  const knobWords = (before, after) => board.knobs.filter((knob) => before[knob.name] !== after[knob.name])
    .map((knob) => `${knob.label} ${spoken(knob, before[knob.name])} \u2192 ${spoken(knob, after[knob.name])}`);

  const linkWords = (figures) => (figures.binding_link ? `${shorten(figures.binding_link)} (${shorten(figures.binding_link_spec)})` : "no link");

  const reasons = (before, after) => {
    const said = [];
    if (differs(before.compute_s, after.compute_s, 0.005))
      said.push(`computing takes ${fromTo(before.compute_s, after.compute_s, time)}`);
    if (before.collectives !== after.collectives || differs(before.collective_bytes, after.collective_bytes, 0.01))
      said.push(`a step has ${fromTo(before.collectives, after.collectives, String)} collectives, of `
        + fromTo(before.collective_bytes, after.collective_bytes, size) + " in all");
    if (differs(before.comm_s, after.comm_s, 0.005))
      said.push(`communication takes ${fromTo(before.comm_s, after.comm_s, time)}`);
    if (Math.abs(before.startup_fraction - after.startup_fraction) > 0.02)
      said.push(`of the communication ${fromTo(before.startup_fraction, after.startup_fraction, percent)} is waiting for the first byte`);
    if (differs(before.memory_bytes, after.memory_bytes, 0.01))
      said.push(`a GPU needs ${fromTo(before.memory_bytes, after.memory_bytes, size)} of memory`);
    return said;
  };

  // A fact, and no reason: what limits the step takes longer, and stands in the report below.
  const linkChange = (before, after) => linkWords(before) === linkWords(after) ? ""
    : ` The slowest link is ${linkWords(after)} now.`;

  // What stops comes first; the rest of the verdict is in the report below.
  const stopWords = (figures) => figures.verdict.filter((finding) => finding.severity === "stops")
    .map((finding) => finding.text + (finding.advice ? " " + finding.advice : "") + " ").join("");

  const changeWords = (before, after) => {
    const { figures } = after;
    if (!before)
      return stopWords(figures) + `A step takes ${time(figures.step_s)} on ${figures.gpus} GPUs, `
        + `${percent(exposed(figures))} of it exposed communication.`;
    const said = reasons(before.figures, figures), moved = linkChange(before.figures, figures);
    const turned = knobWords(before.knobs, after.knobs);
    return stopWords(figures) + (turned.length ? turned.join(", ") + ": " : "")
      + `step ${fromTo(before.figures.step_s, figures.step_s, time)}, `
      + `exposed ${fromTo(exposed(before.figures), exposed(figures), percent)}.`
      + (said.length ? ` Because ${said.join("; ")}.` : moved ? "" : " Nothing else moved.") + moved;
  };

  // --- showing

  const showProblem = (text) => {
    at("changed").textContent = text;
    at("changed").className = "problem";
  };

  // What limits the step with these settings, and how sure that is; null: the server is busy.
  const outlookOf = async (settings) => {
    const reply = await fetch("api/outlook?" + settings + "&client=" + client, { signal: aborter?.signal });
    if (!reply.ok) return null;
    const outlook = await reply.json();
    return { band: outlook.band ?? [], levers: outlook.levers ?? [], waits: outlook.waits ?? [],
      seeds: outlook.seeds ?? null, outlook: outlook.problem ?? "certain" };
  };

  const BUSY = { band: [], levers: [], waits: [], seeds: null, outlook: "The server is busy." };
  const take = (run, { waits, ...rest }) => Object.assign(run, rest,
    { verdict: [...run.verdict.filter((one) => !one.code.startsWith("waits_for_")), ...waits] });

  // It takes several plays, so it is asked for once the hand rests. What is kept for comparison may have been left
  // before its outlook came; then that is asked for too.
  const REST_MS = 250;
  let resting = 0;
  const askOutlook = (report) => {
    const run = report.runs[0], number = newest;
    run.band = run.levers = null; // not known yet
    run.settings = query();
    clearTimeout(resting);
    resting = setTimeout(async () => {
      const { kept } = fabricast.state;
      const isLate = () => number !== newest || shown.report !== report;
      if (isLate()) return;
      const draw = () => {
        fabricast.parts.answer(at("answer"), run, report);
        fabricast.parts.terms(at("terms"));
      };
      try {
        const outlook = await outlookOf(run.settings);
        if (isLate()) return;
        run.isSure = outlook !== null;
        take(run, outlook ?? BUSY);
        draw();
        const other = kept.run === run || kept.run.isSure ? null : await outlookOf(kept.run.settings);
        if (isLate()) return;
        if (other) {
          take(kept.run, other).isSure = true;
          draw();
        }
        at("explore").dataset.outlook = String(number);
      } catch { /* a knob was turned meanwhile, or the server has gone: the next answer says so */ }
    }, REST_MS);
  };

  // Words and figures at once; the charts take longer, and follow when those are on the screen.
  const draw = (report) => {
    askOutlook(report);
    fabricast.parts.answer(at("answer"), report.runs[0], report);
    cancelAnimationFrame(drawing);
    drawing = requestAnimationFrame(() => setTimeout(() => {
      if (shown.report === report) fabricast.render(report);
    }));
  };

  const show = (answer) => {
    at("command").textContent = answer.command;
    at("yaml").textContent = answer.scenario;
    at("note").textContent = answer.command.endsWith(" explored.yaml")
      ? "Save the scenario as explored.yaml, then:" : "The same on the command line:";
    if (answer.problem) {
      showProblem("This setting cannot be simulated: " + answer.problem);
      return;
    }
    at("changed").className = "";
    at("changed").textContent = changeWords(shown, answer);
    shown = answer;
    if (answer.report) draw(answer.report);
  };

  // --- asking

  const query = () => board.knobs.map((knob) => knob.name + "=" + values[knob.name]).join("&");

  const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

  const fetched = async (number, signal) => {
    for (;;) {
      const reply = await fetch("api/run?" + query() + "&client=" + client, { signal });
      if (reply.status !== 503) return reply;
      await pause(300);
      if (number !== newest) return reply;
    }
  };

  // The newest counts: what an older one brings is thrown away.
  const ask = async () => {
    const number = ++newest, begun = performance.now();
    aborter?.abort();
    aborter = new AbortController();
    at("explore").classList.add("waiting");
    history.replaceState(null, "", "#" + query());
    try {
      const reply = await fetched(number, aborter.signal);
      const answer = await reply.json();
      if (number !== newest) return;
      if (answer.knobs) show(answer);
      else showProblem(answer.problem);
    } catch (problem) {
      if (number !== newest || problem.name === "AbortError") return;
      showProblem("The server does not answer; is `fabricast explore` still running?");
    }
    at("explore").classList.remove("waiting");
    at("explore").dataset.shown = String(number);
    at("explore").dataset.ms = String(performance.now() - begun);
  };

  // --- knobs

  const stepsOf = (knob, value) =>
    (knob.values.includes(value) ? knob.values : [...knob.values, value].sort((a, b) => a - b));

  const slider = (knob) => {
    const input = document.createElement("input"), output = document.createElement("output");
    let steps = [];
    output.setAttribute("aria-hidden", "true"); // the slider itself tells its value
    input.type = "range";
    const tell = () => {
      output.textContent = spoken(knob, values[knob.name]);
      input.setAttribute("aria-valuetext", output.textContent);
    };
    input.addEventListener("input", () => {
      values[knob.name] = steps[Number(input.value)];
      tell();
      ask();
    });
    const set = (value) => {
      steps = stepsOf(knob, value);
      values[knob.name] = value;
      input.max = String(steps.length - 1);
      input.value = String(steps.indexOf(value));
      tell();
    };
    return { nodes: [output, input], input, set };
  };

  // What another knob has made meaningless: a design brings its node, its GPUs and its network.
  const disable = () => {
    const isDesign = values.design !== "none";
    controls.bucket.input.disabled = values.strategy === "fsdp";
    controls.units.input.disabled = !isDesign;
    for (const name of ["node", "gpus", "rate"]) controls[name].input.disabled = isDesign;
  };

  const chooser = (knob) => {
    const input = document.createElement("select");
    input.append(...knob.values.map((value) => new Option(value, value)));
    input.addEventListener("change", () => {
      values[knob.name] = input.value;
      disable();
      ask();
    });
    const set = (value) => {
      values[knob.name] = value;
      input.value = value;
    };
    return { nodes: [input], input, set };
  };

  const build = (knob) => {
    const label = document.createElement("label"), name = document.createElement("span");
    const control = knob.max > 0 ? slider(knob) : chooser(knob);
    name.textContent = knob.label;
    label.title = knob.help;
    control.input.id = "knob-" + knob.name;
    label.htmlFor = control.input.id; // and not the output, which comes first
    control.input.name = knob.name;
    label.append(name, ...control.nodes);
    controls[knob.name] = control;
    return label;
  };

  const isOf = (knob, value) => (knob.max > 0 ? Number.isInteger(value) && value >= knob.min && value <= knob.max
    : knob.values.includes(value));

  // "#gpus=64&model=..." of somebody's link; what it does not say, and what is none, stays as the scenario has it.
  const setFromAddress = () => {
    const given = new URLSearchParams(location.hash.slice(1));
    for (const knob of board.knobs) {
      const text = given.get(knob.name), value = knob.max > 0 && text !== null ? Number(text) : text;
      controls[knob.name].set(text !== null && isOf(knob, value) ? value : knob.start);
    }
    disable();
  };

  const copies = async (event) => {
    const button = event.target.closest("button[data-copies]");
    if (!button) return;
    try {
      await navigator.clipboard.writeText(at(button.dataset.copies).textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(at(button.dataset.copies));
      button.textContent = "Selected: copy it with the keyboard";
    }
  };

  const keep = (name) => {
    fabricast.state.kept = { name, run: (shown?.report ?? fabricast.data).runs[0] };
  };

  // Back to the scenario as it was opened.
  const restore = () => {
    for (const knob of board.knobs) controls[knob.name].set(knob.start);
    disable();
    ask();
  };

  at("keep").addEventListener("click", () => {
    keep("kept: " + board.knobs.map((knob) => spoken(knob, (shown?.knobs ?? values)[knob.name])).join(", "));
    fabricast.redraw();
  });
  at("back").addEventListener("click", restore);
  at("knobs").addEventListener("submit", (event) => event.preventDefault());
  at("knobs").append(...board.knobs.map(build));
  at("explore").addEventListener("click", copies);
  window.addEventListener("hashchange", () => {
    setFromAddress();
    ask();
  });
  setFromAddress();
  fabricast.data.runs[0].settings = board.knobs.map((knob) => knob.name + "=" + knob.start).join("&");
  keep("the scenario as it was opened");
  if (board.knobs.every((knob) => values[knob.name] === knob.start)) {
    show({ ...board.answer, report: fabricast.data });
  } else {
    ask();
  }
})();
