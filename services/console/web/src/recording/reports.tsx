// What bounded a recording's rate, and the trace of its blocks.
import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { plural, shortName } from '../format.ts';
import { useAction, useLoad } from '../load.ts';
import { saveAs } from '../recordings/samples.ts';
import { line } from '../tapectl.ts';
import { Empty, Failure, Line, Panel } from '../ui/basics.tsx';
import type { Explanation } from '../types.ts';

// Of a recording, or of a worker's job.
export function ExplainView({ name, worker }: { name: string; worker?: string }) {
  const [service, method] = worker === undefined ? ['CatalogService', 'ExplainRecording'] : ['PipelineService', 'ExplainJob'];
  const loaded = useLoad((signal) => call<Explanation>(service, method, { name }, { worker, signal }), `explain ${name}`);
  return (
    <Panel title="Limiting stage">
      {loaded.value && <pre tabIndex={0}>{loaded.value.text}</pre>}
      {loaded.error && <Empty>{loaded.error.message}</Empty>}
      <Line text={line(['explain', worker === undefined ? shortName(name) : name])} />
    </Panel>
  );
}

// More pages than these are not put into one file here.
const MOST_PAGES = 64;

interface TracePage {
  trace?: object;
  next_page_token?: string;
}

async function readTrace(recording: string, progress: (pages: number) => void): Promise<Blob> {
  const traces: object[] = [];
  let pageToken = '';
  let pages = 0;
  do {
    const page = await call<TracePage>('TraceService', 'ReadTrace', { recording, page_token: pageToken });
    if (page.trace) traces.push(page.trace);
    pageToken = page.next_page_token ?? '';
    progress(traces.length);
  } while (pageToken !== '' && ++pages < MOST_PAGES);
  return new Blob([JSON.stringify(traces)], { type: 'application/json' });
}

export function TraceView({ recording }: { recording: string }) {
  const [pages, setPages] = useState(0);
  const action = useAction();
  const name = shortName(recording);
  const save = async () => saveAs(await readTrace(recording, setPages), `${name.replaceAll('/', '-')}-trace.json`);
  return (
    <Panel
      title="Trace"
      actions={
        <button type="button" disabled={action.busy} onClick={() => action.run(save)}>
          {action.busy ? plural(pages, 'page') : 'Download as JSON'}
        </button>
      }
    >
      <p>The trace has the time of each step of each block on this node. The flight recorder keeps the last seconds. The command below adds the steps on the worker.</p>
      <Failure error={action.error} />
      <Line text={line(['trace', name], { into: 'run.pftrace' })} />
    </Panel>
  );
}
