// Jobs as the page shows them.
import type { Job, Note } from '../types.ts';
import type { Tone } from '../ui/basics.tsx';

const TONES: Record<string, Tone> = { SUCCEEDED: 'good', FAILED: 'bad', CANCELLED: 'plain', NOT_COMPARED: 'busy', RUNNING: 'busy', STARTING: 'busy', PREPARING: 'busy', RESUMING: 'busy' };

export const toneOf = (state: string): Tone => TONES[state] ?? 'plain';

export const hasEnded = (job: Pick<Job, 'state'>) => ['SUCCEEDED', 'FAILED', 'CANCELLED', 'NOT_COMPARED'].includes(job.state);

// The console prints a word of a later version as protobuf does: a number, or null for none.
export const wordOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : 'UNKNOWN');

// A job that the console could not read has protobuf's form as a whole: its notes are texts alone.
export function readable(job: Job): Job {
  const notes = ((job.notes ?? []) as (Note | string)[]).map((note) => (typeof note === 'string' ? ({ code: '', text: note } as unknown as Note) : note));
  return { ...job, state: wordOf(job.state) as Job['state'], direction: wordOf(job.direction) as Job['direction'], notes };
}
