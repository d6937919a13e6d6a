// Run by apps.sh: the views of MCP Apps in a browser, shown by a host over the extension's own bridge; a picture of each.
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';

const [, , executablePath, server, pictures] = process.argv;
const bundle = await build({ entryPoints: ['apps_host.js'], bundle: true, format: 'iife', write: false, logLevel: 'error' });
const page = `<!DOCTYPE html><meta charset="utf-8"><style>body{margin:0}iframe{border:0;width:100%;display:block}</style><body><script>${bundle.outputFiles[0].text.replaceAll('</script', '<\\/script')}</script>`;
// The proxy of the extension: on an origin of its own, with the policy for a view that declares no domains.
const proxy = `<!DOCTYPE html><style>html,body{height:100%;margin:0}iframe{border:0;width:100%;height:100%;display:block}</style><body><script>
  const inner = document.createElement('iframe');
  inner.setAttribute('sandbox', 'allow-scripts allow-same-origin');
  document.body.append(inner);
  addEventListener('message', ({ source, data }) => {
    if (source === inner.contentWindow) parent.postMessage(data, '*');
    else if (data.method !== 'ui/notifications/sandbox-resource-ready') inner.contentWindow.postMessage(data, '*');
    else { inner.contentDocument.open(); inner.contentDocument.write(data.params.html); inner.contentDocument.close(); }
  });
  parent.postMessage({ jsonrpc: '2.0', method: 'ui/notifications/sandbox-proxy-ready', params: {} }, '*');
</script>`;
const policy = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; connect-src 'none'";
const serve = async (content, headers) => {
  const served = createServer((_, response) => response.writeHead(200, { 'Content-Type': 'text/html', ...headers }).end(content));
  await new Promise((listening) => { served.listen(0, '127.0.0.1', listening); });
  return served;
};
const [hostServer, proxyServer] = [await serve(page, {}), await serve(proxy, { 'Content-Security-Policy': policy })];
const host = `http://127.0.0.1:${hostServer.address().port}/`;
const sandbox = `http://localhost:${proxyServer.address().port}/`;

let found = 0;
const tell = (...what) => { found += 1; console.log(...what); };
const expect = (expected, actual, what) => {
  if (JSON.stringify(expected) !== JSON.stringify(actual)) tell(what, 'expected', expected, 'got', actual);
};

mkdirSync(pictures, { recursive: true });
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const looked = async (width, theme, look) => {
  const tab = await browser.newPage({ viewport: { width, height: 800 } });
  tab.on('console', (said) => { if (said.type() === 'error') tell(width, theme, said.text()); });
  tab.on('pageerror', (error) => tell(width, theme, error.message));
  tab.on('dialog', (dialog) => { tell('a dialog'); dialog.dismiss(); });
  tab.on('request', (asked) => { if (![host, sandbox, server].includes(asked.url()) && asked.url() !== 'about:blank') tell('requested', asked.url()); });
  await tab.goto(host);
  expect('2026-07-28', await tab.evaluate((url) => window.connectHost(url), server), 'revision');
  const show = async (call) => {
    const result = await tab.evaluate((given) => window.show(given), { sandbox, theme, variables: {}, ...call });
    const view = tab.frames().find((frame) => frame.parentFrame()?.parentFrame());
    await view.waitForSelector('main > *');
    await view.waitForTimeout(150); // for its size to be reported
    return { result: result.structuredContent, view };
  };
  await look(tab, show);
  await tab.close();
};

const axe = readFileSync('node_modules/axe-core/axe.min.js', 'utf8');
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const calls = [['get_business', {}], ['search_reviews', { query: 'boiler', min_rating: 4, limit: 4 }], ['get_summary', {}]];
for (const width of [320, 800]) {
  for (const theme of ['light', 'dark']) {
    await looked(width, theme, async (tab, show) => {
      for (const [name, input] of calls) {
        const { view } = await show({ name, input });
        if (await view.evaluate(() => document.documentElement.scrollWidth > innerWidth)) tell(name, width, 'scrolls sideways');
        const [wanted, height] = [await view.evaluate(() => Math.ceil(document.documentElement.getBoundingClientRect().height)), await tab.evaluate(() => document.querySelector('iframe').offsetHeight)];
        expect(wanted, height, `height of ${name}`);
        await view.evaluate(axe);
        const { violations } = await view.evaluate((runOnly) => window.axe.run({ runOnly }), rules);
        for (const violation of violations) tell(name, width, theme, violation.id, violation.nodes[0].html);
        await tab.screenshot({ path: `${pictures}/${name}-${theme}-${width}.png`, fullPage: true });
      }
    });
  }
}

const hostile = '<img src=x onerror=alert(1)><script>alert(2)</script>&lt;b&gt; {name} </script>';
await looked(800, 'dark', async (tab, show) => {
  expect(...await tab.evaluate(() => window.listen()), 'subscriptions');
  const { result, view } = await show({ name: 'search_reviews', input: { limit: 3 }, variables: { '--color-background-primary': 'rgb(1, 2, 3)' } });
  expect(result.reviews.map((review) => review.text), await view.locator('.card > .said').allTextContents(), 'texts');
  expect('rgb(1, 2, 3)', await view.evaluate(() => getComputedStyle(document.documentElement).backgroundColor), "the host's variable");
  await view.click('.card .open >> nth=1');
  const opened = await tab.evaluate(() => window.opened);
  expect([true, `/r/${result.reviews[1].id}`], [opened.length === 1, new URL(opened[0]).pathname], 'opened');
  await view.click('button');
  await view.waitForFunction(() => document.querySelectorAll('.card').length === 6);
  expect({}, await tab.evaluate(() => window.teardown()), 'teardown');

  const review = { id: '/../"', author: hostile, rating: 1, date: '2026-01-02', text: hostile, source: hostile, verified: true, owner_reply: { text: hostile, date: '2026-01-03' } };
  const data = { matched: 2, returned: 1, reviews: [review], next_cursor: null, note: hostile };
  const attacked = await show({ name: 'search_reviews', input: { query: hostile }, result: { content: [], structuredContent: data } });
  expect([hostile, hostile], await attacked.view.locator('.said').allTextContents(), 'hostile texts');
  expect(0, await attacked.view.evaluate(() => document.querySelectorAll('main img, main script, main b:not(.meta b)').length), 'elements made of texts');
  const failed = await show({ name: 'search_reviews', input: {}, result: { content: [{ type: 'text', text: hostile }], isError: true } });
  expect(hostile, await failed.view.locator('main').textContent(), 'an error');
});
await browser.close();
hostServer.close();
proxyServer.close();
console.log(`${calls.length} views, ${found} findings; pictures in ${pictures}`);
process.exit(found ? 1 : 0);
