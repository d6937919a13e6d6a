// Run by pages.sh: axe, the width of pages, and what a browser says under their policy.
import { readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';

const [, , executablePath, base, ...paths] = process.argv;
const axe = readFileSync(new URL('./node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
let found = 0;
const tell = (...what) => { found += 1; console.log(...what); };

for (const path of paths) {
  for (const colorScheme of ['light', 'dark']) {
    for (const width of [320, 1280]) {
      const viewport = { width, height: 900 };
      const open = await browser.newContext({ viewport, colorScheme, bypassCSP: true });
      const page = await open.newPage();
      await page.goto(base + path);
      await page.evaluate(axe);
      const { violations } = await page.evaluate((runOnly) => window.axe.run({ runOnly }), rules);
      for (const each of violations) tell(path, colorScheme, width, each.id, each.nodes[0].html);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      if (wide) tell(path, width, 'scrolls sideways');
      await open.close();

      const strict = await browser.newContext({ viewport, colorScheme, javaScriptEnabled: false });
      const quiet = await strict.newPage();
      quiet.on('console', (said) => {
        if (!said.text().startsWith('Failed to load resource: the server responded with a status of 4')) {
          tell(path, said.text());
        }
      });
      quiet.on('request', (asked) => { if (!asked.url().startsWith(base)) tell(path, asked.url()); });
      await quiet.goto(base + path);
      await strict.close();
    }
  }
}
await browser.close();
console.log(`${paths.length} pages, ${found} findings`);
process.exit(found ? 1 : 0);
