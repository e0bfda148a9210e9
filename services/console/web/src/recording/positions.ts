// Positions of samples count from the recording's first one, on all pages and in tapectl. Nodes and workers count the session's.
import { call } from '../api.ts';
import { aheadAt, type Timeline } from './types.ts';

export const inSession = (timeline: Timeline, sample: string) =>
  // The node refuses what is no number.
  /^[0-9]+$/.test(sample) ? String(BigInt(sample) + BigInt(aheadAt(timeline, Number(sample)))) : sample;

export const courseOf = (recording: string) => call<Timeline>('ViewService', 'GetTimeline', { recording });
