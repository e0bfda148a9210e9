// Recordings as the list shows them: the segments of a stream are one entry.
import { channelOf } from '../format.ts';
import type { Recording } from '../types.ts';

export interface Entry {
  key: string;
  segments: Recording[]; // the newest first; of what is no stream the recording
}

export function entriesOf(recordings: Recording[]): Entry[] {
  const entries = new Map<string, Entry>();
  for (const recording of recordings) {
    const key = recording.stream ? `${channelOf(recording.name)}/${recording.stream}` : recording.name;
    const entry = entries.get(key);
    if (entry) entry.segments.push(recording);
    else entries.set(key, { key, segments: [recording] });
  }
  for (const { segments } of entries.values()) segments.sort((a, b) => b.segment - a.segment);
  return [...entries.values()];
}

// What a stream's row says of all its segments.
export function summaryOf(segments: Recording[]): { newest: Recording; oldest: Recording; bytes: number; missing: number; kept: number } | undefined {
  const [newest, oldest] = [segments[0], segments.at(-1)];
  if (!newest || !oldest) return undefined;
  const sum = (of: (one: Recording) => number) => segments.reduce((total, one) => total + of(one), 0);
  return { newest, oldest, bytes: sum((one) => one.bytes), missing: sum((one) => one.missing_blocks), kept: sum((one) => (one.kept ? 1 : 0)) };
}
