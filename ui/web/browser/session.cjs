// What tests, measurements and pictures share: a server over an example, and a browser that looks at it.
"use strict";
const { spawn } = require("node:child_process");
const readline = require("node:readline");
const { chromium } = require("playwright-core");

// patience is how long anything may take: the processors may have much else to do.
const patience = 60000;

// serve starts the server; say sends it a command, and waits until it is carried out.
async function serve(...options) {
  const server = spawn(process.env.SERVE, options, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = readline.createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  const url = (await lines.next()).value;
  async function say(command) {
    server.stdin.write(command + "\n");
    const { value } = await lines.next();
    if (value !== "ok") throw new Error(`${command}: ${value}`);
  }
  return { url, say, end: () => server.stdin.end(), pid: server.pid };
}

const launched = { executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox"], timeout: patience };

const launch = () => chromium.launch(launched);
const launchServer = () => chromium.launchServer(launched);
const connect = (browser) => chromium.connect(browser.wsEndpoint());

// open opens a page, and waits until it shows the cluster.
async function open(browser, url, options) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(patience);
  await page.goto(url);
  await page.waitForFunction(() => performance.getEntriesByName("first-state").length > 0);
  return page;
}

module.exports = { serve, launch, launchServer, connect, open };
