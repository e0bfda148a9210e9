import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RateMeter } from '../../../../services/console/web/src/rates.ts';
import { bytesOfSample, floatsOf } from '../../../../services/console/web/src/recording/numbers.ts';
import { aheadAt, inSession } from '../../../../services/console/web/src/recording/positions.ts';
import { bandOf, columnsOf, frequencyAt, madeOf, missingRows, peaksOf, rangeOf, type Spectrogram, spectrogramOf, storedColumn, tickTexts } from '../../../../services/console/web/src/recording/spectrum.ts';
import { columnsFor, followed, inside, newest, shiftBand, whole, zoomBand, zoomTime } from '../../../../services/console/web/src/recording/window.ts';
import { matches, NO_FILTER } from '../../../../services/console/web/src/recordings/filter.ts';
import { archiveOf, later, metaOf } from '../../../../services/console/web/src/recordings/sigmf.ts';
import { entriesOf, summaryOf } from '../../../../services/console/web/src/recordings/streams.ts';
import type { Recording, SpectrogramMessage, Timeline } from '../../../../services/console/web/src/types.ts';

test('a window stays within the recording and the band', () => {
  const all = whole(100000);
  const half = zoomTime(all, 100000, 0.5, 0.25);
  assert.deepEqual([half.first, half.count], [12500, 50000]);
  assert.deepEqual(zoomTime(half, 100000, 8), all);
  assert.equal(zoomTime(all, 100000, 1e-9).count, 16);
  assert.equal(inside({ ...all, first: -5 }, 10).count, 10);
  assert.equal(newest({ ...half }, 200000).first, 150000);
  const band = shiftBand(zoomBand(all, 0.25), 10);
  assert.deepEqual([band.low, band.high], [0.75, 1]);
});

test('what grows is followed: its last second, or as much as somebody has zoomed to', () => {
  const early = followed(undefined, 8192, 500000);
  assert.deepEqual([early.first, early.count], [0, 8192]);
  const later = followed(early, 800000, 500000);
  assert.deepEqual([later.first, later.count], [300000, 500000]);
  const zoomed = followed({ first: 5000, count: 1000, low: 0.25, high: 0.5 }, 900000, 500000);
  assert.deepEqual(zoomed, { first: 899000, count: 1000, low: 0.25, high: 0.5 });
  assert.deepEqual(followed({ ...early, low: 0.25, high: 0.5 }, 600000, 500000), { first: 100000, count: 500000, low: 0.25, high: 0.5 });
});

test('columns are a power of two that the samples and the node allow', () => {
  assert.equal(columnsFor(whole(1e6), true), 512);
  assert.equal(columnsFor({ ...whole(1e6), low: 0, high: 1 / 64 }, true), 4096);
  assert.equal(columnsFor(whole(100), true), 64);
  assert.equal(columnsFor(whole(100), false), 32);
  assert.equal(columnsFor(whole(4), true), 16);
});

const nan = Number.NaN;
const base64 = (values: number[]) => Buffer.from(Float32Array.from(values).buffer).toString('base64');
const message: SpectrogramMessage = {
  columns: 4,
  rows: 3,
  first_sample: 0,
  samples_per_row: 10,
  powers: base64([-90, -10, -90, -90, nan, nan, nan, nan, -90, -20, -90, -90]),
  bytes_read: 240,
  sample_rate: 1000,
  frequency: 50,
  sample_count: 30,
  complex: true,
  band_rate: 1000,
  bins: 0,
  covered_samples: 30,
  means: base64([-90, -13, -90, -90]),
};
const picture: Spectrogram = spectrogramOf(message);

test('missing rows count for nothing', () => {
  assert.equal(missingRows(picture), 1);
  assert.equal(peaksOf(picture)[1], -10);
  assert.ok(rangeOf(picture).high >= -10 && rangeOf(picture).low < -90);
});

test('frequencies of complex samples are around the middle, of real ones above it', () => {
  assert.equal(frequencyAt(bandOf(message), 0), -450);
  assert.equal(frequencyAt(bandOf({ ...message, complex: false }), 0.5), 300);
  // A column is as wide as a bin and has its frequency in the middle; the outermost ones are shown in part.
  assert.deepEqual(columnsOf(picture, 0, 1), { from: 0, to: 5 });
  assert.deepEqual(columnsOf(picture, 0.5, 0.75), { from: 2, to: 4 });
  assert.equal(storedColumn(picture, 4), 0);
  assert.equal(storedColumn({ ...picture, band: bandOf({ ...message, complex: false }) }, 4), 3);
});

test('an axis has one unit, and the digits that tell its ticks apart', () => {
  assert.deepEqual(tickTexts(bandOf({ ...message, band_rate: 1e6, frequency: 0 }), 0, 1), ['−500 kHz', '−250 kHz', '0 kHz', '250 kHz', '500 kHz']);
  assert.deepEqual(tickTexts(bandOf({ ...message, band_rate: 1e6, frequency: 1.09e9 }), 0.5, 1), ['1.090000 GHz', '1.090125 GHz', '1.090250 GHz', '1.090375 GHz', '1.090500 GHz']);
  assert.deepEqual(tickTexts(bandOf({ ...message, band_rate: 0, frequency: 0 }), 0, 1).at(-1), '0.5000 of the rate');
});

test('spectra have the band of their source, and bin 0 in the middle column', () => {
  // The mean of 64 spectra each.
  assert.equal(frequencyAt(bandOf({ ...message, band_rate: 64000 }), 0.75), 16050);
  const odd = bandOf({ ...message, columns: 5, frequency: 0 });
  assert.equal(frequencyAt(odd, 2 / 5), 0);
});

test('a picture says how much it is made of', () => {
  assert.equal(madeOf(picture), 'Each row holds the maximum of its transforms.');
  const part = madeOf({ bins: 64, covered: 5, samples: 40 });
  assert.equal(part, 'Each row holds the maximum of its recorded spectra of 64 bins, which cover 12.5 % of its samples. Zoom in to see the rest.');
});

test('samples are little-endian, and of a known length', () => {
  assert.deepEqual([...floatsOf(Buffer.from([0, 0, 128, 63, 0, 0, 0, 192]).toString('base64'))], [1, -2]);
  assert.equal(bytesOfSample('cf32_le'), 8);
  assert.equal(bytesOfSample('ru8'), 1);
  assert.equal(bytesOfSample('other'), 0);
});

test('a meter forgets what is older than its window, and a counter that fell', () => {
  const meter = new RateMeter(1000);
  assert.equal(meter.perSecond(), undefined);
  for (let at = 0; at <= 5000; at += 500) meter.add(at, at <= 4000 ? 0 : (at - 4000) * 10);
  assert.equal(meter.perSecond(), 10000);
  meter.add(6000, 0);
  assert.equal(meter.perSecond(), undefined);
});

test('samples of the stream are ahead of those of the recording', () => {
  const captures = [{ sample: 0, stream_sample: 100 }, { sample: 50, stream_sample: 400 }];
  const timeline = { captures } as unknown as Timeline;
  assert.equal(aheadAt(timeline, 10), 100);
  assert.equal(aheadAt(timeline, 60), 350);
  assert.equal(aheadAt(undefined, 60), 0);
  assert.deepEqual(['0', '10', '60', '-1', 'x'].map((sample) => inSession(timeline, sample)), ['100', '110', '410', '-1', 'x']);
});

test('the segments of a stream are one entry of the list', () => {
  const one = (channel: string, id: string, stream: string, segment: number) =>
    ({ name: `luns/l0/channels/${channel}/recordings/${id}`, stream, segment, blocks: 1, bytes: 10, missing_blocks: segment, kept: segment === 1 }) as unknown as Recording;
  const recordings = [one('c0', 'e', 'a', 2), one('c0', 'd', '', 0), one('c1', 'a', 'a', 0), one('c0', 'a', 'a', 0), one('c0', 'b', 'a', 1)];
  const entries = entriesOf(recordings);
  assert.deepEqual(entries.map((entry) => entry.segments.map((recording) => recording.name.slice(-1)).join('')), ['eba', 'd', 'a']);
  const summary = summaryOf(entries[0]?.segments ?? []);
  assert.deepEqual([summary?.newest.segment, summary?.oldest.segment, summary?.bytes, summary?.missing, summary?.kept], [2, 0, 30, 3, 1]);
});

test('a row of a stream counts the segments that are gone, and has the worst state', () => {
  const one = (segment: number, change: object = {}) => ({ name: `luns/l0/channels/c0/recordings/${segment}`, stream: 's', segment, state: 'SEALED', blocks: 16, bytes: 0, missing_blocks: 0, kept: false, ...change }) as unknown as Recording;
  const rowOf = (...recordings: Recording[]) => {
    const summary = summaryOf(entriesOf(recordings)[0]?.segments ?? []);
    return [summary?.segments, summary?.missing, summary?.state];
  };
  const all = Array.from({ length: 68 }, (_, index) => one(index + 1));
  assert.deepEqual(rowOf(...all), ['68 (1-68)', 0, 'SEALED']);
  assert.deepEqual(rowOf(...all.filter(({ segment }) => segment !== 5)), ['67 of 1-68', 16, 'SEALED']);
  // The last segment may be shorter, and segments before the first are no gap.
  assert.deepEqual(rowOf(one(9, { blocks: 3, missing_blocks: 2 }), one(6), one(5)), ['3 of 5-9', 34, 'SEALED']);
  assert.deepEqual(rowOf(one(1), one(0)), ['2', 0, 'SEALED']);
  assert.equal(rowOf(one(2), one(1, { state: 'SALVAGED' }), one(0))[2], 'SALVAGED');
  assert.equal(rowOf(one(2), one(1, { state: 'SALVAGED' }), one(0, { state: 'DELETING' }))[2], 'DELETING');
  assert.equal(rowOf(one(2, { state: 'RECORDING' }), one(1, { state: 'SALVAGED' }), one(0, { state: 'DELETING' }))[2], 'RECORDING');
});

test('a segment that a filter hides is not gone', () => {
  const one = (segment: number, stream: string) => ({ name: `luns/l0/channels/c0/recordings/${stream}${segment}`, stream, segment, state: 'SEALED', blocks: 16, bytes: 0, missing_blocks: 0, kept: false }) as unknown as Recording;
  const entries = entriesOf([one(2, 's'), one(1, 's'), one(0, 's'), one(0, 't')], ({ segment, stream }) => stream === 's' && segment !== 1);
  assert.deepEqual(entries.map(({ shown }) => shown.map(({ segment }) => segment)), [[2, 0]]);
  assert.deepEqual([summaryOf(entries[0]?.segments ?? [])?.segments, summaryOf(entries[0]?.segments ?? [])?.missing], ['3', 0]);
});

test('a filter goes by channel, state, time and words', () => {
  const recording = { name: 'luns/l0/channels/c0/recordings/r', state: 'SEALED', start_time: '2026-01-31T12:00:00Z', labels: { site: 'North' }, annotations: [], description: '', kept: false } as unknown as Recording;
  const is = (change: object) => matches(recording, { ...NO_FILTER, ...change });
  assert.ok(is({}) && is({ channel: 'l0' }) && is({ channel: 'l0/c0' }) && is({ state: 'SEALED' }) && is({ label: 'site=nor' }));
  assert.ok(!is({ channel: 'l' }) && !is({ state: 'KEPT' }) && !is({ label: 'south' }));
  assert.ok(is({ since: '2026-01-31T11:59', until: '2026-01-31T12:00' }) && !is({ since: '2026-01-31T12:01' }) && !is({ until: '2026-01-31T11:00' }));
  const undated = { ...recording, start_time: null };
  assert.ok(matches(undated, NO_FILTER) && !matches(undated, { ...NO_FILTER, since: '2026-01-31T11:00' }));
});

test('a time goes on to the nanosecond', () => {
  assert.equal(later('2026-01-31T12:00:00Z', 0, 1e6), '2026-01-31T12:00:00Z');
  assert.equal(later('2026-01-31T23:59:59.999999999Z', 1, 1e9), '2026-02-01T00:00:00Z');
  assert.equal(later('2026-01-31T12:00:00.5Z', 3000003, 2e6), '2026-01-31T12:00:02.0000015Z');
});

test('the metadata of a range say where it begins, what is noted in it and what it misses', () => {
  const recording = { name: 'luns/l0/channels/c0/recordings/r', datatype: 'ci16_le', description: '', labels: { b: '2', a: '1' }, annotations: [] } as unknown as Recording;
  const timeline = {
    sample_rate: 1000,
    frequency: 1e9,
    captures: [
      { sample: 0, stream_sample: 7, frequency: 1e9, time: '2026-01-31T12:00:00Z' },
      { sample: 500, stream_sample: 907, frequency: 2e9, time: '2026-01-31T12:00:00.9Z' },
    ],
    annotations: [
      { first_sample: 90, sample_count: 20, label: 'early', comment: '' },
      { first_sample: 150, sample_count: 0, label: 'point', comment: 'here' },
      { first_sample: 900, sample_count: 1, label: 'late', comment: '' },
    ],
  } as unknown as Timeline;
  const meta = metaOf(recording, timeline, { first: 100, count: 500 }, [{ first_sample: 590, sample_count: 100 }]) as Record<string, unknown[]>;
  assert.deepEqual(meta['captures'], [
    { 'core:sample_start': 0, 'core:global_index': 107, 'core:frequency': 1e9, 'core:datetime': '2026-01-31T12:00:00.1Z' },
    { 'core:sample_start': 400, 'core:global_index': 907, 'core:frequency': 2e9, 'core:datetime': '2026-01-31T12:00:00.9Z' },
  ]);
  assert.deepEqual(meta['annotations'], [
    { 'core:sample_start': 0, 'core:sample_count': 10, 'core:label': 'early' },
    { 'core:sample_start': 50, 'core:sample_count': 0, 'core:label': 'point', 'core:comment': 'here' },
    { 'core:sample_start': 490, 'core:sample_count': 10, 'core:label': 'missing', 'tapedeck:missing': true },
  ]);
});

test('losses and gaps are told as tapectl tells them', () => {
  const mark = (first_sample: number, sample_count: number, label: string, comment = '') => ({ first_sample, sample_count, label, comment });
  const together = '5 samples in 2 places of this span';
  const annotation = (sample_start: number, sample_count: number, label: string, foreign = false, comment = '') => ({ sample_start, sample_count, label, comment, foreign, details: '' });
  const recording = {
    labels: {},
    annotations: [annotation(1010, 5, 'lost'), annotation(1020, 5, 'lost', true), annotation(1030, 100, 'lost', false, together), annotation(1040, 10, 'lost', false, together), annotation(1050, 5, 'burst')],
  } as unknown as Recording;
  const timeline = {
    captures: [{ sample: 0, stream_sample: 1000, frequency: 0, time: null }],
    annotations: [mark(10, 5, 'lost'), mark(20, 5, 'lost'), mark(30, 100, 'lost', together), mark(40, 10, 'lost', together), mark(50, 5, 'burst')],
  } as unknown as Timeline;
  const missing = [{ first_sample: 60, sample_count: 5 }, { first_sample: 65, sample_count: 10 }, { first_sample: 75, sample_count: 1 }, { first_sample: 80, sample_count: 2 }];
  const span = (first: number, count: number) => ({ 'core:sample_start': first, 'core:sample_count': count });
  const meta = metaOf(recording, timeline, { first: 0, count: 100 }, missing) as Record<string, unknown[]>;
  assert.deepEqual(meta['annotations'], [
    { ...span(10, 5), 'core:label': 'lost', 'tapedeck:lost': true },
    { ...span(20, 5), 'core:label': 'lost' },
    { ...span(30, 70), 'core:label': 'lost', 'core:comment': '5 samples in 2 places of samples 1030 to 1129 of the stream', 'tapedeck:lost': true },
    { ...span(40, 10), 'core:label': 'lost', 'core:comment': together, 'tapedeck:lost': true },
    { ...span(50, 5), 'core:label': 'burst' },
    { ...span(60, 16), 'core:label': 'missing', 'tapedeck:missing': true },
    { ...span(80, 2), 'core:label': 'missing', 'tapedeck:missing': true },
  ]);
});

test('an archive is a tar of whole blocks', async () => {
  const bytes = new Uint8Array(await archiveOf('r-0', {}, new Blob([new Uint8Array(700)])).arrayBuffer());
  assert.equal(bytes.length % 512, 0);
  assert.equal(new TextDecoder().decode(bytes.subarray(1024, 1024 + 18)), 'r-0/r-0.sigmf-data');
});
