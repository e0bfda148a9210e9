import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHANNEL_MASK, channelFields, channelOf, channelOptions, changed, lunFields, maskOf, spanText } from '../../../../services/console/web/src/luns/fields.ts';
import { originText } from '../../../../services/console/web/src/format.ts';
import { fileFlags, line, quoted, stageText } from '../../../../services/console/web/src/tapectl.ts';

test('a shell takes each word as it is meant', () => {
  assert.equal(quoted('l0/c0'), 'l0/c0');
  assert.equal(quoted("it's $HOME"), `'it'\\''s $HOME'`);
  assert.equal(quoted('<b>'), "'<b>'");
  assert.equal(quoted(''), "''");
});

test('options that say nothing are left out, lists repeat theirs', () => {
  assert.equal(line(['lun', 'create', 'l0'], { store: 'posix', member: ['/a', '/b b'], capacity: '', force: true, other: false }), "tapectl lun create l0 --store posix --member /a --member '/b b' --force");
});

test('a stage is written as --source takes it', () => {
  assert.equal(stageText('synth', {}), 'synth');
  assert.equal(stageText('synth', { seed: '5', tones: '0.125,-0.25' }), 'synth:seed=5,tones=0.125,-0.25');
  assert.equal(stageText('file', { path: '/a b', loop: 'true' }), 'file:/a b');
  assert.deepEqual(fileFlags('file', { path: '/a', loop: 'true' }), { loop: true, replace: false });
});

test('an update names what has changed alone', () => {
  const before = channelFields();
  const after = { ...before, segment_bytes: '1GiB', labels: 'a=b' };
  assert.deepEqual(changed(channelOptions(before), channelOptions(after)), { segment: '1GiB', label: ['a=b'] });
  assert.equal(maskOf(before, after, CHANNEL_MASK), 'segment_bytes,labels');
});

test('a channel is shown as it was typed', () => {
  const typed = { ...channelFields(), name: 'c0', transfer_op: 'SEND', sample_rate: '1000000', pre_trigger: '2s', move_to: 'deep', move_after: '3600s', labels: 'a=b' };
  const channel = channelOf('l0', typed);
  assert.deepEqual([channel.name, channel['block_bytes'], channel['pre_trigger_s'], channel['move_to']], ['luns/l0/channels/c0', 2 ** 20, 2, 'luns/deep']);
  assert.deepEqual(channelFields(channel as unknown as Parameters<typeof channelFields>[0]), typed);
  assert.throws(() => channelOf('l0', { ...typed, segment_bytes: 'much' }), /Segment must be a number of bytes/);
});

test('labels are set and removed one by one', () => {
  const before = { ...channelFields(), labels: 'a=1, b=2, c=3' };
  const after = { ...before, labels: 'a=1, b=4, d=5' };
  assert.deepEqual(changed(channelOptions(before), channelOptions(after)), { label: ['c-', 'b=4', 'd=5'] });
});

test('an origin is a line', () => {
  const origin = { source: { name: 'synth', parameters: { seed: '1', noise: '0' } }, transforms: [{ name: 'fft', parameters: { points: '64' } }], datatype: 'cf32_le', device: 'host', worker: 'w1', version: '0.1.0', beside: '' };
  assert.equal(originText(origin), 'synth(noise=0, seed=1) → fft(points=64), by w1 0.1.0, on host');
  assert.equal(originText(null), '—');
});

test('sizes come back in the largest whole unit', () => {
  const lun = { name: 'luns/l0', capacity_bytes: 20 * 2 ** 30, max_age_s: 259200, max_fill_percent: 0 };
  const fields = lunFields(lun as Parameters<typeof lunFields>[0]);
  assert.equal(fields.capacity, '20GiB');
  assert.equal(fields.maxAge, '259200s');
  assert.equal(fields.maxFill, '');
});

test('a span is as tapectl takes it', () => {
  assert.equal(spanText(0.0000005), '0.0000005s');
  assert.equal(spanText(1.5), '1.5s');
  assert.equal(spanText(3600), '3600s');
  assert.equal(spanText(), '');
});
