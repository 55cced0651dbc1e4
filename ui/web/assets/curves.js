// Curves over time, as SVG: a few lines over the points of the history, with a cursor for pointer and keys.
import { clean, clock } from "/assets/words.js";
import { announce, el, fill } from "/assets/dom.js";

const width = 600, height = 170, left = 56, right = 6, top = 8, foot = 20;
const steps = 500; // more points than this are not told apart by eye

function svg(name, attributes, text) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  if (text !== undefined) e.textContent = clean(text);
  return e;
}

// nice is a round number that is not less.
function nice(n) {
  if (n <= 0) return 1;
  const unit = 10 ** Math.floor(Math.log10(n));
  return [1, 2, 2.5, 5, 10].map((f) => f * unit).find((f) => f >= n);
}

// curve makes a chart: of lines {name, of(point)}, whose values write(value) writes.
export function curve(title, lines, write) {
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", tabindex: "0" });
  const readout = el("p", { class: "faint" });
  const element = el("figure", { class: "curve" }, el("figcaption", {}, el("b", {}, title)),
    el("p", {}, lines.map((line, i) => el("span", { class: "key" }, el("i", { class: "line-" + i, "aria-hidden": "true" }), line.name))), picture, readout);
  let points = [], cursor = null, most = 1, from = 0, until = 1, real = width;

  const x = (t) => left + ((t - from) / Math.max(1, until - from)) * (real - left - right);
  const y = (v) => top + (1 - v / most) * (height - top - foot);

  function update(all) {
    const every = Math.ceil(all.length / steps);
    points = all.filter((_, i) => i % every === 0 || i === all.length - 1);
    draw();
  }

  function draw() {
    real = Math.max(200, picture.clientWidth || width);
    picture.setAttribute("viewBox", `0 0 ${real} ${height}`);
    const values = lines.flatMap((line) => points.map(line.of)).filter((v) => v !== undefined);
    if (points.length < 2 || values.length === 0) {
      picture.replaceChildren();
      picture.setAttribute("aria-label", title + ": no points yet");
      fill(readout, points.length < 2 ? "The history has just begun: a point comes every 15 seconds." : "There were none.");
      return;
    }
    from = points[0].t;
    until = points.at(-1).t;
    most = nice(Math.max(...values, 0));
    const marks = [0, 0.5, 1].flatMap((share) => [
      svg("line", { class: "axis", x1: left, x2: real - right, y1: y(most * share), y2: y(most * share) }),
      svg("text", { x: left - 6, y: y(most * share) + 4, "text-anchor": "end" }, write(most * share).replace(/\.0+$/, ""))]);
    const times = [[from, "start"], [until, "end"]].map(([t, anchor]) => svg("text", { x: x(t), y: height - 4, "text-anchor": anchor }, clock(t * 1000)));
    const paths = lines.map((line, i) => svg("path", { class: "line-" + i, d: path(line) }));
    picture.replaceChildren(...marks, ...times, ...paths);
    const now = points.at(-1);
    const sum = lines.map((line) => `${line.name} ${said(line, points[0])} at first, ${said(line, now)} now`).join("; ");
    picture.setAttribute("aria-label", `${title}: ${sum}. Left and right arrow read points.`);
    const at = cursor === null ? now : points[Math.min(cursor, points.length - 1)];
    if (cursor !== null) picture.append(svg("line", { class: "cursor", x1: x(at.t), x2: x(at.t), y1: top, y2: height - foot }));
    fill(readout, clock(at.t * 1000) + ": " + lines.map((line) => `${line.name} ${said(line, at)}`).join(", "));
  }

  function said(line, point) {
    const v = line.of(point);
    return v === undefined ? "not known" : write(v);
  }

  function path(line) {
    let d = "", pen = false;
    for (const p of points) {
      const v = line.of(p);
      if (v === undefined) {
        pen = false;
        continue;
      }
      d += `${pen ? "L" : "M"}${x(p.t).toFixed(1)} ${y(v).toFixed(1)}`;
      pen = true;
    }
    return d;
  }

  function move(to) {
    cursor = to === null ? null : Math.max(0, Math.min(points.length - 1, to));
    if (points.length > 1) draw();
  }

  picture.addEventListener("pointermove", (e) => {
    const box = picture.getBoundingClientRect();
    const t = from + ((e.clientX - box.left - left) / (real - left - right)) * (until - from);
    let near = 0;
    points.forEach((p, i) => {
      if (Math.abs(p.t - t) < Math.abs(points[near].t - t)) near = i;
    });
    move(near);
  });
  picture.addEventListener("pointerleave", () => move(null));
  picture.addEventListener("blur", () => move(null));
  picture.addEventListener("keydown", (e) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[e.key];
    if (step === undefined || points.length < 2) return;
    e.preventDefault();
    move(Math.max(0, Math.min(points.length - 1, (cursor ?? points.length - 1) + step)));
    announce(readout.textContent);
  });
  new ResizeObserver(() => draw()).observe(element);
  return { element, update };
}
