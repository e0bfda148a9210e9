// What is wrong with the node and the workers, why it matters, and what to type.
import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { useAction } from '../load.ts';
import { line } from '../tapectl.ts';
import type { ConsoleInfo, Finding, NodeInfo } from '../types.ts';
import { Badge, Empty, Failure, Line, Panel, type Tone } from '../ui/basics.tsx';
import { Check } from '../ui/form.tsx';

interface Diagnosis {
  node: string;
  findings: Finding[];
  error?: Error;
}

// The storage node's rails, which a worker must reach.
async function peersOf(): Promise<object[]> {
  const node = await call<NodeInfo>('NodeService', 'GetNode', {});
  return node.rails.map(({ name, transport, address, port }) => ({ name, transport, address, port }));
}

async function diagnose(node: string, measure: boolean, peers: object[], worker?: string): Promise<Diagnosis> {
  try {
    const answer = await call<{ findings: Finding[] }>('DoctorService', 'Diagnose', { measure, peers }, { worker });
    return { node, findings: answer.findings };
  } catch (error) {
    return { node, findings: [], error: error as Error };
  }
}

const TONES: Record<string, Tone> = { error: 'bad', warning: 'busy', note: 'plain' };

function FindingView({ finding }: { finding: Finding }) {
  return (
    <li>
      <p>
        <Badge tone={TONES[finding.severity] ?? 'plain'}>{finding.severity}</Badge> <code>{finding.code}</code> {finding.what}
      </p>
      <p>{finding.why}</p>
      <p>
        <strong>Fix:</strong> {finding.fix}
      </p>
    </li>
  );
}

export function DoctorPage({ info }: { info: ConsoleInfo }) {
  const [measure, setMeasure] = useState(false);
  const [found, setFound] = useState<Diagnosis[]>();
  const action = useAction();
  const examine = async () => {
    const peers = await peersOf();
    setFound(await Promise.all([diagnose(info.node, measure, []), ...info.workers.map((worker) => diagnose(worker, measure, peers, worker))]));
  };
  return (
    <>
      <div class="toolbar">
        <button type="button" class="main" disabled={action.busy} onClick={() => action.run(examine)}>
          {action.busy ? 'Examining …' : 'Examine'}
        </button>
        <Check label="Measure the disks (slows other work on them)" checked={measure} onChange={setMeasure} />
      </div>
      <Line text={line(['doctor'], { measure })} />
      <Failure error={action.error} />
      {!found && <Empty>The doctor checks the storage node and each worker. It takes some seconds and changes nothing.</Empty>}
      {(found ?? []).map((one) => (
        <Panel title={one.node} key={one.node}>
          <Failure error={one.error} />
          {!one.error && one.findings.length === 0 && <Empty>No findings.</Empty>}
          <ul class="findings">
            {one.findings.map((finding, index) => (
              <FindingView key={index} finding={finding} />
            ))}
          </ul>
        </Panel>
      ))}
    </>
  );
}
