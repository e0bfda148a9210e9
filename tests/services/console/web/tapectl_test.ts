import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHANNEL_MASK, channelFields, channelOf, channelOptions, changed, lunFields, lunOptions, maskOf, spanText } from '../../../../services/console/web/src/luns/fields.ts';
import { recordLine, recordRequest } from '../../../../services/console/web/src/jobs/record_request.ts';
import { hasEnded, readable } from '../../../../services/console/web/src/jobs/states.ts';
import { originText } from '../../../../services/console/web/src/format.ts';
import type { Job } from '../../../../services/console/web/src/types.ts';
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
  assert.equal(maskOf(before, after, CHANNEL_MASK), 'segment_bytes,labels.a');
});

test('a channel is shown as it was typed', () => {
  const typed = { ...channelFields(), name: 'c0', transfer_op: 'SEND', sample_rate: '1000000', pre_trigger: '2s', move_to: 'deep', move_after: '3600s', labels: 'a=b' };
  const channel = channelOf('l0', typed);
  assert.deepEqual([channel.name, channel['block_bytes'], channel['pre_trigger_s'], channel['move_to']], ['luns/l0/channels/c0', 2 ** 20, 2, 'luns/deep']);
  assert.deepEqual(channelFields(channel as unknown as Parameters<typeof channelFields>[0]), typed);
  assert.throws(() => channelOf('l0', { ...typed, segment_bytes: 'much' }), /Segment must be a size/);
});

test('an update clears an option by its empty value, and no command has a duration of 0s', () => {
  const before = { ...channelFields(), pre_trigger: '2s', segment_bytes: '1GiB', description: 'old', transfer_op: 'SEND' };
  const after = { ...before, pre_trigger: '', segment_bytes: '', description: '', transfer_op: '' };
  assert.equal(line(['channel', 'update', 'l0/c0'], changed(channelOptions(before), channelOptions(after))), "tapectl channel update l0/c0 --pre-trigger 0s --segment 0 --description ''");
  assert.equal(channelOptions({ ...before, pre_trigger: '0s' })['pre-trigger'], '');
  assert.equal(lunOptions({ ...lunFields(), maxAge: '0s' })['max-age'], '');
  assert.throws(() => channelOf('l0', { ...before, sample_rate: 'fast' }), /Sample rate must be a number/);
});

test('a record command has a duration above 0 s or none', () => {
  const fields = { channel: 'l0/c0', source: { name: 'synth', settings: '' }, transforms: [], blocks: '', duration: '0s' };
  const where = { worker: 'w', storage: '127.0.0.1:7400', device: '', rails: '' };
  assert.equal(recordLine(where, fields), 'tapectl record l0/c0 --source synth');
  assert.throws(() => recordRequest(where, fields), /longer than 0 s/);
  assert.equal(recordLine(where, { ...fields, duration: '1m30s' }), 'tapectl record l0/c0 --source synth --duration 1m30s');
  assert.equal((recordRequest(where, { ...fields, duration: '1m30s' }) as { duration_s?: number }).duration_s, 90);
});

test('a job of a later version has a state', () => {
  const job = { name: 'jobs/1', state: 99, direction: null, notes: ['listens'] } as unknown as Job;
  assert.deepEqual([readable(job).state, readable(job).direction, readable(job).notes[0]?.text], ['UNKNOWN', 'UNKNOWN', 'listens']);
  assert.ok(!hasEnded(readable(job)));
  assert.equal(readable({ ...job, state: 'RUNNING' }).state, 'RUNNING');
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
  const inexact = { ...origin, source: { name: 'synth', parameters: { noise: '0.10000000000000001', tones: '0.125,-0.29999999999999999' } } };
  assert.equal(originText(inexact), 'synth(noise=0.1, tones=0.125,-0.3) → fft(points=64), by w1 0.1.0, on host');
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
