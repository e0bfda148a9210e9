// The list of recordings: a stream in segments, names as long as they may be.
import assert from 'node:assert/strict';
import { goTo, lineOf, shortName, TAPEDECK_STORAGE, tapectl, tapectlJson, until } from './browser.js';

// A stream in segments is one row, which opens and closes.
export async function seeStream(page) {
  tapectl('channel', 'create', 'l0/pieces', '--block-bytes', '64KiB', '--segment', '1MiB', '--sample-rate', '1e6');
  tapectl('record', 'l0/pieces', '--source', 'synth:tones=0.125', '--blocks', '60');
  const segments = tapectlJson('recordings', 'list', '--segments', 'l0/pieces').recordings;
  assert.equal(segments.length, 4);
  const first = segments.find((one) => one.segment === 0);
  await goTo(page, 'recordings?channel=l0/pieces');
  const rows = page.locator('tbody tr');
  await until('it is one row', async () => (await rows.count()) === 1);
  assert.match(await rows.first().textContent(), /4 segments.*3\.75 MiB/);
  await page.getByRole('button', { name: `4 segments of ${shortName(first.name)}` }).click();
  await until('its segments are shown', async () => (await rows.count()) === 5);
  for (const segment of segments) assert.equal(await page.getByRole('link', { name: shortName(segment.name), exact: true }).count(), 1);
  // The first one has the name of the stream, but is deleted alone.
  await page.getByRole('button', { name: `Delete ${shortName(first.name)}` }).click();
  assert.equal(await lineOf(page.getByRole('dialog')), `tapectl recordings delete ${shortName(first.name)} --segment 0`);
  await page.getByRole('dialog').getByLabel(/^Type /).fill(shortName(first.name));
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await until('three are left', async () => (await rows.count()) === 4);
  assert.equal(tapectlJson('recordings', 'list', '--segments', 'l0/pieces').recordings.length, 3);
  await page.getByRole('button', { name: /^3 \(1-3\) segments of/ }).click();
  await until('it is closed', async () => (await rows.count()) === 1);
  await page.getByRole('link', { name: /^Play the stream/ }).click();
  await page.getByLabel('Storage node').fill(TAPEDECK_STORAGE);
  const left = segments.find((one) => one.segment === 1);
  await until('the stream is to be played', async () => (await lineOf(page.locator('form'))) === `tapectl play ${shortName(left.name)} --sink verify --stream`);
  await page.locator('form').getByRole('button', { name: 'Play' }).click();
  await page.getByText('SUCCEEDED').waitFor();
  assert.equal(tapectlJson('jobs', 'list').jobs[0].blocks, 44, 'all segments that are left are played');
}

const LONGEST = 'a-channel-whose-name-is-as-long-as-a-name-may-be-at-all-63-of-it';

// A long name gives way in its middle and has the whole in a tooltip; nothing is pushed out of its card.
export async function seeLongNames(page) {
  const channel = LONGEST.slice(0, 63);
  tapectl('channel', 'create', `l0/${channel}`, '--block-bytes', '64KiB', '--sample-rate', '1e6');
  tapectl('record', `l0/${channel}`, '--source', 'synth:tones=0.125', '--blocks', '4');
  const name = shortName(tapectlJson('recordings', 'show', `l0/${channel}/latest`).name);
  await page.setViewportSize({ width: 1440, height: 900 });
  for (const hash of ['jobs', 'recordings']) {
    await goTo(page, hash);
    const link = page.getByRole('link', { name, exact: true }).first();
    await link.waitFor();
    assert.equal(await link.getAttribute('title'), name);
    const isCut = (part) => link.locator(part).evaluate((element) => element.scrollWidth > element.clientWidth);
    assert.deepEqual([await isCut('.head'), await isCut('.tail')], [true, false], `${hash}: the middle gives way`);
    const hidden = await page.locator('.scrolls').first().evaluate((element) => element.scrollWidth - element.clientWidth);
    assert.ok(hidden <= 0, `${hash}: ${hidden} pixels are out of sight`);
  }
  await page.setViewportSize({ width: 1280, height: 900 });
}

// On a narrow screen each row is a card: every cell is in sight and says what it is, and it is still a table for those who hear it.
export async function seeCards(page) {
  await page.setViewportSize({ width: 390, height: 900 });
  for (const hash of ['', 'luns', 'recordings', 'jobs']) {
    await goTo(page, hash);
    const table = page.locator('table').last();
    await table.locator('tbody tr').first().waitFor();
    const heads = await table.locator('thead tr').evaluate((row) => [...row.cells].map((cell) => cell.textContent));
    const cells = await table.locator('tbody tr').first().locator('td').evaluateAll((all) =>
      all.map((cell) => ({ head: getComputedStyle(cell, '::before').content, right: cell.getBoundingClientRect().right, top: cell.getBoundingClientRect().top, empty: cell.textContent === '' })),
    );
    for (const [index, { head, right }] of cells.entries()) {
      assert.ok(right <= 390, `${hash}: cell ${index} ends at ${right}`);
      if (heads[index] !== '') assert.equal(head, `"${heads[index]}"`, `${hash}: what cell ${index} is`);
    }
    const shown = cells.filter((cell) => !cell.empty);
    assert.ok(shown.every((cell, index) => index === 0 || cell.top > shown[index - 1].top), `${hash}: one below the other`);
    assert.ok((await table.getByRole('cell').count()) >= heads.length, `${hash}: it has cells`);
    assert.equal(await table.getByRole('columnheader').count(), heads.filter(Boolean).length);
  }
  await goTo(page, 'recordings');
  const { y } = await page.locator('tbody tr').first().boundingBox();
  assert.ok(y < 600, `the first recording is ${y} pixels down`);
  await page.setViewportSize({ width: 1280, height: 900 });
}
