// Chromium for the checks of pages: which requests it sends, what it reports, and what axe-core finds.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const { CHROMIUM: executablePath, SCREENSHOTS: shots } = process.env;

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

// A wait that takes longer hangs. Most take less than a second, and some several on a busy machine.
const LIMIT = 180_000;

export const launch = () =>
  chromium.launch({
    executablePath,
    // No host name is resolved, so the pages must work without other hosts.
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
  });

// The URLs of the requests that have no response yet, of all pages: the reason for most waits that reach the limit.
const unanswered = new Map();
export const waiting = () => [...unanswered.values()].map((url) => `no response yet: ${url}`);

// Opens a page that records its requests and its problems.
export const open = async (browser, options = {}) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(LIMIT);
  const requested = [];
  const problems = [];
  context.on('request', (request) => {
    requested.push(request.url());
    unanswered.set(request, request.url());
  });
  context.on('requestfinished', (request) => unanswered.delete(request));
  context.on('requestfailed', (request) => {
    unanswered.delete(request);
    const why = request.failure()?.errorText;
    // A page that is left aborts its requests.
    if (why !== 'net::ERR_ABORTED') problems.push(`${request.url()}: ${why}`);
  });
  page.on('console', (message) => problems.push(`console ${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => problems.push(`uncaught: ${error.message}`));
  if (options.javaScriptEnabled !== false) {
    await page.exposeFunction('reportViolation', (what) => problems.push(`content security policy: ${what}`));
    await page.addInitScript(() =>
      addEventListener('securitypolicyviolation', (event) =>
        window.reportViolation(`${event.violatedDirective} ${event.blockedURI}`)),
    );
  }
  return { context, page, requested, problems };
};

// Fails unless all requests went to one origin and the browser reported nothing.
export const isQuiet = ({ requested, problems }, origin) => {
  const elsewhere = requested.filter((url) => !url.startsWith(`${origin}/`) && !url.startsWith('data:'));
  assert.deepEqual(elsewhere, [], 'requests to other hosts');
  assert.deepEqual(problems, []);
};

// Returns the violations that axe-core finds with all its rules. None is permitted: what Swagger UI lacks, `viewer.css` and
// `viewer.js` of the site add.
export const violations = async (page) => {
  await page.evaluate(axe);
  const { violations: found } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ target, html, failureSummary }) =>
      `${id} ${target.join(' ')}\n  ${html.slice(0, 200)}\n  ${failureSummary.split('\n').at(-1).trim().slice(0, 200)}`));
};

// Returns the elements that are wider than the window, if it can be scrolled sideways.
export const overflow = (page) =>
  page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return [];
    const wide = [...document.querySelectorAll('body *')].filter((one) => one.getBoundingClientRect().right > width + 1);
    return wide.slice(0, 5).map((one) => `${one.tagName}.${one.className}: ${one.textContent.slice(0, 60)}`);
  });

export const shoot = (page, name, options = {}) => page.screenshot({ path: `${shots}/${name}.png`, ...options });
