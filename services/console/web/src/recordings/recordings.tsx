// All recordings, newest first, and what can be done to each.
import { useState } from 'preact/hooks';
import { list } from '../api.ts';
import { bytes, count, pairsText, shortName, time } from '../format.ts';
import { useLoad } from '../load.ts';
import { line } from '../tapectl.ts';
import type { Channel, Recording } from '../types.ts';
import { Badge, Empty, Failure, Line, Table, type Tone } from '../ui/basics.tsx';
import { Choice, TextField } from '../ui/form.tsx';
import { RecordingActions } from './actions.tsx';
import { type Filter, matches, NO_FILTER } from './filter.ts';

// More rows than these are not looked through, but filtered.
const MOST_ROWS = 200;

const TONES: Record<string, Tone> = { RECORDING: 'bad', SEALED: 'good', SALVAGED: 'busy', DELETING: 'plain' };

export const StateBadge = ({ recording }: { recording: Recording }) => {
  const state = recording.state;
  return <Badge tone={TONES[state] ?? 'plain'}>{state}</Badge>;
};

interface FilterProps {
  filter: Filter;
  channels: string[];
  set: (change: Partial<Filter>) => void;
}

function FilterForm({ filter, channels, set }: FilterProps) {
  return (
    <div class="fields filter" role="search" aria-label="Filter">
      <TextField label="Channel" hint="LUN, or LUN/CHANNEL" value={filter.channel} suggestions={channels} onInput={(channel) => set({ channel })} />
      <Choice
        label="State"
        value={filter.state}
        onChange={(state) => set({ state })}
        choices={[['', 'any'], 'RECORDING', 'SEALED', 'SALVAGED', ['KEPT', 'kept']]}
      />
      <TextField label="Label, mark or description" hint="or part of one" value={filter.label} onInput={(label) => set({ label })} />
      {(['since', 'until'] as const).map((key) => (
        <div class="field" key={key}>
          <label for={`filter-${key}`}>{key === 'since' ? 'Since, UTC' : 'Until, UTC'}</label>
          <input id={`filter-${key}`} type="datetime-local" value={filter[key]} onInput={(event) => set({ [key]: event.currentTarget.value })} />
        </div>
      ))}
    </div>
  );
}

function Row({ recording, onChange }: { recording: Recording; onChange: () => void }) {
  return (
    <tr>
      <td>
        <a href={`#/recording/${recording.name}`}>{shortName(recording.name)}</a>
        <small>{[recording.description, pairsText(recording.labels)].filter(Boolean).join(' · ')}</small>
      </td>
      <td>
        <StateBadge recording={recording} />
        {recording.kept && <Badge tone="plain">kept</Badge>}
      </td>
      <td>{recording.start_time ? time(recording.start_time) : 'unknown'}</td>
      <td class="number">{bytes(recording.bytes)}</td>
      <td class="number">{count(recording.missing_blocks)}</td>
      <td>
        <RecordingActions recording={recording} onChange={onChange} />
      </td>
    </tr>
  );
}

export function RecordingsPage({ query }: { query: URLSearchParams }) {
  const [filter, setFilter] = useState<Filter>({ ...NO_FILTER, channel: query.get('channel') ?? '' });
  const loaded = useLoad(
    async (signal) => ({
      recordings: await list<Recording>('CatalogService', 'ListRecordings', { parent: 'luns/-/channels/-' }, 'recordings', { signal }),
      channels: await list<Channel>('CatalogService', 'ListChannels', { parent: 'luns/-' }, 'channels', { signal }),
    }),
    'recordings',
    5000,
  );
  const found = (loaded.value?.recordings ?? []).filter((recording) => matches(recording, filter));
  return (
    <>
      <FilterForm filter={filter} channels={(loaded.value?.channels ?? []).map((channel) => shortName(channel.name))} set={(change) => setFilter((now) => ({ ...now, ...change }))} />
      <Line text={line(['recordings', 'list', ...(filter.channel.includes('/') ? [filter.channel] : [])])} />
      <Failure error={loaded.error} />
      <p class="of" role="status">
        {loaded.value ? `${count(found.length)} of ${count(loaded.value.recordings.length)} recordings` : 'Asking the node …'}
        {found.length > MOST_ROWS && `; the newest ${MOST_ROWS} are shown`}
      </p>
      {loaded.value && found.length === 0 ? (
        <Empty>No recordings match.</Empty>
      ) : (
        <Table caption="Recordings" head={['Recording', 'State', 'First sample', 'Bytes', 'Missing', '']}>
          {found.slice(0, MOST_ROWS).map((recording) => (
            <Row key={recording.name} recording={recording} onChange={loaded.reload} />
          ))}
        </Table>
      )}
    </>
  );
}
