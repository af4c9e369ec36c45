// SPDX-License-Identifier: Apache-2.0
// places.js - where the drawing of links puts things: one node that stands for all, and the tiers of switches above it.
//
// Groups are directed links between two places (report_links.c). A part is all places of one name: gpu0, gpu1, ... are
// the part gpu. Parts stand in rows by their distance from the fabric; a part with many members is one box.
(() => {
  const MOST_MEMBERS = 16;

  const partOf = (name) => name.replace(/[\d#]+$/, "") || name;

  // What the data call the place of a vertex.
  const placeOf = (vertex) => {
    const inside = /^node\d+\/(.*)$/s.exec(vertex);
    return inside ? { name: inside[1], inside: true } : { name: vertex.replace(/\d+/g, "#"), inside: false };
  };

  // Groups joined by `name (place)`: of links that are drawn as one.
  const join = (groups, nameOf) => {
    const joined = new Map();
    for (const group of groups) {
      const from = nameOf(group.from, group.from_inside), to = nameOf(group.to, group.to_inside);
      const key = `${from}\n${to}\n${group.from_inside}${group.to_inside}\n${group.spec}`, known = joined.get(key);
      if (!known) {
        joined.set(key, { ...group, from, to, strip: [...group.strip], sum: group.mean * group.n });
        continue;
      }
      if (group.busiest > known.busiest)
        Object.assign(known, { busiest: group.busiest, busiest_from: group.busiest_from,
          busiest_to: group.busiest_to });
      known.n += group.n;
      known.carried += group.carried;
      known.bytes += group.bytes;
      known.sum += group.mean * group.n;
      known.mean = known.sum / known.n;
      known.strip.push(...group.strip);
    }
    for (const group of joined.values()) group.strip.sort((a, b) => b - a);
    return [...joined.values()];
  };

  // Distance of every name from the `roots`, over undirected edges.
  const distances = (edges, roots) => {
    const near = new Map(), far = new Map(roots.map((name) => [name, 0]));
    for (const [a, b] of edges) {
      near.set(a, [...(near.get(a) ?? []), b]);
      near.set(b, [...(near.get(b) ?? []), a]);
    }
    for (let queue = [...roots]; queue.length > 0;) {
      const name = queue.shift();
      for (const next of near.get(name) ?? [])
        if (!far.has(next)) {
          far.set(next, far.get(name) + 1);
          queue.push(next);
        }
    }
    return far;
  };

  const rowsOfNode = (groups) => {
    const inside = groups.filter((group) => group.from_inside && group.to_inside);
    const members = new Map();
    for (const group of groups)
      for (const [name, is] of [[group.from, group.from_inside], [group.to, group.to_inside]])
        if (is) members.set(partOf(name), (members.get(partOf(name)) ?? new Set()).add(name));
    const doors = new Set(groups.filter((group) => group.from_inside && !group.to_inside).map((group) =>
      partOf(group.from)));
    const largest = [...members].sort((a, b) => b[1].size - a[1].size)[0]?.[0];
    const roots = doors.size > 0 ? [...doors] : largest !== undefined ? [largest] : [];
    const far = distances(inside.map((group) => [partOf(group.from), partOf(group.to)]), roots);
    const rows = [];
    for (const [part, names] of members) {
      const row = far.get(part) ?? 0;
      (rows[row] ??= []).push({ part, names: [...names] });
    }
    return rows.filter(Boolean);
  };

  const number = (name) => Number(/(\d+)$/.exec(name)?.[1] ?? 0);

  // Where names of a row stand, 0 to 1: below or above the middle of those in `done` that they are joined to, and apart.
  const stand = (row, groups, done) => {
    const joined = new Map();
    for (const group of groups)
      for (const [a, b] of [[group.from, group.to], [group.to, group.from]])
        if (done.has(b)) joined.set(a, [...(joined.get(a) ?? []), done.get(b)]);
    const names = row.flatMap(({ part, names }) => names.map((name) =>
      ({ name, part, wish: d3.mean(joined.get(name) ?? []) ?? 1, reach: d3.extent(joined.get(name) ?? []) })));
    names.sort((a, b) => (done.size > 0 ? a.wish - b.wish : 0) || a.part.localeCompare(b.part)
      || number(a.name) - number(b.name));
    const apart = 1 / names.length;
    names.forEach((one, i) => {
      const even = (i + 0.5) * apart, least = i > 0 ? names[i - 1].x + apart : apart / 2;
      one.x = done.size > 0 && names.length < done.widest ? Math.max(one.wish, i > 0 ? names[i - 1].x + 1 / done.widest
        : 0) : Math.max(even, least);
    });
    const over = (names[names.length - 1]?.x ?? 0) - (1 - 0.5 / (done.widest || names.length));
    if (over > 0) // too far to the right: as even as it goes
      names.forEach((one, i) => { one.x = (i + 0.5) * apart; });
    return names;
  };

  // All rows, from the widest outwards.
  const standing = (rows, groups) => {
    const widths = rows.map((row) => d3.sum(row, (one) => one.names.length)), first = widths.indexOf(d3.max(widths));
    const placed = [], done = new Map();
    const order = [...rows.keys()].sort((a, b) => Math.abs(a - first) - Math.abs(b - first));
    for (const y of order) {
      placed[y] = stand(rows[y], groups, done);
      done.widest = widths[first];
      for (const one of placed[y]) done.set(one.name, one.x);
    }
    return placed;
  };

  const tiersOf = (links, groups) => {
    const doors = new Set(groups.filter((group) => group.from_inside && !group.to_inside).map((group) => group.to));
    const edges = groups.filter((group) => !group.from_inside && !group.to_inside).map((group) =>
      [group.from, group.to]);
    const far = distances(edges, [...doors]), sizes = new Map(links.tiers.map((tier) => [tier.name, tier.n]));
    const shown = new Set([...doors, ...edges.flat()]);
    return [...shown].map((name) => ({ name, n: sizes.get(name) ?? 1, level: far.get(name) ?? 0 }))
      .sort((a, b) => a.level - b.level);
  };

  // { groups, rows: [[{ name, part, n }]], tiers }: what is drawn of `links`; `all`: with what carried nothing.
  const layout = (links, all) => {
    const used = links.groups.filter((group) => all || group.carried > 0);
    const many = new Set(rowsOfNode(used).flat().filter((one) => one.names.length > MOST_MEMBERS)
      .map((one) => one.part));
    const joined = new Map((links.parts ?? []).map((one) => [one.name, one.n])); // a rack as one node: places are joined already
    const sizes = new Map(rowsOfNode(used).flat().map((one) => [one.part, one.names.length]));
    const nameOf = (name, inside) => inside && many.has(partOf(name)) ? partOf(name) : name;
    const groups = join(used, nameOf);
    const rows = standing(rowsOfNode(groups), groups)
      .map((row) => row.map((one) => ({ ...one, n: many.has(one.part) ? sizes.get(one.part) : joined.get(one.name) ?? 1 })));
    return { groups, rows, tiers: tiersOf(links, groups) };
  };

  // Links by kind, the busiest first: parts instead of places.
  const kinds = (links) => join(links.groups, (name, inside) => inside ? partOf(name) : name)
    .sort((a, b) => b.busiest - a.busiest || b.n - a.n);

  Object.assign(fabricast, { places: { layout, kinds, placeOf, partOf } });
})();
