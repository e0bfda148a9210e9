// Reads all closed recordings of a LUN, says how far it is, and what it has found.
import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { count, parseBytes, shortName } from '../format.ts';
import { useAction, useLoad } from '../load.ts';
import { line } from '../tapectl.ts';
import type { Lun, Scrub } from '../types.ts';
import { Badge, Empty, Failure, Facts, Line, Panel, Table } from '../ui/basics.tsx';
import { TextField } from '../ui/form.tsx';
import { Name } from '../ui/name.tsx';
import { asBytes } from './fields.ts';

function Findings({ scrub }: { scrub: Scrub }) {
  const { findings } = scrub;
  if (findings.length === 0) return <Empty>{scrub.state !== 'NONE' ? 'No damage found.' : 'No scrub since the storage node started. A scrub reads all closed recordings of the LUN and repairs what it can.'}</Empty>;
  return (
    <Table caption="Findings of the scrub" head={['Recording', 'Block', 'Damage', 'Detail', '']}>
      {findings.map((finding, index) => (
        <tr key={index}>
          <td>
            <Name text={shortName(finding.recording)} href={`#/recording/${finding.recording}`} />
          </td>
          <td class="number">{finding.block?.sequence}</td>
          <td>{finding.block?.kind}</td>
          <td>{finding.block?.detail}</td>
          <td>{finding.repaired ? <Badge tone="good">repaired</Badge> : <Badge tone="bad">damaged</Badge>}</td>
        </tr>
      ))}
    </Table>
  );
}

function Progress({ scrub, lun }: { scrub: Scrub; lun: Lun }) {
  return (
    <>
      <progress aria-label="Recordings read" max={Math.max(1, lun.recordings)} value={scrub.state === 'DONE' ? Math.max(1, lun.recordings) : scrub.recordings} />
      <Facts
        facts={[
          ['State', scrub.state !== 'NONE' ? scrub.state : 'none'],
          ['Recordings read', scrub.state === 'DONE' ? count(scrub.recordings) : `${count(scrub.recordings)} of ${count(lun.recordings)}`],
          ['Blocks read', count(scrub.blocks)],
          ['Damaged blocks', count(scrub.damaged)],
          ['Repaired blocks', count(scrub.repaired)],
          ...(scrub.recording && scrub.state === 'RUNNING' ? ([['Current recording', shortName(scrub.recording)]] as [string, string][]) : []),
          ...(scrub.cause ? ([['Cause', scrub.cause]] as [string, string][]) : []),
        ]}
      />
    </>
  );
}

export function ScrubPanel({ lun }: { lun: Lun }) {
  const [speed, setSpeed] = useState('200MB');
  const action = useAction();
  const loaded = useLoad((signal) => call<Scrub>('RecorderService', 'GetScrub', { parent: lun.name }, { signal }), `scrub ${lun.name}`, 1000);
  const scrub = loaded.value;
  const runs = scrub?.state === 'RUNNING';
  const ask = (method: string, more?: () => object) => () =>
    action.run(async () => {
      await call('RecorderService', method, { parent: lun.name, ...more?.() });
      loaded.reload();
    });
  return (
    <Panel
      title="Scrub"
      actions={
        runs ? (
          <button type="button" onClick={ask('StopScrub')}>
            Stop
          </button>
        ) : (
          <button type="button" onClick={ask('StartScrub', () => ({ rate_bytes_per_s: asBytes('The rate', speed) }))}>
            Start
          </button>
        )
      }
    >
      <div class="fields">
        <TextField label="Read rate" hint="Bytes per second, e.g. 200MB" value={speed} onInput={setSpeed} wrong={parseBytes(speed) === undefined} />
      </div>
      <Line text={line(['scrub', runs ? 'stop' : 'start', shortName(lun.name)], runs ? {} : { rate: speed })} />
      <Failure error={action.error ?? loaded.error} />
      {scrub && <Progress scrub={scrub} lun={lun} />}
      {scrub && <Findings scrub={scrub} />}
    </Panel>
  );
}
