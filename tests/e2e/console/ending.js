// A recording is verified, played and deleted, by the page; and the doctor is asked.
import assert from 'node:assert/strict';
import { goTo, lineOf, shortName, TAPEDECK_STORAGE, tapectlJson } from './browser.js';

export async function verify(page, name) {
  await goTo(page, `recording/${name}`);
  await page.getByRole('button', { name: /^Verify l0/ }).click();
  await page.getByText('Every block is intact.').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
}

export async function play(page, name) {
  await page.getByRole('link', { name: /^Play l0/ }).click();
  await page.getByLabel('Storage node').fill(TAPEDECK_STORAGE);
  const form = page.locator('form');
  assert.equal(await form.getByLabel('Recording', { exact: true }).inputValue(), shortName(name));
  assert.equal(await lineOf(form), `tapectl play ${shortName(name)} --sink verify`);
  await form.getByRole('button', { name: 'Play' }).click();
  await page.getByText('SUCCEEDED').waitFor();
  const [job] = tapectlJson('jobs', 'list').jobs;
  assert.deepEqual([job.direction, job.blocks, job.lost_blocks, job.crc_errors], ['PLAYBACK', 400, 0, 0]);
}

// Only what was typed in full is deleted.
export async function remove(page, name) {
  await goTo(page, 'recordings');
  await page.getByRole('button', { name: `Delete ${shortName(name)}` }).click();
  const dialog = page.getByRole('dialog');
  const button = dialog.getByRole('button', { name: 'Delete', exact: true });
  await dialog.getByLabel(/^Type /).fill('l0/c0');
  assert.ok(await button.isDisabled());
  await dialog.getByLabel(/^Type /).fill(shortName(name));
  await button.click();
  await page.getByRole('link', { name: shortName(name), exact: true }).waitFor({ state: 'detached' });
  assert.ok(!tapectlJson('recordings', 'list').recordings.some((one) => one.name === name));
}

// What the node refuses is shown as it says it.
export async function seeRefusal(page) {
  await goTo(page, 'luns');
  await page.getByRole('button', { name: 'Delete l0/c0' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(/^Type /).fill('l0/c0');
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
  await dialog.getByText('CHANNEL_IN_USE').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
}

export async function scrub(page) {
  await page.getByRole('button', { name: 'Scrub l0' }).click();
  const panel = page.getByRole('region', { name: 'Scrub', exact: true });
  await panel.getByRole('button', { name: 'Start' }).click();
  await panel.getByText('DONE').waitFor();
  await panel.getByText('No damage found.').waitFor();
}
