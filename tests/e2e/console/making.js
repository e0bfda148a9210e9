// A LUN and a channel are made, and a tone is recorded into it.
import assert from 'node:assert/strict';
import { goTo, inShell, lineOf, TAPEDECK_STORAGE, tapectl, tapectlJson, until, WORK } from './browser.js';
import { beginHere, goOnToChannel, goOnToRecord } from './first_steps.js';

export const MARKUP = '<img src=x onerror=alert(1)>';

export async function makeLun(page) {
  await beginHere(page);
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('l0');
  await dialog.getByLabel('Store').selectOption('posix');
  await dialog.getByLabel('Members').fill(`${WORK}/member`);
  await dialog.getByLabel('Capacity').fill('1GiB');
  await dialog.getByLabel('Description').fill(MARKUP);
  assert.equal(await lineOf(dialog), `tapectl lun create l0 --store posix --member ${WORK}/member --capacity 1GiB --full-policy stop --description '${MARKUP}'`);
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText(MARKUP).first().waitFor();
  assert.equal(await page.locator('main img').count(), 0, 'markup in a description is text');
}

export async function makeChannel(page) {
  await goOnToChannel(page);
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('c0');
  await dialog.getByLabel('Sample rate').fill('1e6');
  await dialog.getByLabel('Block size', { exact: true }).fill('64KiB');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'l0/c0', exact: true }).waitFor();
  // What it was made as is shown to be changed; nothing but that is.
  await page.getByRole('button', { name: 'Configure l0/c0' }).click();
  await dialog.getByLabel('Description').fill('a tone');
  assert.equal(await lineOf(dialog), "tapectl channel update l0/c0 --description 'a tone'");
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  const [channel] = tapectlJson('channel', 'list').channels;
  assert.deepEqual([channel.block_bytes, channel.sample_rate, channel.description], [65536, 1e6, 'a tone']);
}

// Once by the page, once by the command line that the page shows. Of the first one its name.
export async function recordTone(page) {
  await goOnToRecord(page);
  await page.getByLabel('Storage node').fill(TAPEDECK_STORAGE);
  const channel = page.getByLabel('Channel');
  await until('the channel is chosen', async () => (await channel.inputValue()) === 'l0/c0');
  await page.getByLabel('Blocks', { exact: true }).fill('400');
  await page.getByRole('group', { name: 'Source' }).getByLabel('Parameters').fill('tones=0.125\nnoise=0.001');
  const line = await lineOf(page.locator('form'));
  assert.equal(line, 'tapectl record l0/c0 --source synth:tones=0.125,noise=0.001 --blocks 400');
  await page.locator('form').getByRole('button', { name: 'Record' }).click();
  await page.getByText('SUCCEEDED').waitFor();
  assert.equal(await page.locator('.failure').count(), 0);
  const [job] = tapectlJson('jobs', 'list').jobs;
  assert.deepEqual([job.blocks, job.state], [400, 'SUCCEEDED']);
  inShell(line);
  const [second] = tapectlJson('recordings', 'list').recordings;
  assert.notEqual(second.name, job.recording);
  assert.deepEqual([second.blocks, second.origin.source.parameters.tones], [400, '0.125'], 'the line records the same');
  return job.recording;
}

// The options that tapectl's help names for a command.
function optionsOf(...command) {
  const help = tapectl(...command, '--help');
  return [...help.matchAll(/^\s+(?:-\w, ?)?--([a-z-]+)/gm)].map(([, option]) => option).filter((option) => option !== 'help');
}

// Whatever is a field is filled in: of choices the last one.
async function fillAll(dialog) {
  for (const field of await dialog.locator('form input').all()) await field.fill('1');
  for (const choice of await dialog.locator('form select').all()) await choice.selectOption({ index: (await choice.locator('option').count()) - 1 });
  for (const field of await dialog.locator('form textarea').all()) if (await field.isEnabled()) await field.fill('/somewhere');
}

// Each option of `lun create` and `channel create` is a field of the form.
export async function seeAllFields(page) {
  for (const [command, button] of [
    [['lun', 'create'], 'New LUN'],
    [['channel', 'create'], 'New channel of l0'],
  ]) {
    await goTo(page, 'luns');
    await page.getByRole('button', { name: button }).click();
    const dialog = page.getByRole('dialog');
    if (command[0] === 'lun') await dialog.getByLabel('Store').selectOption('posix');
    await fillAll(dialog);
    if (command[0] === 'lun') await dialog.getByLabel('Store').selectOption('posix');
    if (command[0] === 'lun') await dialog.getByLabel('Members').fill('/somewhere');
    const line = await lineOf(dialog);
    for (const option of optionsOf(...command)) assert.ok(line.includes(` --${option} `), `${button} has no field for --${option}: ${line}`);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  }
}

// A mirror of two members, with files that are written before they are needed.
export async function makeMirror(page) {
  await goTo(page, 'luns');
  await page.getByRole('button', { name: 'New LUN' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('mirror');
  await dialog.getByLabel('Store').selectOption('posix');
  await dialog.getByLabel('Members').fill(`${WORK}/left\n${WORK}/right`);
  await dialog.getByLabel('Capacity').fill('64MiB');
  await dialog.getByLabel('Copies').selectOption('2');
  await dialog.getByLabel('Prewritten files per member').fill('2');
  await dialog.getByLabel('Size of a prewritten file').fill('1MiB');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.waitFor({ state: 'detached' });
  const lun = tapectlJson('lun', 'list').luns.find((one) => one.name === 'luns/mirror');
  assert.deepEqual([lun.copies, lun.prewrite_files, lun.prewrite_bytes], [2, 2, 2 ** 20]);
  await page.getByRole('button', { name: 'Configure mirror' }).click();
  await dialog.getByLabel('Prewritten files per member').fill('3');
  assert.equal(await lineOf(dialog), 'tapectl lun update mirror --prewrite-files 3');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('3 of 1.00 MiB per member').waitFor();
  inShell('tapectl lun delete mirror');
}
