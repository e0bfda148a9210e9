// The messages of view.proto, and of Explain.
import type { Int64, SampleRun, Time } from '../types.ts';

export interface Timeline {
  state: string;
  samples: Int64;
  sampleRate: number;
  frequency: number;
  datatype: string;
  startTime?: Time;
  durableSamples: Int64;
  gaps?: SampleRun[];
  gapsTotal: Int64;
  captures?: { sample: Int64; streamSample: Int64; frequency: number; time?: Time }[];
  annotations?: (SampleRun & { label: string; comment: string })[];
  annotationsTotal: Int64;
  blockSamples: Int64;
}

export interface SpectrogramMessage {
  columns: number;
  rows: number;
  firstSample: Int64;
  samplesPerRow: number;
  powers?: string;
  bytesRead: Int64;
  sampleRate: number;
  frequency: number;
  sampleCount: Int64;
  complex: boolean;
  bandRate: number;
  bins: number;
  coveredSamples: Int64;
  means?: string;
}

export interface SamplesMessage {
  firstSample: Int64;
  sampleCount: Int64;
  datatype: string;
  samples?: string;
  missing?: SampleRun[];
}

export interface EnvelopeMessage {
  points: number;
  firstSample: Int64;
  samplesPerPoint: number;
  minima?: string;
  maxima?: string;
  powers?: string;
  sampleCount: Int64;
}

export interface Explanation {
  limitedBy: string;
  advice: string;
  text: string;
}

// Samples of the stream less those of the recording, at a sample of the recording.
export function aheadAt(timeline: Timeline | undefined, sample: number): number {
  const captures = (timeline?.captures ?? []).filter((capture) => Number(capture.sample) <= sample);
  const last = captures.at(-1) ?? timeline?.captures?.[0];
  return last ? Number(last.streamSample) - Number(last.sample) : 0;
}
