// Measures the pages for docs/reference/benchmarks.md: run.sh measure.cjs [NODES PODS-OF-EACH CHANGES-A-SECOND SECONDS].
// Processor time is that of the browser's processes and of the server's, so that other programs change little.
"use strict";
const fs = require("node:fs");
const { connect, launchServer, open, serve } = require("./session.cjs");

const [nodes, pods, perSecond, seconds] = [2000, 20, 20, 15].map((usual, i) => Number(process.argv[i + 2] ?? usual));
const ticks = 100; // of a second, in /proc

// spent is the processor time in seconds of a process and of all that it started.
function spent(pid) {
  const parents = new Map();
  for (const name of fs.readdirSync("/proc").filter((n) => /^\d+$/.test(n))) {
    try {
      const fields = fs.readFileSync(`/proc/${name}/stat`, "utf8").replace(/^.*\) /, "").split(" ");
      parents.set(Number(name), { parent: Number(fields[1]), used: (Number(fields[11]) + Number(fields[12])) / ticks });
    } catch {
      // it has ended meanwhile
    }
  }
  const below = (at) => at === pid || (parents.has(at) && below(parents.get(at).parent));
  return [...parents].filter(([at]) => below(at)).reduce((sum, [, p]) => sum + p.used, 0);
}

async function main() {
  const server = await serve("--nodes", String(nodes), "--pods", String(pods));
  const process_ = await launchServer();
  const browser = await connect(process_);
  await open(browser, server.url, {}); // the first page of a browser also starts it
  const page = await open(browser, server.url, { viewport: { width: 1280, height: 800 } });
  const times = await page.evaluate(() => {
    const at = (list) => Math.round(list[0]?.startTime ?? 0);
    return { paint: at(performance.getEntriesByName("first-contentful-paint")), map: at(performance.getEntriesByName("first-state")) };
  });
  await browser.contexts()[0].close();
  const pid = process_.process().pid;
  const before = { browser: spent(pid), server: spent(server.pid) };
  const began = Date.now();
  for (let i = 1; i <= seconds * perSecond; i++) {
    await server.say("change 1");
    const wait = began + (i * 1000) / perSecond - Date.now();
    if (wait > 0) await new Promise((done) => setTimeout(done, wait));
  }
  const took = (Date.now() - began) / 1000;
  console.log(JSON.stringify({
    nodes, pods: nodes * pods, changesPerSecond: Math.round((seconds * perSecond) / took), firstPaintMilliseconds: times.paint, mapMilliseconds: times.map,
    browserCores: Number(((spent(pid) - before.browser) / took).toFixed(3)), serverCores: Number(((spent(server.pid) - before.server) / took).toFixed(3)),
  }));
  await browser.close();
  await process_.close();
  server.end();
}

main().catch((e) => {
  console.error(e);
  process.exit(1);
});
