// Numbers and times as people read them. Rates count 10^6 bytes, as tapectl's do.
import type { Origin, OriginStage } from './types.ts';

export function scaled(value: number, base: number, units: string[]): string {
  if (!Number.isFinite(value)) return '—';
  let unit = 0;
  let rest = Math.abs(value);
  while (rest >= base && unit + 1 < units.length) {
    rest /= base;
    unit += 1;
  }
  const digits = unit === 0 && Number.isInteger(value) ? 0 : rest < 10 ? 2 : rest < 100 ? 1 : 0;
  return `${value < 0 ? '−' : ''}${rest.toFixed(digits)} ${units[unit]}`;
}

export const bytes = (value: number | string) => scaled(Number(value), 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']);

export const rate = (bytesPerSecond: number) => scaled(bytesPerSecond, 1000, ['B/s', 'kB/s', 'MB/s', 'GB/s', 'TB/s']);

const HERTZ = ['Hz', 'kHz', 'MHz', 'GHz', 'THz'];

export const hertz = (value: number) => scaled(value, 1000, HERTZ);

const inHertz = (value: number, power: number, digits: number) => {
  const text = Math.abs(value / 1000 ** power).toFixed(digits);
  return `${value < 0 && Number(text) !== 0 ? '−' : ''}${text} ${HERTZ[power]}`;
};

const powerOf = (value: number) => Math.min(Math.max(0, Math.floor(Math.log10(Math.max(1, Math.abs(value))) / 3)), HERTZ.length - 1);

// With the digits that tell `step` apart.
export function hertzTo(value: number, step: number): string {
  const power = powerOf(value);
  return inHertz(value, power, Math.min(Math.max(0, Math.ceil(-Math.log10(step / 1000 ** power) - 1e-9)), 9));
}

// The fewest that say each value in a unit, to a hundredth of the step between them.
function digitsOf(values: number[], scale: number): number {
  const step = Math.abs((values.at(-1) ?? 0) - (values[0] ?? 0)) / Math.max(1, values.length - 1);
  const says = (digits: number) => values.every((value) => Math.abs(value - Number((value / scale).toFixed(digits)) * scale) <= step / 50);
  let digits = 0;
  while (digits < 9 && !says(digits)) digits += 1;
  return digits;
}

// Of an axis: one unit, and as few digits as say each value.
export function hertzOfAxis(values: number[]): string[] {
  const power = powerOf(values.reduce((most, value) => Math.max(most, Math.abs(value)), 0));
  const digits = digitsOf(values, 1000 ** power);
  return values.map((value) => inHertz(value, power, digits));
}

const UNITS: [number, string][] = [
  [1, 's'],
  [1e-3, 'ms'],
  [1e-6, 'µs'],
  [1e-9, 'ns'],
];

// The same of seconds. From two minutes on they are m:ss or h:mm:ss.
export function spansOfAxis(values: number[]): string[] {
  const most = values.reduce((greatest, value) => Math.max(greatest, Math.abs(value)), 0);
  const [scale, unit] = UNITS.find(([least]) => most >= least) ?? [1, 's'];
  const digits = digitsOf(values, scale);
  return values.map((value) => (most >= 120 ? clock(value, digits) : `${(value / scale).toFixed(digits)} ${unit}`));
}

function clock(seconds: number, digits: number): string {
  const whole = Number(seconds.toFixed(digits));
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  const rest = (whole % 60).toFixed(digits).padStart(digits > 0 ? digits + 3 : 2, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`;
}

// A number with the sign that is as wide as a plus.
export const minus = (value: number | string) => String(value).replace('-', '−');

// dB of full scale; a level that rounds to 0 has no sign.
export const level = (decibels: number) => `${minus((Math.round(decibels * 10) / 10 + 0).toFixed(1))} dBFS`;

export const sampleRate = (value: number) => (value > 0 ? scaled(value, 1000, ['S/s', 'kS/s', 'MS/s', 'GS/s']) : 'unknown');

export const count = (value: number | string) => {
  const text = String(value);
  return /^-?\d+$/.test(text) ? text.replace(/\B(?=(\d{3})+$)/g, '\u202f') : text;
};

// 1 session, 2 sessions.
export const plural = (number: number, word: string) => `${count(number)} ${word}${number === 1 ? '' : 's'}`;

// "1.50" is 1.5, and "2.0" is 2.
const trimmed = (value: number, digits: number) => value.toFixed(digits).replace(/\.?0+$/, '');

// Two units at most, and no unit with nothing in it.
const pair = (seconds: number, large: number, largeUnit: string, small: number, smallUnit: string) => {
  const rest = Math.floor((seconds % large) / small);
  return `${Math.floor(seconds / large)} ${largeUnit}${rest > 0 ? ` ${rest} ${smallUnit}` : ''}`;
};

// Seconds in their largest unit or two.
export function span(seconds: number): string {
  if (!Number.isFinite(seconds)) return '—';
  if (seconds === 0) return '0 s';
  if (seconds < 1e-6) return `${(seconds * 1e9).toFixed(0)} ns`;
  if (seconds < 1e-3) return `${trimmed(seconds * 1e6, 1)} µs`;
  if (seconds < 1) return `${trimmed(seconds * 1e3, 1)} ms`;
  if (seconds < 60) return `${trimmed(seconds, seconds < 10 ? 2 : 1)} s`;
  if (seconds < 3600) return pair(seconds, 60, 'min', 1, 's');
  if (seconds < 48 * 3600) return pair(seconds, 3600, 'h', 60, 'min');
  return pair(seconds, 86400, 'd', 3600, 'h');
}

// How long the space lasts at a rate.
export function timeLeft(freeBytes: number, bytesPerSecond: number): string {
  const days = freeBytes / bytesPerSecond / 86400;
  if (!(bytesPerSecond > 0)) return '—';
  return days >= 1000 ? 'more than 1000 d' : span(days * 86400);
}

export function time(text: string | null): string {
  if (!text) return '—';
  const when = new Date(text);
  return Number.isNaN(when.getTime()) ? text : when.toISOString().replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC');
}

// The time of a sample, with as many digits as it has.
export function sampleTime(text: string | null): string {
  return text ? text.replace('T', ' ').replace(/Z$/, ' UTC') : 'unknown';
}

// luns/l0/channels/c0/recordings/x is l0/c0/x, as tapectl takes it.
export const shortName = (name: string) =>
  name
    .split('/')
    .filter((_, index) => index % 2 === 1)
    .join('/');

export const lunOf = (name: string) => name.split('/').slice(0, 2).join('/');
export const channelOf = (name: string) => name.split('/').slice(0, 4).join('/');

// The units that tapectl takes, in their letters: services/base/command_line/units.cc, services/site/units.cc.
const BYTE_UNITS = new Map(
  [['B'], ['kB', 'K', 'KiB'], ['MB', 'M', 'MiB'], ['GB', 'G', 'GiB'], ['TB', 'T', 'TiB']].flatMap(([decimal = '', ...binary], power) => [
    [decimal, 1000 ** power] as const,
    ...binary.map((unit) => [unit, 1024 ** power] as const),
  ]),
);
const THOUSANDS = new Map([['k', 1e3], ['K', 1e3], ['M', 1e6], ['G', 1e9]]);

// 4096, 64KiB, 2M (powers of 1024), 200MB (powers of 1000) as bytes. Undefined: not a size.
export function parseBytes(text: string): number | undefined {
  const found = /^([\d.]+)([A-Za-z]*)$/.exec(text.trim());
  const value = Number(found?.[1]) * (BYTE_UNITS.get(found?.[2] || 'B') ?? Number.NaN);
  return Number.isInteger(value) && value < 2 ** 63 ? value : undefined;
}

// 2.4M, 1e9, 48k as samples per second. Undefined: not a rate.
export function parseRate(text: string): number | undefined {
  const found = /^((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)([kKMG]?)$/.exec(text.trim());
  const value = Number(found?.[1]) * (THOUSANDS.get(found?.[2] ?? '') ?? 1);
  return Number.isFinite(value) ? value : undefined;
}

// 4096, 2M: a whole number of 0 or more. Undefined: not a count.
export function parseCount(text: string): number | undefined {
  const value = /^\d+[kKMG]?$/.test(text.trim()) ? parseRate(text) : undefined;
  return Number.isSafeInteger(value) ? value : undefined;
}

// 80 or 80% of 0 to 100. Undefined: not a percentage.
export function parsePercent(text: string): number | undefined {
  const value = Number(/^(\d+)\s*%?$/.exec(text.trim())?.[1]);
  return value <= 100 ? value : undefined;
}

const SECONDS: Record<string, number> = { ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600 };

// 10s, 1m30s, 72h, 200ms in seconds, as tapectl takes them. Undefined: not a duration.
export function parseSpan(text: string): number | undefined {
  const parts = [...text.trim().matchAll(/(\d+(?:\.\d+)?)(ns|us|ms|s|m|h)/g)];
  if (parts.length === 0 || parts.map(([whole]) => whole).join('') !== text.trim()) return undefined;
  return Number(parts.reduce((sum, [, number, unit]) => sum + Number(number) * (SECONDS[unit ?? ''] ?? 0), 0).toFixed(9));
}

// A name or a value between quotes, or up to the next = or comma.
const LABEL = /^[\s,]*("(?:[^"\\]|\\.)*"|[^\s=,"][^=,]*)=(\s*"(?:[^"\\]|\\.)*"\s*|(?!\s*")[^,]*)(?:,|$)/;

function unquoted(text: string): string | undefined {
  if (!/^\s*"/.test(text)) return text.trimEnd();
  try {
    return JSON.parse(text) as string;
  } catch {
    return undefined;
  }
}

// site=north, note="mast, roof": labels by name. Undefined: it says something else.
export function parsePairs(text: string): Record<string, string> | undefined {
  const labels: [string, string][] = [];
  for (let rest = text; !/^[\s,]*$/.test(rest); ) {
    const found = LABEL.exec(rest);
    const [name, value] = [unquoted(found?.[1] ?? '""'), unquoted(found?.[2] ?? '')];
    if (!name || value === undefined) return undefined;
    labels.push([name, value]);
    rest = rest.slice(found?.[0].length);
  }
  return Object.fromEntries(labels);
}

// A text that would end too early or lose its spaces stands between quotes.
const quoted = (text: string, also: string) => (/^[\s"]|[,\p{Cc}]|\s$/u.test(text) || text.includes(also) ? JSON.stringify(text) : text);

// As parsePairs reads them.
export const labelsText = (labels: Record<string, string>) =>
  Object.entries(labels)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${quoted(name, '=')}=${quoted(value, ',')}`)
    .join(', ');

export const pairsText = (pairs: Record<string, string>) =>
  Object.entries(pairs)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');

// Numbers as short as they can be told apart: a worker writes 0.1 as 0.10000000000000001.
const short = (text: string) => text.replace(/-?\d+\.\d{10,}/g, (number) => String(Number(number)));

const stageText = (stage: OriginStage) => (Object.keys(stage.parameters).length === 0 ? stage.name : `${stage.name}(${short(pairsText(stage.parameters))})`);

// synth(noise=0, seed=1) → fft(points=64), by w1 0.1.0 on host
export function originText(origin: Origin | null): string {
  const stages = [origin?.source, ...(origin?.transforms ?? [])].filter((stage) => stage?.name).map((stage) => stageText(stage as OriginStage));
  const by = [origin?.worker, origin?.version].filter(Boolean).join(' ');
  return [stages.join(' → '), by && `by ${by}`, origin?.device && `on ${origin.device}`].filter(Boolean).join(', ') || '—';
}
