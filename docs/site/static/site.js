// SPDX-License-Identifier: Apache-2.0
"use strict";

// The theme opens its menus by labels of hidden boxes, which a keyboard does not reach: they become buttons.
for (const label of document.querySelectorAll("label[for]:not(.overlay)")) {
  const box = document.getElementById(label.htmlFor);
  if (box?.type !== "checkbox") continue;
  const tell = () => label.setAttribute("aria-expanded", String(box.checked));
  label.setAttribute("role", "button");
  label.tabIndex = 0;
  tell();
  box.addEventListener("change", tell);
  label.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    label.click();
  });
}

// What a reader takes from a block: its commands without their prompt and answer; all of it where there are none.
function commandsOf(block) {
  const commands = [...block.querySelectorAll(".command")].map((line) => line.textContent.replace(/^\$ /, ""));
  return commands.length > 0 ? commands.join("\n") : block.textContent.replace(/\n$/, "");
}

// A page on a disk may not use the clipboard of the browser: then the text is selected and copied as by hand.
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

for (const block of document.querySelectorAll("article .highlight pre")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.setAttribute("aria-label", block.querySelector(".command") ? "Copy the commands" : "Copy the text");
  button.addEventListener("click", async () => {
    await copy(commandsOf(block));
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  block.parentElement.append(button);
}

// A mark of a plot leads to a row that may be folded; boxes of its key show and hide kinds.
function unfold() {
  const id = decodeURIComponent(location.hash.slice(1));
  const target = id && document.getElementById(id);
  const folded = target && target.closest("details:not([open])");
  if (!folded) return;
  folded.open = true;
  target.scrollIntoView({ block: "center" });
}
addEventListener("hashchange", unfold);
unfold();

for (const key of document.querySelectorAll(".plot .key"))
  key.addEventListener("change", () => {
    const off = [...key.querySelectorAll("input:not(:checked)")].map((box) => box.value);
    for (const link of key.parentElement.querySelectorAll("svg a"))
      link.classList.toggle("hidden", off.some((name) => link.classList.contains(name)));
  });

// "/" leads to the search box, where the list of pages stands beside the page.
addEventListener("keydown", (event) => {
  const box = document.querySelector(".sidebar-search");
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || !box || event.target.closest?.("input, textarea, select")
    || box.getBoundingClientRect().right <= 0) return;
  event.preventDefault();
  box.focus();
});

// A table of some length is sorted by a click on the name of a column. Figures count with their units.
const UNITS = { ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, min: 60, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, kB: 1e3, MB: 1e6,
  GB: 1e9, k: 1e3, M: 1e6, G: 1e9 };
const LEAST_ROWS = 6;

function figure(text) {
  const found = text.replace(/[−–]/g, "-").match(/^[^\d+-]{0,2}([+-]?\d[\d ]*(?:\.\d+)?)\s?([A-Za-z]+)?/);
  return found ? Number(found[1].replace(/ /g, "")) * (UNITS[found[2]] ?? 1) : null;
}

for (const table of document.querySelectorAll("article table.docutils")) {
  const body = table.tBodies[0], heads = [...(table.tHead?.rows[0]?.cells ?? [])];
  if (!body || body.rows.length < LEAST_ROWS || heads.some((head) => head.colSpan > 1)) continue;
  const original = [...body.rows], textOf = (row, i) => (row.cells[i]?.textContent ?? "").trim();
  heads.forEach((head, i) => {
    if (head.textContent.trim() === "") return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.title = "Sort";
    button.append(...head.childNodes);
    head.append(button);
    const figures = original.map((row) => figure(textOf(row, i)));
    const isNumeric = original.every((row, k) => figures[k] !== null || /^[-–]?$/.test(textOf(row, i)));
    const key = new Map(original.map((row, k) => [row, isNumeric ? figures[k] ?? -Infinity : textOf(row, i)]));
    const order = (a, b) => (isNumeric ? key.get(a) - key.get(b) || 0 : key.get(a).localeCompare(key.get(b), "en", { numeric: true }));
    // The first click puts large figures first, the second turns them round, and the third is the page's own order.
    const ways = isNumeric ? ["descending", "ascending"] : ["ascending", "descending"];
    button.addEventListener("click", () => {
      const way = head.hasAttribute("aria-sort") ? ways[ways.indexOf(head.getAttribute("aria-sort")) + 1] : ways[0];
      for (const other of heads) other.removeAttribute("aria-sort");
      if (way) head.setAttribute("aria-sort", way);
      body.append(...(way ? [...original].sort((a, b) => (way === "ascending" ? 1 : -1) * order(a, b)) : original));
    });
  });
}
