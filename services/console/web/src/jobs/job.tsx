// One job while it runs and after.
import { useEffect, useState } from 'preact/hooks';
import { call, watch } from '../api.ts';
import { bytes, count, rate, secondsOf, shortName, span, word } from '../format.ts';
import { useAction } from '../load.ts';
import { ExplainView } from '../recording/reports.tsx';
import { line } from '../tapectl.ts';
import type { Job, Note } from '../types.ts';
import { Badge, Facts, Failure, Line, Panel, type Tone } from '../ui/basics.tsx';

const TONES: Record<string, Tone> = { SUCCEEDED: 'good', FAILED: 'bad', CANCELLED: 'plain', NOT_COMPARED: 'busy', RUNNING: 'busy', STARTING: 'busy', PREPARING: 'busy', RESUMING: 'busy' };

export const JobBadge = ({ job }: { job: Job }) => {
  const state = word(job.state, 'JOB_STATE_');
  return <Badge tone={TONES[state] ?? 'plain'}>{state}</Badge>;
};

export const hasEnded = (job: Job) => ['SUCCEEDED', 'FAILED', 'CANCELLED', 'NOT_COMPARED'].includes(word(job.state, 'JOB_STATE_'));

// Of a worker that knows no codes there are texts alone.
const notesOf = ({ notes, codedNotes }: Job): Note[] =>
  codedNotes?.length ? codedNotes : (notes ?? []).map((text) => ({ code: '', text, facts: {} }));

export const cancel = (job: Job, worker: string) => call<Job>('PipelineService', 'CancelJob', { name: job.name }, { worker });

// Of a live source: it ends as its limit would end it.
export const stop = (job: Job, worker: string) => call<Job>('PipelineService', 'StopJob', { name: job.name }, { worker });

export function useJob(name: string, worker: string): { job: Job | undefined; error: Error | undefined } {
  const [job, setJob] = useState<Job>();
  const [error, setError] = useState<Error>();
  useEffect(() => watch<{ job: Job }>('PipelineService', 'WatchJob', { name }, { message: (message) => setJob(message.job), end: setError }, worker), [name, worker]);
  return { job, error };
}

export function JobProgress({ job }: { job: Job }) {
  return job.progress === undefined ? <span>{count(job.blocks)} blocks</span> : <progress aria-label={`Progress of ${job.name}`} max={1} value={job.progress} />;
}

function JobFacts({ job }: { job: Job }) {
  return (
    <Facts
      facts={[
        ['State', <JobBadge job={job} />],
        ['Recording', job.recording ? <a href={`#/recording/${job.recording}`}>{shortName(job.recording)}</a> : '—'],
        ['Blocks', job.totalBlocks !== undefined ? `${count(job.blocks)} of ${count(job.totalBlocks)}` : count(job.blocks)],
        ['Bytes', bytes(job.bytes)],
        ['Rate', rate(job.mbPerS * 1e6)],
        ['Time', span(secondsOf(job.elapsed))],
        ['Lost blocks', count(job.lostBlocks)],
        ['Failed checks', count(job.counters?.crcErrors ?? '0')],
        ['Device', job.device],
        ...(job.rails ?? []).map((rail): [string, string] => [`Rail ${rail.name}`, rail.up || hasEnded(job) ? rate(rail.mbPerS * 1e6) : `down: ${rail.cause}`]),
      ]}
    />
  );
}

export function JobPanel({ name, worker }: { name: string; worker: string }) {
  const { job, error } = useJob(name, worker);
  const action = useAction();
  const id = shortName(name);
  return (
    <>
      <Panel
        title={`Job ${id}`}
        actions={
          job &&
          !hasEnded(job) && (
            <>
              {word(job.direction, 'DIRECTION_') === 'RECORD' && (
                <button type="button" disabled={action.busy} onClick={() => action.run(async () => void (await stop(job, worker)))}>
                  Stop
                </button>
              )}
              <button type="button" disabled={action.busy} onClick={() => action.run(async () => void (await cancel(job, worker)))}>
                Cancel
              </button>
            </>
          )
        }
      >
        {job && <JobProgress job={job} />}
        {job && <JobFacts job={job} />}
        {job &&
          notesOf(job).map((note) => (
            <p key={note.text} data-note={note.code}>
              {note.text}
            </p>
          ))}
        {job?.error && (
          <p class="failure" role="alert">
            {job.error.message}
          </p>
        )}
        <Failure error={action.error ?? error} />
        <Line text={job && hasEnded(job) ? line(['jobs', 'show', id]) : line(['jobs', 'cancel', id])} />
      </Panel>
      {job && hasEnded(job) && <ExplainView name={name} worker={worker} />}
    </>
  );
}
