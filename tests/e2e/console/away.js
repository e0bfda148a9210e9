// The node is away: frozen, or out of reach. The page is grey and says since when, and nothing on it claims that all is well.
import assert from 'node:assert/strict';
import { examine, goTo, picture, until } from './browser.js';

const NODE = Number(process.env.STORAGE_PID);

const looksOf = (page) => page.locator('main > .page').evaluate((element) => getComputedStyle(element).filter);

async function seeAway(page, what, lastSeen) {
  const banner = page.getByText(/^The storage node does not answer\. It was last seen at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\./);
  await banner.waitFor();
  const seen = Number(await banner.locator('time').getAttribute('data-seen'));
  assert.ok(Math.abs(seen - lastSeen) < 5000, `${what}: seen ${(seen - lastSeen) / 1000} s after it went away`);
  assert.match(await looksOf(page), /grayscale\(1\)/, `${what}: the page is grey`);
  assert.equal(await page.locator('.failure:visible').count(), 1, `${what}: it is said once`);
}

async function seeBack(page) {
  await until('the page has its colours again', async () => (await looksOf(page)) === 'none');
  await until('no failure is left', async () => (await page.locator('.failure:visible').count()) === 0);
}

export async function seeItGo(page) {
  await goTo(page, '');
  const alarms = page.getByRole('region', { name: 'Alarms', exact: true });
  await alarms.getByText(/No alarms|Nothing is wrong|alarm|warning/).first().waitFor();
  let gone = Date.now();
  process.kill(NODE, 'SIGSTOP');
  try {
    await seeAway(page, 'frozen', gone);
    assert.match(await alarms.textContent(), /Unknown: the storage node does not answer\./);
    assert.doesNotMatch(await page.locator('main').textContent(), /No alarms|Nothing is wrong|No LUNs|no LUN yet/);
    await examine(page, 'a node that is away');
    await picture(page, 'away');
  } finally {
    process.kill(NODE, 'SIGCONT');
  }
  await seeBack(page);
  // Also on a page that asks for nothing by itself.
  await goTo(page, 'doctor');
  await page.getByRole('button', { name: 'Examine' }).waitFor();
  gone = Date.now();
  await page.context().setOffline(true);
  await seeAway(page, 'out of reach', gone);
  await page.context().setOffline(false);
  await seeBack(page);
}
