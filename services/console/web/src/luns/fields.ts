// What the forms of LUNs and channels hold, as people type it, and what is made of it.
import { labelsText, parseBytes, parseCount, parsePairs, parsePercent, parseRate, parseSpan } from '../format.ts';
import type { Options } from '../tapectl.ts';
import type { Channel, Lun } from '../types.ts';
import { CHANNEL_SETTINGS, type Setting } from './settings.ts';

export interface LunFields {
  name: string;
  store: string;
  members: string;
  capacity: string;
  policy: string;
  maxAge: string;
  maxFill: string;
  copies: string;
  prewriteFiles: string;
  prewriteBytes: string;
  description: string;
  labels: string;
}

// By the names of the settings (settings.ts), and the name.
export type ChannelFields = Record<string, string>;

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
// To a nanosecond, never as 5e-7.
export const spanText = (seconds = 0) => (seconds > 0 ? `${seconds.toFixed(9).replace(/\.?0+$/, '')}s` : '');
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
  copies: String(lun?.copies || 1),
  prewriteFiles: lun && lun.prewrite_files > 0 ? String(lun.prewrite_files) : '',
  prewriteBytes: exact(lun?.prewrite_bytes ?? 0),
  description: lun?.description ?? '',
  labels: labelsText(lun?.labels ?? {}),
});

// Of a message the member that a setting has.
const keyOf = ({ name, kind }: Setting) => (kind === 'span' ? `${name}_s` : name);

function shown(setting: Setting, channel: Channel): string {
  const value = channel[keyOf(setting) as keyof Channel];
  switch (setting.kind) {
    case 'bytes':
      return exact(value as number);
    case 'span':
      return spanText(value as number);
    case 'number':
      return (value as number) > 0 ? String(value) : '';
    case 'labels':
      return labelsText(value as Record<string, string>);
    default:
      return setting.name === 'move_to' ? String(value).replace(/^luns\//, '') : String(value ?? '');
  }
}

export const channelFields = (channel?: Channel): ChannelFields => ({
  name: channel?.name.split('/')[3] ?? '',
  ...Object.fromEntries(CHANNEL_SETTINGS.map((setting) => [setting.name, channel ? shown(setting, channel) : setting.initial])),
});

// What cannot be meant throws, naming its field.
export function asBytes(what: string, text: string): number {
  if (text.trim() === '') return 0;
  const value = parseBytes(text);
  if (value === undefined) throw new Error(`${what} must be a size, for example 10GiB or 1M.`);
  return value;
}

function asSpan(what: string, text: string): number {
  if (text.trim() === '') return 0;
  const value = parseSpan(text);
  if (value === undefined) throw new Error(`${what} must be a duration, for example 72h or 1m30s.`);
  return value;
}

// `kind`: what it is, with an example.
function asNumber(what: string, text: string, parse: (text: string) => number | undefined, kind: string): number {
  const value = text.trim() === '' ? 0 : parse(text);
  if (value === undefined) throw new Error(`${what} must be ${kind}.`);
  return value;
}

function asLabels(text: string): Record<string, string> {
  const labels = parsePairs(text);
  if (!labels) throw new Error('The labels must have the form site=north, note="mast, roof".');
  return labels;
}

export const lunOf = (fields: LunFields) => ({
  name: `luns/${fields.name}`,
  store: fields.store,
  members: lines(fields.members),
  capacity_bytes: asBytes('The capacity', fields.capacity),
  full_policy: fields.policy,
  max_age_s: asSpan('The age', fields.maxAge),
  max_fill_percent: asNumber('The fill limit', fields.maxFill, parsePercent, 'a whole percentage from 0 to 100, for example 80'),
  copies: Number(fields.copies),
  prewrite_files: asNumber('The number of prewritten files', fields.prewriteFiles, parseCount, 'a whole number, for example 4'),
  prewrite_bytes: asBytes('The size of a prewritten file', fields.prewriteBytes),
  description: fields.description,
  labels: asLabels(fields.labels),
});

function meant(setting: Setting, text: string): unknown {
  switch (setting.kind) {
    case 'bytes':
      return asBytes(wordsOf(setting), text);
    case 'span':
      return asSpan(wordsOf(setting), text);
    case 'number':
      return asNumber(wordsOf(setting), text, parseRate, 'a number, for example 2.4M or 1e9');
    case 'labels':
      return asLabels(text);
    default:
      if (setting.words.length > 0) return text || null;
      return setting.name === 'move_to' && text.trim() !== '' ? `luns/${text.trim()}` : text.trim();
  }
}

// "Block bytes"
export const wordsOf = ({ option }: Setting) => option.charAt(0).toUpperCase() + option.slice(1).replaceAll('-', ' ');

export const channelOf = (lun: string, fields: ChannelFields): Record<string, unknown> => ({
  name: `luns/${lun}/channels/${fields['name']}`,
  ...Object.fromEntries(CHANNEL_SETTINGS.map((setting) => [keyOf(setting), meant(setting, fields[setting.name] ?? '')])),
});

export const CHANNEL_MASK = Object.fromEntries(CHANNEL_SETTINGS.map(({ name }) => [name, name]));

// The labels that differ, each by its name. The mask of a JSON call has no capital letters: then it names all labels.
function labelPaths(before: string, after: string): string[] {
  const [old, now] = [asLabels(before), asLabels(after)];
  const names = Object.keys({ ...old, ...now }).filter((name) => old[name] !== now[name]);
  return names.every((name) => /^[a-z0-9_-]+$/.test(name)) ? names.map((name) => `labels.${name}`) : ['labels'];
}

// The keys that differ, as a field mask has them.
export function maskOf<Fields extends object>(before: Fields, after: Fields, names: Partial<Record<keyof Fields, string>>): string {
  return (Object.keys(names) as (keyof Fields)[])
    .filter((key) => before[key] !== after[key])
    .flatMap((key) => (key === 'labels' ? labelPaths(String(before[key]), String(after[key])) : [names[key]]))
    .join(',');
}

// While a label is typed the command has the text as it stands.
function labelsOf(text: string): string[] {
  const labels = parsePairs(text);
  return labels ? Object.entries(labels).map(([name, value]) => `${name}=${value}`) : [text];
}

// Nothing is the default: an option of 0s is left out.
const spanOption = (text: string) => (parseSpan(text) === 0 ? '' : text);

// As a plain number: these options of tapectl take no k and no %.
const plain = (text: string, parse: (text: string) => number | undefined) => String(parse(text) ?? text);

export const lunOptions = (fields: LunFields) => ({
  capacity: fields.capacity,
  'full-policy': fields.policy,
  'max-age': spanOption(fields.maxAge),
  'max-fill': plain(fields.maxFill, parsePercent),
  'prewrite-files': plain(fields.prewriteFiles, parseCount),
  'prewrite-bytes': fields.prewriteBytes,
  description: fields.description,
  label: labelsOf(fields.labels),
});

function optionOf({ name, kind }: Setting, fields: ChannelFields): string | string[] {
  const text = fields[name] ?? '';
  return kind === 'labels' ? labelsOf(text) : kind === 'span' ? spanOption(text) : text;
}

export const channelOptions = (fields: ChannelFields) => Object.fromEntries(CHANNEL_SETTINGS.map((setting) => [setting.option, optionOf(setting, fields)]));

// How an update clears an option. Undefined: tapectl cannot.
const CLEARED: Options = {
  capacity: '0',
  'max-age': '0s',
  'max-fill': '0',
  'prewrite-files': '0',
  'prewrite-bytes': '0',
  ...Object.fromEntries(CHANNEL_SETTINGS.map(({ option, kind, words }) => [option, words.length > 0 ? undefined : kind === 'text' ? null : kind === 'span' ? '0s' : '0'])),
};

// As tapectl updates them: NAME=VALUE adds or replaces one, NAME- removes it.
function labelChanges(before: string[], after: string[]): string[] {
  const nameOf = (one: string) => one.split('=')[0];
  const names = new Set(after.map(nameOf));
  const removed = before.map(nameOf).filter((name) => !names.has(name));
  return [...removed.map((name) => `${name}-`), ...after.filter((one) => !before.includes(one))];
}

// The options of an update: those that have changed.
export function changed(before: Options, after: Options): Options {
  const entries = Object.entries(after)
    .filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(before[key]))
    .map(([key, value]) => [key, Array.isArray(value) ? labelChanges(before[key] as string[], value) : value === '' ? CLEARED[key] : value]);
  return Object.fromEntries(entries);
}

export { lines as memberLines };
