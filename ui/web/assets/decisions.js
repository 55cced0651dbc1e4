// What was decided and done lately, with what it changed of the cost, under the curves of cost and of pods that wait.
import { change, link } from "/assets/card.js";
import { curve } from "/assets/curves.js";
import { el, fill, renew } from "/assets/dom.js";
import { count, moment, money, span } from "/assets/words.js";

export function decisionsPage(cluster, facts) {
  const costs = curve("Cost of nodes, dollars an hour", [
    { name: "all nodes", of: (p) => p.cost }, { name: "nodes of pools", of: (p) => p.pools }, { name: "lower bound for pools", of: (p) => p.bound || undefined }], money);
  const latency = curve("How long pods waited that got a node in the five minutes before", [
    { name: "half of them, at most", of: (p) => (p.placed ? p.half ?? 0 : undefined) }, { name: "95 of 100, at most", of: (p) => (p.placed ? p.most ?? 0 : undefined) }], span);
  const longest = curve("How long the pod that waits longest has waited", [{ name: "longest wait", of: (p) => p.longest }], span);
  const waiting = curve("Pending pods", [{ name: "pods that need a node", of: (p) => p.waiting }], (n) => String(Math.round(n * 10) / 10));
  const since = el("p", { class: "faint" });
  const only = el("select", { id: "only", onchange: () => update() },
    [["", "all"], ["node", "nodes"], ["nodepool", "pools"], ["nodeclaim", "NodeClaims"], ["pod", "pods"]].map(([value, text]) => el("option", { value }, text)));
  const list = el("ol", { class: "said", reversed: true });
  const element = el("div", {}, el("h2", {}, "Over time"), since, el("div", { class: "curves" }, costs.element, latency.element, waiting.element, longest.element),
    el("h2", {}, "Decisions"), el("p", {}, el("label", {}, "About ", only)), list);

  function update(changed) {
    if (!changed || changed.parts.has("points")) {
      for (const c of [costs, latency, waiting, longest]) c.update(cluster.points);
      const first = cluster.points[0];
      fill(since, first ? `Kept in the server's memory since ${moment(first.t * 1000)}` : "The history has just begun", `, for ${facts.historyHours ?? 12} hours at most.`);
    }
    if (changed && !changed.parts.has("events")) return;
    const events = cluster.events.filter((e) => !only.value || e.about.kind === only.value || (only.value === "nodepool" && e.about.kind === "provisioner"));
    renew(list, events.map((e) => el("li", {}, el("time", { datetime: e.at }, moment(e.at)), el("br"),
      el("a", { href: link(e.about) }, `${e.about.kind} ${e.about.name}`), " ", e.said, e.why ? ": " + e.why : "", change(e.cost),
      e.more?.length ? el("ul", {}, e.more.map((m) => el("li", {}, m))) : null)));
    if (!events.length) fill(list, el("li", {}, "Nothing was decided lately, or no record can be read."));
    only.setAttribute("aria-label", "Decisions about, " + count(events.length, "entry").replace("entrys", "entries"));
  }
  return { title: "Decisions", element, update };
}
