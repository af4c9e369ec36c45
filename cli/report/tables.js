// SPDX-License-Identifier: Apache-2.0
// tables.js - the tables of a run, each to open, to sort by a column, and to take away as CSV.
(() => {
  const { make, clean, shorten, count, plural, download, state } = fabricast;
  const MOST_SHOWN = 250;

  // RFC 4180; a field is [text, was it quoted].
  const parse = (csv) => {
    const rows = [];
    let row = [], text = "", quoted = false, inside = false;
    for (let i = 0; i < csv.length; i++) {
      const c = csv[i];
      if (inside) {
        if (c !== "\"") text += c;
        else if (csv[i + 1] === "\"") { text += c; i++; }
        else inside = false;
      } else if (c === "\"") {
        inside = quoted = true;
      } else if (c === "," || c === "\n") {
        row.push(text);
        text = "";
        quoted = false;
        if (c === "\n") { rows.push(row); row = []; }
      } else {
        text += c;
      }
    }
    if (text !== "" || quoted || row.length > 0) rows.push([...row, text]);
    return rows;
  };

  const isNumber = (text) => text !== "" && /^-?\d/.test(text) && Number.isFinite(Number(text));

  // A number as a person reads it; all digits are in the CSV.
  const shown = (text) => {
    if (!isNumber(text)) return shorten(text, 120);
    return Number.isInteger(Number(text)) ? (text.length > 4 ? count(Number(text)) : text)
      : fabricast.digits(Number(text), 6);
  };

  const compare = (a, b) => {
    if (isNumber(a) && isNumber(b)) return Number(a) - Number(b);
    return isNumber(a) ? -1 : isNumber(b) ? 1 : a < b ? -1 : a > b ? 1 : 0;
  };

  const fill = (body, rows, numeric) => body.replaceChildren(...rows.slice(0, MOST_SHOWN).map((row) =>
    make("tr", {}, row.map((text, i) => make("td", { class: numeric[i] ? "number" : null, title: text.length > 120
      ? clean(text.slice(0, 2000)) : null }, shown(text))))));

  // The CSV of a table; a large one is packed by zlib.
  const csvOf = async (table) => {
    if (table.packed === undefined) return table.csv;
    const bytes = Uint8Array.from(atob(table.packed), (one) => one.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
  };

  const build = (table, csv) => {
    const [head = [], ...rows] = parse(csv), numeric = head.map((_, i) => rows.some((row) => isNumber(row[i]))
      && rows.every((row) => row[i] === "" || isNumber(row[i])));
    const body = make("tbody", {});
    let order = null;
    const sortBy = (i, cell) => {
      const down = order?.i === i ? !order.down : numeric[i];
      order = { i, down };
      for (const other of cell.parentNode.children) other.removeAttribute("aria-sort");
      cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      fill(body, [...rows].sort((a, b) => (down ? -1 : 1) * compare(a[i], b[i])), numeric);
    };
    fill(body, rows, numeric);
    return make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": table.name }, make("table", {},
      make("thead", {}, make("tr", {}, head.map((name, i) => {
        const cell = make("th", { scope: "col", class: numeric[i] ? "number" : null }, make("button",
          { type: "button", class: "plain", title: "Sort" }, clean(name)));
        cell.firstChild.addEventListener("click", () => sortBy(i, cell));
        return cell;
      }))), body));
  };

  const note = (table) => {
    const parts = [], there = table.held;
    if (there > MOST_SHOWN) parts.push(`The first ${MOST_SHOWN} rows are shown.`);
    if (there < table.rows) parts.push(`This page holds ${count(there)} of ${plural(table.rows, "row")}; `
      + `fabricast report --csv ${table.name} writes all.`);
    return parts.length > 0 && make("p", { class: "about" }, parts.join(" "));
  };

  const card = (run, table) => {
    const id = `table ${table.name}`;
    let isFilled = false;
    const box = make("details", { id: "table-" + table.name, open: Boolean(state.open[id]), ontoggle: async () => {
      state.open[id] = box.open;
      if (!box.open || isFilled) return;
      isFilled = true;
      box.append(build(table, await csvOf(table)), note(table) || "");
    } }, make("summary", {}, make("b", {}, clean(table.name)),
      ` ${plural(table.rows, "row")}. ${clean(table.summary)}`),
      make("p", { class: "controls" }, make("button",
        { type: "button", onclick: async () => download(`run-${run.run}-${table.name}.csv`, await csvOf(table), "text/csv") },
        "Save as CSV")));
    return box;
  };

  fabricast.csvOf = csvOf;
  fabricast.parts.tables = (host, run) => {
    host.replaceChildren();
    const tables = (run?.tables ?? []).filter((table) => table.rows > 0);
    if (tables.length === 0) return;
    host.append(make("h2", {}, "Tables"), make("p", {},
      `These are the tables of run ${run.run} in the results file. A button saves each as CSV.`), ...tables.map((table) =>
      card(run, table)));
  };
})();
