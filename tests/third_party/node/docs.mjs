// A person's way through /docs, in headless Chromium: read, enter a key, try each operation.
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

const { SERVICE_URL: base, SERVICE_KEY: key, CHROMIUM: executablePath, SCREENSHOTS: shots } = process.env;
const { origin } = new URL(base);

const document = await (await fetch(`${origin}/openapi.json`)).json();
const described = Object.values(document.paths).flatMap(Object.values).filter((operation) => operation.operationId);
const idsOf = (operations) => operations.map((operation) => operation.operationId).sort();

const names = ['Quill', 'Rowan', 'Sable'];
for (const name of names) {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const body = JSON.stringify({ name, categoryId: 5, status: 'available' });
  assert.equal((await fetch(`${base}/pets`, { method: 'POST', headers, body })).status, 201);
}

const browser = await chromium.launch({
  executablePath,
  // No name is resolved: the page must do without the internet.
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
});
const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
const page = await context.newPage();
page.setDefaultTimeout(20_000);

const requested = [];
const complaints = [];
context.on('request', (request) => requested.push(request.url()));
context.on('requestfailed', (request) => complaints.push(`${request.url()}: ${request.failure()?.errorText}`));
page.on('console', (message) => complaints.push(`console ${message.type()}: ${message.text()}`));
page.on('pageerror', (error) => complaints.push(`uncaught: ${error.message}`));
await page.exposeFunction('refused', (what) => complaints.push(`content security policy: ${what}`));
await page.addInitScript(() =>
  addEventListener('securitypolicyviolation', (event) =>
    window.refused(`${event.violatedDirective} ${event.blockedURI}`)),
);

const shoot = (name, options = {}) => page.screenshot({ path: `${shots}/${name}.png`, ...options });

try {
  const answer = await page.goto(`${origin}/docs`);
  assert.equal(answer.status(), 200);
  const policy = answer.headers()['content-security-policy'];
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /unsafe|\*|https?:/);
  await page.waitForSelector('body[data-shown]');

  const operations = page.locator('.opblock');
  const ids = await operations.evaluateAll((all) => all.map((one) => one.id.replace(/^operations-animals-/, '')));
  assert.deepEqual(ids.sort(), idsOf(described));
  const deprecated = page.locator('.opblock-deprecated');
  const crossedOut = await deprecated.evaluateAll((all) => all.map((one) => one.id.replace(/^operations-animals-/, '')));
  assert.deepEqual(crossedOut.sort(), idsOf(described.filter((operation) => operation.deprecated)));
  const mark = (element) => getComputedStyle(element, '::before').content;
  assert.equal(await deprecated.first().locator('.opblock-summary-description').evaluate(mark), '"deprecated"');
  await shoot('docs-top');
  await page.locator('#page .scheme-container').evaluate((element) => element.scrollIntoView());
  await shoot('docs-operations');

  const links = page.getByRole('navigation', { name: 'On this page' }).getByRole('link');
  const sections = [...document.info.description.matchAll(/^## (.+)$/gm)].map(([, title]) => title);
  assert.deepEqual((await links.allTextContents()).slice(0, 3), ['Operations', ...sections].slice(0, 3));
  await links.first().click();
  await page.getByRole('button', { name: 'Authorize', exact: true }).click();
  const dialog = page.locator('.dialog-ux');
  await dialog.getByRole('textbox').fill(key);
  await dialog.getByRole('button', { name: 'Apply credentials' }).click();
  await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();

  // Opens an operation, fills in what is said, executes, and returns what the page then shows.
  const attempt = async (operation, fill) => {
    const block = page.locator(`#operations-animals-${operation}`);
    await block.locator('.opblock-summary-control').click();
    await block.getByRole('button', { name: 'Try it out' }).click();
    await fill(block);
    await block.getByRole('button', { name: 'Execute' }).click();
    const live = block.locator('.live-responses-table .response').first();
    const status = await live.locator('.response-col_status').innerText();
    const body = await live.locator('.highlight-code').first().locator('code, pre').first().textContent();
    const url = await block.locator('.request-url').innerText();
    return { status: Number.parseInt(status, 10), text: body, body: JSON.parse(body), url, block };
  };

  const list = await attempt('listPets', (block) => block.getByPlaceholder('limit').fill('100'));
  assert.equal(list.status, 200);
  assert.match(list.url, new RegExp(`${origin}/v1/pets\\?limit=100&status=available`));
  const listed = list.body.map(({ name }) => name);
  assert.deepEqual(names.filter((name) => !listed.includes(name)), []);
  await list.block.locator('.live-responses-table').scrollIntoViewIfNeeded();
  await shoot('docs-tried');
  // 2^53 + 1, which JavaScript would round on the way there or back.
  const [exact, typed] = ['9007199254740993', (digits) => `{"name": "Tamarin", "categoryId": ${digits}}`];
  const created = await attempt('createPet', (block) => block.locator('textarea').fill(typed(exact)));
  assert.deepEqual([created.status, created.body.name], [201, 'Tamarin']);
  assert.match(created.text, new RegExp(`"categoryId": ${exact}\\b`));
  const one = await attempt('getPet', (block) => block.getByPlaceholder('petId').fill(String(created.body.id)));
  assert.deepEqual([one.status, one.body], [200, created.body]);

  assert.equal(await page.evaluate(() => localStorage.length + sessionStorage.length + document.cookie.length), 0);
  await shoot('docs', { fullPage: true });
  const elsewhere = requested.filter((url) => !url.startsWith(`${origin}/`) && !url.startsWith('data:'));
  assert.deepEqual(elsewhere, [], 'requests to other hosts');
  assert.deepEqual(complaints, []);
  const tried = `listPets ${list.status} with ${listed.length} animals, createPet ${created.status}, getPet ${one.status}`;
  console.log(`${requested.length} requests, none to another host; no console message; ${tried}`);
} catch (error) {
  await shoot('docs-failed', { fullPage: true });
  for (const complaint of complaints) console.error(complaint);
  throw error;
} finally {
  await browser.close();
}
