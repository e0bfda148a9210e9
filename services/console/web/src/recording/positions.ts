// Positions of samples count from the recording's first one, on all pages and in tapectl. Nodes and workers count the session's.
import { call } from '../api.ts';
import type { Timeline } from '../types.ts';

// Samples of the stream less those of the recording, at a sample of the recording.
export function aheadAt(timeline: Timeline | undefined, sample: number): number {
  const captures = (timeline?.captures ?? []).filter((capture) => capture.sample <= sample);
  const last = captures.at(-1) ?? timeline?.captures?.[0];
  return last ? last.stream_sample - last.sample : 0;
}

export const inSession = (timeline: Timeline, sample: string) =>
  // The node refuses what is no number.
  /^[0-9]+$/.test(sample) ? String(BigInt(sample) + BigInt(aheadAt(timeline, Number(sample)))) : sample;

// One after the last sample: a later capture may begin there.
export const endInSession = (timeline: Timeline, end: string) =>
  /^[1-9][0-9]*$/.test(end) ? String(BigInt(inSession(timeline, String(BigInt(end) - 1n))) + 1n) : end;

export const courseOf = (recording: string) => call<Timeline>('ViewService', 'GetTimeline', { recording });
