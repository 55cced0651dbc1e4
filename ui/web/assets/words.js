// How things are written: amounts, money, times. Everything here returns plain text.

// clean replaces what a name could use to look like something else: control characters, and marks of direction.
export function clean(text) {
  return String(text ?? "").replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, "\ufffd");
}

export function money(dollars) {
  if (dollars >= 1000) return "$" + Math.round(dollars).toLocaleString("en-US");
  return "$" + dollars.toFixed(dollars >= 100 ? 1 : 3);
}

// cost writes what a node or several cost.
export function cost(c) {
  if (!c || (!c.known && !c.perHour)) return "not known";
  return (c.known ? "" : "at least ") + money(c.perHour) + "/h" + (c.listed ? " (list price)" : "");
}

export function percent(share) {
  return Math.round(share * 100) + " %";
}

const binary = ["Ki", "Mi", "Gi", "Ti", "Pi"];

function bytes(n) {
  let unit = "";
  for (const next of binary) {
    if (n < 1024) break;
    n /= 1024;
    unit = next;
  }
  return (n >= 100 || Number.isInteger(n) ? Math.round(n) : n.toFixed(1)) + unit;
}

// amount writes an amount of a resource in the unit that people know.
export function amount(resource, n) {
  if (resource === "cpu") return String(Math.round(n / 10) / 100);
  if (resource === "memory" || resource === "ephemeral-storage" || resource.startsWith("hugepages-")) return bytes(n);
  if (resource === "cost") return "$" + (n / 1e6).toFixed(3) + "/h";
  return n.toLocaleString("en-US");
}

// span writes a length of time in its two largest units.
export function span(seconds) {
  seconds = Math.max(0, Math.round(seconds));
  const units = [["d", 86400], ["h", 3600], ["m", 60], ["s", 1]];
  const at = units.findIndex(([, size]) => seconds >= size);
  if (at < 0) return "0s";
  const [unit, size] = units[at];
  const rest = units[at + 1] ? Math.floor((seconds % size) / units[at + 1][1]) : 0;
  return Math.floor(seconds / size) + unit + (rest ? rest + units[at + 1][0] : "");
}

export function age(time, now) {
  return time ? span((now - Date.parse(time)) / 1000) : "";
}

export function clock(time) {
  return new Date(time).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });
}

export function moment(time) {
  return new Date(time).toLocaleString();
}

export function count(n, noun) {
  return n.toLocaleString("en-US") + " " + noun + (n === 1 ? "" : "s");
}
