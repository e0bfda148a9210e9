// A fresh node shows the way to its first recording, each step with a button that leads to its form.
import assert from 'node:assert/strict';
import { examine, goTo, picture } from './browser.js';

const steps = (page) => page.getByRole('region', { name: 'First steps', exact: true });

// How each step stands: done, to be done next, or later.
async function standOf(page) {
  await steps(page).waitFor();
  return steps(page)
    .getByRole('listitem')
    .evaluateAll((items) => items.map((item) => (item.querySelector('.badge') ? 'done' : item.querySelector('a') ? 'next' : 'later')));
}

export async function beginHere(page) {
  for (const hash of ['recordings', '']) {
    await goTo(page, hash);
    assert.deepEqual(await standOf(page), ['next', 'later', 'later'], hash);
  }
  await examine(page, 'first steps');
  await picture(page, 'first-steps');
  await steps(page).getByRole('link', { name: 'New LUN' }).click();
  await page.getByRole('dialog', { name: 'New LUN' }).waitFor();
}

export async function goOnToChannel(page) {
  await goTo(page, '');
  assert.deepEqual(await standOf(page), ['done', 'next', 'later']);
  await steps(page).getByRole('link', { name: 'New channel' }).click();
  await page.getByRole('dialog', { name: 'New channel of l0' }).waitFor();
}

export async function goOnToRecord(page) {
  await goTo(page, '');
  assert.deepEqual(await standOf(page), ['done', 'done', 'next']);
  await steps(page).getByRole('link', { name: 'Record' }).click();
  await page.getByRole('heading', { level: 1, name: 'Record' }).waitFor();
}

export async function seeNoSteps(page) {
  await goTo(page, '');
  await page.locator('[data-gauge]').first().waitFor();
  await page.getByRole('region', { name: 'Now', exact: true }).waitFor();
  await page.getByRole('link', { name: 'l0', exact: true }).waitFor();
  assert.equal(await steps(page).count(), 0, 'whoever has recorded needs no steps');
}
