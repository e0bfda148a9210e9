// The list of recordings: a stream in segments, names as long as they may be.
import assert from 'node:assert/strict';
import { goTo, shortName, tapectl, tapectlJson, until } from './browser.js';

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
  await page.getByRole('button', { name: `Segments of ${shortName(first.name)}` }).click();
  await until('its segments are shown', async () => (await rows.count()) === 5);
  for (const segment of segments) assert.equal(await page.getByRole('link', { name: shortName(segment.name), exact: true }).count(), 1);
  await page.getByRole('button', { name: `Segments of ${shortName(first.name)}` }).click();
  await until('it is closed', async () => (await rows.count()) === 1);
  await page.getByRole('link', { name: `Play the stream ${shortName(first.name)}` }).click();
  await until('the stream is to be played', async () => (await page.getByLabel('Recording').inputValue()) === shortName(first.name));
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
