// Recordings as the list shows them: the segments of a stream are one entry.
import { channelOf } from '../format.ts';
import type { Recording, RecordingState } from '../types.ts';

export interface Entry {
  key: string;
  segments: Recording[]; // the newest first; of what is no stream the recording
  shown: Recording[]; // those of them that the filter shows
}

// Entries with something to show. A segment that the filter hides is not gone, so each entry has all of its segments.
export function entriesOf(recordings: Recording[], shows: (one: Recording) => boolean = () => true): Entry[] {
  const entries = new Map<string, Entry>();
  for (const recording of recordings) {
    const key = recording.stream ? `${channelOf(recording.name)}/${recording.stream}` : recording.name;
    const entry = entries.get(key);
    if (entry) entry.segments.push(recording);
    else entries.set(key, { key, segments: [recording], shown: [] });
  }
  for (const entry of entries.values()) {
    entry.segments.sort((a, b) => b.segment - a.segment);
    entry.shown = entry.segments.filter(shows);
  }
  return [...entries.values()].filter(({ shown }) => shown.length > 0);
}

// As tapectl says it, model::SegmentsText: 64, 64 (101-164), or with segments gone between them 67 of 1-68.
function segmentsText(count: number, first: number, last: number): string {
  if (last - first + 1 !== count) return `${count} of ${first}-${last}`;
  return first === 0 ? `${count}` : `${count} (${first}-${last})`;
}

export interface Summary {
  newest: Recording;
  oldest: Recording;
  state: RecordingState;
  segments: string;
  bytes: number;
  missing: number;
  kept: number;
}

// What a stream's row says of all its segments, as model::Joined: the worst state, and blocks of segments that are gone are missing.
export function summaryOf(segments: Recording[]): Summary | undefined {
  const [newest, oldest] = [segments[0], segments.at(-1)];
  if (!newest || !oldest) return undefined;
  const sum = (of: (one: Recording) => number) => segments.reduce((total, one) => total + of(one), 0);
  const gone = newest.segment - oldest.segment + 1 - segments.length;
  const blocksOfWhole = segments.reduce((most, one) => Math.max(most, one.blocks), 0);
  return {
    newest,
    oldest,
    state: (['RECORDING', 'DELETING', 'SALVAGED'] as const).find((state) => segments.some((one) => one.state === state)) ?? 'SEALED',
    segments: segmentsText(segments.length, oldest.segment, newest.segment),
    bytes: sum((one) => one.bytes),
    missing: sum((one) => one.missing_blocks) + gone * blocksOfWhole,
    kept: sum((one) => (one.kept ? 1 : 0)),
  };
}
