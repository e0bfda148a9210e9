// Starts a playback on a worker.
import { useState } from 'preact/hooks';
import { call, requestId } from '../api.ts';
import { useAction } from '../load.ts';
import { courseOf, endInSession, inSession } from '../recording/positions.ts';
import { line } from '../tapectl.ts';
import type { ConsoleInfo, Job } from '../types.ts';
import { Failure, Line, Panel } from '../ui/basics.tsx';
import { Check, Choice, Form, TextField } from '../ui/form.tsx';
import { JobPanel } from './job.tsx';
import { flagsOf, railsOf, type StageFields, stageOf, stagesOf, textOf, type Where } from './stage_fields.ts';
import { StageForm, Transforms, WhereForm } from './stages.tsx';
import { NoWorker, useWhere } from './start.tsx';

interface Fields {
  recording: string; // LUN/CHANNEL/RECORDING
  sink: StageFields;
  transforms: StageFields[];
  from: string;
  to: string;
  rate: string;
  follow: boolean;
  stream: boolean; // and the segments that follow
}

interface Newest {
  recordings?: { name: string }[];
}

// As tapectl does, "latest" is the newest of its channel.
async function nameOf(text: string): Promise<string> {
  const [lun, channel, recording] = text.trim().split('/');
  if (!lun || !channel || !recording) throw new Error('The recording must have the form LUN/CHANNEL/RECORDING.');
  const parent = `luns/${lun}/channels/${channel}`;
  if (recording !== 'latest') return `${parent}/recordings/${recording}`;
  const page = await call<Newest>('CatalogService', 'ListRecordings', { parent, page_size: 1 });
  const newest = page.recordings?.[0];
  if (!newest) throw new Error('The channel has no recordings.');
  return newest.name;
}

async function requestOf(where: Where, fields: Fields, sampleRateFactor: number | undefined) {
  const recording = await nameOf(fields.recording);
  const from = fields.from === '0' ? '' : fields.from;
  const course = from !== '' || fields.to !== '' ? await courseOf(recording) : undefined;
  const playhead = { ...(course && from !== '' && { sample: inSession(course, from) }), ...(fields.follow && { follow: true }), ...(fields.stream && { stream: true }) };
  const pacing = { ...(sampleRateFactor !== undefined && { rate_factor: sampleRateFactor }), ...(course && fields.to !== '' && { end_sample: endInSession(course, fields.to) }) };
  return {
    storage: where.storage,
    recording,
    sink: stageOf(fields.sink),
    transforms: fields.transforms.map(stageOf),
    rails: railsOf(where.rails),
    device: where.device,
    request_id: requestId(),
    ...(Object.keys(playhead).length > 0 && { playhead }),
    ...(Object.keys(pacing).length > 0 && { pacing }),
  };
}

function factorOf(text: string): number | undefined {
  if (text === '' || text === 'max') return undefined;
  const factor = text === 'recorded' ? 1 : Number(text);
  if (!(factor > 0)) throw new Error('The rate must be "recorded", "max" or a number.');
  return factor;
}

const lineOf = (where: Where, fields: Fields) =>
  line(['play', fields.recording || 'LUN/CHANNEL/RECORDING'], {
    sink: textOf(fields.sink),
    ...flagsOf(fields.sink),
    transform: fields.transforms.map(textOf),
    'from-sample': fields.from,
    'to-sample': fields.to,
    rate: fields.rate === 'max' ? '' : fields.rate,
    follow: fields.follow,
    stream: fields.stream,
    rails: where.rails,
    device: where.device,
  });

function Range({ fields, change }: { fields: Fields; change: (more: Partial<Fields>) => void }) {
  return (
    <div class="fields">
      <TextField label="Recording" hint="LUN/CHANNEL/RECORDING, or LUN/CHANNEL/latest" value={fields.recording} onInput={(recording) => change({ recording })} required />
      <TextField label="From sample" hint="Counts from 0; empty: the first" inputMode="numeric" value={fields.from} onInput={(from) => change({ from })} />
      <TextField label="Stop before sample" hint="Empty: the end" inputMode="numeric" value={fields.to} onInput={(to) => change({ to })} />
      <Choice
        label="Rate"
        value={fields.rate}
        onChange={(rate) => change({ rate })}
        choices={[['max', 'as fast as possible'], ['recorded', 'as recorded'], ['0.5', 'half the recorded rate'], ['2', 'twice the recorded rate']]}
      />
      <Check label="Follow a running recording" checked={fields.follow} onChange={(follow) => change({ follow })} />
      <Check label="Continue into the following segments" checked={fields.stream} onChange={(stream) => change({ stream })} />
    </div>
  );
}

export function PlayPage({ info, query }: { info: ConsoleInfo; query: URLSearchParams }) {
  const { where, node, remember, set } = useWhere(info);
  const [fields, setFields] = useState<Fields>({ recording: query.get('recording') ?? '', sink: { name: 'verify', settings: '' }, transforms: [], from: '', to: '', rate: 'max', follow: false, stream: query.get('stream') === 'true' });
  const [job, setJob] = useState<{ name: string; worker: string }>();
  const action = useAction();
  const change = (more: Partial<Fields>) => setFields((now) => ({ ...now, ...more }));
  if (info.workers.length === 0) return <NoWorker />;
  const start = async () => {
    const request = await requestOf(where, fields, factorOf(fields.rate));
    const started = await call<Job>('PipelineService', 'StartPlayback', request, { worker: where.worker });
    remember();
    setJob({ name: started.name, worker: where.worker });
  };
  return (
    <>
      <Panel title="New playback">
        <Form onSubmit={() => action.run(start)}>
          <Range fields={fields} change={change} />
          <StageForm label="Sink" id="sink" fields={fields.sink} names={stagesOf(node.value, 'sink')} set={(sink) => change({ sink })} />
          <Transforms transforms={fields.transforms} names={stagesOf(node.value, 'transform')} set={(transforms) => change({ transforms })} />
          <WhereForm where={where} workers={info.workers} node={node.value} set={set} />
          <Line text={lineOf(where, fields)} />
          <Failure error={action.error ?? node.error} />
          <div class="buttons">
            <button type="submit" class="main" disabled={action.busy}>
              Play
            </button>
          </div>
        </Form>
      </Panel>
      {job && <JobPanel key={job.name} name={job.name} worker={job.worker} />}
    </>
  );
}
