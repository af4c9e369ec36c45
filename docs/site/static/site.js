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
