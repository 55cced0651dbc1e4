// The pages of a node, a pool, a pod, and the lists of pools and of pods that wait.
import { called, ownerOf } from "/assets/cluster.js";
import { bar, el, fill, renew, to } from "/assets/dom.js";
import { explained, ownerLink } from "/assets/card.js";
import { age, amount, cost, count, moment, percent, span } from "/assets/words.js";

// facts writes a list of names and values. What is empty is left out.
function facts(rows) {
  return el("dl", { class: "facts" }, rows.filter(([, value]) => value !== undefined && value !== null && value !== "" && value !== false)
    .flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

function uses(n) {
  return el("table", { class: "uses" }, el("caption", { class: "unseen" }, "Resources"), Object.values(n.use).map((u) => el("tr", {},
    el("th", { scope: "row" }, u.resource), el("td", {}, bar(u.share, u.usedShare)),
    el("td", {}, `${amount(u.resource, u.requested)} of ${amount(u.resource, u.allocatable)} requested (${percent(u.share)})`,
      u.used !== undefined ? `, ${amount(u.resource, u.used)} in use` : ""))));
}

function gone(what, name) {
  return el("p", { class: "empty" }, `There is no ${what} ${name}, or not any more. What was decided about it:`);
}

// live is a page under a heading: why the object is as it is, what follows the cluster, and what is on record.
function live(title, heading, seen, draw) {
  const upper = el("div");
  const element = el("div", {}, heading, seen.card, upper, el("h3", {}, "Decisions on record"), seen.list);
  seen.read = () => renew(upper, draw());
  return {
    title, element,
    update(changed) {
      renew(upper, draw());
      if (changed?.parts.has("events") || changed?.parts.has("totals")) seen.again();
    },
  };
}

export function nodePage(cluster, id) {
  const claim = id.startsWith("nodeclaim/");
  const seen = explained(cluster, ["about", claim ? "nodeclaim" : "node", claim ? id.slice("nodeclaim/".length) : id]);
  const heading = el("h2");
  return live(id, heading, seen, () => {
    const n = cluster.nodes.get(id) ?? [...cluster.nodes.values()].find((n) => claim && "nodeclaim/" + n.nodeClaim === id);
    fill(heading, n ? (n.name ? "Node " : "NodeClaim ") + called(n) : id);
    if (!n) return [gone(claim ? "NodeClaim" : "node", id)];
    const now = cluster.now();
    const pods = [...n.pods.values()].sort((a, b) => b.cpu - a.cpu || (a.name < b.name ? -1 : 1));
    return [
      facts([
        ["Status", [el("span", { class: "status " + n.status.replace(" ", "-") }, n.status), n.reason ? ": " + n.reason : "", n.until ? `; ends in ${span((Date.parse(n.until) - now) / 1000)} at the latest` : ""]],
        ["Decision", n.stays], ["Pool", n.owner?.kind === "NodePool" || n.owner?.kind === "Provisioner" ? el("a", { href: to("pool", n.owner.kind, n.owner.name) }, ownerOf(n)) : ownerOf(n)],
        ["Instance", [n.instance, n.type, n.arch].filter(Boolean).join(", ")], ["Zone", n.zone], ["Capacity type", n.capacityType], ["Cost", cost(n.cost)],
        ["NodeClaim", n.nodeClaim], ["Age", age(n.created, now)], ["Expires", n.expires && moment(n.expires)],
      ]),
      uses(n),
      el("h3", {}, count(pods.length, "pod")),
      el("table", { class: "rows" }, el("thead", {}, el("tr", {}, ["Pod", "cpu", "memory", "Owner", "State"].map((h, i) => el("th", { scope: "col", class: i === 1 || i === 2 ? "number" : i === 3 ? "wide-only" : null }, h)))),
        el("tbody", {}, pods.map((p) => el("tr", {}, el("th", { scope: "row" }, el("a", { href: to("pod", p.namespace, p.name) }, p.namespace + "/" + p.name)),
          el("td", { class: "number" }, amount("cpu", p.cpu)), el("td", { class: "number" }, amount("memory", p.memory)), el("td", { class: "wide-only" }, ownerLink(p.namespace, p.owner)),
          el("td", {}, [p.state, p.keeps && "keeps the node: " + p.keeps].filter(Boolean).join("; ")))))),
      el("details", {}, el("summary", {}, count(Object.keys(n.labels).length, "label")), facts(Object.entries(n.labels).sort(([a], [b]) => (a < b ? -1 : 1)))),
    ];
  });
}

export function poolPage(cluster, kind, name) {
  return live(`${kind} ${name}`, el("h2", {}, `${kind} ${name}`), explained(cluster, ["about", kind.toLowerCase(), name ?? ""]), () => {
    const p = cluster.pools.find((p) => p.kind === kind && p.name === name);
    const nodes = [...cluster.nodes.values()].filter((n) => n.owner?.kind === kind && n.owner?.name === name).sort((a, b) => (called(a) < called(b) ? -1 : 1));
    return [
      p ? facts([...poolFacts(p), ["Weight", String(p.weight)], ["Consolidation", p.consolidation]]) : gone(kind, name),
      el("h3", {}, count(nodes.length, "node")),
      el("ul", {}, nodes.slice(0, 100).map((n) => el("li", {}, el("a", { href: to("node", n.id) }, called(n)), ` ${n.status}, ${n.type ?? ""}, ${cost(n.cost)}`)),
        nodes.length > 100 && el("li", {}, `and ${nodes.length - 100} more: search for pool:${name} on the map`)),
    ];
  });
}

function poolFacts(p) {
  return [
    ["State", p.ready ? el("span", { class: "status ready" }, "ready") : el("span", { class: "failure" }, "it may launch nothing: " + (p.reason ?? ""))],
    ["Nodes", String(p.nodes)], ["Cost", cost(p.cost)],
    ["Limits", p.limits.length ? p.limits.map((l) => el("div", {}, `${l.resource}: ${amount(l.resource, l.used)} of ${amount(l.resource, l.limit)} `, bar(l.limit ? l.used / l.limit : 1))) : "none"],
    ["May be disrupted now", `${count(p.allowed, "node")}${p.because ? ": " + p.because : ""}`],
  ];
}

export function poolsPage(cluster) {
  const element = el("div");
  return {
    title: "Pools", element,
    update: () => renew(element, el("h2", {}, count(cluster.pools.length, "pool")),
      cluster.pools.map((p) => el("section", {}, el("h3", {}, el("a", { href: to("pool", p.kind, p.name) }, `${p.kind}/${p.name}`)), facts(poolFacts(p))))),
  };
}

export function waitingPage(cluster) {
  const element = el("div");
  return {
    title: "Pending pods", element,
    update() {
      const now = cluster.now(), list = cluster.waiting, lately = cluster.points.at(-1);
      renew(element, el("h2", {}, list.length ? "Pods that need a node" : "No pod needs a node"),
        lately?.placed > 0 && el("p", { class: "faint" }, `In the last five minutes ${count(lately.placed, "pod")} got a node: half of them within ${span(lately.half)}, 95 of 100 within ${span(lately.most)} of their creation.`),
        list.length > 0 && el("table", { class: "rows" },
          el("thead", {}, el("tr", {}, ["Pods of", "Count", "Each requests", "Since", "What they wait for"].map((h, i) => el("th", { scope: "col", class: i === 1 ? "number" : i === 2 ? "wide-only" : null }, h)))),
          el("tbody", {}, list.map((w) => el("tr", {},
            el("th", { scope: "row" }, el("a", { href: to("pod", w.namespace, w.pods[0]) }, w.namespace + "/" + (w.owner || w.pods[0]))), el("td", { class: "number" }, w.count.toLocaleString("en-US")),
            el("td", { class: "wide-only" }, w.requests), el("td", {}, age(w.since, now)), el("td", { class: w.looked && !w.placed ? "failure" : null }, w.reason))))),
        cluster.more.waiting > 0 && el("p", {}, `and ${cluster.more.waiting} more groups`));
    },
  };
}

export function podPage(cluster, namespace, name) {
  const key = namespace + "/" + (name ?? "");
  const seen = explained(cluster, ["about", "pod", namespace, name ?? ""]);
  return live("Pod " + key, el("h2", {}, "Pod " + key), seen, () => {
    const on = cluster.pod(key);
    const waits = cluster.waiting.find((w) => w.namespace === namespace && w.pods.includes(name));
    if (on) {
      const { pod, node } = on;
      return [facts([["State", pod.state || "running"], ["Node", el("a", { href: to("node", node.id) }, called(node))], ["Requests", `cpu ${amount("cpu", pod.cpu)}, memory ${amount("memory", pod.memory)}`],
        ["Owner", ownerLink(pod.namespace, pod.owner)], ["DaemonSet", pod.daemon && "yes"], ["Keeps its node", pod.keeps]])];
    }
    if (waits) {
      return [facts([["State", el("span", { class: waits.looked && !waits.placed ? "failure" : "" }, !waits.looked ? "no plan has looked at it yet" : waits.placed ? "waits for a node that is found" : "has no place")], ["Because", waits.reason],
        ["Waits for", age(waits.since, cluster.now())], ["Requests", waits.requests], ["Owner", ownerLink(namespace, waits.owner)], ["Of the same kind", count(waits.count, "pod")]])];
    }
    if (seen.known !== false) return []; // lists are cut short: the card knows it, or is still being read
    return [gone("pod that runs on a node or is listed as pending,", key)];
  });
}
