// How the pages look, and what axe says of them, on a small and a large screen, light and dark.
import assert from 'node:assert/strict';
import { examine, goTo, picture } from './browser.js';

const SCREENS = [
  { width: 1440, colorScheme: 'light' },
  { width: 1440, colorScheme: 'dark' },
  { width: 390, colorScheme: 'light' },
  { width: 390, colorScheme: 'dark' },
];

// Each page, and what of it shows that it is there.
const pagesOf = (name) => ({
  '': '[data-gauge]',
  luns: '.panel .facts',
  recordings: 'tbody tr',
  [`recording/${name}`]: '[data-shown]',
  'record?channel=l0/c0': 'fieldset',
  play: 'fieldset',
  jobs: 'tbody tr',
  doctor: 'main .toolbar',
});

async function look(page, hash, sign, screen) {
  const name = `${hash.split(/[/?]/)[0] || 'overview'} ${screen.width} ${screen.colorScheme}`;
  await goTo(page, hash);
  await page.locator(sign).first().waitFor();
  await examine(page, name);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(wide <= 0, `${name}: the page is ${wide} pixels wider than the screen`);
  await picture(page, name.replaceAll(' ', '-'));
}

// A form over the page.
async function lookAtForm(page, screen) {
  await goTo(page, 'luns');
  await page.getByRole('button', { name: 'New LUN' }).click();
  // Also when the page's data come later.
  await page.locator('.panel .facts').first().waitFor();
  await page.getByRole('dialog').waitFor();
  await examine(page, `form ${screen.width} ${screen.colorScheme}`);
  await picture(page, `form-${screen.width}-${screen.colorScheme}`, false);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}

export async function lookAtAll(page, recording) {
  for (const screen of SCREENS) {
    await page.setViewportSize({ width: screen.width, height: 900 });
    await page.emulateMedia({ colorScheme: screen.colorScheme });
    for (const [hash, sign] of Object.entries(pagesOf(recording))) await look(page, hash, sign, screen);
    await lookAtForm(page, screen);
  }
  await page.setViewportSize({ width: 1280, height: 900 });
}

// By the keyboard alone: to the content, to a page, with a focus that shows.
export async function goByKeyboard(page) {
  await page.goto('about:blank');
  await goTo(page, '');
  await page.locator('[data-gauge]').first().waitFor();
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.textContent.trim()), 'Skip to the content');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'LUNs');
  assert.notEqual(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), 'none');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'LUNs' }).waitFor();
}
