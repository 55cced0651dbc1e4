// Pages that the server lays out: blocks of lines and tables, as daemok plan prints them.
import { ask } from "/assets/asked.js";
import { el, fill, renew } from "/assets/dom.js";
import { clock, count, span } from "/assets/words.js";

function line(cells) {
  const indented = cells[0]?.text.startsWith(" ");
  return el("p", { class: indented ? "indent" : null }, cells.map((c) => el("span", { class: c.tone || null }, c.text)));
}

function table(b) {
  const side = b.columns.map((c) => (c.right ? "number" : null));
  return el("div", { class: "scrolls", tabindex: "0", role: "region", "aria-label": b.heading || "table" }, el("table", { class: "rows" },
    el("caption", { class: "unseen" }, b.heading ?? ""),
    el("thead", {}, el("tr", {}, b.columns.map((c, i) => el("th", { scope: "col", class: side[i] }, c.title)))),
    el("tbody", {}, b.rows.map((r) => el("tr", {}, r.map((c, i) => el("td", { class: [c.tone, side[i]].filter(Boolean).join(" ") || null }, c.text)))))));
}

function block(b) {
  const content = [(b.lines ?? []).map(line), b.rows?.length ? table(b) : null,
    b.more > 0 && el("p", { class: "faint" }, `and ${count(b.more, "row")} more`), (b.after ?? []).map(line)].flat();
  if (b.detail) return el("details", { class: "block" }, el("summary", {}, b.heading), content);
  return el("section", { class: "block" }, b.heading && el("h3", { class: b.tone || null }, b.heading), content);
}

let last = null; // the plan that was shown last: it is shown at once when its page is opened again

// planPage shows what would happen now. It is made when the page is opened, and again when asked; where the controller has
// made one anyway, again as time goes on.
export function planPage(cluster, facts) {
  const state = el("p", { role: "status" });
  const again = el("button", { type: "button", onclick: () => read() }, facts.latest ? "Read it again" : "Compute it again");
  const content = el("div");
  const element = el("div", {}, el("h2", {}, facts.latest ? "What the controller decided last" : "What would happen now"), el("p", { class: "asked" }, again, state), content);
  let since = 0, tried = 0, closed = false, trouble = "";
  const timer = setInterval(say, 1000);

  function say() {
    again.disabled = since > 0;
    let text = trouble;
    if (since > 0) text = `${facts.latest ? "Reading" : "Computing"} … ${performance.now() - since > 2000 ? span((performance.now() - since) / 1000) : ""}`;
    else if (!trouble && last) text = `${facts.latest ? "Read" : "Made"} at ${clock(last.at)}, ${span(last.ago + (performance.now() - last.came) / 1000)} ago` + (facts.latest ? "" : `; it took ${last.seconds.toFixed(1)} s`) + ".";
    if (state.textContent !== text) fill(state, text); // and no more often: it is read aloud
    state.classList.toggle("warning", since === 0 && trouble !== "");
  }

  async function read() {
    if (since > 0) return;
    since = tried = performance.now();
    say();
    try {
      last = { ...await ask("/plan"), came: performance.now() };
      trouble = "";
    } catch (e) {
      trouble = e.message;
    }
    since = 0;
    if (closed) return;
    show();
    say();
  }

  function show() {
    if (!last) return;
    const open = [...content.querySelectorAll("details[open] summary")].map((s) => s.textContent);
    renew(content, last.page.note && el("p", { class: "faint" }, last.page.note), last.page.blocks.map(block));
    for (const s of content.querySelectorAll("details summary")) s.parentElement.open = open.includes(s.textContent);
  }

  show();
  if (facts.plan) read();
  else if (facts.plan === false) fill(element, el("p", { class: "empty" }, "No plan is made here: daemok plan prints what would happen now."));
  return {
    title: "Plan", element,
    update(changed) {
      if (facts.latest && changed && performance.now() - tried > 10000) read();
    },
    close() {
      closed = true;
      clearInterval(timer);
    },
  };
}
