// Samples of a recording as a file, byte for byte as they are stored.
import { call } from '../api.ts';
import { bytesOf } from '../recording/numbers.ts';
import type { SampleRun, SamplesMessage } from '../types.ts';

// What the page holds in memory for a file; more goes by `tapectl play --sink file`.
export const MOST_BYTES = 64 * 2 ** 20;
const PIECE = 65536;

export interface Range {
  first: number;
  count: number;
}

export interface Raw {
  samples: Blob;
  missing: SampleRun[]; // among them, counted from the recording's first one
}

export async function readRaw(recording: string, range: Range, signal: AbortSignal, progress: (share: number) => void): Promise<Raw> {
  const pieces: BlobPart[] = [];
  const missing: SampleRun[] = [];
  let size = 0;
  for (let done = 0; done < range.count; done += PIECE) {
    const request = { recording, first_sample: String(range.first + done), sample_count: String(Math.min(PIECE, range.count - done)), raw: true };
    const answer = await call<SamplesMessage>('ViewService', 'ReadSamples', request, { signal });
    const piece = bytesOf(answer.samples);
    size += piece.byteLength;
    if (size > MOST_BYTES) throw new Error('The browser takes 64 MiB at most. The command below takes any length.');
    pieces.push(piece);
    missing.push(...answer.missing);
    progress(Math.min(1, (done + PIECE) / range.count));
  }
  return { samples: new Blob(pieces, { type: 'application/octet-stream' }), missing };
}

export function saveAs(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
