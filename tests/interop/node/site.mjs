// Reads the published pages in headless Chromium: from a subfolder of a static server and from the service, with and
// without JavaScript, light and dark, wide and narrow.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { isQuiet, launch, open, overflow, shoot, violations, waiting } from './browser.mjs';

const { SERVICE_URL, SITE: directory } = process.env;
const FOLDER = '/sub/folder/';
const TYPES = { '.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript', '.json': 'application/json', '.png': 'image/png', '.atom': 'application/atom+xml' };

// A server of files without any rule but `index.html` for a directory.
const server = createServer(async ({ url }, response) => {
  const { pathname } = new URL(url, 'http://127.0.0.1');
  try {
    assert.ok(pathname.startsWith(FOLDER));
    const path = normalize(decodeURIComponent(pathname.slice(FOLDER.length)) || 'index.html');
    const content = await readFile(join(directory, path.endsWith('/') ? `${path}index.html` : path));
    response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'application/octet-stream' }).end(content);
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${server.address().port}`;
const site = origin + FOLDER;
const service = new URL(SERVICE_URL).origin;
const document = await (await fetch(`${site}openapi.json`)).json();
const releases = (await (await fetch(`${site}openapi/SHA256SUMS`)).text()).match(/\S+(?=\.yaml$)/gm);
const newest = document.info.version;

const browser = await launch();

// Follows all links from a page, without JavaScript. Returns the pages with their identifiers.
const crawl = async (start, within) => {
  const one = await open(browser, { javaScriptEnabled: false });
  const pages = new Map();
  const others = new Set();
  const links = [];
  for (const queue = [start]; queue.length > 0; ) {
    const url = queue.pop();
    if (pages.has(url)) continue;
    const response = await one.page.goto(url);
    assert.equal(response.status(), 200, url);
    const found = await one.page.evaluate(() => ({
      ids: [...document.querySelectorAll('[id]')].map(({ id }) => id),
      links: [...document.querySelectorAll('[href], [src]')].map((element) => element.href ?? element.src),
      relative: [...document.querySelectorAll('[href], [src]')].map((element) => element.getAttribute('href') ?? element.getAttribute('src')),
    }));
    assert.equal(new Set(found.ids).size, found.ids.length, `${url}: an identifier is used twice`);
    assert.deepEqual(found.relative.filter((link) => link.startsWith('/')), [], `${url}: links that work at a root only`);
    pages.set(url, found.ids);
    for (const link of found.links.filter((link) => link.startsWith(within))) {
      links.push([url, link]);
      const target = link.split('#')[0];
      if (/\/$|\/docs$|\.html$/.test(target)) queue.push(target);
      else others.add(target);
    }
  }
  for (const url of others) assert.equal((await fetch(url)).status, 200, url);
  for (const [from, link] of links) {
    const [target, fragment] = link.split('#');
    // A fragment that begins with a slash is the viewer's.
    if (!fragment || fragment.startsWith('/')) continue;
    assert.ok(pages.get(target)?.includes(fragment), `${from}: ${link} leads nowhere`);
  }
  isQuiet(one, new URL(start).origin);
  await one.context.close();
  return pages;
};

// What a reader must find without JavaScript, from the document.
const facts = () => {
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
  const bounds = ({ minimum, maximum, minLength, maxLength, pattern, format, default: initial } = {}) => [
    minimum !== undefined && maximum !== undefined && `${minimum} to ${maximum}`,
    maxLength !== undefined && `${minLength} to ${maxLength} characters`,
    pattern && `pattern ${pattern}`,
    format && `(${format})`,
    initial !== undefined && `default ${initial}`,
  ];
  const schemas = Object.entries(document.components.schemas).flatMap(([name, { properties = {}, maxItems }]) => [
    name,
    ...Object.entries(properties).flatMap(([property, schema]) => [property, ...bounds(schema)]),
    maxItems && `at most ${maxItems} items`,
  ]);
  const described = operations.flatMap(({ operationId, summary, parameters = [], responses, ...rest }) => [
    operationId,
    summary,
    rest['x-sunset'],
    rest['x-deprecated-since'],
    ...parameters.flatMap(({ name, schema }) => [name, ...bounds(schema)]),
    ...Object.keys(responses),
  ]);
  const codes = [...document.info.description.matchAll(/^\| `(\w+)` \|/gm)].map(([, code]) => code);
  return [...schemas, ...described, ...codes].filter(Boolean);
};

// Replaces each text by one long word.
const lengthen = () => {
  const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) if (texts.currentNode.data.trim()) texts.currentNode.data = 'long'.repeat(40);
};

const found = [];
const look = async (path, options, work = async () => {}) => {
  const one = await open(browser, options);
  await one.page.goto(site + path);
  if (path.includes('try')) await one.page.waitForSelector('body[data-shown]');
  const where = `${path} ${options.colorScheme} ${options.viewport.width}`;
  found.push(...(await violations(one.page)).map((problem) => `${where}: ${problem}`));
  found.push(...(await overflow(one.page)).map((problem) => `${where}: too wide: ${problem}`));
  await work(one.page);
  isQuiet(one, origin);
  await one.context.close();
};

try {
  const pages = await crawl(site, site);
  const served = await crawl(`${service}/docs`, `${service}/`);
  const expected = ['', ...['changelog', 'files', 'clients', 'try'].map((name) => `docs/${name}.html`),
    ...releases.flatMap((version) => ['', '.try', '.changes'].map((kind) => `docs/${version}${kind}.html`))];
  assert.deepEqual([...pages.keys()].sort(), expected.map((path) => site + path).sort());
  // The service has the same pages; its first page has two addresses.
  assert.equal(served.size, pages.size + 1);

  const plain = await open(browser, { javaScriptEnabled: false });
  await plain.page.goto(site);
  const text = (await plain.page.locator('main').textContent()).replaceAll(/\s+/g, ' ');
  assert.deepEqual(facts().filter((fact) => !text.includes(fact)), [], 'missing without JavaScript');
  assert.ok(await plain.page.getByText('Version', { exact: false }).first().isVisible());
  await plain.page.locator('.versions summary').click();
  for (const version of releases) {
    assert.ok(await plain.page.locator('.versions').getByRole('link', { name: version }).isVisible(), version);
  }
  await plain.context.close();

  const kinds = ['', 'docs/changelog.html', `docs/${newest}.changes.html`, 'docs/files.html', 'docs/clients.html', 'docs/try.html'];
  for (const colorScheme of ['light', 'dark']) {
    for (const width of [1440, 768, 360]) {
      for (const path of kinds) {
        const viewport = { width, height: 900 };
        const name = `site-${path.replace(/^docs\/|\.html$/g, '').replace('docs/', '') || 'home'}-${colorScheme}-${width}`;
        await look(path, { colorScheme, viewport }, async (page) => {
          await shoot(page, name);
          if (width > 360) return;
          await page.evaluate(lengthen);
          found.push(...(await overflow(page)).map((problem) => `${path}: a long word is too wide: ${problem}`));
        });
      }
    }
  }
  const printed = await open(browser);
  await printed.page.goto(site);
  await printed.page.emulateMedia({ media: 'print' });
  for (const hidden of ['.bar', '.aside', '.copy', '.permalink']) {
    assert.equal(await printed.page.locator(hidden).first().isVisible(), false, hidden);
  }
  assert.ok(await printed.page.locator('.errors details .fields').first().isVisible(), 'folded on paper');
  await shoot(printed.page, 'site-print', { fullPage: true });
  await printed.context.close();

  const plainly = { colorScheme: 'light', viewport: { width: 1280, height: 900 } };
  for (const version of releases) await look(`docs/${version}.html`, plainly);
  await look(`docs/${releases[0]}.try.html`, plainly, async (page) => {
    // A page that sends no requests asks for no key.
    await page.locator('.opblock-summary-control').first().click();
    await page.locator('.opblock-body').first().waitFor();
    for (const name of ['Authorize', 'Try it out', 'authorization button unlocked']) {
      assert.equal(await page.getByRole('button', { name }).count(), 0, name);
    }
    found.push(...(await violations(page)));
  });
  assert.deepEqual(found, []);
  console.log(`${pages.size} pages from a subfolder and from the service, without JavaScript; no violation, nothing too wide`);
} catch (error) {
  console.error(found.concat(waiting()).join('\n'));
  throw error;
} finally {
  await browser.close();
  server.close();
}
