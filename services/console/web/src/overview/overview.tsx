// How the node does just now: its rails, what records and plays, the room that is left, and what is wrong.
import { call, list } from '../api.ts';
import { bytes, plural, rate, shortName, span, timeLeft } from '../format.ts';
import { hasEnded, readable } from '../jobs/states.ts';
import { useLoad, usePresence } from '../load.ts';
import { linkTo } from '../route.ts';
import type { ConsoleInfo, Job, Lun, NodeInfo, Rail } from '../types.ts';
import { Badge, Empty, Failure, Lost, Meter, Panel, Table } from '../ui/basics.tsx';
import { Name } from '../ui/name.tsx';
import { alarmsOf } from './alarms.ts';
import { type Live, type Running, useLive, useRunning } from './live.ts';
import { FirstSteps } from './steps.tsx';

function Gauge({ name, detail, bytesPerS, limit }: { name: string; detail: string; bytesPerS: number; limit: number }) {
  return (
    <div class="gauge" data-gauge={name} data-bytes-per-s={Math.round(bytesPerS)}>
      <p class="name">
        {name} <small>{detail}</small>
      </p>
      <p class="figure">{rate(bytesPerS)}</p>
      {limit > 0 ? (
        <>
          <Meter label={`${name}, of its wire limit`} value={bytesPerS / limit} />
          <p class="of">
            {((100 * bytesPerS) / limit).toFixed(1)} % of {rate(limit)}
          </p>
        </>
      ) : (
        <p class="of">wire limit unknown</p>
      )}
    </div>
  );
}

function Rails({ rails, live }: { rails: Rail[]; live: Live }) {
  const limits = rails.map((rail) => rail.wire_limit_bytes_per_s);
  const limit = limits.every((one) => one > 0) ? limits.reduce((sum, one) => sum + one, 0) : 0;
  // Sessions name rails as their workers do.
  const others = [...live.rails.keys()].filter((name) => !rails.some((rail) => rail.name === name));
  return (
    <div class="gauges">
      <Gauge name="All rails" detail={plural(live.stats?.sessions ?? 0, 'session')} bytesPerS={live.total} limit={limit} />
      {rails.map((rail, index) => (
        <Gauge
          key={rail.name}
          name={rail.name}
          detail={`${rail.transport} ${rail.address}${rail.tls ? ', encrypted' : ''}`}
          bytesPerS={live.rails.get(rail.name) ?? 0}
          limit={limits[index] ?? 0}
        />
      ))}
      {others.map((name) => (
        <Gauge key={name} name={name} detail="named by a worker" bytesPerS={live.rails.get(name) ?? 0} limit={0} />
      ))}
    </div>
  );
}

function Alarms({ luns, live }: { luns: Lun[] | undefined; live: Live }) {
  const { isAway } = usePresence();
  if (isAway) return <Empty>Unknown: the storage node does not answer.</Empty>;
  if (!luns || !live.stats) return <Empty>Loading …</Empty>;
  const alarms = alarmsOf(luns, live.stats);
  if (alarms.length === 0) {
    return (
      <Empty>
        No alarms. <a href="#/doctor">Run the doctor</a> for a full check.
      </Empty>
    );
  }
  return (
    <ul class="alarms">
      {alarms.map((alarm) => (
        <li key={alarm.text}>
          <Badge tone={alarm.bad ? 'bad' : 'busy'}>{alarm.bad ? 'alarm' : 'warning'}</Badge> {alarm.text}
        </li>
      ))}
    </ul>
  );
}

function Activity({ running, jobs }: { running: Running[]; jobs: Job[] }) {
  const plays = jobs.filter((job) => job.direction === 'PLAYBACK');
  if (running.length + plays.length === 0) return <Empty>No recording or playback runs.</Empty>;
  return (
    <Table caption="Running recordings and playbacks" head={['Job', 'Recording', 'Rate', 'Size', 'Lost blocks']}>
      {running.map(({ recording, bytesPerS }) => (
        <tr key={recording.name}>
          <td>
            <Badge tone="live">recording</Badge>
          </td>
          <td>
            <Name text={shortName(recording.name)} href={`#/recording/${recording.name}`} />
          </td>
          <td class="number">{rate(bytesPerS)}</td>
          <td class="number">{bytes(recording.bytes)}</td>
          <td class="number">
            <Lost count={recording.missing_blocks} />
          </td>
        </tr>
      ))}
      {plays.map((job) => (
        <tr key={job.name}>
          <td>
            <Badge tone="good">playing</Badge>
          </td>
          <td>
            <Name text={shortName(job.recording)} href={`#/recording/${job.recording}`} />
          </td>
          <td class="number">{rate(job.mb_per_s * 1e6)}</td>
          <td class="number">{bytes(job.bytes)}</td>
          <td class="number">
            <Lost count={job.lost_blocks} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

function leftOf(lun: Lun, bytesPerS: number): string {
  const capacity = lun.capacity_bytes;
  if (Number.isNaN(bytesPerS)) return 'measuring …';
  if (lun.state === 'OFFLINE') return '—';
  if (capacity === 0) return 'limited by its file system';
  const free = Math.max(0, capacity - lun.used_bytes);
  if (lun.full_policy === 'ring') return bytesPerS > 0 ? `keeps the last ${span(capacity / bytesPerS)}` : 'ring: deletes the oldest';
  return bytesPerS > 0 ? timeLeft(free, bytesPerS) : `${bytes(free)}, idle`;
}

function Room({ luns, byLun }: { luns: Lun[]; byLun: Map<string, number> }) {
  return (
    <Table caption="Space left" head={['LUN', 'State', 'Used', 'Capacity', 'Fill', 'Time left']}>
      {luns.map((lun) => (
        <tr key={lun.name}>
          <td>
            <Name text={shortName(lun.name)} href={linkTo('luns', { lun: shortName(lun.name) })} />
          </td>
          <td>
            <Badge tone={lun.state === 'READY' || lun.state === 'STANDBY' ? 'good' : 'bad'}>{lun.state}</Badge>
          </td>
          <td class="number">{bytes(lun.used_bytes)}</td>
          <td class="number">{lun.capacity_bytes > 0 ? bytes(lun.capacity_bytes) : '—'}</td>
          <td>
            <Meter label={`Fill of ${shortName(lun.name)}`} value={lun.used_bytes / (lun.capacity_bytes || Number.POSITIVE_INFINITY)} high={lun.full_policy === 'ring' ? 1 : 0.9} />
          </td>
          <td>{leftOf(lun, byLun.get(lun.name) ?? 0)}</td>
        </tr>
      ))}
    </Table>
  );
}

// Of all workers; one that does not answer has no jobs to show.
async function runningJobs(workers: string[], signal: AbortSignal): Promise<Job[]> {
  const answers = await Promise.allSettled(workers.map((worker) => call<{ jobs: Job[] }>('PipelineService', 'ListJobs', { page_size: 100 }, { worker, signal })));
  const jobs = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value.jobs : []));
  return jobs.map(readable).filter((job) => !hasEnded(job));
}

export function Overview({ info }: { info: ConsoleInfo }) {
  const live = useLive();
  const node = useLoad((signal) => call<NodeInfo>('NodeService', 'GetNode', {}, { signal }), 'node');
  const luns = useLoad((signal) => list<Lun>('CatalogService', 'ListLuns', {}, 'luns', { signal }), 'luns', 3000);
  const jobs = useLoad((signal) => runningJobs(info.workers, signal), 'jobs', 2000);
  const { running, byLun, error } = useRunning();
  return (
    <>
      <Failure error={live.error ?? node.error ?? luns.error ?? error} />
      <FirstSteps />
      <Panel title="Rails">
        <Rails rails={node.value?.rails ?? []} live={live} />
      </Panel>
      <Panel title="Alarms">
        <Alarms luns={luns.value} live={live} />
      </Panel>
      <Panel title="Now">
        <Activity running={running} jobs={jobs.value ?? []} />
      </Panel>
      {luns.value?.length !== 0 && (
        <Panel title="Space">{luns.value ? <Room luns={luns.value} byLun={byLun} /> : <Empty>Loading …</Empty>}</Panel>
      )}
    </>
  );
}
