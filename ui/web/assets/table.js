// The nodes as a table, with the rows of the map. Only the rows in sight are in the page; their number stands in it. A row
// stays as it is, with focus and selection, until its node changes.
import { called, ownerOf } from "/assets/cluster.js";
import { bar, el, fill, renew, to } from "/assets/dom.js";
import { age, cost, percent } from "/assets/words.js";

const rowHeight = 31;
const beside = 10; // rows above and below those in sight

const columns = [
  { name: "Node", of: called, cell: (n) => el("a", { href: to("node", n.id) }, called(n)) },
  { name: "Status", of: (n) => n.status, cell: (n) => el("span", { class: "status " + n.status.replace(" ", "-"), title: n.reason || null }, n.status) },
  { name: "cpu", of: (n) => n.use.cpu?.share ?? -1, cell: (n) => share(n.use.cpu), number: true },
  { name: "memory", of: (n) => n.use.memory?.share ?? -1, cell: (n) => share(n.use.memory), number: true },
  { name: "Pods", of: (n) => n.pods.size, cell: (n) => String(n.pods.size), number: true },
  { name: "Cost", of: (n) => n.cost.perHour, cell: (n) => cost(n.cost), number: true },
  { name: "Pool", of: ownerOf, cell: ownerOf, wide: true },
  { name: "Type", of: (n) => n.type ?? "", cell: (n) => n.type ?? "", wide: true },
  { name: "Zone", of: (n) => n.zone ?? "", cell: (n) => n.zone ?? "", wide: true },
  { name: "Capacity", of: (n) => n.capacityType ?? "", cell: (n) => n.capacityType ?? "", wide: true },
  { name: "Age", of: (n) => -Date.parse(n.created ?? 0), cell: (n, now) => age(n.created, now), number: true, wide: true, ages: true },
];

function share(use) {
  return use ? [bar(use.share, use.usedShare), " " + percent(use.share)] : "";
}

const sorted = { by: 0, down: false };

export function nodesPage(cluster, look) {
  const above = spacer(), below = spacer(), none = el("tr", { hidden: true }, el("td", { colspan: columns.length }, "No node is found."));
  const body = el("tbody", {}, above, below, none);
  const head = el("tr");
  const table = el("table", { class: "rows" }, el("caption", { class: "unseen" }, "Nodes of the cluster"), el("thead", {}, head), body);
  const element = el("div", { class: "list", tabindex: "0", role: "region", "aria-label": "Table of nodes" }, table);
  const rows = new Map(); // those in the page by the ID of their node
  let list = [], asked = 0, first = -1, last = -1;

  function heads() {
    fill(head, columns.map((c, i) => el("th", { scope: "col", class: kind(c), "aria-sort": i === sorted.by ? (sorted.down ? "descending" : "ascending") : null },
      el("button", { type: "button", onclick: () => sort(i) }, c.name + (i === sorted.by ? (sorted.down ? " ↓" : " ↑") : "")))));
  }

  function sort(i) {
    sorted.down = sorted.by === i ? !sorted.down : columns[i].number === true;
    sorted.by = i;
    heads();
    head.querySelectorAll("button")[i].focus();
    update();
  }

  function update(changed) {
    const { of } = columns[sorted.by], way = sorted.down ? -1 : 1;
    list = [...cluster.nodes.values()].filter(look.found);
    const keys = new Map(list.map((n) => [n, of(n)]));
    list.sort((a, b) => {
      const x = keys.get(a), y = keys.get(b);
      return x < y ? -way : x > y ? way : called(a) < called(b) ? -1 : 1;
    });
    table.setAttribute("aria-rowcount", list.length + 1);
    first = last = -1;
    draw(changed?.nodes);
  }

  // draw has the page show the rows in sight; changed are the IDs of nodes that are not as they were.
  function draw(changed) {
    const from = Math.max(0, Math.floor(element.scrollTop / rowHeight) - beside);
    const until = Math.min(list.length, from + Math.ceil(element.clientHeight / rowHeight) + 2 * beside);
    if (from === first && until === last) return;
    first = from;
    last = until;
    const focused = body.contains(document.activeElement) ? document.activeElement : null;
    const now = cluster.now();
    const shown = list.slice(from, until);
    const ids = new Set(shown.map((n) => n.id));
    for (const [id, { row }] of rows) {
      if (ids.has(id)) continue;
      row.remove();
      rows.delete(id);
    }
    arrange(body, above, shown.map((n, i) => {
      const { row } = rowOf(n, now, changed);
      const index = String(from + i + 2);
      if (row.getAttribute("aria-rowindex") !== index) row.setAttribute("aria-rowindex", index);
      return row;
    }));
    space(above, from);
    space(below, list.length - until);
    none.hidden = list.length > 0;
    if (focused && document.activeElement !== focused) (focused.isConnected ? focused : element).focus({ preventScroll: true });
  }

  // rowOf is the row of a node, which is made, or filled again, where that is needed.
  function rowOf(n, now, changed) {
    let known = rows.get(n.id);
    if (!known) rows.set(n.id, known = { row: el("tr") });
    if (known.n !== n || changed?.has(n.id)) {
      known.n = n;
      renew(known.row, columns.map((c, i) => el(i === 0 ? "th" : "td", { scope: i === 0 && "row", class: kind(c) }, c.cell(n, now))));
    } else {
      columns.forEach((c, i) => c.ages && renew(known.row.children[i], c.cell(n, now)));
    }
    return known;
  }

  element.addEventListener("scroll", () => {
    asked ||= requestAnimationFrame(() => {
      asked = 0;
      draw();
    });
  }, { passive: true });
  heads();
  return { title: "Nodes", element, update, focus: () => element };
}

function kind(c) {
  return [c.number && "number", c.wide && "wide-only"].filter(Boolean).join(" ") || null;
}

// arrange puts rows into their order behind another. Those that are in it already are not touched.
function arrange(body, before, rows) {
  let at = before.nextSibling;
  for (const row of rows) {
    if (at !== row && at.nextSibling === row) { // the one there has gone further down
      at.remove();
      at = row;
    }
    if (at === row) at = row.nextSibling;
    else body.insertBefore(row, at);
  }
}

// spacer stands for rows that are not in sight.
function spacer() {
  return el("tr", { "aria-hidden": "true", hidden: true });
}

function space(row, rows) {
  row.hidden = rows <= 0;
  row.style.height = Math.max(0, rows) * rowHeight + "px";
}
