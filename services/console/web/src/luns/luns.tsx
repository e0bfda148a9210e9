// LUNs and their channels: what they are, and how they are made, configured, scrubbed and deleted.
import { useEffect, useState } from 'preact/hooks';
import { call, list, requestId } from '../api.ts';
import { bytes, count, pairsText, sampleRate, shortName, span, time } from '../format.ts';
import { useLoad } from '../load.ts';
import { linkTo } from '../route.ts';
import { line } from '../tapectl.ts';
import type { Channel, Lun, NodeInfo } from '../types.ts';
import { Badge, Empty, Facts, Failure, Meter, Panel, Table } from '../ui/basics.tsx';
import { Deletion } from '../ui/dialog.tsx';
import { Name } from '../ui/name.tsx';
import { ChannelForm } from './channel_form.tsx';
import { LunForm } from './lun_form.tsx';
import { ScrubPanel } from './scrub.tsx';

type Open = { form: 'lun'; lun?: Lun } | { form: 'delete lun'; lun: Lun } | { form: 'channel'; lun: Lun; channel?: Channel } | { form: 'delete channel'; channel: Channel };

function LunFacts({ lun }: { lun: Lun }) {
  const capacity = lun.capacity_bytes;
  return (
    <>
      {capacity > 0 && <Meter label={`Fill of ${shortName(lun.name)}`} value={lun.used_bytes / capacity} high={lun.full_policy === 'ring' ? 1 : 0.9} />}
      {lun.cause && <p class={lun.state === 'READY' ? undefined : 'failure'}>{lun.cause}</p>}
      <Facts
        facts={[
          ['Used', `${bytes(lun.used_bytes)} of ${capacity > 0 ? bytes(capacity) : 'all space of the members'}${capacity > 0 ? ` (${((100 * lun.used_bytes) / capacity).toFixed(0)} %)` : ''}`],
          ['Recordings', count(lun.recordings)],
          ['Store', lun.store],
          ['Members', lun.members.join(', ') || 'memory of the node'],
          ['When full', lun.full_policy === 'ring' ? 'Delete the oldest (ring)' : 'Stop recording'],
          ['Age limit', lun.max_age_s > 0 ? span(lun.max_age_s) : ''],
          ['Fill limit', lun.max_fill_percent > 0 ? `${lun.max_fill_percent} %` : ''],
          ...(lun.copies > 1 ? ([['Copies', String(lun.copies)]] as [string, string][]) : []),
          ...(lun.prewrite_files > 0 ? ([['Prewritten files', `${count(lun.prewrite_files)} of ${bytes(lun.prewrite_bytes)} per member`]] as [string, string][]) : []),
          ['Created', time(lun.create_time)],
          ['Description', lun.description || '—'],
          ['Labels', pairsText(lun.labels) || '—'],
        ]}
      />
    </>
  );
}

function Channels({ lun, channels, open }: { lun: Lun; channels: Channel[]; open: (what: Open) => void }) {
  if (channels.length === 0) return <Empty>No channels yet. A recording needs one.</Empty>;
  return (
    <Table columns="even" caption={`Channels of ${shortName(lun.name)}`} head={['Channel', 'Sample type', 'Sample rate', 'Block size', 'Commit level', 'Pre-trigger', '']}>
      {channels.map((channel) => (
        <tr key={channel.name}>
          <td>
            <Name text={shortName(channel.name)} href={linkTo('recordings', { channel: shortName(channel.name) })} />
          </td>
          <td>{channel.datatype}</td>
          <td class="number">{sampleRate(channel.sample_rate)}</td>
          <td class="number">{bytes(channel.block_bytes)}</td>
          <td>{channel.commit_level}</td>
          <td>{channel.pre_trigger_s > 0 ? span(channel.pre_trigger_s) : '—'}</td>
          <td>
            <div class="does">
              <a class="button" href={linkTo('record', { channel: shortName(channel.name) })} aria-label={`Record into ${shortName(channel.name)}`}>
                Record
              </a>
              <button type="button" aria-label={`Configure ${shortName(channel.name)}`} onClick={() => open({ form: 'channel', lun, channel })}>
                Configure
              </button>
              <button type="button" aria-label={`Delete ${shortName(channel.name)}`} onClick={() => open({ form: 'delete channel', channel })}>
                Delete
              </button>
            </div>
          </td>
        </tr>
      ))}
    </Table>
  );
}

function LunPanel({ lun, channels, open }: { lun: Lun; channels: Channel[]; open: (what: Open) => void }) {
  const [scrubs, setScrubs] = useState(false);
  const name = shortName(lun.name);
  return (
    <>
      <Panel
        title={name}
        actions={
          <>
            <Badge tone={lun.state === 'READY' || lun.state === 'STANDBY' ? 'good' : 'bad'}>{lun.state}</Badge>
            <button type="button" aria-label={`New channel of ${name}`} onClick={() => open({ form: 'channel', lun })}>
              New channel
            </button>
            <button type="button" aria-expanded={scrubs} aria-label={`Scrub ${name}`} onClick={() => setScrubs(!scrubs)}>
              Scrub
            </button>
            <button type="button" aria-label={`Configure ${name}`} onClick={() => open({ form: 'lun', lun })}>
              Configure
            </button>
            <button type="button" aria-label={`Delete ${name}`} onClick={() => open({ form: 'delete lun', lun })}>
              Delete
            </button>
          </>
        }
      >
        <LunFacts lun={lun} />
        <Channels lun={lun} channels={channels} open={open} />
      </Panel>
      {scrubs && <ScrubPanel lun={lun} />}
    </>
  );
}

function Opened({ what, node, onDone, onClose }: { what: Open; node: NodeInfo | undefined; onDone: () => void; onClose: () => void }) {
  if (what.form === 'lun') return <LunForm lun={what.lun} node={node} onDone={onDone} onClose={onClose} />;
  if (what.form === 'channel') return <ChannelForm lun={shortName(what.lun.name)} channel={what.channel} onDone={onDone} onClose={onClose} />;
  const [noun, thing] = what.form === 'delete lun' ? (['LUN', what.lun] as const) : (['channel', what.channel] as const);
  const remove = async () => {
    const request = { name: thing.name, request_id: requestId() };
    if (noun === 'LUN') await call('CatalogService', 'DeleteLun', { ...request, force: true });
    else await call('CatalogService', 'DeleteChannel', request);
    onDone();
  };
  return (
    <Deletion
      what={noun}
      name={shortName(thing.name)}
      consequence={noun === 'LUN' ? 'This also deletes its channels and all its recordings. You cannot restore them.' : 'The node refuses to delete a channel with recordings.'}
      line={line([noun.toLowerCase(), 'delete', shortName(thing.name)], noun === 'LUN' ? { force: true } : {})}
      onDelete={remove}
      onClose={onClose}
    />
  );
}

// Of a link that leads to a form.
function asked(query: URLSearchParams, luns: Lun[]): Open | undefined {
  if (query.get('new') === 'lun') return { form: 'lun' };
  const lun = luns.find((one) => shortName(one.name) === query.get('lun'));
  return query.get('new') === 'channel' && lun ? { form: 'channel', lun } : undefined;
}

export function LunsPage({ query }: { query: URLSearchParams }) {
  const [open, setOpen] = useState<Open>();
  const node = useLoad((signal) => call<NodeInfo>('NodeService', 'GetNode', {}, { signal }), 'node');
  const loaded = useLoad(
    async (signal) => ({
      luns: await list<Lun>('CatalogService', 'ListLuns', {}, 'luns', { signal }),
      channels: await list<Channel>('CatalogService', 'ListChannels', { parent: 'luns/-' }, 'channels', { signal }),
    }),
    'luns',
    3000,
  );
  const { luns = [], channels = [] } = loaded.value ?? {};
  const isLoaded = loaded.value !== undefined;
  useEffect(() => {
    const form = isLoaded ? asked(query, luns) : undefined;
    if (form) setOpen(form);
  }, [query.toString(), isLoaded]);
  return (
    <>
      <div class="toolbar">
        <button type="button" class="main" onClick={() => setOpen({ form: 'lun' })}>
          New LUN
        </button>
      </div>
      <Failure error={loaded.error} />
      {loaded.value && luns.length === 0 && <Empty>No LUNs yet. Create one on an empty directory of the storage node, or in its memory.</Empty>}
      {luns.map((lun) => (
        <LunPanel key={lun.name} lun={lun} channels={channels.filter((channel) => channel.name.startsWith(`${lun.name}/`))} open={setOpen} />
      ))}
      {open && <Opened what={open} node={node.value} onDone={loaded.reload} onClose={() => setOpen(undefined)} />}
    </>
  );
}
