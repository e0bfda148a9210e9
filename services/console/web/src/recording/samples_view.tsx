// The samples themselves where few are shown, else the least, greatest and mean of them.
import { useMemo } from 'preact/hooks';
import { call } from '../api.ts';
import { count, level, minus, span, spansOfAxis } from '../format.ts';
import { useLatest } from '../load.ts';
import type { EnvelopeMessage, SampleRun, SamplesMessage, Timeline } from '../types.ts';
import { Failure, Panel, Table } from '../ui/basics.tsx';
import { Axis } from './axis.tsx';
import { decibels, floatsOf, isComplex } from './numbers.ts';
import { Plot } from './plot.tsx';
import { TICKS } from './spectrum.ts';
import type { Window } from './window.ts';

// So many are drawn one by one, and so many told as numbers.
const MOST_DRAWN = 8192;
const MOST_TOLD = 64;

interface Props {
  recording: string;
  timeline: Timeline;
  window: Window;
  isSpectra: boolean; // not of full scale
}

const axisOf = (sampleRate: number, first: number, samples: number) => ({
  label: sampleRate > 0 ? 'Time' : 'Sample',
  text: (sample: number) => (sampleRate > 0 ? span(sample / sampleRate) : count(Math.round(sample))),
  range: [first, first + samples] as [number, number],
  ticks: TICKS.length,
});

function TimeAxis({ sampleRate, first, samples }: { sampleRate: number; first: number; samples: number }) {
  const places = TICKS.map((share) => first + samples * share);
  return (
    <div class="beside">
      <Axis name="time" texts={sampleRate > 0 ? spansOfAxis(places.map((place) => place / sampleRate)) : places.map((place) => count(Math.round(place)))} />
    </div>
  );
}

const value = (number: number) => minus(number.toPrecision(4));

const isIn = (runs: SampleRun[], sample: number) => runs.some((run) => sample >= run.first_sample && sample < run.first_sample + run.sample_count);

function Values({ first, parts, missing }: { first: number; parts: number[][]; missing: SampleRun[] }) {
  const rows = Array.from({ length: Math.min(MOST_TOLD, parts[0]?.length ?? 0) }, (_, index) => index);
  return (
    <details>
      <summary>First {rows.length} samples as numbers</summary>
      <Table caption="List of samples" head={['Sample', ...(parts.length > 1 ? ['I', 'Q'] : ['Value'])]}>
        {rows.map((index) => (
          <tr key={index} data-sample={first + index}>
            <td class="number">{count(first + index)}</td>
            {parts.map((part, which) => (
              <td class="number" key={which}>
                {isIn(missing, first + index) ? 'missing' : (part[index] ?? 0).toPrecision(7)}
              </td>
            ))}
          </tr>
        ))}
      </Table>
    </details>
  );
}

function SamplesPlot({ recording, timeline, window, isSpectra }: Props) {
  const request = { recording, first_sample: String(window.first), sample_count: String(window.count) };
  const loaded = useLatest((signal) => call<SamplesMessage>('ViewService', 'ReadSamples', request, { signal }), JSON.stringify(request));
  const answer = loaded.value;
  const shown = useMemo(() => {
    if (!answer) return undefined;
    const values = floatsOf(answer.samples);
    const step = isComplex(answer.datatype) ? 2 : 1;
    const first = answer.first_sample;
    const length = Math.floor(values.length / step);
    const parts = Array.from({ length: step }, (_, part) => Array.from({ length }, (_unused, index) => values[index * step + part] ?? 0));
    const holes = answer.missing;
    const drawn = parts.map((part) => part.map((value, index) => (isIn(holes, first + index) ? Number.NaN : value)));
    return { first, length, parts, holes, data: [Array.from({ length }, (_, index) => first + index), ...drawn] };
  }, [answer]);
  const names = isComplex(timeline.datatype) ? ['I', 'Q'] : ['Value'];
  return (
    <>
      <Failure error={loaded.error} />
      {shown && (
        <Plot
          label="Samples"
          x={axisOf(timeline.sample_rate, shown.first, shown.length)}
          unit={isSpectra ? 'Value' : 'Amplitude'}
          series={names.map((label, index) => ({ label, colour: `--line-${index + 1}`, text: value }))}
          data={shown.data}
        />
      )}
      {shown && <TimeAxis sampleRate={timeline.sample_rate} first={shown.first} samples={shown.length} />}
      {shown && <Values first={shown.first} parts={shown.parts} missing={shown.holes} />}
    </>
  );
}

function EnvelopePlots({ recording, timeline, window, isSpectra }: Props) {
  const request = { recording, first_sample: String(window.first), sample_count: String(window.count), points: 1024 };
  const loaded = useLatest((signal) => call<EnvelopeMessage>('ViewService', 'ReadEnvelope', request, { signal }), JSON.stringify(request));
  const answer = loaded.value;
  const shown = useMemo(() => {
    if (!answer) return undefined;
    const x = Array.from({ length: answer.points }, (_, point) => answer.first_sample + point * answer.samples_per_point);
    return { first: answer.first_sample, length: answer.points * answer.samples_per_point, levels: [x, Array.from(floatsOf(answer.minima)), Array.from(floatsOf(answer.maxima))], power: [x, Array.from(floatsOf(answer.powers), decibels)] };
  }, [answer]);
  const axis = axisOf(timeline.sample_rate, shown?.first ?? 0, shown?.length ?? 1);
  return (
    <>
      <Failure error={loaded.error} />
      {shown && (
        <>
          <Plot
            label={isComplex(timeline.datatype) ? 'Minimum and maximum of I and Q' : 'Minimum and maximum'}
            x={axis}
            unit={isSpectra ? 'Value' : 'Amplitude'}
            series={[
              { label: 'Minimum', colour: '--line-1', text: value },
              { label: 'Maximum', colour: '--line-2', text: value },
            ]}
            data={shown.levels}
            height={140}
          />
          <Plot label="Power" x={axis} unit={isSpectra ? 'dB' : 'dBFS'} least={6} series={[{ label: 'Power', colour: '--line-1', text: level }]} data={shown.power} height={140} />
          <TimeAxis sampleRate={timeline.sample_rate} first={shown.first} samples={shown.length} />
        </>
      )}
    </>
  );
}

export function SamplesView(props: Props) {
  const few = props.window.count <= MOST_DRAWN;
  return (
    <Panel title={few ? 'Samples' : 'Levels and power'}>
      {few ? <SamplesPlot {...props} /> : <EnvelopePlots {...props} />}
      {!few && <p class="of">Zoom in to {count(MOST_DRAWN)} samples to see each one.</p>}
    </Panel>
  );
}
