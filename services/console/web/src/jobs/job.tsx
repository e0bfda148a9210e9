// One job while it runs and after.
import { useEffect, useState } from 'preact/hooks';
import { call, watch } from '../api.ts';
import { bytes, count, rate, shortName, span } from '../format.ts';
import { useAction } from '../load.ts';
import { ExplainView } from '../recording/reports.tsx';
import { line } from '../tapectl.ts';
import type { Job } from '../types.ts';
import { Badge, Facts, Failure, Line, Panel } from '../ui/basics.tsx';
import { Name } from '../ui/name.tsx';
import { hasEnded, readable, toneOf } from './states.ts';

export const JobBadge = ({ job }: { job: Job }) => {
  return <Badge tone={toneOf(job.state)}>{job.state}</Badge>;
};

export const cancel = (job: Job, worker: string) => call<Job>('PipelineService', 'CancelJob', { name: job.name }, { worker });

// Of a live source: it ends as its limit would end it.
export const stop = (job: Job, worker: string) => call<Job>('PipelineService', 'StopJob', { name: job.name }, { worker });

export function useJob(name: string, worker: string): { job: Job | undefined; error: Error | undefined } {
  const [job, setJob] = useState<Job>();
  const [error, setError] = useState<Error>();
  useEffect(() => watch<{ job: Job }>('PipelineService', 'WatchJob', { name }, { message: (message) => setJob(readable(message.job)), end: setError }, worker), [name, worker]);
  return { job, error };
}

export function JobProgress({ job }: { job: Job }) {
  return job.progress === null ? <span>{count(job.blocks)} blocks</span> : <progress aria-label={`Progress of ${job.name}`} max={1} value={job.progress} />;
}

function JobFacts({ job }: { job: Job }) {
  return (
    <Facts
      facts={[
        ['State', <JobBadge job={job} />],
        ['Recording', job.recording ? <Name text={shortName(job.recording)} href={`#/recording/${job.recording}`} /> : '—'],
        ['Blocks', job.total_blocks !== null ? `${count(job.blocks)} of ${count(job.total_blocks)}` : count(job.blocks)],
        ['Bytes', bytes(job.bytes)],
        ['Rate', rate(job.mb_per_s * 1e6)],
        ['Duration', span(job.elapsed_s)],
        ['Lost blocks', count(job.lost_blocks)],
        ['Failed checks', count(job.crc_errors)],
        ['Device', job.device],
        ...job.rails.map((rail): [string, string] => [`Rail ${rail.name}`, rail.up || hasEnded(job) ? rate(rail.mb_per_s * 1e6) : `down: ${rail.cause}`]),
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
              {job.direction === 'RECORD' && (
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
          job.notes.map((note) => (
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
