// The workers that the console knows, and their jobs.
import { call } from '../api.ts';
import { bytes, rate, shortName, time } from '../format.ts';
import { useAction, useLoad } from '../load.ts';
import { line } from '../tapectl.ts';
import type { ConsoleInfo, Job, NodeInfo } from '../types.ts';
import { Badge, Empty, Facts, Failure, Line, Lost, Panel, Table } from '../ui/basics.tsx';
import { Name } from '../ui/name.tsx';
import { cancel, JobBadge, JobProgress } from './job.tsx';
import { stagesOf } from './stage_fields.ts';
import { NoWorker } from './start.tsx';
import { hasEnded, readable } from './states.ts';

// Of a worker the newest.
const MOST_JOBS = 50;

function Row({ job, worker, onChange }: { job: Job; worker: string; onChange: () => void }) {
  const action = useAction();
  const stop = async () => {
    await cancel(job, worker);
    onChange();
  };
  return (
    <tr>
      <td>{shortName(job.name)}</td>
      <td>{job.direction.toLowerCase()}</td>
      <td>
        <JobBadge job={job} />
        {job.error && <small>{job.error.message}</small>}
        <Failure error={action.error} />
      </td>
      <td>{job.recording && <Name text={shortName(job.recording)} href={`#/recording/${job.recording}`} />}</td>
      <td>
        <JobProgress job={job} />
      </td>
      <td class="number">{bytes(job.bytes)}</td>
      <td class="number">{rate(job.mb_per_s * 1e6)}</td>
      <td class="number">
        <Lost count={job.lost_blocks} />
      </td>
      <td class="when">{time(job.start_time)}</td>
      <td>
        {!hasEnded(job) && (
          <button type="button" aria-label={`Cancel job ${shortName(job.name)}`} disabled={action.busy} onClick={() => action.run(stop)}>
            Cancel
          </button>
        )}
      </td>
    </tr>
  );
}

function Worker({ worker }: { worker: string }) {
  const node = useLoad((signal) => call<NodeInfo>('NodeService', 'GetNode', {}, { worker, signal }), `node ${worker}`, 10000);
  const jobs = useLoad((signal) => call<{ jobs: Job[] }>('PipelineService', 'ListJobs', { page_size: MOST_JOBS }, { worker, signal }), `jobs ${worker}`, 1000);
  const all = (jobs.value?.jobs ?? []).map(readable);
  return (
    <Panel title={worker} actions={<Badge tone={node.error ? 'bad' : node.value ? 'good' : 'plain'}>{node.error ? 'unreachable' : node.value ? 'online' : 'connecting'}</Badge>}>
      <Failure error={node.error ?? jobs.error} />
      {node.value && (
        <Facts
          facts={[
            ['Name', `${node.value.name} ${node.value.version}`],
            ['Devices', node.value.memory.map(({ device, description }) => (description.startsWith(device) ? description : `${device}: ${description}`)).join(', ')],
            ['Rails', node.value.rails.map((rail) => `${rail.name} ${rail.transport} ${rail.address}`).join(', ')],
            ['Sources', stagesOf(node.value, 'source').join(', ')],
            ['Transforms', stagesOf(node.value, 'transform').join(', ')],
            ['Sinks', stagesOf(node.value, 'sink').join(', ')],
          ]}
        />
      )}
      {jobs.value && all.length === 0 && <Empty>No jobs since the worker started.</Empty>}
      {all.length > 0 && (
        <Table caption={`Jobs of ${worker}`} head={['Job', 'Kind', 'State', 'Recording', 'Progress', 'Size', 'Rate', 'Lost', 'Started', '']}>
          {all.map((job) => (
            <Row key={job.name} job={job} worker={worker} onChange={jobs.reload} />
          ))}
        </Table>
      )}
    </Panel>
  );
}

export function JobsPage({ info }: { info: ConsoleInfo }) {
  if (info.workers.length === 0) return <NoWorker />;
  return (
    <>
      <Line text={line(['jobs', 'list'])} />
      {info.workers.map((worker) => (
        <Worker key={worker} worker={worker} />
      ))}
    </>
  );
}
