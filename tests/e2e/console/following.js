// A stream with losses is followed while it is recorded, and the gauges beside it.
import assert from 'node:assert/strict';
import { examine, goTo, picture, start, tapectl, tapectlJson, until } from './browser.js';
import { pixels } from './looking.js';

const RATE = 4e6; // bytes a second
const BLOCK_SAMPLES = 8192;

const newestJob = () => tapectlJson('jobs', 'list').jobs[0];

// Of a stream that is lost in runs of packets, each longer than a block.
export async function beginStream() {
  tapectl('channel', 'create', 'l0/live', '--block-bytes', '64KiB', '--sample-rate', String(RATE / 8), '--commit', 'written');
  const recorder = start('tapectl', 'record', 'l0/live', '--source', 'ingest:udp=127.0.0.1:0,timeout=60', '--duration', '10m');
  const port = await until('somebody listens', () => newestJob().notes?.find((note) => note.code === 'INGEST_LISTENS')?.port);
  const sender = start('tapedeck-emulator', '--udp', `127.0.0.1:${port}`, '--rate', `${RATE / 1e6}MB`, '--packet-bytes', '8192', '--drop', '1600', '--drop-run', '40', '--duration', '10m');
  const recording = await until('it has a recording', () => newestJob().recording);
  return { job: newestJob().name, recording, recorder, sender };
}

// The bytes per second of the gauge of all rails, and of the job by what it had before.
export async function watchGauge(page, job) {
  await goTo(page, '');
  const gauge = page.locator('[data-gauge="All rails"]');
  let before = { at: Date.now(), bytes: newestJob().bytes };
  await until('the gauge says what the job says', async () => {
    await new Promise((resolve) => setTimeout(resolve, 4000));
    const now = { at: Date.now(), bytes: tapectlJson('jobs', 'show', job).bytes };
    const ofJob = ((now.bytes - before.bytes) * 1000) / (now.at - before.at);
    const ofGauge = Number(await gauge.getAttribute('data-bytes-per-s'));
    before = now;
    console.log(`gauge ${(ofGauge / 1e6).toFixed(3)} MB/s, job ${(ofJob / 1e6).toFixed(3)} MB/s`);
    return ofJob > 0 && Math.abs(ofGauge / ofJob - 1) <= 0.05;
  });
  await page.getByRole('region', { name: 'Now' }).getByText('recording', { exact: true }).first().waitFor();
}

export async function follow(page, recording) {
  await goTo(page, `recording/${recording}`);
  const shown = page.locator('[data-shown]');
  await shown.waitFor();
  assert.ok(await page.getByLabel('Follow').isChecked(), 'what is recorded is followed from the start');
  const end = async () => {
    const [first, count] = (await shown.getAttribute('data-shown')).split(' ').map(Number);
    return first + count;
  };
  const before = await end();
  await until('newer samples are shown', async () => (await end()) > before + BLOCK_SAMPLES);
  // At most a second of it, at its end.
  const [, count] = (await shown.getAttribute('data-shown')).split(' ').map(Number);
  assert.ok(count <= RATE / 8, `${count} samples are shown`);
  assert.ok(before > RATE / 8 - BLOCK_SAMPLES, `${before} samples are there`);
  // Who looks elsewhere is not drawn away from it.
  await page.getByRole('button', { name: 'Earlier' }).click();
  assert.ok(!(await page.getByLabel('Follow').isChecked()));
}

// A gap of the recording is one of its timeline and of its waterfall.
export async function seeGap(page, recording) {
  await goTo(page, `recording/${recording}`);
  const gaps = page.getByRole('region', { name: 'Gaps', exact: true }).first();
  await gaps.getByRole('button', { name: /^Show the gap/ }).first().click();
  const seen = await until('rows are hatched', async () => {
    const now = await pixels(page);
    return now.grey > 0 ? now : undefined;
  });
  assert.ok(seen.grey < seen.height, 'what is beside the gap is there');
  assert.ok((await page.locator('.timeline .gap').count()) > 0);
  await examine(page, 'gaps');
  await picture(page, 'gaps');
}

export async function endStream(page, { job, sender, recorder }) {
  await goTo(page, 'jobs');
  const button = page.getByRole('button', { name: `Cancel job ${job.split('/')[1]}` });
  await button.click();
  await recorder.ended;
  await button.waitFor({ state: 'detached' });
  sender.stop();
  await sender.ended;
}
