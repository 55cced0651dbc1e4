// The one stream of what changes. Where it is cut off it is opened again, with the number of the last change that came.
import { ask } from "/assets/asked.js";

const silentFor = 25000; // the server says every ten seconds that it lives
const waits = [1000, 2000, 4000, 8000, 15000];

// follow calls on.message(message, whole) for what comes, on.cut(since, why) where the stream is cut off, and on.back()
// where it is not any more. An EventSource does not say why it fails, so the server is asked; "": it does not answer.
export function follow(on) {
  let source, last = "", heard = Date.now(), cutSince = null, tries = 0, timer = 0;

  function alive() {
    heard = Date.now();
    tries = 0;
    if (cutSince !== null) {
      cutSince = null;
      on.back();
    }
  }

  function open() {
    clearTimeout(timer);
    source?.close();
    source = new EventSource("/stream" + (last ? "?since=" + encodeURIComponent(last) : ""));
    heard = Date.now();
    const take = (event, whole) => {
      last = event.lastEventId;
      alive();
      on.message(JSON.parse(event.data), whole);
    };
    source.addEventListener("state", (event) => take(event, true));
    source.addEventListener("change", (event) => take(event, false));
    source.addEventListener("beat", alive);
    source.addEventListener("error", cut);
  }

  function cut() {
    if (cutSince === null) cutSince = heard;
    source.close();
    clearTimeout(timer);
    const wait = waits[Math.min(tries++, waits.length - 1)];
    on.cut(new Date(cutSince), "");
    timer = setTimeout(open, wait);
    ask("/facts").then((facts) => facts.full, (e) => e.message).then((why) => why && cutSince !== null && on.cut(new Date(cutSince), why));
  }

  setInterval(() => {
    if (source.readyState === EventSource.OPEN && Date.now() - heard > silentFor) cut();
  }, 5000);
  addEventListener("online", open);
  open();
}
