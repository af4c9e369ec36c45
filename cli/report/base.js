// SPDX-License-Identifier: Apache-2.0
// base.js - what the parts of the page share: elements, texts that people wrote, numbers with units.
"use strict";

// parts: drawing functions by section; state: what the reader chose, kept when the data change.
window.fabricast = { parts: {}, state: { run: null, view: null, open: {} }, data: null };

(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const MAX_NAME = 90;

  // Control characters, and those that turn or hide what stands around them.
  const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

  const clean = (text) =>
    String(text ?? "").replace(HIDDEN, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));

  const shorten = (text, most = MAX_NAME) => {
    const all = clean(String(text ?? "").slice(0, 4 * most));
    return all.length > most ? all.slice(0, most - 1) + "\u2026" : all;
  };

  const fill = (node, attributes, children) => {
    for (const [key, value] of Object.entries(attributes ?? {})) {
      if (value === null || value === undefined || value === false) continue;
      if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else node.setAttribute(key, value === true ? "" : String(value));
    }
    for (const child of children.flat(Infinity))
      if (child !== null && child !== undefined && child !== false) node.append(child);
    return node;
  };

  // Elements; a child that is no node becomes text, never markup.
  const make = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
  const draw = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

  const digits = (value, n = 4) => {
    if (!Number.isFinite(value)) return "?";
    const text = String(Number(value.toPrecision(n)));
    return text.includes("e") ? Number(value.toPrecision(n)).toExponential().replace("e+", "e") : text;
  };

  const scaled = (value, scale) => {
    const size = Math.abs(value);
    const [factor, unit] = scale.find(([least]) => size >= least * 0.99995) ?? scale[scale.length - 1];
    return digits(value / factor) + "\u00a0" + unit;
  };

  const TIMES = [[86400 * 2, "days"], [3600 * 2, "h"], [1, "s"], [1e-3, "ms"], [1e-6, "\u00b5s"], [1e-9, "ns"]];
  const time = (seconds) => {
    if (!seconds) return "0\u00a0s";
    if (Math.abs(seconds) >= 86400 * 2) return digits(seconds / 86400, 3) + "\u00a0days";
    if (Math.abs(seconds) >= 3600 * 2) return digits(seconds / 3600, 3) + "\u00a0h";
    return scaled(seconds, TIMES);
  };

  const BYTES = [[1e15, "PB"], [1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]];
  const bytes = (value) => (value ? scaled(value, BYTES) : "0\u00a0B");
  const RATES = [[1e12, "Tb/s"], [1e9, "Gb/s"], [1e6, "Mb/s"], [1e3, "kb/s"], [1, "b/s"]];
  const rate = (bytesPerSecond) => scaled(Math.round(8 * bytesPerSecond / 1e3) * 1e3, RATES);

  const percent = (fraction) => {
    if (fraction === null || fraction === undefined || !Number.isFinite(fraction)) return "\u2013";
    const value = 100 * fraction;
    return (Math.abs(value) >= 99.95 || value === 0 ? value.toFixed(0) : value.toFixed(1)) + "\u00a0%";
  };

  const count = (value) => Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, "\u202f");
  const plural = (n, one, many) => count(n) + "\u00a0" + (n === 1 ? one : many ?? one + "s");

  const OPS = { all_reduce: "all-reduce", all_gather: "all-gather", reduce_scatter: "reduce-scatter",
                all_to_all: "all-to-all", send_recv: "send and receive" };
  const op = (name) => OPS[name] ?? shorten(String(name ?? "").replaceAll("_", "-"));

  const vertex = (name) => shorten(name, 40);
  const link = (from, to) => vertex(from) + " \u2192 " + vertex(to);

  // Width that a figure has; a page that is not laid out yet counts as a wide one.
  const width = (host) => Math.max(280, Math.round(host.clientWidth || 960));

  const download = (name, text, type) => {
    const address = URL.createObjectURL(new Blob([text], { type }));
    const anchor = make("a", { href: address, download: name });
    document.body.append(anchor);
    anchor.click();
    anchor.remove();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  };

  // Rows of texts for a spreadsheet, to the clipboard; where the browser forbids it, as a file. `said` tells which.
  const copyTable = async (rows, said) => {
    const plain = (cell) => String(cell).replaceAll(/[\u00a0\u202f]/g, " ").replaceAll(/[\t\n]/g, " ");
    const text = rows.map((row) => row.map(plain).join("\t")).join("\n") + "\n";
    try {
      await navigator.clipboard.writeText(text);
      said.textContent = "Copied.";
    } catch {
      download("figure.tsv", text, "text/tab-separated-values");
      said.textContent = "Saved as figure.tsv: this browser gives a page no clipboard.";
    }
  };

  // A figure: a heading that says what it shows, its drawing, and a sentence below.
  // The sentence begins with the question that the figure answers.
  const figure = (title, about, ...content) => {
    const [, question, rest] = /^([^?]*\?)(.*)$/s.exec(about ?? "") ?? [null, null, about];
    return make("figure", {}, title && make("h3", {}, title), ...content,
      about && make("figcaption", {}, question && make("b", {}, question), rest));
  };

  Object.assign(fabricast, { clean, shorten, make, draw, digits, time, bytes, rate, percent, count, plural, op,
                             vertex, link, width, download, copyTable, figure });
})();
