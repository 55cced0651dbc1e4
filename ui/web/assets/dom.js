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

// renew makes the children of an element such as fill would, and leaves alone what is the same: the focus, selected text,
// and what is unfolded stay. What it is given has no listeners.
export function renew(e, ...children) {
  const focused = e.contains(document.activeElement) ? document.activeElement.hash : undefined;
  liken(e, fill(document.createElement(e.tagName), ...children));
  if (focused && document.activeElement?.hash !== focused) {
    document.activeElement?.blur(); // it stands for something else now
    [...e.querySelectorAll("a")].find((a) => a.hash === focused)?.focus({ preventScroll: true });
  }
  return e;
}

// liken gives an element the children of another.
function liken(e, other) {
  const wanted = [...other.childNodes];
  wanted.forEach((to, i) => {
    const now = e.childNodes[i];
    if (!now) e.append(to);
    else if (now.nodeName !== to.nodeName) now.replaceWith(to);
    else if (now.nodeType === Node.TEXT_NODE) {
      if (now.data !== to.data) now.data = to.data;
    } else {
      for (const { name } of [...now.attributes]) if (name !== "open" && name !== "style" && !to.hasAttribute(name)) now.removeAttribute(name);
      for (const { name, value } of to.attributes) if (name !== "style" && now.getAttribute(name) !== value) now.setAttribute(name, value);
      if (now.style.cssText !== to.style.cssText) now.style.cssText = to.style.cssText;
      liken(now, to);
    }
  });
  while (e.childNodes.length > wanted.length) e.lastChild.remove();
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
