// SPDX-License-Identifier: Apache-2.0
// The theme opens its menus by labels of hidden boxes, which a keyboard does not reach: they become buttons.
"use strict";
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
