// One recording: its course, its spectrum, its samples, what is noted about it, and what can be done to it.
import { useEffect, useState } from 'preact/hooks';
import { call } from '../api.ts';
import { bytes, count, originText, pairsText, sampleRate, sampleTime, shortName, time } from '../format.ts';
import { useLoad } from '../load.ts';
import { RecordingActions } from '../recordings/actions.tsx';
import { StateBadge } from '../recordings/recordings.tsx';
import type { Recording, Timeline } from '../types.ts';
import { Badge, Empty, Facts, Failure, Panel } from '../ui/basics.tsx';
import { Check } from '../ui/form.tsx';
import { GapsView, MarksView } from './marks.tsx';
import { ExplainView, TraceView } from './reports.tsx';
import { SamplesView } from './samples_view.tsx';
import { SpectrumView } from './spectrum_view.tsx';
import { TimelineView } from './timeline.tsx';
import { followed, inside, type Window, whole } from './window.ts';

function About({ recording }: { recording: Recording }) {
  return (
    <Facts
      facts={[
        ['State', <StateBadge recording={recording} />],
        ['Size', bytes(recording.bytes)],
        ['Blocks', `${count(recording.blocks)} of ${bytes(recording.block_bytes)}${recording.missing_blocks > 0 ? `, ${count(recording.missing_blocks)} missing` : ''}`],
        ['Sample type', `${recording.datatype} at ${sampleRate(recording.sample_rate)}`],
        ['Commit level', recording.commit_level],
        ['First sample', sampleTime(recording.start_time)],
        ['Opened', time(recording.open_time)],
        ['Closed', time(recording.close_time)],
        ['Description', recording.description || '—'],
        ['Origin', originText(recording.origin)],
        ...(recording.group?.name ? ([['Group', `${recording.group.name}, ${recording.group.number} of ${recording.group.members}`]] as [string, string][]) : []),
        ...(recording.part ? ([['Part', `${recording.part.number} of ${recording.part.parts}`]] as [string, string][]) : []),
        ...(recording.original ? ([['Copy of', shortName(recording.original)]] as [string, string][]) : []),
        ['Labels', pairsText(recording.labels) || '—'],
        ...(recording.cause ? ([['Cause', recording.cause]] as [string, string][]) : []),
        ...(recording.stream ? ([['Segment', `${recording.segment} of ${recording.stream}`]] as [string, string][]) : []),
      ]}
    />
  );
}

// Of a recording that is followed: its end.
function useWindow(timeline: Timeline, runs: boolean): { window: Window | undefined; follow: boolean; setWindow: (to: Window) => void; setFollow: (on: boolean) => void } {
  const [window, setWindow] = useState<Window>();
  const [follow, setFollow] = useState(runs);
  const { samples, sample_rate: rate } = timeline;
  useEffect(() => {
    if (samples === 0) return;
    setWindow((before) => (follow ? followed(before, samples, rate) : (before ?? whole(samples))));
  }, [samples, follow]);
  return { window, follow, setWindow, setFollow };
}

// Made of transforms into frequencies: its numbers have no full scale.
const isSpectra = ({ origin }: Recording) => (origin?.transforms ?? []).some(({ name }) => name === 'fft' || name === 'power');

interface ViewsProps {
  recording: Recording;
  timeline: Timeline;
  onWindow: (window: Window) => void;
}

function Views({ recording, timeline, onWindow }: ViewsProps) {
  const { window, follow, setWindow, setFollow } = useWindow(timeline, recording.state === 'RECORDING');
  useEffect(() => {
    if (window) onWindow(window);
  }, [window]);
  const samples = timeline.samples;
  if (!window) return <Empty>No samples yet.</Empty>;
  const move = (to: Window) => {
    // Another part of the band is looked at without letting go of the newest samples.
    if (to.first !== window.first || to.count !== window.count) setFollow(false);
    setWindow(to);
  };
  const show = (first: number, length: number) => move(inside({ ...window, first: first - Math.max(64, length / 4), count: Math.max(128, length * 1.5) }, samples));
  return (
    <>
      <Panel
        title="Timeline"
        actions={
          recording.state === 'RECORDING' && (
            <>
              <Badge tone="live">recording</Badge>
              <Check label="Follow" checked={follow} onChange={setFollow} />
            </>
          )
        }
      >
        <TimelineView timeline={timeline} window={window} onShow={(first) => move(inside({ ...window, first }, samples))} />
      </Panel>
      <SpectrumView recording={recording.name} timeline={timeline} window={window} setWindow={move} />
      <SamplesView recording={recording.name} timeline={timeline} window={window} isSpectra={isSpectra(recording)} />
      <GapsView timeline={timeline} onShow={show} />
      <MarksView timeline={timeline} onShow={show} />
    </>
  );
}

// Of what is looked at.
const MOST_FETCHED = 2 ** 20;

const ASK_AGAIN_MS = 1000;

export function RecordingPage({ name }: { name: string }) {
  const [live, setLive] = useState(true);
  const [gone, setGone] = useState(false);
  const [window, setWindow] = useState<Window>();
  const loaded = useLoad(
    async (signal) => ({
      recording: await call<Recording>('CatalogService', 'GetRecording', { name }, { signal }),
      timeline: await call<Timeline>('ViewService', 'GetTimeline', { recording: name }, { signal }).catch((error: Error) => error),
    }),
    name,
    live && !gone ? ASK_AGAIN_MS : 0,
  );
  const recording = loaded.value?.recording;
  const timeline = loaded.value?.timeline;
  const runs = recording?.state === 'RECORDING';
  // A node that is busy refuses a view, and gives it later.
  const isRefused = timeline instanceof Error;
  useEffect(() => setLive(!recording || runs || isRefused), [recording === undefined, runs, isRefused]);
  if (gone) return <Empty>This recording was deleted.</Empty>;
  if (!recording) return <Failure error={loaded.error} />;
  const course = timeline instanceof Error ? undefined : timeline;
  // The dialogs begin with the part that the page shows.
  const shown = window && { first: window.first, samples: Math.min(MOST_FETCHED, window.count) };
  return (
    <>
      <Panel title={shortName(name)} actions={<RecordingActions recording={recording} onChange={loaded.reload} onDelete={() => setGone(true)} shown={shown} />}>
        <About recording={recording} />
        <Failure error={loaded.error} />
      </Panel>
      {timeline instanceof Error && <Failure error={timeline} />}
      {course && <Views recording={recording} timeline={course} onWindow={setWindow} />}
      {!runs && <ExplainView name={name} />}
      <TraceView recording={name} />
    </>
  );
}
