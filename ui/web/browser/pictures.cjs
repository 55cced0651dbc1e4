// Takes the pictures of docs/tasks/web.md: run.sh pictures.cjs FOLDER. They have a palette where pngquant is installed.
"use strict";
const { spawnSync } = require("node:child_process");
const path = require("node:path");
const { launch, open, serve } = require("./session.cjs");

const shots = [
  { name: "web-map", hash: "#/map", options: {} },
  { name: "web-map-dark", hash: "#/map", options: { colorScheme: "dark" } },
  { name: "web-decisions", hash: "#/decisions", options: {} },
  { name: "web-plan", hash: "#/plan", options: {}, shows: ".block table" },
  { name: "web-cost", hash: "#/cost", options: {}, shows: ".rows.money" },
  { name: "web-phone", hash: "#/map", options: { viewport: { width: 360, height: 700 } } },
];

// smaller gives a picture a palette, which makes a third of it.
function smaller(file) {
  const { error } = spawnSync("pngquant", ["--force", "--ext", ".png", "--strip", file]);
  if (error) console.log(`${file} has no palette: ${error.message}`);
}

async function main(folder) {
  const server = await serve("--nodes", "46", "--pods", "14");
  const browser = await launch();
  await server.say("become 3 draining");
  await server.say("become 5 joining");
  await server.say("become 9 terminating");
  await server.say("become 12 cordoned");
  await server.say("become 23 pending");
  await server.say("wait api");
  await server.say("change 30");
  for (let i = 0; i < 4; i++) { // the curves need points, one each quarter of a minute
    await new Promise((done) => setTimeout(done, 15500));
    await server.say(`become ${30 + i} terminating`);
    await server.say("change 30");
    if (i === 1) await server.say("place");
  }
  await server.say("wait web");
  for (const { name, hash, options, shows } of shots) {
    const page = await open(browser, server.url + "/" + hash, { viewport: { width: 1180, height: 720 }, ...options });
    if (hash === "#/map") {
      await page.locator("canvas").focus();
      for (let i = 0; i < 13; i++) await page.keyboard.press("ArrowRight");
    }
    if (shows) await page.locator(shows).first().waitFor();
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const file = path.join(folder, name + ".png");
    await page.screenshot({ path: file });
    smaller(file);
    await page.context().close();
  }
  await browser.close();
  server.end();
}

main(process.argv[2] ?? ".").catch((e) => {
  console.error(e);
  process.exit(1);
});
