// The command lines that do what the page's buttons do.
import { shortName } from './format.ts';
import type { Recording } from './types.ts';

export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

// Empty and false values are left out, and null is an empty word: --description ''. A list repeats its option.
export type Options = Record<string, string | number | boolean | string[] | null | undefined>;

export function line(words: string[], options: Options = {}): string {
  const parts = ['tapectl', ...words.map(quoted)];
  for (const [name, value] of Object.entries(options)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one === undefined || one === false || one === '') continue;
      parts.push(`--${name}`);
      if (one !== true) parts.push(quoted(one === null ? '' : String(one)));
    }
  }
  return parts.join(' ');
}

// synth with seed=5 is synth:seed=5; a file is named by its path alone.
export function stageText(name: string, parameters: Record<string, string>): string {
  if (name === 'file' && parameters['path'] !== undefined) return `file:${parameters['path']}`;
  const pairs = Object.entries(parameters).map(([key, value]) => `${key}=${value}`);
  return pairs.length === 0 ? name : `${name}:${pairs.join(',')}`;
}

// The other settings of a file stage are options of the command.
export const fileFlags = (name: string, parameters: Record<string, string>): Options =>
  name === 'file' ? { loop: parameters['loop'] === 'true', replace: parameters['replace'] === 'true' } : {};

// The first segment of a stream has the stream's name, by which tapectl would take them all.
export const segmentOf = ({ stream, segment }: Pick<Recording, 'stream' | 'segment'>): Options => (stream === '' ? {} : { segment });

export const target = (name: string) => shortName(name);
