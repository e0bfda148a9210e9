// Starts a recording on a worker.
import { useState } from 'preact/hooks';
import { call, list } from '../api.ts';
import { shortName } from '../format.ts';
import { useAction, useLoad } from '../load.ts';
import type { Channel, ConsoleInfo, Job } from '../types.ts';
import { Failure, Line, Panel } from '../ui/basics.tsx';
import { Choice, Form, TextField } from '../ui/form.tsx';
import { JobPanel } from './job.tsx';
import { isWrong, type RecordFields, recordLine, recordRequest } from './record_request.ts';
import { stagesOf } from './stage_fields.ts';
import { StageForm, Transforms, WhereForm } from './stages.tsx';
import { NoWorker, useWhere } from './start.tsx';

export function RecordPage({ info, query }: { info: ConsoleInfo; query: URLSearchParams }) {
  const { where, node, remember, set } = useWhere(info);
  const [fields, setFields] = useState<RecordFields>({ channel: query.get('channel') ?? '', source: { name: 'synth', settings: '' }, transforms: [], blocks: '', duration: '10s' });
  const [job, setJob] = useState<{ name: string; worker: string }>();
  const action = useAction();
  const channels = useLoad((signal) => list<Channel>('CatalogService', 'ListChannels', { parent: 'luns/-' }, 'channels', { signal }), 'channels');
  const change = (more: Partial<RecordFields>) => setFields((now) => ({ ...now, ...more }));
  const names = (channels.value ?? []).map((channel) => shortName(channel.name));
  if (info.workers.length === 0) return <NoWorker />;
  const start = async () => {
    const started = await call<Job>('PipelineService', 'StartRecord', recordRequest(where, fields), { worker: where.worker });
    remember();
    setJob({ name: started.name, worker: where.worker });
  };
  return (
    <>
      <Panel title="New recording">
        <Form onSubmit={() => action.run(start)}>
          <div class="fields">
            <Choice label="Channel" value={fields.channel} choices={[['', 'Choose a channel'], ...names]} onChange={(channel) => change({ channel })} />
            <TextField label="Duration" hint="10s, 1m30s; empty: until Stop" value={fields.duration} wrong={isWrong(fields)} onInput={(duration) => change({ duration })} />
            <TextField label="Blocks" hint="Limit instead of a duration" inputMode="numeric" value={fields.blocks} onInput={(blocks) => change({ blocks })} />
          </div>
          <StageForm label="Source" id="source" fields={fields.source} names={stagesOf(node.value, 'source')} set={(source) => change({ source })} />
          <Transforms transforms={fields.transforms} names={stagesOf(node.value, 'transform')} set={(transforms) => change({ transforms })} />
          <WhereForm where={where} workers={info.workers} node={node.value} set={set} />
          <Line text={recordLine(where, fields)} />
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
