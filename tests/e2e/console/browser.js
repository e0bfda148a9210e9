// A browser on the console's page, and what the story's steps share.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

export const { WORK, CONSOLE, PICTURES, TAPEDECK_BIN, TAPEDECK_STORAGE } = process.env;

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

// Waits are for events; these are for a machine that does much else.
const PATIENCE_MS = 60000 * Number(process.env.TAPEDECK_SLOWNESS || 1);

export async function openBrowser() {
  const sandbox = process.getuid() === 0 ? ['--no-sandbox'] : [];
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: [...sandbox, '--disable-dev-shm-usage', '--disable-gpu'] });
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, reducedMotion: 'reduce' });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const complaints = [];
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  // What the policy for content forbids is told here, too. A refused call is the page's to show.
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) complaints.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(CONSOLE) && !/^(blob|data):/.test(request.url())) complaints.push(`asks ${request.url()}`);
  });
  return { browser, page, complaints };
}

// A picture of the whole page, or of what the screen shows of it, where somebody wants one.
export async function picture(page, name, fullPage = true) {
  if (PICTURES) await page.screenshot({ path: `${PICTURES}/${name}.png`, fullPage });
}

export const goTo = (page, hash) => page.goto(`${CONSOLE}/#/${hash}`);

// until(WHAT, CHECK): what CHECK answers once it is true.
export async function until(what, check) {
  const deadline = Date.now() + PATIENCE_MS;
  let last;
  while (Date.now() < deadline) {
    last = await check();
    if (last) return last;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.fail(`${what}: not within ${PATIENCE_MS / 1000} s`);
}

export const tapectl = (...words) => execFileSync(`${TAPEDECK_BIN}/tapectl`, words, { encoding: 'utf8' });
export const tapectlJson = (...words) => JSON.parse(tapectl('--output', 'json', ...words));
export const inShell = (line) => execFileSync('bash', ['-c', line], { encoding: 'utf8', cwd: WORK });

// A program beside the story: `ended` once it has, `stop` ends it.
export function start(program, ...words) {
  const child = spawn(`${TAPEDECK_BIN}/${program}`, words, { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', resolve);
  });
  return { ended, stop: () => child.kill() };
}

export const lineOf = (scope) => scope.locator('.line code').last().textContent();

export const shortName = (name) => name.split('/').filter((_, index) => index % 2 === 1).join('/');

// Nothing that axe complains of, however little.
export async function examine(page, what) {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }));
  const told = violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html).slice(0, 3).join(' ')}`);
  assert.deepEqual(told, [], `${what}: axe`);
}
