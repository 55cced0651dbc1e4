// Drives Chromium through the pages, as a user would.
"use strict";
const assert = require("node:assert/strict");
const { after, before, test } = require("node:test");
const { launch, open, serve } = require("./session.cjs");

let browser;
const servers = [];
const wrong = []; // what pages complained about

before(async () => {
  browser = await launch();
});

after(async () => {
  await browser.close();
  for (const s of servers) s.end();
  assert.deepEqual(wrong, [], "pages have errors, break their own policy, or ask another host");
});

async function example(...options) {
  const s = await serve(...options);
  servers.push(s);
  return s;
}

async function look(s, hash = "", options = {}) {
  const page = await open(browser, s.url + "/" + hash, { viewport: { width: 1280, height: 800 }, ...options });
  page.on("pageerror", (e) => wrong.push(e.message));
  page.on("console", (m) => /Content Security Policy|TrustedHTML/.test(m.text()) && wrong.push(m.text()));
  page.on("request", (r) => r.url().startsWith(s.url) || wrong.push(r.url()));
  return page;
}

const has = (page, selector, text) => page.locator(selector, { hasText: text }).first().waitFor();

// colours counts the different colours of the map.
const colours = (page) => page.evaluate(() => {
  const c = document.querySelector("canvas");
  const pixels = new Uint32Array(c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer);
  return new Set(pixels).size;
});

test("the map has boxes, and a search leaves those that are found", async () => {
  const page = await look(await example("--nodes", "40"));
  await has(page, "#figures", "Nodes 40");
  await has(page, "#found", "40 nodes");
  await page.waitForFunction(() => document.querySelector("canvas").width > 0);
  assert.ok(await colours(page) > 8, "the canvas has next to no colours");
  await page.fill("#search", "zone:eu-west-1a -pool:batch");
  await has(page, "#found", / of 40 nodes/);
  await page.fill("#search", "no-such-node");
  await has(page, "#found", "0 of 40 nodes");
  await page.close();
});

test("a node that drains is seen by the eye, in the table and in its page", async () => {
  const s = await example("--nodes", "12");
  const page = await look(s, "#/nodes");
  await s.say("become 3 draining");
  await has(page, "tbody tr:has-text('ip-10-0-0-7') .status", "draining");
  await has(page, "#figures", "1 draining");
  await has(page, "#live", "was disrupted: Underutilized");
  await page.click("text=ip-10-0-0-7.eu-west-1.compute.internal");
  await has(page, "h2", "Node ip-10-0-0-7");
  await has(page, ".facts", "2 nodes hold the pods of 3 for less");
  await has(page, ".said", "its pods fit nowhere for less");
  await page.keyboard.press("d");
  await has(page, ".said", "was disrupted: Underutilized");
  await page.close();
});

test("a page that was cut off says so, and catches up with what it missed", async () => {
  const s = await example("--nodes", "12");
  const page = await look(s, "#/nodes");
  const asked = [];
  page.on("request", (r) => asked.push(r.url()));
  await s.say("cut");
  await has(page, "#cut", "Cut off from the server since");
  await s.say("become 5 draining");
  await s.say("back");
  await page.locator("#cut").waitFor({ state: "hidden" });
  await has(page, "tbody tr:has-text('ip-10-0-0-9') .status", "draining");
  assert.ok(asked.some((url) => /\/stream\?since=\w+\.\d+$/.test(url)), "it did not say what it had seen: " + asked);
  assert.equal(await page.locator("tbody tr[aria-rowindex]").count(), 12);
  await page.close();
});

test("odd names are text, wherever they stand", async () => {
  const s = await example("--nodes", "6");
  const odd = '<img src=x onerror="window.caught=1"><script>window.caught=1</script>';
  await s.say("rename 2 " + odd);
  await s.say("wait " + odd);
  const page = await look(s, "#/nodes");
  await has(page, "tbody", odd);
  for (const hash of ["#/map", "#/waiting", "#/decisions", "#/plan", "#/cost", "#/node/" + encodeURIComponent(odd), "#/pod/kube-system/" + encodeURIComponent(odd),
    "#/pod/shop/" + encodeURIComponent(odd + "-1"), "#/owner/shop/Deployment/" + encodeURIComponent(odd)]) {
    await page.evaluate((to) => (location.hash = to), hash);
    await page.waitForFunction((name) => document.body.dataset.page === name, hash.split("/")[1]);
    if (hash.startsWith("#/node/")) await has(page, "h2", odd);
    if (hash === "#/plan") {
      await page.locator(".block table").first().waitFor();
      await page.evaluate(() => document.querySelectorAll("main details").forEach((d) => (d.open = true)));
      await has(page, "td", odd);
    }
    if (hash === "#/cost") {
      await page.locator(".cause").first().waitFor();
      await page.evaluate(() => document.querySelectorAll("main details").forEach((d) => (d.open = true)));
    }
    if (hash.startsWith("#/pod/shop") || hash.startsWith("#/owner")) await has(page, ".explained", odd);
  }
  assert.equal(await page.locator("img").count() + await page.locator("main script").count(), 0);
  assert.equal(await page.evaluate(() => window.caught), undefined);
  await s.say("rename 3 evil\u202egnp.exe");
  await page.evaluate(() => (location.hash = "#/nodes"));
  await has(page, "tbody", "evil\ufffdgnp.exe");
  await page.close();
});

test("the page of a pod says why it waits, with numbers, and what would change that", async () => {
  const s = await example("--nodes", "12");
  await s.say("wait web");
  const page = await look(s, "#/pod/shop/web-1");
  await has(page, ".explained .state", "waits for a node: there is no place");
  await has(page, ".explained", "NodePool/batch: cpu limit reached: 16 of 20 used");
  await has(page, ".explained h3", "What would change it");
  await has(page, ".said", "has no place");
  await page.click(".facts a:has-text('Deployment/web')");
  await has(page, "h2", "Deployment shop/web");
  await has(page, ".explained .state", "pods wait for a node");
  await s.say("become 3 draining");
  await page.evaluate(() => (location.hash = "#/node/ip-10-0-0-7.eu-west-1.compute.internal"));
  await has(page, ".explained .state", "is draining");
  await has(page, ".explained", "was disrupted: Underutilized");
  await page.close();
});

test("the plan is made when its page is opened, and again when asked", async () => {
  const s = await example("--nodes", "40");
  const page = await look(s);
  await page.keyboard.press("l");
  await has(page, "nav a[aria-current=page]", "Plan");
  await has(page, ".asked", /Made at .* it took/);
  await has(page, ".block", "Plan: ");
  await has(page, ".block h3", "- Terminated");
  await has(page, ".block", "Cost: $");
  const asked = page.waitForRequest((r) => r.url().endsWith("/plan"));
  await page.click(".asked button");
  await asked;
  await page.keyboard.press("m");
  await page.keyboard.press("l"); // the last one is there at once
  await has(page, ".block h3", "- Terminated");
  await page.close();
});

test("the page of costs divides them, and has them as CSV", async () => {
  const s = await example("--nodes", "40");
  const page = await look(s);
  await page.keyboard.press("c");
  for (const text of ["By pool", "By capacity type", "Not used by workloads", "By namespace", "By workload", "Requested and not used", "Savings of disruption"]) await has(page, "h3", text);
  await page.click(".cause summary");
  await has(page, ".cause[open]", "What to do: ");
  await page.locator("button", { hasText: "more" }).first().click();
  await page.locator("button[aria-expanded=true]", { hasText: "Show fewer" }).waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("a[download]")]);
  assert.equal(download.suggestedFilename(), "daemok-cost.csv");
  await page.close();
});

test("pods that waited and got a node are in the history", async () => {
  const s = await example("--nodes", "5");
  await s.say("wait web");
  const page = await look(s, "#/waiting");
  await has(page, "tbody", "Deployment/web");
  await s.say("place");
  await has(page, "p", /In the last five minutes 3 pods got a node: half of them within \d+m/);
  await page.keyboard.press("d");
  await has(page, ".curve", /half of them, at most \d+m/);
  await page.close();
});

test("keys do all that a pointer does", async () => {
  const page = await look(await example("--nodes", "40"));
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.id), "search");
  await page.keyboard.type("ip-10-0-0-1");
  await has(page, "#found", "10 of 40 nodes");
  await page.keyboard.press("Escape");
  assert.equal(await page.evaluate(() => document.activeElement.tagName), "CANVAS");
  await has(page, ".card h2", /ip-|general|batch/);
  const first = await page.textContent(".card h2");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  await page.waitForFunction((before) => document.querySelector(".card h2").textContent !== before, first);
  await has(page, "#live", /of 40/);
  const second = await page.textContent(".card h2");
  await page.keyboard.press("Enter");
  await has(page, "h2", "Node " + second);
  await page.keyboard.press("?");
  await page.locator("#keys[open]").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("#keys[open]").waitFor({ state: "detached" });
  await page.keyboard.press("n");
  await has(page, "caption", "Nodes of the cluster");
  for (let i = 0; i < 40 && (await page.evaluate(() => document.activeElement.textContent)) !== "cpu"; i++) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.locator("th[aria-sort=descending]", { hasText: "cpu" }).waitFor();
  await page.close();
});

const everywhere = ["#/map", "#/nodes", "#/pools", "#/waiting", "#/decisions", "#/plan", "#/cost", "#/node/ip-10-0-0-7.eu-west-1.compute.internal", "#/pool/NodePool/default", "#/pod/shop/web-1", "#/owner/shop/Deployment/web"];

test("every page fits a phone, and has names for all that it has", async () => {
  const s = await example("--nodes", "40");
  await s.say("wait web");
  const page = await look(s, "#/map", { viewport: { width: 360, height: 740 } });
  for (const hash of everywhere) {
    await page.evaluate((to) => (location.hash = to), hash);
    await page.waitForFunction((name) => document.body.dataset.page === name && document.querySelector("main").firstElementChild, hash.split("/")[1]);
    if (hash === "#/plan") await page.locator(".block table").first().waitFor();
    if (hash === "#/cost") await page.locator(".rows.money").first().waitFor();
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 360, hash + " is wider than a phone");
    const faults = await page.evaluate(() => {
      const out = [];
      const seen = (e) => e.getClientRects().length > 0;
      for (const e of document.querySelectorAll("a, button, input, select, canvas, svg[role=img], [role=region]")) {
        const name = e.getAttribute("aria-label") || e.labels?.[0]?.textContent || e.textContent;
        if (seen(e) && !name.trim()) out.push("no name: " + e.outerHTML.slice(0, 80));
      }
      for (const t of document.querySelectorAll("main table")) if (!t.querySelector("th[scope]")) out.push("a table without heads");
      if (document.querySelectorAll("h1").length !== 1) out.push("not one h1");
      if (document.querySelectorAll("main").length !== 1) out.push("not one main");
      const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
      if (new Set(ids).size !== ids.length) out.push("an ID twice");
      for (const b of document.querySelectorAll("button, select, input")) if (seen(b) && b.getBoundingClientRect().height < 24) out.push("too small to touch: " + b.outerHTML.slice(0, 60));
      return out;
    });
    assert.deepEqual(faults, [], hash);
  }
  await page.close();
});

test("light and dark are read well, by the system or by choice", async () => {
  const s = await example("--nodes", "5");
  for (const colorScheme of ["light", "dark"]) {
    const page = await look(s, "", { colorScheme, reducedMotion: "reduce" });
    const contrasts = await page.evaluate(() => {
      const style = getComputedStyle(document.documentElement);
      const light = (name) => {
        const hex = style.getPropertyValue(name).trim().slice(1);
        const [r, g, b] = [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
      return ["ink", "faint", "link", "good", "warn", "bad", "wait"].flatMap((name) => ["paper", "back"].map((on) => [name + " on " + on, contrast("--" + name, "--" + on)]));
    });
    for (const [what, ratio] of contrasts) assert.ok(ratio >= 4.5, `${colorScheme}: ${what} has a contrast of ${ratio.toFixed(2)}`);
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const before = await paper();
    await page.click("#theme"); // light
    await page.click("#theme"); // dark
    const dark = await paper();
    assert.equal(dark, "rgb(15, 22, 29)");
    assert.equal(before === dark, colorScheme === "dark");
    await page.reload();
    await page.waitForFunction(() => performance.getEntriesByName("first-state").length > 0);
    assert.equal(await paper(), dark, "the choice is not kept");
    assert.equal(await page.evaluate(() => matchMedia("(prefers-reduced-motion: reduce)").matches && getComputedStyle(document.querySelector(".bar span") ?? document.body).transitionDuration), "0s");
    await page.context().close();
  }
});

test("two thousand nodes are a map and a table of a screen's rows", async () => {
  const page = await look(await example("--nodes", "2000", "--pods", "20"));
  await has(page, "#figures", "40,000");
  assert.ok(await colours(page) > 8);
  await page.locator("canvas").focus();
  await page.keyboard.press("End");
  await has(page, "#live", "2000 of 2000");
  await page.keyboard.press("n");
  await page.locator("table[aria-rowcount='2001']").waitFor();
  assert.ok(await page.locator("tbody tr").count() < 100, "the table has all rows");
  await page.close();
});

test("what is unfolded and has the focus stays so while the cluster changes", async () => {
  const s = await example("--nodes", "5");
  const page = await look(s, "#/node/ip-10-0-0-7.eu-west-1.compute.internal");
  const link = page.locator(".facts a", { hasText: "NodePool/" });
  await page.click("main summary");
  await link.focus();
  await page.evaluate(() => getSelection().selectAllChildren(document.querySelector(".uses td + td")));
  const chosen = await page.evaluate(() => getSelection().toString());
  assert.match(chosen, /requested/);
  await s.say("become 3 draining");
  await has(page, ".status", "draining");
  await has(page, "#live", "ip-10-0-0-7");
  assert.equal(await page.evaluate(() => document.querySelector("main details").open), true, "the labels were folded");
  assert.equal(await page.evaluate(() => getSelection().toString()), chosen, "the selection is lost");
  assert.match(await page.evaluate(() => document.activeElement.hash), /^#\/pool\/NodePool/, "the focus is lost");
  assert.equal(await page.locator(".explained[aria-live]").count(), 0, "ages are read aloud");
  await page.close();
});

test("the rows of nodes that have not changed stay as they are, with focus and selection", async () => {
  const s = await example("--nodes", "12");
  const page = await look(s, "#/nodes");
  const row = (n) => page.locator("tbody tr", { has: page.locator(`a:text-is("ip-10-0-0-${n}.eu-west-1.compute.internal")`) });
  await row(9).locator("a").focus();
  await page.evaluate(() => {
    const rows = [...document.querySelectorAll("tbody tr[aria-rowindex]")];
    window.touched = new Set();
    new MutationObserver((list) => list.forEach((m) => {
      const e = m.target.nodeType === Node.TEXT_NODE ? m.target.parentElement : m.target;
      if (m.type === "childList" && e.tagName === "TBODY") [...m.addedNodes, ...m.removedNodes].forEach((n) => window.touched.add(n.textContent));
      else if (e?.closest("td, th") !== e?.closest("tr")?.lastElementChild) window.touched.add(e?.closest("tr").querySelector("a").textContent); // not the age
    })).observe(document.querySelector("tbody"), { subtree: true, childList: true, attributes: true, attributeFilter: ["class", "href"], characterData: true });
    getSelection().selectAllChildren(rows[1].querySelector("a"));
    window.chosen = getSelection().toString();
    window.had = document.activeElement;
  });
  await s.say("become 3 draining");
  await row(7).locator(".status", { hasText: "draining" }).waitFor();
  assert.deepEqual(await page.evaluate(() => [...window.touched]), ["ip-10-0-0-7.eu-west-1.compute.internal"], "other rows are made again");
  assert.ok(await page.evaluate(() => getSelection().toString() !== "" && getSelection().toString() === window.chosen), "the selection is lost");
  assert.ok(await page.evaluate(() => document.activeElement === window.had), "the focus is lost");

  // A row that goes elsewhere takes the focus with it; where its node goes, the table keeps it.
  await page.locator("thead button", { hasText: "Status" }).click();
  const last = row(9);
  await last.locator("a").focus();
  const before = Number(await last.getAttribute("aria-rowindex"));
  await s.say("become 5 cordoned");
  await last.locator(".status", { hasText: "cordoned" }).waitFor();
  assert.ok(Number(await last.getAttribute("aria-rowindex")) < before, "the row has not moved");
  assert.match(await page.evaluate(() => document.activeElement.hash ?? ""), /ip-10-0-0-9/, "the focus has not moved with its row");
  const order = await page.locator("tbody tr[aria-rowindex]").evaluateAll((rows) => rows.map((r) => Number(r.getAttribute("aria-rowindex"))));
  assert.deepEqual(order, [...order].sort((a, b) => a - b), "rows are not in their order");
  await s.say("rename 5 another");
  await has(page, "tbody", "another");
  assert.equal(await page.evaluate(() => document.activeElement.className), "list", "the focus has left the table");
  await page.fill("#search", "no-such-node");
  await page.getByText("No node is found.").waitFor();
  await page.fill("#search", "");
  await page.locator("tbody tr[aria-rowindex='13']").waitFor();
  await page.close();
});

test("the link that skips to the content stays on its page", async () => {
  const page = await look(await example("--nodes", "3"), "#/nodes");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "main");
  assert.equal(await page.evaluate(() => document.body.dataset.page + location.hash), "nodes#/nodes");
  await page.close();
});

test("the page of a pod that no list names says no more than its card", async () => {
  const s = await example("--nodes", "3");
  await s.say("wait web");
  const page = await look(s, "#/pod/shop/web-1-1"); // lists name the first pod alone
  await has(page, ".explained .state", "waits for a node: there is no place");
  assert.equal(await page.getByText("There is no pod").count(), 0);
  await page.close();
});

test("who is not let in any more is sent to sign in, or gets to know why", async () => {
  const s = await example("--nodes", "3", "--reviewed");
  const context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(60000);
  await page.goto(s.url + "/#/nodes");
  await page.fill("#token", "of-admin");
  await page.keyboard.press("Enter");
  await has(page, "nav a[aria-current=page]", "Nodes"); // the page that was asked for
  await s.say("refuse bind user admin to a ClusterRole");
  await s.say("cut");
  await s.say("back");
  await has(page, "#cut", "bind user admin to a ClusterRole");
  await s.say("accept");
  await page.locator("#cut").waitFor({ state: "hidden" });
  await page.keyboard.press("c");
  await has(page, "p[role=status]", "As of");
  await s.say("refuse a reason of its own");
  await page.click("text=Compute it again");
  await has(page, "p[role=status]", "a reason of its own");
  await s.say("refuse");
  await page.click("text=Compute it again");
  await page.waitForURL(/signin/);
  await context.close();
});

test("a token is needed once", async () => {
  const s = await example("--nodes", "3", "--token", "secret");
  const context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(60000);
  await page.goto(s.url);
  await has(page, "body", "Open the whole address");
  await page.goto(s.url + "/?token=secret");
  await has(page, "#figures", "Nodes 3");
  assert.equal(page.url().includes("secret"), false);
  assert.equal(await page.evaluate(() => document.cookie), "");
  await context.close();
});
