// What the forms of LUNs and channels hold, as people type it, and what is made of it.
import { bytes, pairsText, parseBytes, parsePairs, parseSpan, secondsOf, word } from '../format.ts';
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
function exact(value: string): string {
  const units = ['', 'KiB', 'MiB', 'GiB', 'TiB'];
  let rest = Number(value);
  if (rest === 0) return '';
  while (rest % 1024 === 0 && units.length > 1) {
    rest /= 1024;
    units.shift();
  }
  return `${rest}${units[0]}`;
}
const spanText = (value: string | undefined) => (secondsOf(value) > 0 ? String(value) : '');
const lines = (text: string) =>
  text
    .split('\n')
    .map((one) => one.trim())
    .filter(Boolean);

export const lunFields = (lun?: Lun): LunFields => ({
  name: lun?.name.split('/')[1] ?? '',
  store: lun?.store ?? 'posix',
  members: (lun?.members ?? []).join('\n'),
  capacity: lun ? exact(lun.capacityBytes) : '10GiB',
  policy: lun?.fullPolicy ?? 'FULL_POLICY_STOP',
  maxAge: spanText(lun?.maxAge),
  maxFill: lun && lun.maxFillPercent > 0 ? String(lun.maxFillPercent) : '',
  description: lun?.description ?? '',
  labels: pairsText(lun?.labels),
});

export const channelFields = (channel?: Channel): ChannelFields => ({
  name: channel?.name.split('/')[3] ?? '',
  blockBytes: channel ? exact(channel.blockBytes) : '1MiB',
  datatype: channel?.datatype ?? 'cf32_le',
  sampleRate: channel && channel.sampleRate > 0 ? String(channel.sampleRate) : '',
  commit: channel?.commitLevel ?? 'COMMIT_LEVEL_DURABLE',
  op: channel?.transferOp ?? 'TRANSFER_OP_UNSPECIFIED',
  preTrigger: spanText(channel?.preTrigger),
  postTrigger: spanText(channel?.postTrigger),
  segment: channel ? exact(channel.segmentBytes) : '',
  moveTo: channel?.moveTo.split('/')[1] ?? '',
  moveAfter: spanText(channel?.moveAfter),
  moveRate: channel ? exact(channel.moveRateBytesPerSecond) : '',
  description: channel?.description ?? '',
  labels: pairsText(channel?.labels),
});

// What cannot be meant throws, naming its field.
function asBytes(what: string, text: string): string {
  if (text.trim() === '') return '0';
  const value = parseBytes(text);
  if (value === undefined) throw new Error(`${what} must be a number of bytes, for example ${bytes(10 * 2 ** 30).replace(/\.\d+ /, '')}.`);
  return String(value);
}

function asSpan(what: string, text: string): string {
  if (text.trim() === '') return '0s';
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
  capacityBytes: asBytes('The capacity', fields.capacity),
  fullPolicy: fields.policy,
  maxAge: asSpan('The age', fields.maxAge),
  maxFillPercent: Number(fields.maxFill || 0),
  description: fields.description,
  labels: asLabels(fields.labels),
});

export const channelOf = (lun: string, fields: ChannelFields) => ({
  name: `luns/${lun}/channels/${fields.name}`,
  blockBytes: asBytes('The block', fields.blockBytes),
  datatype: fields.datatype.trim(),
  sampleRate: Number(fields.sampleRate || 0),
  commitLevel: fields.commit,
  transferOp: fields.op,
  preTrigger: asSpan('The time before a trigger', fields.preTrigger),
  postTrigger: asSpan('The time after a trigger', fields.postTrigger),
  segmentBytes: asBytes('The segment', fields.segment),
  moveTo: fields.moveTo.trim() === '' ? '' : `luns/${fields.moveTo.trim()}`,
  moveAfter: asSpan('The time after which recordings are moved', fields.moveAfter),
  moveRateBytesPerSecond: asBytes('The rate at which they are moved', fields.moveRate),
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
  'full-policy': word(fields.policy, 'FULL_POLICY_').toLowerCase(),
  'max-age': fields.maxAge,
  'max-fill': fields.maxFill,
  description: fields.description,
  label: labelsOf(fields.labels),
});

export const channelOptions = (fields: ChannelFields) => ({
  'block-bytes': fields.blockBytes,
  datatype: fields.datatype,
  'sample-rate': fields.sampleRate,
  commit: word(fields.commit, 'COMMIT_LEVEL_').toLowerCase(),
  'transfer-op': word(fields.op, 'TRANSFER_OP_'),
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
