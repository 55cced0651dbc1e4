// The nodes as a table, with the rows of the map. Only the rows in sight are in the page; their number stands in it.
import { called, ownerOf } from "/assets/cluster.js";
import { bar, el, fill, to } from "/assets/dom.js";
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
  { name: "Age", of: (n) => -Date.parse(n.created ?? 0), cell: (n, now) => age(n.created, now), number: true, wide: true },
];

function share(use) {
  return use ? [bar(use.share, use.usedShare), " " + percent(use.share)] : "";
}

const sorted = { by: 0, down: false };

export function nodesPage(cluster, look) {
  const body = el("tbody");
  const head = el("tr");
  const table = el("table", { class: "rows" }, el("caption", { class: "unseen" }, "Nodes of the cluster"), el("thead", {}, head), body);
  const element = el("div", { class: "list", tabindex: "0", role: "region", "aria-label": "Table of nodes" }, table);
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

  function update() {
    const { of } = columns[sorted.by], way = sorted.down ? -1 : 1;
    list = [...cluster.nodes.values()].filter(look.found);
    const keys = new Map(list.map((n) => [n, of(n)]));
    list.sort((a, b) => {
      const x = keys.get(a), y = keys.get(b);
      return x < y ? -way : x > y ? way : called(a) < called(b) ? -1 : 1;
    });
    table.setAttribute("aria-rowcount", list.length + 1);
    first = last = -1;
    draw();
  }

  function draw() {
    const from = Math.max(0, Math.floor(element.scrollTop / rowHeight) - beside);
    const until = Math.min(list.length, from + Math.ceil(element.clientHeight / rowHeight) + 2 * beside);
    if (from === first && until === last) return;
    first = from;
    last = until;
    const focused = body.contains(document.activeElement) ? document.activeElement.hash : null;
    const now = cluster.now();
    fill(body, spacer(from), list.slice(from, until).map((n, i) => el("tr", { "aria-rowindex": from + i + 2 },
      columns.map((c, j) => (j === 0 ? el("th", { scope: "row", class: kind(c) }, c.cell(n, now)) : el("td", { class: kind(c) }, c.cell(n, now)))))),
      spacer(list.length - until), !list.length && el("tr", {}, el("td", { colspan: columns.length }, "No node is found.")));
    if (focused) [...body.querySelectorAll("a")].find((a) => a.hash === focused)?.focus({ preventScroll: true });
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

function spacer(rows) {
  if (rows <= 0) return null;
  const row = el("tr", { "aria-hidden": "true" });
  row.style.height = rows * rowHeight + "px";
  return row;
}
