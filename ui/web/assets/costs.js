// What the cluster costs: for whom, what is idle and why, what is requested and not used, and what decisions saved.
import { ask } from "/assets/asked.js";
import { el, fill, to } from "/assets/dom.js";
import { ownerLink } from "/assets/card.js";
import { clock, count, moment, money } from "/assets/words.js";

const month = (dollars) => "$" + Math.round(dollars * 730).toLocaleString("en-US");
const share = (part, whole) => (whole > 0 ? (100 * part / whole).toFixed(1) + " %" : "");

const rowsMost = 15;
const unfolded = new Set();

// table shows rows, those that are too many when asked. Columns are [title, write(row), is a number, is for wide screens].
function table(heading, columns, rows, more) {
  const kind = (c) => [c[2] && "number", c[3] && "wide-only"].filter(Boolean).join(" ") || null;
  const draw = (body) => fill(body, (unfolded.has(heading) ? rows : rows.slice(0, rowsMost)).map((r) => el("tr", {}, columns.map((c, i) =>
    (i === 0 ? el("th", { scope: "row", class: kind(c) }, c[1](r)) : el("td", { class: kind(c) }, c[1](r)))))));
  const body = el("tbody");
  draw(body);
  const rest = rows.length - rowsMost;
  const button = rest > 0 && el("button", {
    type: "button", "aria-expanded": String(unfolded.has(heading)),
    onclick: (e) => {
      if (!unfolded.delete(heading)) unfolded.add(heading);
      draw(body);
      name(e.target);
    },
  });
  function name(b) {
    b.textContent = unfolded.has(heading) ? "Show fewer" : `Show ${rest} more`;
    b.setAttribute("aria-expanded", String(unfolded.has(heading)));
    b.setAttribute("aria-label", b.textContent + ": " + heading);
  }
  if (button) name(button);
  return [el("table", { class: "rows money" }, el("caption", { class: "unseen" }, heading), el("thead", {}, el("tr", {}, columns.map((c) => el("th", { scope: "col", class: kind(c) }, c[0])))), body),
    button, more > 0 && el("p", { class: "faint" }, `and ${count(more, "row")} more: daemok cost -o wide prints all`)];
}

const titles = { pool: "Pool", namespace: "Namespace", owner: "Workload", "capacity-type": "Capacity type" };

function nameOf(g, r) {
  const value = r.values[0];
  if (!value) return el("span", { class: "faint" }, r.idleOnly ? "(idle)" : "(none)");
  if (g.by[0] === "owner") {
    const [namespace, owner] = value.split(/\/(.*)/s);
    return owner?.includes("/") ? [namespace + "/", ownerLink(namespace, owner)] : value;
  }
  return g.by[0] === "pool" ? el("a", { href: value.includes("/") ? to("pool", ...value.split(/\/(.*)/s).slice(0, 2)) : to("pool", "NodePool", value) }, value) : value;
}

function group(g, r, more) {
  return el("section", {}, el("h3", {}, "By " + (titles[g.by[0]] ?? g.by[0]).toLowerCase()), table("By " + (titles[g.by[0]] ?? g.by[0]).toLowerCase(), [
    [titles[g.by[0]] ?? g.by[0], (x) => nameOf(g, x)], ["An hour", (x) => money(x.cost), true], ["A month", (x) => month(x.cost), true],
    ["Share", (x) => share(x.cost, r.cost), true, true], ["Pods", (x) => x.podCount.toLocaleString("en-US"), true, true], ["Nodes", (x) => x.nodes.toLocaleString("en-US"), true, true],
    ["Idle", (x) => (x.idle > 0 && !x.idleOnly ? share(x.idle, x.cost) : ""), true],
  ], g.rows, more));
}

function parts(r) {
  const daemons = r.idle.find((x) => x.cause === "daemons")?.cost ?? 0;
  const list = [["workloads", r.pods, "pods"], ["DaemonSets", daemons, "daemons"], ["idle", Math.max(0, r.cost - r.pods - daemons), "rest"]];
  const bar = el("span", { class: "parts", "aria-hidden": "true" }, list.map(([, part, kind]) => {
    const piece = el("i", { class: kind });
    piece.style.width = r.cost > 0 ? 100 * part / r.cost + "%" : "0";
    return piece;
  }));
  return [bar, el("p", {}, list.map(([name, part, kind]) => el("span", { class: "key" }, el("i", { class: kind, "aria-hidden": "true" }), `${name} ${money(part)}/h, ${share(part, r.cost)}`)))];
}

function idle(r) {
  if (!r.idle.length) return null;
  const sum = r.idle.reduce((total, x) => total + x.cost, 0);
  return el("section", {}, el("h3", {}, `Not used by workloads: ${money(sum)}/h, ${share(sum, r.cost)}`), r.idle.map((x) => el("details", { class: "cause" },
    el("summary", {}, el("b", {}, x.meaning), `: ${money(x.cost)}/h, ${share(x.cost, r.cost)}, on ${count(x.nodes, "node")}`),
    el("p", {}, "What to do: " + x.whatToDo + "."),
    x.most?.length && el("ul", {}, x.most.map((h) => el("li", {}, el("a", { href: to("node", h.node) }, h.node), ` ${money(h.cost)}/h`, h.why ? ": " + h.why : ""))))));
}

function over(r, more) {
  if (r.noUsage) return el("section", {}, el("h3", {}, "Requested and not used"), el("p", { class: "faint" }, r.noUsage));
  if (!r.overRequested.length) return null;
  const sum = r.overRequested.reduce((total, o) => total + o.cpuCost + o.memoryCost, 0);
  return el("section", {}, el("h3", {}, `Requested and not used: ${money(sum)}/h, ${share(sum, r.cost)}`),
    el("p", { class: "faint" }, r.samples === 1 ? "One sample: usage at this moment, which says nothing about peaks." : `The mean of ${count(r.samples, "sample")}, which says nothing about peaks.`),
    table("Requested and not used", [
      ["Workload", (o) => o.workload], ["Pods", (o) => String(o.pods), true, true], ["cpu used", (o) => `${o.cpuUsed} of ${o.cpuRequested}`, true], ["Memory used", (o) => `${o.memoryUsed} of ${o.memoryRequested}`, true],
      ["An hour", (o) => money(o.cpuCost + o.memoryCost), true],
    ], r.overRequested, more));
}

function savings(r, more) {
  const heading = el("h3", {}, "Savings of disruption");
  if (!r.savings.length) return el("section", {}, heading, el("p", { class: "faint" }, "No decision that was to save money has ended lately, or no record can be read."));
  const [promised, realised] = ["promised", "realised"].map((part) => r.savings.reduce((total, s) => total + s[part], 0));
  return el("section", {}, heading,
    el("p", {}, `${count(r.savings.length, "decision")} since ${moment(r.savings.at(-1).at)}: ${dollars(promised)}/h promised, ${dollars(realised)}/h realised.`),
    table("Savings of disruption", [
      ["Nodes that went", (s) => (s.nodes.length > 2 ? `${s.nodes[0]} and ${s.nodes.length - 1} more` : s.nodes.join(", "))], ["When", (s) => moment(s.at), false, true],
      ["Promised", (s) => dollars(s.promised) + "/h", true], ["Realised", (s) => dollars(s.realised) + "/h", true],
    ], r.savings, more));
}

const dollars = (d) => (d < 0 ? "−" : "") + money(Math.abs(d));

let last = null;

export function costsPage() {
  const state = el("p", { role: "status" });
  const again = el("button", { type: "button", onclick: () => read() }, "Compute it again");
  const content = el("div");
  const element = el("div", {}, el("h2", {}, "What the cluster costs"),
    el("p", { class: "asked" }, again, el("a", { href: "/costs.csv", download: "daemok-cost.csv" }, "CSV by pool, namespace and workload"), state), content);
  let closed = false;

  async function read() {
    again.disabled = true;
    fill(state, "Computing …");
    let trouble = "";
    try {
      last = await ask("/costs");
    } catch (e) {
      trouble = e.message;
    }
    if (closed) return;
    again.disabled = false;
    fill(state, trouble || `As of ${clock(last.report.at)}.`);
    state.classList.toggle("warning", trouble !== "");
    show();
  }

  function show() {
    if (!last) return;
    const r = last.report, more = last.more;
    const open = [...content.querySelectorAll("details[open] summary b")].map((s) => s.textContent);
    fill(content, el("p", { class: "strong" }, `${money(r.cost)}/h, ${month(r.cost)} a month, ${count(r.nodes, "node")}.`),
      r.listed > 0 && el("p", { class: "faint" }, `${share(r.listed, r.cost)} of it by built-in list prices for Linux, without your discounts.`),
      r.unpriced.length > 0 && el("p", { class: "warning" }, `The price of ${count(r.unpriced.length, "node")} is not known, and not in any cost: ${r.unpriced.slice(0, 5).join(", ")}${r.unpriced.length > 5 ? ", …" : ""}.`),
      parts(r), r.groups.slice(0, 2).map((g) => group(g, r, more[g.by[0]])), idle(r), r.groups.slice(2).map((g) => group(g, r, more[g.by[0]])), over(r, more.over), savings(r, more.savings));
    for (const s of content.querySelectorAll("details summary b")) if (open.includes(s.textContent)) s.closest("details").open = true;
  }

  show();
  read();
  return { title: "Cost", element, close: () => (closed = true) };
}
