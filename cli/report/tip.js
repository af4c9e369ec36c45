// SPDX-License-Identifier: Apache-2.0
// tip.js - the box beside the pointer (or beside what has the focus) that tells more.
(() => {
  const { make } = fabricast;
  const box = make("div", { class: "tip", role: "status", hidden: true });

  const place = (x, y) => {
    const { innerWidth, innerHeight } = window;
    const { offsetWidth, offsetHeight } = box;
    const left = x + 14 + offsetWidth > innerWidth ? Math.max(4, x - 14 - offsetWidth) : x + 14;
    const top = y + 14 + offsetHeight > innerHeight ? Math.max(4, y - 10 - offsetHeight) : y + 14;
    box.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  };

  // lines: the first is the head; a pair is a name and a value.
  const show = (x, y, lines) => {
    if (!box.isConnected) document.body.append(box);
    box.replaceChildren(...lines.filter(Boolean).map((line, i) =>
      Array.isArray(line) ? make("p", {}, make("span", {}, line[0]), make("b", {}, line[1]))
                          : make("p", { class: i === 0 ? "head" : null }, line)));
    box.hidden = false;
    place(x, y);
  };
  const hide = () => { box.hidden = true; };

  // A node that tells `lines ()` when it is pointed at or has the focus. A shape that listens for the focus gets it from
  // the Tab key, and most have no name; so only what is meant to be focused listens.
  const attach = (node, lines) => {
    node.addEventListener("pointermove", (event) => show(event.clientX, event.clientY, lines()));
    node.addEventListener("pointerleave", hide);
    if (node.localName !== "a" && !node.hasAttribute("tabindex")) return node;
    node.addEventListener("focus", () => {
      const spot = node.getBoundingClientRect();
      show(spot.right, spot.top, lines());
    });
    node.addEventListener("blur", hide);
    return node;
  };

  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  document.addEventListener("scroll", hide, { passive: true });
  fabricast.tip = { show, hide, attach };
})();
