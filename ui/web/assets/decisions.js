// What was decided and done lately, with what it changed of the cost, under the curves of cost and of pods that wait.
import { curve } from "/assets/curves.js";
import { el, fill, to } from "/assets/dom.js";
import { count, moment, money, span } from "/assets/words.js";

// link is the page of what an event or a statement is about.
export function link(about) {
  switch (about.kind) {
    case "node": return to("node", about.name);
    case "nodeclaim": return to("node", "nodeclaim/" + about.name);
    case "nodepool": return to("pool", "NodePool", about.name);
    case "provisioner": return to("pool", "Provisioner", about.name);
    case "pod": return to("pod", ...about.name.split(/\/(.*)/s).slice(0, 2));
  }
  return "#/map";
}

// change writes what a decision changes of the cost.
export function change(c) {
  if (!c) return null;
  const less = c.after < c.before;
  return el("p", { class: "change " + (less ? "less" : "more") }, `cost ${money(c.before)}/h → ${money(c.after)}/h (${less ? "−" : "+"}${money(Math.abs(c.after - c.before))}/h)`);
}

export function decisionsPage(cluster, facts) {
  const costs = curve("Cost of nodes, dollars an hour", [
    { name: "all nodes", of: (p) => p.cost }, { name: "nodes of pools", of: (p) => p.pools }, { name: "lower bound for pools", of: (p) => p.bound || undefined }], money);
  const latency = curve("How long the pod that waits longest has waited", [{ name: "longest wait", of: (p) => p.longest }], span);
  const waiting = curve("Pending pods", [{ name: "pods that need a node", of: (p) => p.waiting }], (n) => String(Math.round(n * 10) / 10));
  const since = el("p", { class: "faint" });
  const only = el("select", { id: "only", onchange: () => update() },
    [["", "all"], ["node", "nodes"], ["nodepool", "pools"], ["nodeclaim", "NodeClaims"], ["pod", "pods"]].map(([value, text]) => el("option", { value }, text)));
  const list = el("ol", { class: "said", reversed: true });
  const element = el("div", {}, el("h2", {}, "Over time"), since, el("div", { class: "curves" }, costs.element, latency.element, waiting.element),
    el("h2", {}, "Decisions"), el("p", {}, el("label", {}, "About ", only)), list);

  function update(changed) {
    if (!changed || changed.parts.has("points")) {
      for (const c of [costs, latency, waiting]) c.update(cluster.points);
      const first = cluster.points[0];
      fill(since, first ? `Kept in the server's memory since ${moment(first.t * 1000)}` : "The history has just begun", `, for ${facts.historyHours ?? 12} hours at most.`);
    }
    if (changed && !changed.parts.has("events")) return;
    const events = cluster.events.filter((e) => !only.value || e.about.kind === only.value || (only.value === "nodepool" && e.about.kind === "provisioner"));
    fill(list, events.map((e) => el("li", {}, el("time", { datetime: e.at }, moment(e.at)), el("br"),
      el("a", { href: link(e.about) }, `${e.about.kind} ${e.about.name}`), " ", e.said, e.why ? ": " + e.why : "", change(e.cost),
      e.more?.length ? el("ul", {}, e.more.map((m) => el("li", {}, m))) : null)));
    if (!events.length) fill(list, el("li", {}, "Nothing was decided lately, or no record can be read."));
    only.setAttribute("aria-label", "Decisions about, " + count(events.length, "entry").replace("entrys", "entries"));
  }
  return { title: "Decisions", element, update };
}
