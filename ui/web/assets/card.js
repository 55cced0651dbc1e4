// What an object is doing, why, what would change that, what keeps it so, and what is on record: daemok explain as a page.
import { ask } from "/assets/asked.js";
import { announce, el, fill, renew, to } from "/assets/dom.js";
import { age, count, moment, money, span } from "/assets/words.js";

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

// ownerLink is the page of what owns pods: "Deployment/web".
export function ownerLink(namespace, owner) {
  return owner ? el("a", { href: to("owner", namespace, ...owner.split(/\/(.*)/s).slice(0, 2)) }, owner) : null;
}

// change writes what a decision changes of the cost.
export function change(c) {
  if (!c) return null;
  const less = c.after < c.before;
  return el("p", { class: "change " + (less ? "less" : "more") }, `cost ${money(c.before)}/h → ${money(c.after)}/h (${less ? "−" : "+"}${money(Math.abs(c.after - c.before))}/h)`);
}

// explained reads the card of an object and what is on record about it, and reads both again when asked.
// card and list are where they are shown; known is whether there is a card, null until that was read; read is called then.
export function explained(cluster, path) {
  const card = el("div", { class: "explained" });
  const list = el("div", {}, el("p", { class: "faint" }, "Reading the record …"));
  const seen = { card, list, known: null, read: null, again: () => performance.now() - last > 5000 && read() };
  let last = 0;
  async function read() {
    last = performance.now();
    try {
      const said = await ask("/" + path.map(encodeURIComponent).join("/"));
      renew(card, said.card ? cardOf(said.card, cluster.now()) : []);
      if (said.card && card.isConnected) announce(`${said.card.about} ${said.card.state}`); // not its ages
      renew(list, said.trouble ? el("p", { class: said.record.length ? "warning" : "faint" }, said.trouble) : statements(said.record));
      seen.known = said.card !== null;
      seen.read?.();
    } catch (e) {
      fill(list, el("p", { class: "warning" }, e.message));
    }
  }
  read();
  return seen;
}

const rowsMost = 12;

// rows is a list under its heading; what is too much for a glance can be unfolded.
function rows(heading, list, write) {
  if (!list?.length) return null;
  const items = list.map((x) => el("li", {}, write(x)));
  const more = items.splice(rowsMost);
  return [el("h3", {}, heading), el("ul", { class: "causes" }, items),
    more.length > 0 && el("details", {}, el("summary", {}, `and ${more.length} more`), el("ul", { class: "causes" }, more))];
}

function cause(c) {
  return [c.about && el("b", {}, c.about), c.about ? ": " : "", c.what];
}

function cardOf(c, now) {
  return [
    el("p", { class: "state" + (c.bad ? " bad" : "") }, el("b", {}, c.about), " ", c.state, c.since ? el("span", { class: "faint" }, ` (${age(c.since, now)})`) : null),
    rows("Why", c.why, cause), rows("What would change it", c.change, cause),
    rows("What keeps it so", c.blocks, (b) => [el("b", {}, b.what), ": ", b.text, b.until && Date.parse(b.until) > now ? el("span", { class: "warning" }, `, ${span((Date.parse(b.until) - now) / 1000)} left`) : null]),
    rows("Lately", c.lately, (e) => [el("time", { datetime: e.at, class: "faint" }, age(e.at, now) + " ago"), " ", e.about && `${e.about.kind} ${e.about.name}` !== c.about ? `${e.about.kind} ${e.about.name} ` : "", e.said, e.why ? ": " + e.why : "", change(e.cost)]),
  ].flat();
}

function statements(list) {
  if (!list.length) return el("p", { class: "faint" }, "Nothing is on record about it.");
  return el("ul", { class: "said" }, list.map((s) => el("li", { class: s.until ? null : "holds" },
    el("time", { datetime: s.from }, s.until ? (s.until === s.from ? moment(s.from) : `${moment(s.from)}, for ${span((Date.parse(s.until) - Date.parse(s.from)) / 1000)}`) : `since ${moment(s.from)}, still so`),
    el("br"), `${s.about.kind} ${s.about.name} ${s.said}`, s.why ? el("p", {}, "because: ", s.why) : null, change(s.cost),
    s.more?.length ? el("ul", {}, s.more.map((m) => el("li", {}, m))) : null)));
}

// ownerPage is the page of the pods of one owner.
export function ownerPage(cluster, namespace, kind, name) {
  const seen = explained(cluster, ["owner", namespace, kind ?? "", name ?? ""]);
  const pods = el("div");
  const element = el("div", {}, el("h2", {}, `${kind} ${namespace}/${name}`), seen.card, pods);
  return {
    title: `${kind} ${name}`, element,
    update(changed) {
      const list = [];
      for (const n of cluster.nodes.values()) for (const p of n.pods.values()) if (p.namespace === namespace && p.owner === `${kind}/${name}`) list.push([p, n]);
      list.sort(([a], [b]) => (a.name < b.name ? -1 : 1));
      renew(pods, el("h3", {}, `${count(list.length, "pod")} on nodes`), el("ul", {}, list.slice(0, 100).map(([p, n]) => el("li", {},
        el("a", { href: to("pod", p.namespace, p.name) }, p.name), " on ", el("a", { href: to("node", n.id) }, n.name || n.id), p.state ? ", " + p.state : "")),
        list.length > 100 && el("li", {}, `and ${list.length - 100} more`)));
      if (changed?.parts.has("totals")) seen.again();
    },
  };
}
