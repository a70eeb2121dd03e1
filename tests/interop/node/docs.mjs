// Uses the pages of the service in headless Chromium like a reader: opens /docs, enters a key and tries each operation.
import assert from 'node:assert/strict';
import { isQuiet, launch, open, overflow, shoot as shot, violations } from './browser.mjs';

const { SERVICE_URL: base, SERVICE_KEY: key } = process.env;
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

const browser = await launch();
const reader = await open(browser);
const { page, requested, problems } = reader;
const shoot = (name, options) => shot(page, name, options);
const found = [];
const isAccessible = async (state) => {
  found.push(...(await violations(page)).concat(await overflow(page)).map((problem) => `${state}: ${problem}`));
};

try {
  const response = await page.goto(`${origin}/docs`);
  assert.equal(response.status(), 200);
  const policy = response.headers()['content-security-policy'];
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /unsafe|\*|https?:/);
  await page.locator(`#operation-${described[0].operationId}`).evaluate((element) => element.scrollIntoView());
  await shoot('docs-operations');

  await page.getByRole('link', { name: `Try ${described[0].operationId}` }).click();
  await page.waitForSelector('body[data-shown]');
  assert.equal(new URL(page.url()).pathname, '/docs/try.html');
  // The link opens the operation.
  await page.waitForSelector(`#operations-animals-${described[0].operationId}.is-open`);
  await page.locator(`#operations-animals-${described[0].operationId} .opblock-summary-control`).click();

  const operations = page.locator('.opblock');
  const ids = await operations.evaluateAll((all) => all.map((one) => one.id.replace(/^operations-animals-/, '')));
  assert.deepEqual(ids.sort(), idsOf(described));
  const deprecated = page.locator('.opblock-deprecated');
  const crossedOut = await deprecated.evaluateAll((all) => all.map((one) => one.id.replace(/^operations-animals-/, '')));
  assert.deepEqual(crossedOut.sort(), idsOf(described.filter((operation) => operation.deprecated)));
  const mark = (element) => getComputedStyle(element, '::before').content;
  assert.equal(await deprecated.first().locator('.opblock-summary-description').evaluate(mark), '"deprecated"');
  await shoot('docs-try');
  await isAccessible('the page');

  const links = page.getByRole('navigation', { name: 'On this page' }).getByRole('link');
  const sections = [...document.info.description.matchAll(/^## (.+)$/gm)].map(([, title]) => title);
  assert.deepEqual((await links.allTextContents()).slice(0, 3), ['Operations', ...sections].slice(0, 3));
  await links.first().click();
  await page.getByRole('button', { name: 'Authorize', exact: true }).click();
  const dialog = page.locator('.dialog-ux');
  await dialog.getByRole('textbox').waitFor();
  await isAccessible('the dialog of the key');
  await dialog.getByRole('textbox').fill(key);
  await dialog.getByRole('button', { name: 'Authorize', exact: true }).click();
  await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();

  // Opens an operation, fills in its input, executes it, and returns the displayed response.
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

  // The request of the form as it is: no filter.
  const list = await attempt('listPets', async (block) => {
    const bounds = await block.locator('tr[data-param-name="limit"]').innerText();
    for (const bound of ['minimum: 1', 'maximum: 100']) assert.ok(bounds.includes(bound), bounds);
  });
  assert.equal(list.status, 200);
  assert.ok(list.url.endsWith(`${origin}/v1/pets?limit=20`), list.url);
  const listed = list.body.map(({ name }) => name);
  assert.deepEqual(names.filter((name) => !listed.includes(name)), []);
  await list.block.locator('.live-responses-table').scrollIntoViewIfNeeded();
  await shoot('docs-tried');
  // 2^53 + 1, which a JavaScript number would round.
  const [exact, typed] = ['9007199254740993', (digits) => `{"name": "Tamarin", "categoryId": ${digits}}`];
  const created = await attempt('createPet', (block) => block.locator('textarea').fill(typed(exact)));
  assert.deepEqual([created.status, created.body.name], [201, 'Tamarin']);
  assert.match(created.text, new RegExp(`"categoryId": ${exact}\\b`));
  const one = await attempt('getPet', (block) => block.getByPlaceholder('petId').fill(String(created.body.id)));
  assert.deepEqual([one.status, one.body], [200, created.body]);

  await isAccessible('the page with responses');
  const closed = page.locator('.models [aria-expanded="false"]');
  while ((await closed.count()) > 0) await closed.first().click();
  await isAccessible('the page with schemas');

  assert.equal(await page.evaluate(() => localStorage.length + sessionStorage.length + document.cookie.length), 0);
  await shoot('docs', { fullPage: true });
  assert.deepEqual(found, []);
  isQuiet(reader, origin);
  const tried = `listPets ${list.status} with ${listed.length} animals, createPet ${created.status}, getPet ${one.status}`;
  console.log(`${requested.length} requests, none to another host; no console message; ${tried}`);
} catch (error) {
  await shoot('docs-failed', { fullPage: true });
  for (const problem of problems.concat(found)) console.error(problem);
  throw error;
} finally {
  await browser.close();
}
