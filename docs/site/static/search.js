// SPDX-License-Identifier: Apache-2.0
// search.js - finds sections of pages. A page on a disk may not fetch files, but may load scripts: search.py wrote the words of
// each two first letters and the texts of sections as scripts, and each calls one function below.
"use strict";

const fabricastSearch = (() => {
  const SHOWN = 10; // results at a time
  const PREFIX = 0.4; // what a word counts that only begins with what is searched for
  const words = new Map(), texts = new Map(), loads = new Map();
  let all = null;

  const here = document.currentScript.src.replace(/search\.js.*$/, "search/");
  const load = (name) => {
    if (!loads.has(name))
      loads.set(name, new Promise((done) => {
        const script = Object.assign(document.createElement("script"), { src: `${here}${name}.js`, onload: done, onerror: done });
        document.head.append(script);
      }));
    return loads.get(name);
  };

  const beginningOf = (word) => word.slice(0, 2);
  const add = (scores, unit, score) => scores.set(unit, Math.max(scores.get(unit) ?? 0, score));

  const singular = (word) => (word.length > 3 && word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word);

  // What each section scores by one word; rare words count more.
  const scoresOf = (word) => {
    const scores = new Map(), known = words.get(beginningOf(word)) ?? {};
    for (const [one, found] of Object.entries(known)) {
      if (!one.startsWith(word)) continue;
      const rare = Math.log(1 + all.units.length / (found.length / 2)) * (singular(one) === word ? 1 : PREFIX);
      for (let i = 0; i < found.length; i += 2) add(scores, found[i], found[i + 1] * rare);
    }
    return scores;
  };

  // Sections with most of the words first, then by score.
  const rank = (asked) => {
    const sums = new Map();
    for (const word of asked)
      for (const [unit, score] of scoresOf(word)) {
        const [n, sum] = sums.get(unit) ?? [0, 0];
        sums.set(unit, [n + 1, sum + score]);
      }
    return [...sums].sort(([a, [n, x]], [b, [m, y]]) => m - n || y - x || a - b).map(([unit]) => unit);
  };

  // The part of a text around the first of the words, or its beginning.
  const excerptOf = (text, asked) => {
    const low = text.toLowerCase(), places = asked.map((word) => low.search(new RegExp(`\\b${word}`))).filter((place) => place >= 0);
    const at = places.length > 0 ? Math.min(...places) : 0, from = Math.max(0, low.lastIndexOf(" ", Math.max(0, at - 70)) + 1);
    const to = Math.min(text.length, at + 130);
    return `${from > 0 ? "... " : ""}${text.slice(from, to).replace(to < text.length ? /\s+\S*$/ : /$/, "")}${to < text.length ? " ..." : ""}`;
  };

  const marked = (text, asked) => {
    const paragraph = Object.assign(document.createElement("p"), { className: "excerpt" });
    for (const part of text.split(new RegExp(`(\\b(?:${asked.join("|")})\\w*)`, "i")))
      paragraph.append(asked.some((word) => part.toLowerCase().startsWith(word)) ? Object.assign(document.createElement("mark"), { textContent: part }) : part);
    return paragraph;
  };

  const itemOf = async (unit, asked) => {
    const [path, title] = all.pages[all.units[unit]], chunk = all.firsts.filter((first) => first <= unit).length - 1;
    const item = document.createElement("li"), link = document.createElement("a");
    await load(`texts-${chunk}`);
    const [anchor, heading, text] = texts.get(chunk)?.[unit - all.firsts[chunk]] ?? ["", "", ""];
    link.href = path + (anchor ? "#" + anchor : "");
    link.textContent = heading ? `${title}: ${heading}` : title;
    item.append(link);
    if (text) item.append(marked(excerptOf(text, asked), asked));
    return item;
  };

  const show = async (host, found, asked) => {
    const list = Object.assign(document.createElement("ul"), { className: "search" });
    const more = Object.assign(document.createElement("button"), { type: "button", textContent: "Show more" });
    const next = async () => {
      const from = list.children.length;
      list.append(...await Promise.all(found.slice(from, from + SHOWN).map((unit) => itemOf(unit, asked))));
      more.hidden = list.children.length >= found.length;
    };
    more.addEventListener("click", next);
    await next();
    host.append(list, more);
  };

  const search = async (host, query) => {
    const every = query.toLowerCase().match(/[a-z0-9_]+/g) ?? [], asked = [...new Set(every.map(singular))].filter((word) => word.length > 1);
    const say = Object.assign(document.createElement("p"), { className: "search-summary", textContent: "Type a word above." });
    say.setAttribute("role", "status");
    host.append(Object.assign(document.createElement("h1"), { textContent: query ? `Search for ${query}` : "Search" }), say);
    if (asked.length === 0) return;
    await Promise.all(["pages", ...new Set(asked.map((word) => "words-" + beginningOf(word)))].map(load));
    const telling = asked.filter((word) => !all.common.includes(word));
    const found = rank(telling.length > 0 ? telling : asked);
    say.textContent = found.length === 0 ? "Nothing was found. The glossary and the list of contents may have it under another word."
      : `${found.length} section${found.length > 1 ? "s" : ""}, the best first.`;
    if (found.length > 0) await show(host, found, asked);
  };

  document.addEventListener("DOMContentLoaded", () => {
    const host = document.getElementById("search-results");
    if (host) search(host, new URLSearchParams(location.search).get("q") ?? "");
  });

  return {
    pages: (data) => { all = data; },
    words: ([beginning, data]) => words.set(beginning, data),
    texts: ([chunk, sections]) => texts.set(chunk, sections),
  };
})();
