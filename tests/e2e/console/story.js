// See tests/e2e/console_page.sh.
import assert from 'node:assert/strict';
import { seeItGo } from './away.js';
import { openBrowser } from './browser.js';
import { play, remove, scrub, seeRefusal, verify } from './ending.js';
import { seeNoSteps } from './first_steps.js';
import { beginStream, endStream, follow, seeGap, watchGauge } from './following.js';
import { seeCards, seeLongNames, seeStream } from './listing.js';
import { annotate, download, downloadSigmf, keep, readReports, seeOneAxis, seeScale, seeSpectra, seeTone, zoomByPointer, zoomInFrequency, zoomToSamples } from './looking.js';
import { goByKeyboard, lookAtAll } from './looks.js';
import { makeChannel, makeLun, makeMirror, recordTone, seeAllFields } from './making.js';

const { browser, page, complaints } = await openBrowser();

async function step(what, work) {
  console.log(what);
  return work();
}

try {
  await step('a LUN and a channel', async () => {
    await makeLun(page);
    await makeChannel(page);
  });
  await step('fields of forms', () => seeAllFields(page));
  await step('a mirror', () => makeMirror(page));
  const tone = await step('a tone is recorded', () => recordTone(page));
  await step('no steps any more', () => seeNoSteps(page));
  await step('its spectrum', () => seeTone(page, tone));
  await step('one axis', () => seeOneAxis(page));
  await step('a scale of colours', () => seeScale(page));
  await step('its spectra', () => seeSpectra(page));
  await step('back to the tone', () => seeTone(page, tone));
  await step('nearer, in frequency', () => zoomInFrequency(page));
  await step('nearer, by pointer', () => zoomByPointer(page));
  await step('its samples', () => zoomToSamples(page, tone));
  await step('a download', () => download(page, tone));
  await step('what is told of it', () => readReports(page));
  await step('a mark', () => annotate(page, tone));
  await step('a download as SigMF', () => downloadSigmf(page, tone));
  await step('kept, and let go', () => keep(page));
  const stream = await step('a stream with losses', () => beginStream());
  await step('the gauges', () => watchGauge(page, stream.job));
  await step('the stream is followed', () => follow(page, stream.recording));
  await step('the stream is ended', () => endStream(page, stream));
  await step('its gaps', () => seeGap(page, stream.recording));
  await step('the tone is verified', () => verify(page, tone));
  await step('played', () => play(page, tone));
  await step('a stream in segments', () => seeStream(page));
  await step('long names', () => seeLongNames(page));
  await step('cards', () => seeCards(page));
  await step('the node goes away', () => seeItGo(page));
  await step('all pages, all screens', () => lookAtAll(page, tone));
  await step('by keyboard', () => goByKeyboard(page));
  await step('a refusal', () => seeRefusal(page));
  await step('a scrub', () => scrub(page));
  await step('deleted', () => remove(page, tone));
  assert.deepEqual(complaints, [], 'the browser complains');
} catch (error) {
  console.error(complaints.join('\n'));
  await page.screenshot({ path: `${process.env.PICTURES || process.env.WORK}/failed.png`, fullPage: true }).catch(() => {});
  throw error;
} finally {
  await browser.close();
}
