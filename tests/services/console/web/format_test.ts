import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytes, count, level, lunOf, pairsText, parseBytes, parsePairs, parseRate, parseSpan, plural, rate, shortName, span, spansOfAxis, timeLeft } from '../../../../services/console/web/src/format.ts';

test('bytes are binary, rates decimal', () => {
  assert.equal(bytes(1610612736), '1.50 GiB');
  assert.equal(bytes(512), '512 B');
  assert.equal(rate(123.4e6), '123 MB/s');
  assert.equal(rate(0), '0 B/s');
  assert.equal(rate(Number.NaN), '—');
  assert.equal(level(-0.04), '0.0 dBFS');
  assert.equal(level(-12.34), '−12.3 dBFS');
  assert.equal(count(1234567), '1\u202f234\u202f567');
});

test('an axis of times has one unit', () => {
  assert.deepEqual(spansOfAxis([0, 0.4096, 0.8192, 1.2288, 1.6384]), ['0.00 s', '0.41 s', '0.82 s', '1.23 s', '1.64 s']);
  assert.deepEqual(spansOfAxis([0.123456, 0.123464, 0.123472]), ['123.456 ms', '123.464 ms', '123.472 ms']);
  assert.deepEqual(spansOfAxis([3595, 3600, 3605]), ['59:55', '1:00:00', '1:00:05']);
  assert.deepEqual(spansOfAxis([0, 0]), ['0 s', '0 s']);
});

test('a count agrees with its word', () => {
  assert.deepEqual([0, 1, 2].map((number) => plural(number, 'session')), ['0 sessions', '1 session', '2 sessions']);
});

test('time tells two units', () => {
  assert.equal(span(0.0000005), '500 ns');
  assert.equal(span(59.94), '59.9 s');
  assert.equal(span(3725), '1 h 2 min');
  assert.deepEqual([0.5, 2, 60, 7200, 259200].map(span), ['500 ms', '2 s', '1 min', '2 h', '3 d']);
  assert.equal(span(Number.NaN), '—');
});

test('room left needs a rate', () => {
  assert.equal(timeLeft(2280e6, 1e6), '38 min');
  assert.equal(timeLeft(3600e6, 0), '—');
  assert.equal(timeLeft(3.6e18, 1), 'more than 1000 d');
});

test('what people type is as tapectl takes it', () => {
  assert.equal(parseBytes('10GiB'), 10 * 2 ** 30);
  assert.equal(parseBytes('200MB'), 200e6);
  assert.equal(parseBytes('4096'), 4096);
  assert.equal(parseBytes('1M'), 2 ** 20);
  assert.equal(parseBytes('ten'), undefined);
  assert.equal(parseRate('2.4M'), 2.4e6);
  assert.equal(parseRate('1e9'), 1e9);
  assert.equal(parseRate('fast'), undefined);
  assert.equal(parseSpan('72h'), 259200);
  assert.equal(parseSpan('200ms'), 0.2);
  assert.equal(parseSpan('1m30s'), 90);
  assert.equal(parseSpan('0s'), 0);
  assert.equal(parseSpan('1 m'), undefined);
  assert.equal(parseSpan('soon'), undefined);
  assert.deepEqual(parsePairs('site=north, rack=7'), { site: 'north', rack: '7' });
  assert.equal(parsePairs('=x'), undefined);
});

test('labels are shown in the order of their names, whatever the order of the answer', () => {
  assert.equal(pairsText({ site: 'north', antenna: '7', rack: '2' }), 'antenna=7, rack=2, site=north');
  assert.equal(pairsText({ rack: '2', site: 'north', antenna: '7' }), 'antenna=7, rack=2, site=north');
});

test('names are short as tapectl takes them', () => {
  assert.equal(shortName('luns/l0/channels/c0/recordings/r'), 'l0/c0/r');
  assert.equal(lunOf('luns/l0/channels/c0/recordings/r'), 'luns/l0');
});
