// What bounded a recording's rate, and the trace of its blocks.
import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { plural, shortName, span } from '../format.ts';
import { useAction, useLoad } from '../load.ts';
import { saveAs } from '../recordings/samples.ts';
import { line } from '../tapectl.ts';
import { Empty, Failure, Line, Meter, Panel, Table } from '../ui/basics.tsx';
import type { Explanation } from '../types.ts';

// The lines above the table of the stages, as sentences.
export const sentencesOf = (text: string) =>
  text
    .split('\n')
    .filter((one) => one !== '' && !one.startsWith(' '))
    .map((one) => `${one.charAt(0).toUpperCase()}${one.slice(1)}${/[.:]$/.test(one) ? '' : '.'}`);

function Explained({ explanation }: { explanation: Explanation }) {
  const stages = explanation.stages.filter((stage) => stage.share >= 0.005).sort((a, b) => b.share - a.share);
  return (
    <>
      <div data-explained>
        {sentencesOf(explanation.text).map((one) => (
          <p key={one}>{one}</p>
        ))}
      </div>
      {stages.length > 0 && (
        <Table caption="Share of the time in which each stage was busy" head={['Stage', 'Busy', 'Share', 'Time', 'Thread']}>
          {stages.map((stage) => (
            <tr key={stage.name}>
              <td>{stage.name}</td>
              <td class="number">{(100 * stage.share).toFixed(0)} %</td>
              <td>
                <Meter label={`${stage.name} was busy`} value={stage.share} />
              </td>
              <td class="number">{span(stage.seconds)}</td>
              <td>{stage.thread}</td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}

// Of a recording, or of a worker's job.
export function ExplainView({ name, worker }: { name: string; worker?: string }) {
  const [service, method] = worker === undefined ? ['CatalogService', 'ExplainRecording'] : ['PipelineService', 'ExplainJob'];
  const loaded = useLoad((signal) => call<Explanation>(service, method, { name }, { worker, signal }), `explain ${name}`);
  return (
    <Panel title="Limiting stage">
      {loaded.value && <Explained explanation={loaded.value} />}
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
      <Line text={line(['trace', name], { to: 'run.pftrace' })} />
    </Panel>
  );
}
