// Elements, with text that is never read as markup.
import { clean } from "/assets/words.js";

// el makes an element: el("a", {href: "#/map", class: "x"}, "text", child, ...). What is null or false is left out.
export function el(name, attributes, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
    else e.setAttribute(key, value === true ? "" : value);
  }
  fill(e, ...children);
  return e;
}

export function fill(e, ...children) {
  e.replaceChildren(...children.flat().filter((c) => c !== null && c !== undefined && c !== false)
    .map((c) => (c instanceof Node ? c : document.createTextNode(clean(c)))));
  return e;
}

// to is the address of a page: to("pod", "shop", "web-1").
export function to(...parts) {
  return "#/" + parts.map(encodeURIComponent).join("/");
}

// bar is a share of something, for the eye; its text stands beside it.
export function bar(share, used) {
  const outer = el("span", { class: "bar", "aria-hidden": "true" });
  const inner = el("span", { class: share > 0.95 ? "full" : "" });
  inner.style.width = Math.min(100, share * 100) + "%";
  outer.append(inner);
  if (used !== undefined) {
    const mark = el("i");
    mark.style.left = Math.min(100, used * 100) + "%";
    outer.append(mark);
  }
  return outer;
}

let last = "";

// announce has screen readers say something once they are done with what they say.
export function announce(text) {
  if (text === last) return;
  last = text;
  document.getElementById("live").textContent = clean(text);
}
