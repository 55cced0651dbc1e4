// The cluster as this page knows it: the newest state, kept up by what the stream says has changed.

const eventsMost = 500;
const pointsMost = 2880;

export class Cluster {
  at = null;
  controller = null;
  totals = null;
  problems = [];
  pools = [];
  waiting = [];
  troubles = [];
  events = [];
  points = [];
  more = { waiting: 0, problems: 0 };
  #came = 0; // when at was so, by the clock of this page that never jumps
  nodes = new Map(); // by ID

  // take applies a message of the stream: all of a state, or what differs from the one before. It returns what has changed.
  take(message, whole) {
    if (whole) {
      this.nodes = new Map();
      this.events = [];
      this.points = [];
    }
    const changed = { nodes: new Set(Object.keys(message.nodes ?? {})), gone: message.gone ?? [], parts: new Set() };
    for (const part of ["at", "controller", "totals", "problems", "pools", "waiting", "troubles", "more"]) {
      if (message[part] === undefined) continue;
      this[part] = message[part];
      changed.parts.add(part);
    }
    this.#came = performance.now();
    for (const [part, most] of [["events", eventsMost], ["points", pointsMost]]) {
      if (!message[part]) continue;
      changed.parts.add(part);
      this[part] = part === "events" ? message[part].concat(this[part]).slice(0, most) : this[part].concat(message[part]).slice(-most);
    }
    for (const id of changed.gone) this.nodes.delete(id);
    for (const [id, difference] of Object.entries(message.nodes ?? {})) this.#change(id, difference);
    return changed;
  }

  #change(id, difference) {
    let n = this.nodes.get(id);
    if (!n) {
      n = { id, labels: {}, pods: new Map(), use: {} };
      this.nodes.set(id, n);
    }
    if (difference.head) {
      Object.assign(n, { reason: "", until: undefined, stays: "", name: "", nodeClaim: "", instance: "" }, difference.head, { labels: n.labels, pods: n.pods, use: {} });
      for (const u of difference.head.use ?? []) {
        n.use[u.resource] = u;
        u.share = u.allocatable > 0 ? u.requested / u.allocatable : 0;
        u.usedShare = u.used !== undefined && u.allocatable > 0 ? u.used / u.allocatable : undefined;
      }
    }
    if (difference.labels) n.labels = difference.labels;
    for (const pod of difference.gone ?? []) n.pods.delete(pod);
    for (const pod of difference.pods ?? []) n.pods.set(pod.namespace + "/" + pod.name, pod);
    n.words = null;
  }

  // now is the time by the clock of the cluster, in milliseconds.
  now() {
    return Date.parse(this.at) + performance.now() - this.#came;
  }

  // pod finds a pod on a node.
  pod(key) {
    for (const n of this.nodes.values()) {
      const pod = n.pods.get(key);
      if (pod) return { pod, node: n };
    }
    return null;
  }
}

export function called(n) {
  return n.name || n.nodeClaim || n.id;
}

export function ownerOf(n) {
  return n.owner?.kind ? n.owner.kind + (n.owner.name ? "/" + n.owner.name : "") : "no pool";
}

// share is how full the node is, by what it is coloured by; undefined: that is not known.
export function shareOf(n, colour, expensive) {
  switch (colour) {
    case "cpu": case "memory": return n.use[colour]?.share;
    case "usedCpu": return n.use.cpu?.usedShare;
    case "usedMemory": return n.use.memory?.usedShare;
    case "cost": return n.cost.known && expensive > 0 ? n.cost.perHour / expensive : undefined;
  }
  return n.use.cpu || n.use.memory ? Math.max(n.use.cpu?.share ?? 0, n.use.memory?.share ?? 0) : undefined;
}

const fields = {
  pool: (n) => ownerOf(n),
  zone: (n) => n.zone ?? "",
  type: (n) => n.type ?? "",
  status: (n) => n.status,
  capacity: (n) => n.capacityType ?? "",
  name: (n) => called(n),
  ns: (n) => [...n.pods.values()].map((p) => p.namespace).join(" "),
};

function wordsOf(n) {
  if (n.words === null) {
    n.words = [called(n), n.nodeClaim, n.instance, ownerOf(n), n.type, n.zone, n.capacityType, n.status, ...n.pods.keys()].join(" ").toLowerCase();
  }
  return n.words;
}

// matcher reads a search, and returns what says of a node whether it is found.
export function matcher(text) {
  const tests = text.toLowerCase().split(/\s+/).filter(Boolean).map((word) => {
    const not = word.length > 1 && word.startsWith("-");
    if (not) word = word.slice(1);
    const [field, value] = word.split(/:(.*)/s);
    const [label, is] = word.split(/=(.*)/s);
    let test = (n) => wordsOf(n).includes(word);
    if (value !== undefined && Object.hasOwn(fields, field)) test = (n) => fields[field](n).toLowerCase().includes(value);
    else if (is !== undefined) test = (n) => Object.entries(n.labels).some(([k, v]) => k.toLowerCase() === label && (is === "" || v.toLowerCase() === is));
    return not ? (n) => !test(n) : test;
  });
  return (n) => tests.every((test) => test(n));
}

// groups arranges nodes: lists of those that belong together, by name.
export function groups(nodes, by) {
  const of = by === "pool" ? ownerOf : by === "zone" ? (n) => n.zone || "no zone" : () => "";
  const found = new Map();
  for (const n of nodes) {
    const name = of(n);
    if (!found.has(name)) found.set(name, []);
    found.get(name).push(n);
  }
  const list = [...found].map(([name, nodes]) => ({ name, nodes }));
  list.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const g of list) g.nodes.sort((a, b) => (called(a) < called(b) ? -1 : 1));
  return list;
}
