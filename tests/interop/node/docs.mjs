// Uses the pages of the service in headless Chromium like a reader: opens /docs, enters a key and tries each operation.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { isQuiet, launch, open, overflow, shoot as shot, violations, waiting } from './browser.mjs';

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
const reader = await open(browser, { viewport: { width: 1440, height: 900 } });
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
  await page.waitForSelector(`.contents a[href="#operation-${described[0].operationId}"][aria-current]`);

  // For the README.
  for (const colorScheme of ['light', 'dark']) {
    const sharp = await open(browser, { viewport: { width: 1360, height: 720 }, deviceScaleFactor: 2, colorScheme });
    await sharp.page.goto(`${origin}/docs#operation-${described[0].operationId}`);
    await sharp.page.waitForSelector('.contents a[aria-current]');
    await shot(sharp.page, `docs-${colorScheme}`);
    await sharp.context.close();
  }

  // The samples are requests to this service, and are copied and run as they are.
  const sampleOf = (id, language) => page.locator(`#operation-${id} .sample.${language}`);
  assert.ok((await sampleOf('createPet', 'curl').innerText()).includes(`${base}/pets`));
  await page.getByRole('radio', { name: 'Python' }).check();
  await sampleOf('createPet', 'python').waitFor();
  assert.equal(await sampleOf('createPet', 'curl').isVisible(), false);
  await page.reload();
  await sampleOf('createPet', 'python').waitFor();
  await isAccessible('the operations');
  const programs = {
    curl: ['sh', '-c'],
    python: ['python3', '-c'],
    typescript: [process.execPath, '--input-type=module-typescript', '--eval'],
  };
  for (const [language, [program, ...options]] of Object.entries(programs)) {
    for (const [id, status] of [['listPets', '200'], ['createPet', '201']]) {
      const code = await sampleOf(id, language).locator('code').textContent();
      const run = (env) => spawnSync(program, [...options, code], { encoding: 'utf8', env: { ...process.env, ...env } });
      const printed = run({ KEY: key });
      assert.match(printed.stdout, new RegExp(`^(HTTP/1.1 )?${status} `), `${language} ${id}: ${printed.stdout}${printed.stderr}`);
      const refused = run({ KEY: '' });
      assert.notEqual(refused.status, 0);
      assert.match(refused.stderr.trim(), /^.*set KEY to your API key$/, `${language} ${id}`);
    }
  }
  await page.getByRole('radio', { name: 'curl' }).check();

  // The search leads to the table of errors.
  await page.getByRole('searchbox').fill('idempotency_key_reused');
  await page.locator('.results').getByRole('link', { name: 'idempotency_key_reused' }).first().waitFor();
  await shoot('docs-search');
  await isAccessible('the search');
  await page.getByRole('searchbox').press('Enter');
  assert.equal(new URL(page.url()).hash, '#code-idempotency_key_reused');
  await page.evaluate(() => localStorage.clear());

  const asked = 'createPet';
  await page.getByRole('link', { name: `Try ${asked}` }).click();
  await page.waitForSelector('body[data-shown]');
  assert.equal(new URL(page.url()).pathname, '/docs/try.html');
  // The operation is the first, and open.
  await page.waitForSelector(`.opblock.is-open`);
  assert.equal(await page.locator('.opblock').first().getAttribute('id'), `operations-animals-${asked}`);
  await shoot('docs-try');
  await page.locator(`#operations-animals-${asked} .opblock-summary-control`).click();

  const operations = page.locator('.opblock');
  const ids = await operations.evaluateAll((all) => all.map((one) => one.id.replace(/^operations-animals-/, '')));
  assert.deepEqual(ids.sort(), idsOf(described));
  const deprecated = page.locator('.opblock-deprecated');
  const crossedOut = await deprecated.evaluateAll((all) => all.map((one) => one.id.replace(/^operations-animals-/, '')));
  assert.deepEqual(crossedOut.sort(), idsOf(described.filter((operation) => operation.deprecated)));
  const mark = (element) => getComputedStyle(element, '::before').content;
  assert.equal(await deprecated.first().locator('.opblock-summary-description').evaluate(mark), '"deprecated"');
  await isAccessible('the page');
  assert.equal(await page.locator('#viewer .servers, #viewer .info, #viewer .models').count(), 0);
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

  assert.equal(await page.evaluate(() => localStorage.length + sessionStorage.length + document.cookie.length), 0);
  await shoot('docs', { fullPage: true });
  assert.deepEqual(found, []);
  isQuiet(reader, origin);

  // A page that does not exist.
  const lost = await open(browser);
  assert.equal((await lost.page.goto(`${origin}/docs/nothing.html`)).status(), 404);
  found.push(...(await violations(lost.page)));
  await shot(lost.page, 'docs-missing');
  await lost.page.getByRole('link', { name: 'Documentation of' }).click();
  assert.equal(new URL(lost.page.url()).pathname, '/docs');
  assert.deepEqual(found, []);
  const tried = `listPets ${list.status} with ${listed.length} animals, createPet ${created.status}, getPet ${one.status}`;
  console.log(`${requested.length} requests, none to another host; no console message; ${tried}`);
} catch (error) {
  // A page that hangs cannot be captured.
  await shoot('docs-failed', { fullPage: true }).catch(() => {});
  for (const problem of problems.concat(found, waiting())) console.error(problem);
  throw error;
} finally {
  await browser.close();
}
