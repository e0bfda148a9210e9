// What the forms of LUNs and channels hold, as people type it, and what is made of it.
import { bytes, pairsText, parseBytes, parsePairs, parseSpan } from '../format.ts';
import type { Channel, Lun } from '../types.ts';

export interface LunFields {
  name: string;
  store: string;
  members: string;
  capacity: string;
  policy: string;
  maxAge: string;
  maxFill: string;
  description: string;
  labels: string;
}

export interface ChannelFields {
  name: string;
  blockBytes: string;
  datatype: string;
  sampleRate: string;
  commit: string;
  op: string;
  preTrigger: string;
  postTrigger: string;
  segment: string;
  moveTo: string;
  moveAfter: string;
  moveRate: string;
  description: string;
  labels: string;
}

// The largest unit that says it in whole numbers.
function exact(value: number): string {
  const units = ['', 'KiB', 'MiB', 'GiB', 'TiB'];
  let rest = value;
  if (rest === 0) return '';
  while (rest % 1024 === 0 && units.length > 1) {
    rest /= 1024;
    units.shift();
  }
  return `${rest}${units[0]}`;
}
const spanText = (seconds = 0) => (seconds > 0 ? `${seconds}s` : '');
const lines = (text: string) =>
  text
    .split('\n')
    .map((one) => one.trim())
    .filter(Boolean);

export const lunFields = (lun?: Lun): LunFields => ({
  name: lun?.name.split('/')[1] ?? '',
  store: lun?.store ?? 'posix',
  members: (lun?.members ?? []).join('\n'),
  capacity: lun ? exact(lun.capacity_bytes) : '10GiB',
  policy: lun?.full_policy ?? 'stop',
  maxAge: spanText(lun?.max_age_s),
  maxFill: lun && lun.max_fill_percent > 0 ? String(lun.max_fill_percent) : '',
  description: lun?.description ?? '',
  labels: pairsText(lun?.labels ?? {}),
});

export const channelFields = (channel?: Channel): ChannelFields => ({
  name: channel?.name.split('/')[3] ?? '',
  blockBytes: channel ? exact(channel.block_bytes) : '1MiB',
  datatype: channel?.datatype ?? 'cf32_le',
  sampleRate: channel && channel.sample_rate > 0 ? String(channel.sample_rate) : '',
  commit: channel?.commit_level ?? 'durable',
  op: channel?.transfer_op ?? '',
  preTrigger: spanText(channel?.pre_trigger_s),
  postTrigger: spanText(channel?.post_trigger_s),
  segment: channel ? exact(channel.segment_bytes) : '',
  moveTo: channel?.move_to.split('/')[1] ?? '',
  moveAfter: spanText(channel?.move_after_s),
  moveRate: channel ? exact(channel.move_rate_bytes_per_second) : '',
  description: channel?.description ?? '',
  labels: pairsText(channel?.labels ?? {}),
});

// What cannot be meant throws, naming its field.
function asBytes(what: string, text: string): number {
  if (text.trim() === '') return 0;
  const value = parseBytes(text);
  if (value === undefined) throw new Error(`${what} must be a number of bytes, for example ${bytes(10 * 2 ** 30).replace(/\.\d+ /, '')}.`);
  return value;
}

function asSpan(what: string, text: string): number {
  if (text.trim() === '') return 0;
  const value = parseSpan(text);
  if (value === undefined) throw new Error(`${what} must be a time, for example 72h or 2s.`);
  return value;
}

function asLabels(text: string): Record<string, string> {
  const labels = parsePairs(text);
  if (!labels) throw new Error('Labels must be like site=north, rack=7.');
  return labels;
}

export const lunOf = (fields: LunFields) => ({
  name: `luns/${fields.name}`,
  store: fields.store,
  members: lines(fields.members),
  capacity_bytes: asBytes('The capacity', fields.capacity),
  full_policy: fields.policy,
  max_age_s: asSpan('The age', fields.maxAge),
  max_fill_percent: Number(fields.maxFill || 0),
  description: fields.description,
  labels: asLabels(fields.labels),
});

export const channelOf = (lun: string, fields: ChannelFields) => ({
  name: `luns/${lun}/channels/${fields.name}`,
  block_bytes: asBytes('The block', fields.blockBytes),
  datatype: fields.datatype.trim(),
  sample_rate: Number(fields.sampleRate || 0),
  commit_level: fields.commit,
  transfer_op: fields.op || null,
  pre_trigger_s: asSpan('The time before a trigger', fields.preTrigger),
  post_trigger_s: asSpan('The time after a trigger', fields.postTrigger),
  segment_bytes: asBytes('The segment', fields.segment),
  move_to: fields.moveTo.trim() === '' ? '' : `luns/${fields.moveTo.trim()}`,
  move_after_s: asSpan('The time after which recordings are moved', fields.moveAfter),
  move_rate_bytes_per_second: asBytes('The rate at which they are moved', fields.moveRate),
  description: fields.description,
  labels: asLabels(fields.labels),
});

// The keys that differ, as a field mask has them.
export function maskOf<Fields extends object>(before: Fields, after: Fields, names: Partial<Record<keyof Fields, string>>): string {
  return (Object.keys(names) as (keyof Fields)[])
    .filter((key) => before[key] !== after[key])
    .map((key) => names[key])
    .join(',');
}

const labelsOf = (text: string) =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean);

export const lunOptions = (fields: LunFields) => ({
  capacity: fields.capacity,
  'full-policy': fields.policy,
  'max-age': fields.maxAge,
  'max-fill': fields.maxFill,
  description: fields.description,
  label: labelsOf(fields.labels),
});

export const channelOptions = (fields: ChannelFields) => ({
  'block-bytes': fields.blockBytes,
  datatype: fields.datatype,
  'sample-rate': fields.sampleRate,
  commit: fields.commit,
  'transfer-op': fields.op,
  'pre-trigger': fields.preTrigger,
  'post-trigger': fields.postTrigger,
  segment: fields.segment,
  'move-to': fields.moveTo,
  after: fields.moveAfter,
  'move-rate': fields.moveRate,
  description: fields.description,
  label: labelsOf(fields.labels),
});

// As tapectl updates them: NAME=VALUE adds or replaces one, NAME- removes it.
function labelChanges(before: string[], after: string[]): string[] {
  const nameOf = (one: string) => one.split('=')[0];
  const names = new Set(after.map(nameOf));
  const removed = before.map(nameOf).filter((name) => !names.has(name));
  return [...removed.map((name) => `${name}-`), ...after.filter((one) => !before.includes(one))];
}

// Of an update what has changed alone.
export function changed<Options extends object>(before: Options, after: Options): Partial<Options> {
  const entries = (Object.entries(after) as [keyof Options, unknown][])
    .filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(before[key]))
    .map(([key, value]) => [key, Array.isArray(value) ? labelChanges(before[key] as string[], value) : value]);
  return Object.fromEntries(entries) as Partial<Options>;
}

export { lines as memberLines };
