// The map: nodes as boxes with their pods in them, on a canvas as large as the window, whatever the number of nodes.
import { called, groups, ownerOf, shareOf } from "/assets/cluster.js";
import { amount, clean, cost, count, money, percent, span } from "/assets/words.js";
import { announce, bar, el, renew, to } from "/assets/dom.js";

const sizes = [
  { w: 46, h: 42, gap: 5, cell: 9, head: 0, bars: 2 },
  { w: 100, h: 82, gap: 8, cell: 14, head: 15, bars: 3 },
  { w: 176, h: 122, gap: 10, cell: 17, head: 30, bars: 5 },
];
const header = 26;
const edge = 4;

// short are statuses as they stand in a box. A ready node needs none.
const short = { pending: "pending", joining: "joining", starting: "starting", "not ready": "not ready", cordoned: "cordoned", emptying: "emptying", draining: "draining", terminating: "ending" };

export class NodeMap {
  #cluster; #look; #scroll; #tall; #canvas; #pen; #card; #colours = {}; #places = []; #heads = []; #at = new Map();
  #size = sizes[1]; #columns = 1; #chosen = null; #hovered = null; #asked = 0; #expensive = 0; #patterns = {}; #grids = new Map();

  constructor(cluster, look) {
    this.#cluster = cluster;
    this.#look = look;
    this.#canvas = el("canvas", { tabindex: "0", role: "application", "aria-roledescription": "map", "aria-label": "Map of nodes. Arrow keys go from node to node, Enter opens one. The page Nodes has the same as a table." });
    this.#tall = el("div", { class: "tall" }, this.#canvas);
    this.#scroll = el("div", { class: "scroll" }, this.#tall);
    this.#card = el("aside", { class: "card", "aria-label": "The chosen node" });
    this.element = el("div", { class: "map" }, this.#scroll, this.#card);
    this.#pen = this.#canvas.getContext("2d");
    this.#scroll.addEventListener("scroll", () => this.#ask(), { passive: true });
    this.#canvas.addEventListener("keydown", (e) => this.#key(e));
    this.#canvas.addEventListener("pointermove", (e) => this.#point(e));
    this.#canvas.addEventListener("pointerleave", () => this.#hover(null));
    this.#canvas.addEventListener("click", (e) => this.#click(e));
    this.#canvas.addEventListener("dblclick", () => this.#open());
    this.#canvas.addEventListener("focus", () => this.#focused());
    this.#canvas.addEventListener("blur", () => this.#ask());
    new ResizeObserver(() => this.arrange()).observe(this.#scroll);
    this.recolour();
  }

  // recolour reads the colours of the style sheet again.
  recolour() {
    const style = getComputedStyle(document.documentElement);
    const names = ["paper", "ink", "faint", "line", "pod", "daemon", "good", "warn", "bad", "wait", "focus"];
    this.#colours = Object.fromEntries(names.map((name) => [name, style.getPropertyValue("--" + name).trim()]));
    this.#colours.ramp = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => style.getPropertyValue("--use-" + i).trim());
    this.#patterns = {};
    this.arrange();
  }

  // arrange finds the place of each box, and draws.
  arrange() {
    const found = [...this.#cluster.nodes.values()].filter(this.#look.found);
    this.#size = this.#look.size === "auto" ? sizes[found.length > 300 ? 0 : found.length > 24 ? 1 : 2] : sizes[Number(this.#look.size)];
    const { w, h, gap } = this.#size;
    const width = Math.max(w + 2 * edge, this.#scroll.clientWidth);
    this.#columns = Math.max(1, Math.floor((width - 2 * edge + gap) / (w + gap)));
    this.#places = [];
    this.#heads = [];
    this.#at.clear();
    this.#expensive = found.reduce((most, n) => Math.max(most, n.cost.perHour), 0);
    let y = 0;
    for (const g of groups(found, this.#look.by)) {
      if (this.#look.by !== "none") {
        this.#heads.push({ y, text: this.#sum(g) });
        y += header;
      }
      g.nodes.forEach((node, i) => {
        const place = { node, x: edge + (i % this.#columns) * (w + gap), y: y + edge + Math.floor(i / this.#columns) * (h + gap) };
        this.#at.set(node.id, this.#places.length);
        this.#places.push(place);
      });
      y += Math.ceil(g.nodes.length / this.#columns) * (h + gap) + 6;
    }
    this.#tall.style.height = Math.max(y + edge, 40) + "px";
    if (this.#chosen && !this.#at.has(this.#chosen)) this.#chosen = null;
    if (this.#hovered && !this.#at.has(this.#hovered.id)) this.#hovered = null;
    this.#ask();
  }

  #sum({ name, nodes }) {
    let dollars = 0, requested = 0, allocatable = 0;
    for (const n of nodes) {
      dollars += n.cost.perHour;
      requested += n.name ? n.use.cpu?.requested ?? 0 : 0;
      allocatable += n.name ? n.use.cpu?.allocatable ?? 0 : 0;
    }
    return [clean(name), `${count(nodes.length, "node")}, ${money(dollars)}/h` + (allocatable ? `, cpu ${percent(requested / allocatable)}` : "")];
  }

  #ask() {
    if (this.#asked) return;
    this.#asked = requestAnimationFrame(() => {
      this.#asked = 0;
      this.#draw();
      this.#describe();
    });
  }

  #draw() {
    const scale = devicePixelRatio || 1;
    const width = this.#scroll.clientWidth, height = this.#scroll.clientHeight, top = this.#scroll.scrollTop;
    if (!width || !height) return;
    if (this.#canvas.width !== Math.round(width * scale) || this.#canvas.height !== Math.round(height * scale)) {
      this.#canvas.width = Math.round(width * scale);
      this.#canvas.height = Math.round(height * scale);
      this.#canvas.style.width = width + "px";
      this.#canvas.style.height = height + "px";
    }
    const p = this.#pen, c = this.#colours;
    p.setTransform(scale, 0, 0, scale, 0, 0);
    p.fillStyle = c.paper;
    p.fillRect(0, 0, width, height);
    p.translate(0, -top);
    for (const head of this.#heads) {
      if (head.y + header < top || head.y > top + height) continue;
      p.font = "600 13px system-ui, sans-serif";
      p.fillStyle = c.ink;
      p.fillText(head.text[0], edge, head.y + 18);
      const after = edge + p.measureText(head.text[0]).width + 10;
      p.font = "12px system-ui, sans-serif";
      p.fillStyle = c.faint;
      p.fillText(head.text[1], after, head.y + 18);
    }
    for (let i = this.#first(top - this.#size.h); i < this.#places.length && this.#places[i].y < top + height; i++) this.#box(this.#places[i]);
    if (!this.#places.length) {
      p.font = "14px system-ui, sans-serif";
      p.fillStyle = c.faint;
      p.fillText(this.#cluster.nodes.size ? "No node is found by this search." : "There are no nodes.", edge + 8, top + 32);
    }
  }

  // first is the first box at or below a line.
  #first(y) {
    let low = 0, high = this.#places.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (this.#places[mid].y < y) low = mid + 1;
      else high = mid;
    }
    return low;
  }

  #box({ node: n, x, y }) {
    const p = this.#pen, c = this.#colours, { w, h, head } = this.#size;
    const comes = n.status === "pending" || n.status === "joining";
    const share = shareOf(n, this.#look.colour, this.#expensive);
    const step = share === undefined ? -1 : Math.min(7, Math.floor(share * 8));
    p.fillStyle = comes || step < 0 ? c.paper : c.ramp[step];
    p.fillRect(x, y, w, h);
    const dark = !comes && step >= 5;
    const tone = { draining: c.warn, emptying: c.warn, terminating: c.bad, "not ready": c.bad, pending: c.wait, joining: c.wait, starting: c.wait, cordoned: c.faint }[n.status];
    if (n.status === "draining" || n.status === "terminating" || n.status === "cordoned") {
      p.fillStyle = this.#hatch(tone);
      p.fillRect(x, y, w, h);
    }
    this.#pods(n, x, y, dark);
    if (head) this.#words(n, x, y, dark, tone);
    this.#bars(n, x, y, dark);
    p.lineWidth = tone ? 2 : 1;
    p.strokeStyle = tone ?? c.line;
    p.setLineDash(comes || n.status === "starting" ? [4, 3] : []);
    p.strokeRect(x + p.lineWidth / 2, y + p.lineWidth / 2, w - p.lineWidth, h - p.lineWidth);
    p.setLineDash([]);
    const focused = n.id === this.#chosen && (document.activeElement === this.#canvas || !this.#hovered);
    if (focused || n.id === this.#hovered?.id) {
      p.lineWidth = focused ? 3 : 1.5;
      p.strokeStyle = c.focus;
      p.strokeRect(x - 2.5, y - 2.5, w + 5, h + 5);
    }
  }

  #hatch(colour) {
    if (!this.#patterns[colour]) {
      const tile = document.createElement("canvas");
      tile.width = tile.height = 8;
      const p = tile.getContext("2d");
      p.strokeStyle = colour;
      p.globalAlpha = 0.55;
      p.lineWidth = 1.5;
      p.beginPath();
      for (const o of [-8, 0, 8]) {
        p.moveTo(o, 8);
        p.lineTo(o + 8, 0);
      }
      p.stroke();
      this.#patterns[colour] = this.#pen.createPattern(tile, "repeat");
    }
    return this.#patterns[colour];
  }

  #words(n, x, y, dark, tone) {
    const p = this.#pen, c = this.#colours, { w, head } = this.#size, large = head > 20;
    const comes = n.status === "pending" || n.status === "joining";
    if (tone && !comes) {
      p.fillStyle = tone;
      p.fillRect(x, y, w, head);
    }
    p.fillStyle = (tone && !comes) || dark ? c.paper : c.ink;
    p.font = (large ? "600 11px" : "10px") + " system-ui, sans-serif";
    const name = clean(called(n)).replace(/\.(ec2\.internal|[a-z0-9-]+\.compute\.internal)$/, "");
    p.fillText(this.#cut(name, w - 8), x + 5, y + 12);
    if (!large) return;
    p.font = "10px system-ui, sans-serif";
    const said = [short[n.status], n.type, !short[n.status] && n.cost.known && money(n.cost.perHour)].filter(Boolean).join("  ");
    p.fillText(this.#cut(clean(said), w - 8), x + 5, y + 25);
  }

  // cut shortens a text to a width.
  #cut(text, width) {
    const most = Math.floor(width / 5.6);
    return text.length > most ? text.slice(0, most - 1) + "…" : text;
  }

  // grid says how pods lie in a box: smaller where there are many.
  #grid(n) {
    const { w, h, cell, head, bars } = this.#size;
    const key = w * 1000 + n.pods.size;
    if (!this.#grids.has(key)) {
      const width = w - 8, height = h - head - 2 * bars - 10;
      let size = cell, columns, rows;
      for (; ; size--) {
        columns = Math.floor(width / size);
        rows = Math.floor(height / size);
        if (columns * rows >= n.pods.size || size <= 3) break;
      }
      this.#grids.set(key, { size, columns, rows });
    }
    return this.#grids.get(key);
  }

  #pods(n, x, y, dark) {
    const p = this.#pen, c = this.#colours, { head } = this.#size;
    const { size, columns, rows } = this.#grid(n);
    const inner = size > 4 ? size - 2 : size - 1;
    let i = 0;
    for (const pod of n.pods.values()) {
      if (i >= columns * rows) break;
      const px = x + 4 + (i % columns) * size, py = y + head + 4 + Math.floor(i / columns) * size;
      i++;
      const colour = pod.state === "ending" ? c.warn : pod.state === "not ready" ? c.bad : pod.daemon ? c.daemon : c.pod;
      if (pod.state === "starting") {
        p.strokeStyle = c.wait;
        p.lineWidth = 1;
        p.strokeRect(px + 0.5, py + 0.5, inner - 1, inner - 1);
        continue;
      }
      p.fillStyle = dark && colour === c.pod ? c.paper : colour;
      p.fillRect(px, py, inner, inner);
      if (pod.keeps && size > 5) {
        p.fillStyle = dark ? c.ink : c.paper;
        p.fillRect(px + inner / 2 - 1, py + inner / 2 - 1, 2, 2);
      }
    }
  }

  #bars(n, x, y, dark) {
    const p = this.#pen, c = this.#colours, { w, h, bars } = this.#size;
    [n.use.cpu?.share, n.use.memory?.share].forEach((share, i) => {
      if (share === undefined) return;
      const top = y + h - 4 - (2 - i) * (bars + 1);
      p.fillStyle = dark ? "rgba(255,255,255,.35)" : "rgba(128,128,128,.3)";
      p.fillRect(x + 4, top, w - 8, bars);
      p.fillStyle = dark ? c.paper : c.ink;
      p.fillRect(x + 4, top, (w - 8) * Math.min(1, share), bars);
    });
  }

  #under(e) {
    const box = this.#canvas.getBoundingClientRect();
    const x = e.clientX - box.left, y = e.clientY - box.top + this.#scroll.scrollTop;
    const { w, h, head } = this.#size;
    for (let i = this.#first(y - h); i < this.#places.length && this.#places[i].y <= y; i++) {
      const place = this.#places[i];
      if (x < place.x || x > place.x + w || y > place.y + h) continue;
      const { size, columns } = this.#grid(place.node);
      const column = Math.floor((x - place.x - 4) / size), row = Math.floor((y - place.y - head - 4) / size);
      const pod = column >= 0 && column < columns && row >= 0 ? [...place.node.pods.keys()][row * columns + column] : undefined;
      return { id: place.node.id, pod };
    }
    return null;
  }

  #point(e) {
    if (e.pointerType === "mouse") this.#hover(this.#under(e));
  }

  #hover(on) {
    if (on?.id === this.#hovered?.id && on?.pod === this.#hovered?.pod) return;
    this.#hovered = on;
    this.#canvas.style.cursor = on ? "pointer" : "";
    this.#ask();
  }

  #click(e) {
    const on = this.#under(e);
    this.#chosen = on?.id ?? null;
    this.#ask();
  }

  #open() {
    if (this.#chosen) location.hash = to("node", this.#chosen);
  }

  #focused() {
    if (!this.#chosen && this.#places.length) this.#choose(0);
    else this.#ask();
  }

  #choose(i) {
    const place = this.#places[Math.max(0, Math.min(this.#places.length - 1, i))];
    if (!place) return;
    this.#chosen = place.node.id;
    this.#hovered = null;
    const top = this.#scroll.scrollTop, height = this.#scroll.clientHeight;
    if (place.y - header < top) this.#scroll.scrollTop = place.y - header;
    else if (place.y + this.#size.h + edge > top + height) this.#scroll.scrollTop = place.y + this.#size.h + edge - height;
    announce(describe(place.node) + `. ${this.#at.get(this.#chosen) + 1} of ${this.#places.length}`);
    this.#ask();
  }

  #key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const at = this.#at.get(this.#chosen) ?? -1;
    let next = at;
    switch (e.key) {
      case "ArrowRight": next = at + 1; break;
      case "ArrowLeft": next = at - 1; break;
      case "ArrowDown": next = this.#line(at, 1); break;
      case "ArrowUp": next = this.#line(at, -1); break;
      case "Home": next = 0; break;
      case "End": next = this.#places.length - 1; break;
      case "Enter": this.#open(); e.preventDefault(); return;
      default: return;
    }
    e.preventDefault();
    this.#choose(next);
  }

  // line is the box above or below another one.
  #line(at, step) {
    const from = this.#places[at];
    if (!from) return 0;
    let y = null, best = at;
    for (let i = at + step; i >= 0 && i < this.#places.length; i += step) {
      const place = this.#places[i];
      if (place.y === from.y) continue;
      if (y === null) y = place.y;
      if (place.y !== y) break;
      if (best === at || Math.abs(place.x - from.x) < Math.abs(this.#places[best].x - from.x)) best = i;
    }
    return best;
  }

  // describe fills the card with what is hovered, or else chosen.
  #describe() {
    const id = this.#hovered?.id ?? this.#chosen;
    const n = id && this.#cluster.nodes.get(id);
    this.element.classList.toggle("with-card", Boolean(n));
    if (!n) {
      renew(this.#card, legend(this.#look.colour));
      return;
    }
    renew(this.#card, ...card(n, this.#cluster, this.#hovered?.pod));
  }
}

// describe is a node in one sentence, as a screen reader says it.
export function describe(n) {
  const uses = ["cpu", "memory"].filter((r) => n.use[r]).map((r) => `${r} ${percent(n.use[r].share)}`);
  return [called(n), n.status + (n.reason ? ": " + n.reason : ""), ownerOf(n), n.type, n.zone, ...uses, count(n.pods.size, "pod"), cost(n.cost)].filter(Boolean).join(", ");
}

function card(n, cluster, podKey) {
  const now = cluster.now();
  const pod = podKey && n.pods.get(podKey);
  return [
    el("h2", {}, el("a", { href: to("node", n.id) }, called(n))),
    el("p", { class: "status " + n.status.replace(" ", "-") }, n.status, n.until ? ", ends in " + span((Date.parse(n.until) - now) / 1000) + " at the latest" : ""),
    n.reason && el("p", {}, n.reason),
    el("p", {}, [n.type, n.zone, n.capacityType].filter(Boolean).join(", ")),
    el("p", {}, ownerOf(n), ", ", cost(n.cost), n.created ? ", age " + span((now - Date.parse(n.created)) / 1000) : ""),
    el("table", { class: "uses" }, ["cpu", "memory", "pods"].filter((r) => n.use[r]).map((r) => el("tr", {},
      el("th", { scope: "row" }, r), el("td", {}, bar(n.use[r].share, n.use[r].usedShare)),
      el("td", {}, `${amount(r, r === "pods" ? n.pods.size : n.use[r].requested)} of ${amount(r, n.use[r].allocatable)}`)))),
    n.stays && el("p", { class: "faint" }, n.stays),
    pod && el("p", { class: "pod" }, el("a", { href: to("pod", pod.namespace, pod.name) }, podKey), ` cpu ${amount("cpu", pod.cpu)}, memory ${amount("memory", pod.memory)}`,
      pod.state ? ", " + pod.state : "", pod.keeps ? "; it keeps the node: " + pod.keeps : ""),
    !pod && el("p", { class: "faint" }, count(n.pods.size, "pod") + ". The name opens the node's page."),
  ];
}

function legend(colour) {
  const swatches = [["ready", ""], ["pending, joining, starting", "comes"], ["cordoned", "cordoned"], ["draining", "draining"], ["terminating", "terminating"], ["not ready", "ill"]];
  const pods = [["pod", "pod"], ["of a DaemonSet", "daemon"], ["starting", "starting"], ["ending", "ending"], ["not ready", "ill"]];
  const what = colour === "cost" ? "cheap to expensive" : "empty to full";
  return el("div", { class: "legend" }, el("h2", {}, "Legend"),
    el("p", {}, el("span", { class: "ramp", "aria-hidden": "true" }, [0, 1, 2, 3, 4, 5, 6, 7].map((i) => el("i", { class: "use-" + i }))), " " + what),
    el("ul", {}, swatches.map(([text, name]) => el("li", {}, el("i", { class: "swatch " + name, "aria-hidden": "true" }), text))),
    el("h3", {}, "Pods"), el("ul", {}, pods.map(([text, name]) => el("li", {}, el("i", { class: "cell " + name, "aria-hidden": "true" }), text))),
    el("p", { class: "faint" }, "A dot: the pod keeps its node. Bars at the foot of a box: cpu and memory requested."));
}
