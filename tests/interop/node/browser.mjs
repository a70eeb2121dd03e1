// Chromium for the checks of pages: which requests it sends, what it reports, and what axe-core finds.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const { CHROMIUM: executablePath, SCREENSHOTS: shots } = process.env;

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

// Violations by Swagger UI 5.20.8 that neither CSS nor a script of these pages can remove without changing what its
// elements do. Each has the rule of axe-core and a selector; any other violation fails, and so does one that is listed
// here and does not occur any more.
const known = JSON.parse(readFileSync(new URL('violations.json', import.meta.url), 'utf8'));
const unseen = new Set(known.map(({ rule, selector }) => `${rule} ${selector}`));

export const launch = () =>
  chromium.launch({
    executablePath,
    // No host name is resolved, so the pages must work without other hosts.
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
  });

// Opens a page that records its requests and its problems.
export const open = async (browser, options = {}) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const requested = [];
  const problems = [];
  context.on('request', (request) => requested.push(request.url()));
  context.on('requestfailed', (request) => problems.push(`${request.url()}: ${request.failure()?.errorText}`));
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

// Returns what axe-core finds beyond the known violations.
export const violations = async (page) => {
  await page.evaluate(axe);
  const { violations: found } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  const unknown = [];
  for (const { id, nodes } of found) {
    for (const { target, html, failureSummary } of nodes) {
      const selector = target.join(' ');
      const entry = await page.evaluate(
        ([selector, known]) => known.findIndex((one) => document.querySelector(selector)?.matches(one)),
        [selector, known.filter(({ rule }) => rule === id).map(({ selector }) => selector)],
      );
      if (entry < 0) {
        unknown.push(`${id} ${selector}\n  ${html.slice(0, 200)}\n  ${failureSummary.replaceAll('\n', ' ')}`);
      } else {
        unseen.delete(`${id} ${known.filter(({ rule }) => rule === id)[entry].selector}`);
      }
    }
  }
  return unknown;
};

// The known violations that no page had.
export const unseenViolations = () => [...unseen];

// Returns the elements that are wider than the window, if it can be scrolled sideways.
export const overflow = (page) =>
  page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return [];
    const wide = [...document.querySelectorAll('body *')].filter((one) => one.getBoundingClientRect().right > width + 1);
    return wide.slice(0, 5).map((one) => `${one.tagName}.${one.className}: ${one.textContent.slice(0, 60)}`);
  });

export const shoot = (page, name, options = {}) => page.screenshot({ path: `${shots}/${name}.png`, ...options });
