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

  // A knob's value in an answer: another node brings NICs of its own, and GPUs come in whole nodes.
  const inEffect = (answer, knob) => answer.in_effect?.[knob.name] ?? answer.knobs[knob.name];

  // --- what changed, in words

  const knobWords = (before, after) => board.knobs.filter((knob) => before[knob.name] !== after[knob.name])
    .map((knob) => `${knob.label} ${spoken(knob, before[knob.name])} \u2192 ${spoken(knob, after[knob.name])}`);

  const linkWords = (figures) => (figures.binding_link ? `${shorten(figures.binding_link)} (${shorten(figures.binding_link_spec)})` : "no link");

  // Figures that a reader compares: [name, value of an answer's figures, how it is written, least change that counts].
  const FIGURES = [["step", (one) => one.step_s, time, 0.0005], ["exposed", exposed, percent, 0],
    ["compute", (one) => one.compute_s, time, 0.005], ["communication", (one) => one.comm_s, time, 0.005],
    ["collectives of a step", (one) => one.collectives, String, 0], ["their bytes", (one) => one.collective_bytes, size, 0.01],
    ["waiting for the first byte", (one) => one.startup_fraction, percent, 0.02],
    ["memory of a GPU", (one) => one.memory_bytes, size, 0.01], ["slowest link", (one) => linkWords(one), String, 0]];

  const cell = (tag, text, scope) => Object.assign(document.createElement(tag), { textContent: text, ...(scope ? { scope } : {}) });
  const rowOf = (cells, head) => {
    const row = document.createElement("tr");
    row.append(...cells.map((text, i) => cell(head || i === 0 ? "th" : "td", text, head ? "col" : i === 0 ? "row" : "")));
    return row;
  };

  // Knobs that were turned or moved by another, and figures that moved, each before and after.
  const movedTable = (before, after) => {
    const knobs = board.knobs.map((knob) => [knob, ...[before, after].map((one) => isMeant(knob, one.knobs) ? inEffect(one, knob) : one.knobs[knob.name])])
      .filter(([, a, b]) => a !== b).map(([knob, a, b]) => [knob.label, spoken(knob, a), spoken(knob, b), ""]);
    const figures = FIGURES.map(([name, value, show, least]) => [name, value(before.figures), value(after.figures), show, least])
      .filter(([, a, b, show, least]) => show(a) !== show(b) && (typeof a !== "number" || differs(a, b, least)))
      .map(([name, a, b, show]) => [name, show(a), show(b), typeof a === "number" && a > 0 && show !== percent && show !== String
        ? `${b >= a ? "+" : "\u2212"}${Math.abs(100 * (b / a - 1)).toFixed(1)}\u00a0%` : ""]);
    const table = document.createElement("table"), head = document.createElement("thead"), body = document.createElement("tbody");
    head.append(rowOf(["", "before", "now", "change"], true));
    body.append(...[...knobs, ...figures].map((cells) => rowOf(cells, false)));
    table.append(head, body);
    return table;
  };

  // Why a knob that was turned left the step where it was.
  const whyStill = (before, after) => {
    const [a, b] = [before.figures, after.figures];
    if (before.scenario === after.scenario)
      return after.knobs.design !== "none" ? "the design brings its machine, and this knob rests beside it"
        : before.knobs.gpus !== after.knobs.gpus ? "GPUs come in whole nodes, and these need as many nodes" : "it rests in this setting";
    if (a.collectives === 0 && b.collectives === 0) return "the step sends nothing";
    if (differs(a.comm_s, b.comm_s, 0.0005) && !differs(a.exposed_s, b.exposed_s, 0.0005))
      return "only communication changed, and compute hides it";
    if (!differs(a.comm_s, b.comm_s, 0.0005))
      return `neither compute nor communication takes another time: ${linkWords(b)} is the slowest link of the collectives, and what `
        + "you turned is not the slowest part of their way";
    return "what became longer and what became shorter are equally much";
  };

  // What went the way of the step is a reason, the largest first; what went the other way happened in spite of it.
  const reasons = (before, after) => {
    const words = { compute_s: "computing", comm_s: "communication" }, way = Math.sign(after.step_s - before.step_s);
    const by = (part) => way * (after[part] - before[part]);
    const moved = Object.keys(words).filter((part) => differs(before[part], after[part], 0.005)).sort((one, other) => by(other) - by(one));
    const said = (parts) => parts.map((part) => `${words[part]} takes ${fromTo(before[part], after[part], time)}`).join("; ");
    const why = said(moved.filter((part) => by(part) > 0)), against = said(moved.filter((part) => by(part) <= 0));
    return why ? ` Because ${why}${against && `, although ${against}`}.` : against && ` Yet ${against}.`;
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
    const turned = knobWords(before.knobs, after.knobs);
    const begin = stopWords(figures) + (turned.length ? turned.join(", ") + ": " : "");
    if (turned.length > 0 && !differs(before.figures.step_s, figures.step_s, 0.0005))
      return `${begin}nothing moved, because ${whyStill(before, after)}.`;
    return `${begin}step ${fromTo(before.figures.step_s, figures.step_s, time)}, `
      + `exposed ${fromTo(exposed(before.figures), exposed(figures), percent)}.`
      + reasons(before.figures, figures) + linkChange(before.figures, figures);
  };

  // --- showing

  const showProblem = (text) => {
    at("changed").textContent = text;
    at("changed").className = "problem";
    at("moved").replaceChildren();
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
    tellEffects(answer);
    if (answer.problem) {
      showProblem("This setting cannot be simulated: " + answer.problem);
      return;
    }
    at("changed").className = "";
    at("changed").textContent = changeWords(shown, answer);
    at("moved").replaceChildren(...(shown ? [movedTable(shown, answer)] : []));
    shown = answer;
    if (answer.report) draw(answer.report);
  };

  // The report of what is shown, which takes longer than its words and figures.
  const showReport = (report) => {
    shown.report = report;
    draw(report);
  };

  // --- asking

  const query = () => board.knobs.map((knob) => knob.name + "=" + values[knob.name]).join("&");

  const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

  const fetched = async (what, number, signal) => {
    for (;;) {
      const reply = await fetch(`api/${what}?${query()}&client=${client}`, { signal });
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
    at("keep").disabled = true;
    history.replaceState(null, "", "#" + query());
    try {
      const { signal } = aborter, answer = await (await fetched("figures", number, signal)).json();
      if (number !== newest) return;
      if (answer.knobs) show(answer);
      else showProblem(answer.problem);
      at("explore").dataset.ms = String(performance.now() - begun);
      if (shown === answer) {
        const { report } = await (await fetched("run", number, signal)).json();
        if (number !== newest) return;
        if (report) showReport(report);
      }
    } catch (problem) {
      if (number !== newest || problem.name === "AbortError") return;
      showProblem("The server does not answer; is `fabricast explore` still running?");
    }
    at("explore").classList.remove("waiting");
    at("keep").disabled = shown !== null && !shown.report;
    at("explore").dataset.shown = String(number);
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

  // What another knob, or the scenario, has made meaningless: a design brings its node, its GPUs and its network.
  const OF_MACHINE = ["node", "gpus", "rate", "nics", "nic", "oversubscription", "route"];
  const OF_DESIGN = "The design brings it.";
  const restOf = (knob, setting) => {
    if (knob.rests) return knob.rests;
    if (knob.name === "bucket" && setting.strategy === "fsdp") return "fsdp sends layer by layer.";
    if (knob.name === "units" && setting.design === "none") return "There is no design.";
    return OF_MACHINE.includes(knob.name) && setting.design !== "none" ? OF_DESIGN : null;
  };
  const restsNow = (knob) => restOf(knob, values);
  const isMeant = (knob, setting) => [null, OF_DESIGN].includes(restOf(knob, setting)); // it has a value that counts
  const disable = () => {
    for (const knob of board.knobs) {
      const { input } = controls[knob.name], label = input.closest("label"), why = restsNow(knob);
      input.disabled = why !== null;
      label.classList.toggle("resting", why !== null);
      label.title = why ? `${knob.help} It rests: ${why}` : knob.help;
    }
  };

  // Below a knob, where the machine of this setting is not as the knob stands.
  const tellEffects = (answer) => {
    for (const knob of board.knobs) {
      const value = inEffect(answer, knob), isOther = isMeant(knob, answer.knobs) && value !== answer.knobs[knob.name];
      controls[knob.name].effect.textContent = isOther ? `in effect: ${spoken(knob, value)}` : "";
    }
  };

  // Options under the headings that the server gives; those that do not hold the words of the filter are left out.
  const optionsOf = (knob, words) => {
    const groups = new Map();
    knob.values.forEach((value, i) => {
      const group = knob.groups[i] ?? "";
      if (value !== values[knob.name] && !`${value} ${group}`.toLowerCase().includes(words.toLowerCase())) return;
      if (!groups.has(group)) groups.set(group, []);
      groups.get(group).push(new Option(value, value, false, value === values[knob.name]));
    });
    return [...groups].flatMap(([name, options]) => {
      if (name === "") return options;
      const group = Object.assign(document.createElement("optgroup"), { label: name });
      group.append(...options);
      return [group];
    });
  };

  const MANY = 12;
  const chooser = (knob) => {
    const input = document.createElement("select"), filter = document.createElement("input");
    Object.assign(filter, { type: "search", className: "filter", placeholder: `Find among ${knob.values.length}` });
    filter.setAttribute("aria-label", `Find a ${knob.label.toLowerCase()}`);
    filter.addEventListener("input", (event) => {
      event.stopPropagation();
      input.replaceChildren(...optionsOf(knob, filter.value.trim()));
    });
    input.addEventListener("change", () => {
      values[knob.name] = input.value;
      disable();
      ask();
    });
    const set = (value) => {
      values[knob.name] = value;
      filter.value = "";
      input.replaceChildren(...optionsOf(knob, ""));
      input.value = value;
    };
    return { nodes: [input], filter: knob.values.length > MANY ? filter : null, input, set };
  };

  const build = (knob) => {
    const label = document.createElement("label"), name = document.createElement("span");
    const control = knob.max > 0 ? slider(knob) : chooser(knob);
    name.textContent = knob.label;
    label.title = knob.help;
    control.input.id = "knob-" + knob.name;
    label.htmlFor = control.input.id; // and not the output, which comes first
    control.input.name = knob.name;
    control.effect = Object.assign(document.createElement("small"), { id: "effect-" + knob.name });
    control.input.setAttribute("aria-describedby", control.effect.id);
    label.append(name, ...control.nodes);
    controls[knob.name] = control;
    const whole = document.createElement("div");
    whole.append(label, ...(control.filter ? [control.filter] : []), control.effect);
    return whole;
  };

  const SETS = [["Job", ["model", "strategy", "micro_batch", "sequence", "recompute", "bucket"]],
    ["Division of the model", ["tensor", "pipeline", "context", "expert"]],
    ["Machine", ["gpus", "node", "power_cap", "design", "units"]],
    ["Network", ["nics", "nic", "rate", "oversubscription", "route"]]];
  const NARROW = 640; // pixels; on a phone the first set is open
  const buildSet = ([name, knobs], i) => {
    const set = Object.assign(document.createElement("details"), { open: i === 0 || innerWidth > NARROW });
    set.append(cell("summary", name), ...board.knobs.filter((knob) => knobs.includes(knob.name)).map(build));
    return set;
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

  // The timeline of what is compared with stands below that of this setting, on the same page.
  const drawKept = () => {
    const { kept } = fabricast.state, host = at("kept-timeline"), run = (shown?.report ?? fabricast.data).runs[0];
    host.replaceChildren();
    if (kept.run === run) return;
    const { timeline } = fabricast, { view } = fabricast.state;
    fabricast.state.view = null;
    fabricast.parts.timeline(host, kept.run);
    fabricast.state.view = view;
    fabricast.timeline = timeline;
    host.querySelector("h2")?.replaceChildren(`Beside it: ${kept.name}`);
  };
  const { timeline: drawTimeline } = fabricast.parts;
  fabricast.parts.timeline = (host, run) => {
    drawTimeline(host, run);
    if (host.id === "timeline") drawKept();
  };

  // --- pictures

  // What a picture has from the page's style sheet, which a file of its own lacks.
  const LOOKS = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linejoin",
                 "paint-order", "font-size", "font-weight", "font-family", "visibility"];
  const dressed = (node) => {
    const copy = node.cloneNode(true), all = [copy, ...copy.querySelectorAll("*")];
    [node, ...node.querySelectorAll("*")].forEach((one, i) => {
      const look = getComputedStyle(one);
      for (const name of LOOKS) all[i].setAttribute(name, look.getPropertyValue(name));
    });
    return copy;
  };

  const imageOf = async (svg) => {
    const copy = dressed(svg), { width, height } = svg.getBoundingClientRect();
    copy.prepend(dressed(document.querySelector(".patterns defs")));
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("width", width);
    copy.setAttribute("height", height);
    const image = new Image(width, height);
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(new XMLSerializer().serializeToString(copy));
    await image.decode();
    return image;
  };

  // The bar of the step, the machine and the timeline below one another, at twice the size of the screen.
  const savePicture = async () => {
    const images = await Promise.all([...document.querySelectorAll("svg.picture, svg.links, svg.timeline")].map(imageOf));
    const canvas = document.createElement("canvas"), paper = canvas.getContext("2d"), GAP = 24, TWICE = 2;
    canvas.width = TWICE * (Math.max(...images.map((image) => image.width)) + 2 * GAP);
    canvas.height = TWICE * images.reduce((sum, image) => sum + image.height + GAP, GAP);
    paper.scale(TWICE, TWICE);
    paper.fillStyle = getComputedStyle(document.body).backgroundColor;
    paper.fillRect(0, 0, canvas.width, canvas.height);
    let y = GAP;
    for (const image of images) {
      paper.drawImage(image, GAP, y, image.width, image.height);
      y += image.height + GAP;
    }
    const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
    fabricast.download("explored.png", blob, "image/png");
    at("pictured").textContent = `Saved as explored.png, ${canvas.width} x ${canvas.height} pixels.`;
  };

  // Back to the scenario as it was opened.
  const restore = () => {
    for (const knob of board.knobs) controls[knob.name].set(knob.start);
    disable();
    ask();
  };

  at("keep").addEventListener("click", () => {
    keep("kept: " + board.knobs.map((knob) => spoken(knob, shown ? inEffect(shown, knob) : values[knob.name])).join(", "));
    fabricast.redraw();
  });
  at("back").addEventListener("click", restore);
  at("picture").addEventListener("click", () => savePicture().catch((problem) => {
    at("pictured").textContent = `This browser makes no picture: ${problem.message}`;
  }));
  at("save").addEventListener("click", () => fabricast.download("explored.yaml", at("yaml").textContent, "text/yaml"));
  at("timeline").after(Object.assign(document.createElement("section"), { id: "kept-timeline" }));
  at("knobs").addEventListener("submit", (event) => event.preventDefault());
  at("knobs").append(...SETS.map(buildSet));
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
