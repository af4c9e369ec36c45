// SPDX-License-Identifier: Apache-2.0
// terms.js - the glossary's terms that this page uses: below in a sentence or two, and beside the words themselves.
(() => {
  const { make, tip } = fabricast;
  const GLOSSARY = JSON.parse(document.getElementById("glossary").textContent);
  // Everyday words, which a reader of PyTorch knows or the sentence around them says.
  const PLAIN = new Set(["step", "link", "node", "job", "place", "family", "gpu", "reduce", "phase", "fill", "queue", "flow",
    "token", "kernel", "stream", "tree", "ring", "compute", "communication", "parameter", "scenario", "forward", "backward",
    "protocol", "channel", "plane", "rank", "routing", "seed", "tier", "latency", "prefetch", "credit", "fabric", "packet"]);

  const namesOf = (term) => [term.name, ...term.also].map((name) => name.toLowerCase());
  const byName = new Map(GLOSSARY.flatMap((term) => namesOf(term).map((name) => [name, term])));
  const idOf = (term) => "term-" + term.name.toLowerCase().replace(/[^a-z0-9]+/g, "-");

  const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const patternOf = (names) => names.length === 0 ? /$^/g : new RegExp("(?<![\\w-])(?:" + [...names].sort((a, b) => b.length - a.length)
    .map(escaped).join("|") + ")(?![\\w-])", "gi");
  const every = patternOf([...byName.keys()]);
  const linked = patternOf([...byName].filter(([, term]) => !PLAIN.has(term.name.toLowerCase())).map(([name]) => name));

  const textNodes = (host) => {
    const walker = document.createTreeWalker(host, NodeFilter.SHOW_TEXT), found = [];
    while (walker.nextNode()) found.push(walker.currentNode);
    return found;
  };
  const isPlain = (node) => !node.parentElement.closest("a, button, code, svg, h1, h2, h3, .legend");

  const linkTo = (term, text) => tip.attach(make("a", { class: "term", href: "#" + idOf(term) }, text), () =>
    [term.name, term.text]);

  // The first use of each term in `host` leads to what it means, and says so to who points at it.
  fabricast.linkTerms = (host) => {
    const done = new Set();
    for (const node of textNodes(host).filter(isPlain)) {
      const parts = [], text = node.data;
      let from = 0;
      for (const match of text.matchAll(linked)) {
        const term = byName.get(match[0].toLowerCase());
        if (done.has(term)) continue;
        done.add(term);
        parts.push(text.slice(from, match.index), linkTo(term, match[0]));
        from = match.index + match[0].length;
      }
      if (parts.length > 0) node.replaceWith(...parts, text.slice(from));
    }
  };

  const SECTIONS = ["answer", "links", "timeline", "exposed", "sweeps"];
  const used = () => {
    const text = SECTIONS.flatMap((id) => textNodes(document.getElementById(id))).map((node) => node.data).join(" ");
    const found = new Set([...text.matchAll(every)].map((match) => byName.get(match[0].toLowerCase())));
    return GLOSSARY.filter((term) => found.has(term));
  };

  fabricast.parts.terms = (host) => host.replaceChildren(make("h2", {}, "Terms on this page"), make("dl", { class: "terms" },
    used().map((term) => make("div", { id: idOf(term) }, make("dt", {}, term.name, term.also.length > 0
      && make("span", { class: "about" }, " " + term.also.join(", "))), make("dd", {}, term.text)))),
  make("p", { class: "about" }, "The command ", make("code", {}, "fabricast describe glossary"), " has all of them."));
})();
