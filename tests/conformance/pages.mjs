// Run by pages.sh: axe, what a browser says under the policy of the pages, and how they are used: by keyboard, on paper,
// with large letters, with forced colours, in a frame.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { chromium } from 'playwright-core';

const [, , executablePath, base, ...paths] = process.argv;
const axe = readFileSync(new URL('./node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
let found = 0;
const tell = (...what) => { found += 1; console.log(...what); };

const within = async (options, path, look) => {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  try {
    await page.goto(base + path);
    await look(page);
  } finally {
    await context.close();
  }
};
const sideways = (page) => page.evaluate(() => document.documentElement.scrollWidth > innerWidth);

const looks = ['light', 'dark'].flatMap((colorScheme) => [320, 1280].map(
  (width) => ({ colorScheme, viewport: { width, height: 900 } }),
));
for (const look of looks) {
  const scripted = await browser.newContext({ ...look, bypassCSP: true });
  const strict = await browser.newContext({ ...look, javaScriptEnabled: false });
  const page = await scripted.newPage(); // one window for all: a new one takes longer than its page
  const quiet = await strict.newPage();
  let name;
  quiet.on('console', (said) => {
    if (!said.text().startsWith('Failed to load resource: the server responded with a status of 4')) {
      tell(name, said.text());
    }
  });
  quiet.on('request', (asked) => { if (!asked.url().startsWith(base)) tell(name, asked.url()); });
  for (const path of paths) {
    name = `${path} ${look.colorScheme} ${look.viewport.width}`;
    await page.goto(base + path);
    await page.evaluate(axe);
    const violations = await page.evaluate(async (runOnly) => {
      const results = await window.axe.run({ runOnly, resultTypes: ['violations'] });
      return results.violations.map(({ id, nodes }) => [id, nodes[0].html]); // not what passes: megabytes
    }, rules);
    for (const each of violations) tell(name, ...each);
    if (await sideways(page)) tell(name, 'scrolls sideways');
    if (look.viewport.width === 320) { // WCAG 2.2 1.4.4
      await page.addStyleTag({ content: 'html{font-size:200%}' });
      if (await sideways(page)) tell(path, 'scrolls sideways with letters of twice the size');
    }
    if (look === looks[0]) await quiet.goto(base + path); // what it loads is the same in each
  }
  await scripted.close();
  await strict.close();
}

// What each kind of page has in common is looked at once.
const desk = { viewport: { width: 1280, height: 900 } };
for (const path of ['/', '/reviews', '/developers']) {
  await within(desk, path, async (page) => { // WCAG 2.2 2.1.1, 2.4.1, 2.4.3, 2.4.7
    await page.keyboard.press('Tab');
    const first = await page.evaluate(() => document.activeElement.className);
    if (first !== 'skip') tell(path, 'the first stop of Tab is no link to the content:', first);
    const seen = new Set();
    for (;;) {
      const stop = await page.evaluate(() => {
        const at = document.activeElement;
        if (at === document.body) return null;
        const { width, height, top, bottom } = at.getBoundingClientRect();
        const { outlineStyle } = getComputedStyle(at);
        const place = [...document.querySelectorAll('*')].indexOf(at);
        const visible = width > 0 && height > 0 && bottom > 0 && top < innerHeight;
        return { place, visible, outlineStyle, html: at.outerHTML.slice(0, 100) };
      });
      if (stop === null || seen.has(stop.place)) break;
      seen.add(stop.place);
      if (!stop.visible) tell(path, 'a stop of Tab cannot be seen:', stop.html);
      if (stop.outlineStyle === 'none') tell(path, 'a stop of Tab has no ring:', stop.html);
      await page.keyboard.press('Tab');
    }
    const places = [...seen];
    if (places.length < 10) tell(path, 'Tab stops only', places.length, 'times');
    if (places.some((place, at) => at && place < places[at - 1])) tell(path, 'Tab leaves the order of the page');
  });
  await within({ viewport: { width: 794, height: 1123 } }, path, async (page) => {
    await page.emulateMedia({ media: 'print' });
    if (await sideways(page)) tell(path, 'is too wide for paper');
    if (await page.locator('.top nav').isVisible()) tell(path, 'prints its navigation');
    if ((await page.pdf({ format: 'A4' })).length < 5_000) tell(path, 'prints nothing');
  });
}
await within({ ...desk, javaScriptEnabled: false }, '/reviews', async (page) => {
  await page.focus('#f-query');
  await page.keyboard.type('heat');
  await page.keyboard.press('Enter');
  await page.waitForURL(/query=heat/);
});
for (const colorScheme of ['light', 'dark']) {
  await within({ ...desk, colorScheme, forcedColors: 'active' }, '/', async (page) => {
    const [star, off, ground] = await page.evaluate(() => [
      getComputedStyle(document.querySelector('.card .stars')).fill,
      getComputedStyle(document.querySelector('.bars .off')).stroke,
      getComputedStyle(document.body).backgroundColor,
    ]);
    if (star === ground || off === ground) tell('/', colorScheme, 'stars cannot be seen with forced colours');
  });
}
await within({ viewport: { width: 794, height: 1123 } }, '/review-us', async (page) => { // A4 at 96 dpi
  await page.emulateMedia({ media: 'print' });
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  if (height > 1123) tell('/review-us', 'does not print on one sheet:', height);
  if (await page.locator('.qr').isHidden()) tell('/review-us', 'prints no code');
});
// The embed on a page of another origin, by its script and as a frame alone, in a column and on a whole page.
const shop = createServer((request, response) => {
  const options = decodeURIComponent(new URL(request.url, base).search.slice(1));
  const line = options === 'alone'
    ? `<iframe src="${base}/embed" title="Reviews" height="300" style="width:100%;border:0"></iframe>`
    : `<script async src="${base}/embed.js" ${options}></script>`;
  response.setHeader('Content-Type', 'text/html');
  response.end(`<!DOCTYPE html><html lang="en"><title>Shop</title><body style="margin:0"><main>${line}</main>`);
});
await new Promise((listening) => { shop.listen(0, '127.0.0.1', listening); });
const origin = `http://127.0.0.1:${shop.address().port}`;
const embeds = ['', 'data-layout="grid" data-count="6" data-theme="dark"', 'data-layout="badge" data-theme="auto"', 'data-count="99"', 'alone'];
for (const width of [280, 800]) {
  for (const embed of embeds) {
    const page = await browser.newPage({ viewport: { width, height: 600 } });
    page.on('console', (said) => { if (!said.text().includes('status of 400')) tell(embed, said.text()); });
    page.on('pageerror', (error) => tell(embed, error.message));
    await page.goto(`${origin}/?${encodeURIComponent(embed)}`, { waitUntil: 'networkidle' });
    const frame = await page.waitForSelector('iframe');
    const inner = await frame.contentFrame();
    const wanted = await inner.evaluate(() => Math.ceil(document.documentElement.getBoundingClientRect().height));
    const fits = (expected) => page.waitForFunction(
      ([shown, height]) => shown.offsetHeight === height, [frame, expected], { timeout: 5_000 },
    ).catch(() => tell(embed, width, 'has not the height', expected));
    await fits(embed === 'alone' ? 300 : wanted);
    await page.evaluate(() => postMessage({ height: 9 }, '*')); // not from the frame
    await page.waitForTimeout(50);
    await fits(embed === 'alone' ? 300 : wanted);
    if (await sideways(inner)) tell(embed, width, 'scrolls sideways');
    if (!(await frame.getAttribute('title'))) tell(embed, 'has no title');
    await page.close();
  }
}
shop.close();
await browser.close();
console.log(`${paths.length} pages, ${found} findings`);
process.exit(found ? 1 : 0);
