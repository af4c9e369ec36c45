// SPDX-License-Identifier: Apache-2.0
"use strict";

// A collective round by round: <div class="motion" data-motion="ring">. Nothing moves until a reader asks for it, and where
// the system asks for less motion, rounds change without one.
(() => {
  const N = 8, WIDTH = 480, HEIGHT = 400, BOX = 74, CELL = 8, ROUND_MS = 1400;
  const HUES = [210, 30, 140, 330, 270, 55, 180, 0];
  const mod = (number) => ((number % N) + N) % N;
  const everyone = Array.from({ length: N }, (_, gpu) => gpu);
  const own = (gpu) => everyone.map((part) => ({ part, from: new Set([gpu]) }));

  const onRing = (gpu) => {
    const angle = (gpu / N) * 2 * Math.PI - Math.PI / 2;
    return { x: WIDTH / 2 + 185 * Math.cos(angle), y: HEIGHT / 2 + 158 * Math.sin(angle) };
  };

  // The tree of docs/models/tree.md: a node's level is the number of times that 2 divides its number.
  const parentOf = { 1: 2, 3: 2, 5: 6, 7: 6, 2: 4, 6: 4, 4: 0 };
  const treePlaces = { 0: [240, 40], 4: [240, 140], 2: [130, 240], 6: [350, 240], 1: [60, 350], 3: [180, 350], 5: [300, 350], 7: [420, 350] };

  // Rounds of messages { from, to, part }; part -1 is all parts. `adds`: the receiver adds it to its own, else it takes it.
  const kinds = {
    ring: {
      place: onRing,
      links: everyone.map((gpu) => [gpu, mod(gpu + 1)]),
      rounds: Array.from({ length: 2 * (N - 1) }, (_, round) => ({
        adds: round < N - 1,
        sends: everyone.map((gpu) => ({ from: gpu, to: mod(gpu + 1), part: mod(round < N - 1 ? gpu - round : gpu + N - round) })),
      })),
      tell: (round, n) => `${round <= N - 1 ? "Each GPU passes one eighth on, and its neighbour adds it to its own."
        : "Each GPU passes a finished sum on, and its neighbour keeps it."} Each link has carried ${round}/8 of the size.` +
        (round === n ? " Every GPU has all sums." : ""),
      before: "An all-reduce over a ring of 8 GPUs. Each has gradients of its own, cut into eighths.",
    },
    tree: {
      place: (gpu) => ({ x: treePlaces[gpu][0], y: treePlaces[gpu][1] }),
      links: Object.entries(parentOf).map(([child, parent]) => [Number(child), parent]),
      rounds: [[[1, 2], [3, 2], [5, 6], [7, 6]], [[2, 4], [6, 4]], [[4, 0]], [[0, 4]], [[4, 2], [4, 6]], [[2, 1], [2, 3], [6, 5], [6, 7]]]
        .map((pairs, round) => ({ adds: round < 3, sends: pairs.map(([from, to]) => ({ from, to, part: -1 })) })),
      tell: (round, n) => `${round <= 3 ? "Children send what they have, and the parent adds it to its own."
        : "Parents send the sum to their children."} A ring over 8 nodes takes 14 rounds, this tree ${n}.` +
        (round === n ? " Every node has the sum." : ""),
      before: "An all-reduce over one of the two trees of 8 nodes. Node 0 is at the top. One piece is shown; all links work at once when " +
        "pieces follow each other.",
    },
    "all-to-all": {
      place: onRing,
      links: everyone.flatMap((from) => everyone.filter((to) => to > from).map((to) => [from, to])),
      rounds: [{ swaps: true, sends: everyone.flatMap((from) => everyone.filter((to) => to !== from).map((to) => ({ from, to, part: to }))) }],
      tell: () => "Each GPU has sent one eighth to each of the 7 others, 7/8 of its size in all, and has one eighth of everybody.",
      before: "An all-to-all of 8 GPUs. Each has one eighth for every GPU, and all are sent at once.",
    },
  };

  const make = (name, attributes = {}, text = "") => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.textContent = text;
    return node;
  };

  // What each GPU holds after so many rounds: by cell, the part and whose it is a sum of.
  function holdingsAfter(kind, n) {
    let held = everyone.map(own);
    for (const round of kind.rounds.slice(0, n)) {
      const next = held.map((cells) => cells.map((cell) => ({ ...cell })));
      for (const { from, to, part } of round.sends)
        for (const each of part < 0 ? everyone : [part]) {
          const sent = held[from][each].from;
          if (round.swaps) next[to][from] = { part: to, from: sent };
          else next[to][each].from = round.adds ? new Set([...next[to][each].from, ...sent]) : sent;
        }
      held = next;
    }
    return held;
  }

  function colourOf(cell, swaps) {
    if (swaps) return `hsl(${HUES[[...cell.from][0]]} 60% 50%)`;
    return `hsl(${HUES[cell.part]} 60% 50% / ${cell.from.size === N ? 1 : 0.2 + (0.5 * (cell.from.size - 1)) / (N - 1)})`;
  }

  function drawGpu(svg, kind, gpu) {
    const { x, y } = kind.place(gpu);
    svg.append(make("rect", { class: "gpu", x: x - BOX / 2, y: y - 20, width: BOX, height: 44, rx: 5 }));
    svg.append(make("text", { x, y: y - 3, "text-anchor": "middle" }, String(gpu)));
    const cells = everyone.map((i) => make("rect", { x: x - BOX / 2 + 5 + i * CELL, y: y + 3, width: CELL - 1, height: 16 }));
    svg.append(...cells);
    return cells;
  }

  function drawPackets(svg, kind, round) {
    return round.sends.map((send) => {
      const node = make("rect", { class: "packet", width: 14, height: 14, rx: 3,
        fill: send.part < 0 ? "currentColor" : `hsl(${HUES[round.swaps ? send.from : send.part]} 60% 50%)` });
      svg.append(node);
      return { node, from: kind.place(send.from), to: kind.place(send.to) };
    });
  }

  function movePackets(packets, part) {
    for (const { node, from, to } of packets) {
      node.setAttribute("x", from.x + (to.x - from.x) * part - 7);
      node.setAttribute("y", from.y + (to.y - from.y) * part - 7);
    }
  }

  function begin(place) {
    const kind = kinds[place.dataset.motion], n = kind.rounds.length, swaps = kind.rounds[0].swaps === true;
    const svg = make("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": kind.before });
    for (const [from, to] of kind.links) {
      const [a, b] = [kind.place(from), kind.place(to)];
      svg.append(make("line", { class: "wire", x1: a.x, y1: a.y, x2: b.x, y2: b.y }));
    }
    const cells = everyone.map((gpu) => drawGpu(svg, kind, gpu));
    const say = document.createElement("p"), play = document.createElement("button"), step = document.createElement("button");
    let done = 0, isPlaying = false, frame = 0;

    function show() {
      holdingsAfter(kind, done).forEach((held, gpu) => held.forEach((cell, i) => cells[gpu][i].setAttribute("fill", colourOf(cell, swaps))));
      say.textContent = done === 0 ? kind.before : `Round ${done} of ${n}. ${kind.tell(done, n)}`;
      play.textContent = isPlaying ? "Pause" : done === n ? "Play again" : "Play";
    }

    function runRound(then) {
      if (done === n) done = 0;
      show();
      const packets = drawPackets(svg, kind, kind.rounds[done]), started = performance.now();
      const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
      function tick(now) {
        const part = Math.min(1, (now - started) / ROUND_MS);
        movePackets(packets, isStill ? 0.5 : part);
        if (part < 1) return void (frame = requestAnimationFrame(tick));
        packets.forEach(({ node }) => node.remove());
        frame = 0;
        done++;
        show();
        then();
      }
      frame = requestAnimationFrame(tick);
    }

    function goOn() {
      if (isPlaying && done < n) return runRound(goOn);
      isPlaying = false;
      show();
    }

    play.addEventListener("click", () => {
      isPlaying = !isPlaying;
      show();
      if (isPlaying && frame === 0) runRound(goOn);
    });
    step.textContent = "Next round";
    step.addEventListener("click", () => {
      isPlaying = false;
      if (frame === 0) runRound(goOn);
    });
    play.type = step.type = "button";
    say.setAttribute("aria-live", "polite");
    const buttons = document.createElement("div");
    buttons.append(play, step);
    place.append(svg, buttons, say);
    show();
  }

  // Whether the rounds do what the collective promises: every GPU ends with the sum of all, or with a part of everybody.
  function isWhole(kind) {
    return holdingsAfter(kind, kind.rounds.length).every((cells, gpu) => kind.rounds[0].swaps
      ? cells.every((cell, from) => cell.part === gpu && cell.from.has(from) && cell.from.size === 1)
      : cells.every((cell) => cell.from.size === N));
  }

  window.fabricastMotion = Object.fromEntries(Object.entries(kinds).map(([name, kind]) => [name, { isWhole: isWhole(kind) }]));
  for (const place of document.querySelectorAll(".motion")) begin(place);
})();
