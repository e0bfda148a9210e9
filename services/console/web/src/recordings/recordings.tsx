// All recordings, newest first, and what can be done to each.
import { useState } from 'preact/hooks';
import { list } from '../api.ts';
import { bytes, count, pairsText, plural, shortName, time } from '../format.ts';
import { useLoad } from '../load.ts';
import { wordOf } from '../jobs/states.ts';
import { FirstSteps } from '../overview/steps.tsx';
import { linkTo } from '../route.ts';
import { line } from '../tapectl.ts';
import type { Channel, Recording } from '../types.ts';
import { Badge, Empty, Failure, Line, Lost, Table, type Tone } from '../ui/basics.tsx';
import { Choice, TextField } from '../ui/form.tsx';
import { Name } from '../ui/name.tsx';
import { RecordingActions } from './actions.tsx';
import { type Filter, matches, NO_FILTER } from './filter.ts';
import { entriesOf, type Entry, summaryOf } from './streams.ts';

// More rows than these are not looked through, but filtered.
const MOST_ROWS = 200;

const TONES: Record<string, Tone> = { RECORDING: 'live', SEALED: 'good', SALVAGED: 'busy', DELETING: 'plain' };

export const StateBadge = ({ recording }: { recording: Pick<Recording, 'state'> }) => {
  const state = wordOf(recording.state);
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
      <TextField label="Channel" hint="LUN or LUN/CHANNEL" value={filter.channel} suggestions={channels} onInput={(channel) => set({ channel })} />
      <Choice
        label="State"
        value={filter.state}
        onChange={(state) => set({ state })}
        choices={[['', 'Any'], 'RECORDING', 'SEALED', 'SALVAGED', ['KEPT', 'Kept']]}
      />
      <TextField label="Search" hint="Label, annotation, description or origin" value={filter.label} onInput={(label) => set({ label })} />
      {(['since', 'until'] as const).map((key) => (
        <div class="field" key={key}>
          <label for={`filter-${key}`}>{key === 'since' ? 'Since (UTC)' : 'Until (UTC)'}</label>
          <input id={`filter-${key}`} type="datetime-local" value={filter[key]} onInput={(event) => set({ [key]: event.currentTarget.value })} />
        </div>
      ))}
    </div>
  );
}

// Two lines of it, and the whole in a tooltip.
function About({ text }: { text: (string | false)[] }) {
  const whole = text.filter(Boolean).join(' · ');
  return whole === '' ? null : (
    <small class="about" title={whole}>
      {whole}
    </small>
  );
}

// The heading of its column names the zone.
const startOf = ({ start_time: start }: Recording) => (start ? time(start).replace(' UTC', '') : 'unknown');

function Row({ recording, onChange, isSegment = false }: { recording: Recording; onChange: () => void; isSegment?: boolean }) {
  return (
    <tr class={isSegment ? 'segment' : undefined}>
      <td>
        <Name text={shortName(recording.name)} href={`#/recording/${recording.name}`} />
        <About text={[isSegment && `segment ${recording.segment}`, recording.description, pairsText(recording.labels)]} />
      </td>
      <td>
        <span class="badges">
          <StateBadge recording={recording} />
          {recording.kept && <Badge tone="plain">kept</Badge>}
        </span>
      </td>
      <td class="when">{startOf(recording)}</td>
      <td class="number">{bytes(recording.bytes)}</td>
      <td class="number">
        <Lost count={recording.missing_blocks} />
      </td>
      <td>
        <RecordingActions recording={recording} onChange={onChange} />
      </td>
    </tr>
  );
}

// A stream in segments is one row, which opens.
function StreamRows({ entry: { segments, shown }, onChange }: { entry: Entry; onChange: () => void }) {
  const [opened, setOpened] = useState(false);
  const summary = summaryOf(segments);
  if (!summary) return null;
  const { newest, oldest, missing, kept } = summary;
  const name = shortName(oldest.name);
  return (
    <>
      <tr data-stream={oldest.stream}>
        <td>
          <button type="button" class="opens" aria-expanded={opened} aria-label={`${summary.segments} segments of ${name}`} onClick={() => setOpened(!opened)}>
            {summary.segments} segments
          </button>{' '}
          <Name text={name} />
          <About text={[newest.description, pairsText(newest.labels)]} />
        </td>
        <td>
          <span class="badges">
            <StateBadge recording={summary} />
            {kept > 0 && <Badge tone="plain">{kept === segments.length ? 'kept' : `${count(kept)} kept`}</Badge>}
          </span>
        </td>
        <td class="when">{startOf(oldest)}</td>
        <td class="number">{bytes(summary.bytes)}</td>
        <td class="number">
          <Lost count={missing} />
        </td>
        <td>
          <div class="does">
            <a class="button" href={linkTo('play', { recording: name, stream: 'true' })} aria-label={`Play the stream ${name}`}>
              Play
            </a>
            <a class="button" href={`#/recording/${newest.name}`} aria-label={`Newest segment of ${name}`}>
              Newest
            </a>
          </div>
        </td>
      </tr>
      {opened && shown.slice(0, MOST_ROWS).map((recording) => <Row key={recording.name} recording={recording} onChange={onChange} isSegment />)}
    </>
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
  const entries = entriesOf(loaded.value?.recordings ?? [], (recording) => matches(recording, filter));
  const found = entries.flatMap(({ shown }) => shown);
  if (loaded.value?.recordings.length === 0) return <FirstSteps />;
  return (
    <>
      <FilterForm filter={filter} channels={(loaded.value?.channels ?? []).map((channel) => shortName(channel.name))} set={(change) => setFilter((now) => ({ ...now, ...change }))} />
      <Line text={line(['recordings', 'list', ...(filter.channel.includes('/') ? [filter.channel] : [])])} />
      <Failure error={loaded.error} />
      <p class="of" role="status">
        {loaded.value ? `${count(found.length)} of ${plural(loaded.value.recordings.length, 'recording')}` : 'Loading …'}
        {entries.length > MOST_ROWS && `; the list has the newest ${MOST_ROWS}`}
      </p>
      {loaded.value && found.length === 0 ? (
        <Empty>No recording matches the filter.</Empty>
      ) : (
        <Table caption="Recordings" head={['Recording', 'State', 'First sample (UTC)', 'Size', 'Missing', '']}>
          {entries.slice(0, MOST_ROWS).map((entry) =>
            entry.shown.length > 1 ? (
              <StreamRows key={entry.key} entry={entry} onChange={loaded.reload} />
            ) : (
              entry.shown.map((recording) => <Row key={recording.name} recording={recording} onChange={loaded.reload} />)
            ),
          )}
        </Table>
      )}
    </>
  );
}
