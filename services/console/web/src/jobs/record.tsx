// Starts a recording on a worker.
import { useState } from 'preact/hooks';
import { call, list, requestId } from '../api.ts';
import { parseSpan, shortName } from '../format.ts';
import { useAction, useLoad } from '../load.ts';
import { line } from '../tapectl.ts';
import type { Channel, ConsoleInfo, Job } from '../types.ts';
import { Failure, Line, Panel } from '../ui/basics.tsx';
import { Choice, Form, TextField } from '../ui/form.tsx';
import { JobPanel } from './job.tsx';
import { flagsOf, railsOf, type StageFields, StageForm, stageOf, stagesOf, textOf, Transforms, type Where, WhereForm } from './stages.tsx';
import { NoWorker, useWhere } from './start.tsx';

interface Fields {
  channel: string;
  source: StageFields;
  transforms: StageFields[];
  blocks: string;
  duration: string;
}

// blocks goes before duration: both cannot be.
function requestOf(where: Where, fields: Fields) {
  const duration = parseSpan(fields.duration);
  if (fields.duration !== '' && duration === undefined) throw new Error('The time must have the form 10s or 5m.');
  const [lun, channel] = fields.channel.split('/');
  return {
    storage: where.storage,
    channel: `luns/${lun}/channels/${channel}`,
    source: stageOf(fields.source),
    transforms: fields.transforms.map(stageOf),
    ...(fields.blocks !== '' ? { blocks: fields.blocks } : duration ? { duration_s: duration } : {}),
    rails: railsOf(where.rails),
    device: where.device,
    request_id: requestId(),
  };
}

const lineOf = (where: Where, fields: Fields) =>
  line(['record', fields.channel || 'LUN/CHANNEL'], {
    source: textOf(fields.source),
    ...flagsOf(fields.source),
    transform: fields.transforms.map(textOf),
    blocks: fields.blocks,
    duration: fields.blocks === '' ? fields.duration : '',
    rails: where.rails,
    device: where.device,
  });

export function RecordPage({ info, query }: { info: ConsoleInfo; query: URLSearchParams }) {
  const { where, node, remember, set } = useWhere(info);
  const [fields, setFields] = useState<Fields>({ channel: query.get('channel') ?? '', source: { name: 'synth', settings: '' }, transforms: [], blocks: '', duration: '10s' });
  const [job, setJob] = useState<{ name: string; worker: string }>();
  const action = useAction();
  const channels = useLoad((signal) => list<Channel>('CatalogService', 'ListChannels', { parent: 'luns/-' }, 'channels', { signal }), 'channels');
  const change = (more: Partial<Fields>) => setFields((now) => ({ ...now, ...more }));
  const names = (channels.value ?? []).map((channel) => shortName(channel.name));
  if (info.workers.length === 0) return <NoWorker />;
  const start = async () => {
    const started = await call<Job>('PipelineService', 'StartRecord', requestOf(where, fields), { worker: where.worker });
    remember();
    setJob({ name: started.name, worker: where.worker });
  };
  return (
    <>
      <Panel title="New recording">
        <Form onSubmit={() => action.run(start)}>
          <WhereForm where={where} workers={info.workers} node={node.value} set={set} />
          <div class="fields">
            <Choice label="Channel" value={fields.channel} choices={[['', 'choose one'], ...names]} onChange={(channel) => change({ channel })} />
            <TextField label="Time" hint="10s, 5m" value={fields.duration} onInput={(duration) => change({ duration })} />
            <TextField label="or blocks" inputMode="numeric" value={fields.blocks} onInput={(blocks) => change({ blocks })} />
          </div>
          <StageForm label="Source" id="source" fields={fields.source} names={stagesOf(node.value, 'source')} set={(source) => change({ source })} />
          <Transforms transforms={fields.transforms} names={stagesOf(node.value, 'transform')} set={(transforms) => change({ transforms })} />
          <Line text={lineOf(where, fields)} />
          <Failure error={action.error ?? node.error ?? channels.error} />
          <div class="buttons">
            <button type="submit" class="main" disabled={action.busy || fields.channel === ''}>
              Record
            </button>
          </div>
        </Form>
      </Panel>
      {job && <JobPanel key={job.name} name={job.name} worker={job.worker} />}
    </>
  );
}
