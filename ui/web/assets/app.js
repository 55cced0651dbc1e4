// What the pages share: the stream, the search, the keys, and which page is shown.
import { Cluster, matcher } from "/assets/cluster.js";
import { follow } from "/assets/stream.js";
import { NodeMap } from "/assets/map.js";
import { nodesPage } from "/assets/table.js";
import { decisionsPage } from "/assets/decisions.js";
import { nodePage, podPage, poolPage, poolsPage, waitingPage } from "/assets/pages.js";
import { ownerPage } from "/assets/card.js";
import { costsPage } from "/assets/costs.js";
import { planPage } from "/assets/sheet.js";
import { ask } from "/assets/asked.js";
import { announce, el, fill, renew } from "/assets/dom.js";
import { amount, clean, clock, cost, count, money, percent, span } from "/assets/words.js";

const $ = (id) => document.getElementById(id);
const cluster = new Cluster();
const look = { by: "pool", colour: "most", size: "auto", found: () => true };
const settings = ["by", "colour", "size"];
let facts = { title: "" };
let page = null;
let began = false;

const pages = {
  map: () => mapPage(),
  nodes: () => nodesPage(cluster, look),
  pools: () => poolsPage(cluster),
  waiting: () => waitingPage(cluster),
  decisions: () => decisionsPage(cluster, facts),
  plan: () => planPage(cluster, facts),
  cost: () => costsPage(),
  node: (id) => nodePage(cluster, id),
  pool: (kind, name) => poolPage(cluster, kind, name),
  pod: (namespace, name) => podPage(cluster, namespace, name),
  owner: (namespace, kind, name) => ownerPage(cluster, namespace, kind, name),
};

// mapPage is the map as a page: it draws again with every change.
function mapPage() {
  const map = new NodeMap(cluster, look);
  return { title: "Map", element: map.element, update: () => map.arrange(), recolour: () => map.recolour(), focus: () => map.element.querySelector("canvas") };
}

function route() {
  const hash = location.hash.startsWith("#/") ? location.hash : "#/map";
  let [name, ...parts] = hash.slice(2).split("/").map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  if (!Object.hasOwn(pages, name)) name = "map";
  page?.close?.();
  page = pages[name](...parts);
  document.title = [page.title, facts.title, "Daemok"].filter(Boolean).join(" – ");
  document.body.dataset.page = name;
  for (const a of $("pages").querySelectorAll("a")) {
    if (a.hash === "#/" + name) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  }
  if (!began) return;
  fill($("main"), page.element);
  page.update?.();
  found();
}

function found() {
  const sought = $("search").value.trim();
  const of = document.body.dataset.page;
  const n = cluster.nodes.size;
  const m = sought ? [...cluster.nodes.values()].filter(look.found).length : n;
  $("found").textContent = of === "map" || of === "nodes" ? (sought ? `${m} of ${count(n, "node")}` : count(n, "node")) : "";
}

function figures() {
  const t = cluster.totals;
  if (!t) return;
  const cpu = t.use?.find((u) => u.resource === "cpu"), memory = t.use?.find((u) => u.resource === "memory");
  const of = (u) => u && `${percent(u.requested / u.allocatable)} of ${amount(u.resource, u.allocatable)}`;
  const states = Object.entries(t.byStatus ?? {}).filter(([status, n]) => status !== "ready" && n > 0).map(([status, n]) => `${n} ${status}`).join(", ");
  const list = [
    ["Nodes", t.nodes.toLocaleString("en-US"), states],
    ["Pods", t.pods.toLocaleString("en-US"), t.waiting ? `${t.waiting} pending${t.unplaced ? `, ${t.unplaced} without a place` : ""}` : "none pending"],
    ["Cost", cost(t.cost), t.cost.perHour ? money(t.cost.perHour * 730) + " a month" : ""],
    ["Lower bound", t.bound ? money(t.bound) + "/h" : "not known", t.gap !== null && t.gap !== undefined ? `pools cost ${percent(t.gap)} more` : ""],
    ["cpu", of(cpu) ?? "–", ""], ["memory", of(memory) ?? "–", ""],
  ];
  renew($("figures"), list.map(([name, value, more]) => el("div", { class: t.unplaced && name === "Pods" ? "bad" : "" }, el("span", {}, name), " ", el("b", {}, value), " ", el("small", {}, more))));
}

const worst = ["notice", "warning", "failure"];

function problems() {
  const list = cluster.problems, troubles = cluster.troubles;
  if (!list.length && !troubles.length) {
    fill($("problems"));
    return;
  }
  const serious = list.filter((p) => p.severity > 0).length + troubles.length;
  renew($("problems"), el("details", { class: serious ? "serious" : "" },
    el("summary", {}, serious ? count(serious, "problem") : count(list.length, "notice"), ": ", (troubles[0] ?? text(list[0])).slice(0, 160)),
    el("ul", {}, troubles.map((t) => el("li", { class: "warning" }, t)), list.map((p) => el("li", { class: worst[p.severity] }, text(p))),
      cluster.more.problems > 0 && el("li", {}, `and ${cluster.more.problems} more`))));
}

function text(p) {
  return (p.about ? p.about + ": " : "") + p.text;
}

// news says to screen readers what has happened: nodes that come and go, no more than a sentence at a time.
function news(changed) {
  const events = changed.parts.has("events") && began ? cluster.events[0] : null;
  if (events) announce(`${events.about.kind} ${events.about.name} ${events.said}`);
}

follow({
  message(message, whole) {
    const changed = cluster.take(message, whole);
    if (changed.parts.has("totals")) figures();
    if (changed.parts.has("problems") || changed.parts.has("troubles")) problems();
    if (!began) {
      began = true;
      route();
      performance.mark("first-state");
    } else {
      page?.update?.(changed);
      found();
      news(changed);
    }
  },
  cut(since, why) {
    $("cut").hidden = false;
    const text = `Cut off from the server since ${clock(since)} (${span((Date.now() - since) / 1000)}): what is shown is as of then. `;
    $("cut").textContent = clean(text + (why ? `${why} ` : "") + "Trying again.");
    document.body.classList.add("is-cut");
  },
  back() {
    $("cut").hidden = true;
    $("cut").textContent = "";
    document.body.classList.remove("is-cut");
    announce("Connected again; the page has caught up.");
  },
});

ask("/facts").then((f) => {
  facts = f;
  $("title").textContent = f.title;
  for (const [name, shown] of [["plan", f.plan], ["cost", f.costs]]) $("pages").querySelector(`a[href="#/${name}"]`).hidden = !shown;
  if (began) route();
}).catch(() => {}); // the stream says that the server is gone

document.querySelector(".skip").addEventListener("click", (e) => {
  e.preventDefault(); // its address is that of a place in the page, not of a page
  $("main").focus();
});

addEventListener("hashchange", () => {
  route();
  $("main").focus({ preventScroll: true });
});

$("tools").addEventListener("submit", (e) => e.preventDefault());
$("search").addEventListener("input", () => {
  look.found = matcher($("search").value);
  page?.update?.();
  found();
});
for (const name of settings) {
  $(name).addEventListener("change", () => {
    look[name] = $(name).value;
    page?.update?.();
    page?.recolour?.();
  });
}

const themes = ["auto", "light", "dark"];

function theme(name) {
  if (name === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  $("theme").textContent = "Theme: " + name;
  try {
    localStorage.setItem("daemok-theme", name);
  } catch {
    // it holds until the page is closed
  }
  page?.recolour?.();
}

$("theme").textContent = "Theme: " + (document.documentElement.dataset.theme ?? "auto");
$("theme").addEventListener("click", () => {
  const now = document.documentElement.dataset.theme ?? "auto";
  theme(themes[(themes.indexOf(now) + 1) % themes.length]);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => page?.recolour?.());
$("help").addEventListener("click", () => $("keys").showModal());

const jumps = { m: "map", n: "nodes", p: "pools", w: "waiting", d: "decisions", l: "plan", c: "cost" };

document.addEventListener("keydown", (e) => {
  const typing = e.target.matches?.("input, select, textarea");
  if (e.ctrlKey || e.metaKey || e.altKey || $("keys").open) return;
  if (e.key === "Escape" && e.target === $("search")) {
    $("search").value = "";
    $("search").dispatchEvent(new Event("input"));
    page?.focus?.()?.focus();
    return;
  }
  if (e.key === "Enter" && e.target === $("search")) {
    page?.focus?.()?.focus();
    return;
  }
  if (typing) return;
  if (e.key === "/") $("search").focus();
  else if (e.key === "?") $("keys").showModal();
  else if (jumps[e.key]) location.hash = "#/" + jumps[e.key];
  else if ((e.key === "+" || e.key === "-") && document.body.dataset.page === "map") resize(e.key === "+" ? 1 : -1);
  else return;
  e.preventDefault();
});

function resize(step) {
  const now = look.size === "auto" ? 1 : Number(look.size);
  $("size").value = look.size = String(Math.max(0, Math.min(2, now + step)));
  page?.update?.();
}
