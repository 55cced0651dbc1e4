// Opens pages of a server that runs already, and waits for words on each:
//   live.cjs URL HASH WORDS [HASH WORDS ...]
"use strict";
const { launch, open } = require("./session.cjs");

async function main([url, ...wanted]) {
  const browser = await launch();
  try {
    const page = await open(browser, url, { viewport: { width: 1280, height: 800 } });
    const wrong = [];
    page.on("pageerror", (e) => wrong.push(e.message));
    page.on("console", (m) => /Content Security Policy|TrustedHTML/.test(m.text()) && wrong.push(m.text()));
    for (let i = 0; i < wanted.length; i += 2) {
      await page.evaluate((hash) => { location.hash = hash; }, wanted[i]);
      try {
        await page.locator("main", { hasText: wanted[i + 1] }).first().waitFor();
      } catch {
        throw new Error(`${wanted[i]} does not show "${wanted[i + 1]}":\n${await page.locator("main").innerText()}`);
      }
    }
    if (wrong.length > 0) throw new Error(wrong.join("\n"));
  } finally {
    await browser.close();
  }
}

main(process.argv.slice(2)).catch((e) => {
  console.error(e.message);
  process.exit(1);
});
