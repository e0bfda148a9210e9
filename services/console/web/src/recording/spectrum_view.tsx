// Spectrum and waterfall of the part of the recording that is looked at.
import { useMemo, useState } from 'preact/hooks';
import { call } from '../api.ts';
import { count, level, minus } from '../format.ts';
import { useLatest } from '../load.ts';
import { Failure, Panel } from '../ui/basics.tsx';
import { TextField } from '../ui/form.tsx';
import { Axis } from './axis.tsx';
import { isComplex } from './numbers.ts';
import { Plot } from './plot.tsx';
import { columnsOf, frequencyAt, madeOf, missingRows, peaksOf, rangeOf, type Spectrogram, spectrogramOf, storedColumn, TICKS, tickTexts } from './spectrum.ts';
import type { SpectrogramMessage, Timeline } from '../types.ts';
import { type Part, Waterfall } from './waterfall.tsx';
import { columnsFor, inside, shiftBand, shiftTime, type Window, whole, zoomBand, zoomTime } from './window.ts';

// A row of the waterfall on the screen is a pixel or two.
const ROWS = 240;

interface Props {
  recording: string;
  timeline: Timeline;
  window: Window;
  setWindow: (window: Window) => void;
}

function useSpectrogram({ recording, timeline, window }: Props) {
  const request = {
    recording,
    first_sample: String(window.first),
    sample_count: String(window.count),
    columns: columnsFor(window, isComplex(timeline.datatype)),
    rows: ROWS,
  };
  const ask = async (signal: AbortSignal) => spectrogramOf(await call<SpectrogramMessage>('ViewService', 'ReadSpectrogram', request, { signal }));
  const { value, error } = useLatest(ask, JSON.stringify(request));
  return { spectrogram: value, error };
}

function Toolbar({ timeline, window, setWindow }: Props) {
  const samples = timeline.samples;
  const buttons: [string, string, () => Window][] = [
    ['+', 'Zoom in, in time', () => zoomTime(window, samples, 0.5)],
    ['−', 'Zoom out, in time', () => zoomTime(window, samples, 2)],
    ['↑', 'Earlier', () => shiftTime(window, samples, -0.5)],
    ['↓', 'Later', () => shiftTime(window, samples, 0.5)],
    ['+', 'Zoom in, in frequency', () => zoomBand(window, 0.5)],
    ['−', 'Zoom out, in frequency', () => zoomBand(window, 2)],
    ['←', 'Lower frequencies', () => shiftBand(window, -0.5)],
    ['→', 'Higher frequencies', () => shiftBand(window, 0.5)],
  ];
  const group = (name: string, from: number, to: number) => (
    <div class="group" role="group" aria-label={name}>
      <span aria-hidden="true">{name}</span>
      {buttons.slice(from, to).map(([sign, label, move]) => (
        <button type="button" key={label} aria-label={label} title={label} onClick={() => setWindow(move())}>
          {sign}
        </button>
      ))}
    </div>
  );
  return (
    <div class="toolbar">
      {group('Time', 0, 4)}
      {group('Frequency', 4, 8)}
      <button type="button" onClick={() => setWindow(whole(samples))}>
        All
      </button>
      <Go timeline={timeline} window={window} setWindow={setWindow} />
    </div>
  );
}

// Typed samples, for those who know where to look.
function Go({ timeline, window, setWindow }: Omit<Props, 'recording'>) {
  const [first, setFirst] = useState('');
  const [length, setLength] = useState('');
  const go = () => setWindow(inside({ ...window, first: Number(first || window.first), count: Number(length || window.count) }, timeline.samples));
  return (
    <form
      class="go"
      onSubmit={(event) => {
        event.preventDefault();
        go();
      }}
    >
      <TextField label="Show from sample" inputMode="numeric" value={first} onInput={setFirst} />
      <TextField label="Number of samples" inputMode="numeric" value={length} onInput={setLength} />
      <button type="submit">Show</button>
    </form>
  );
}

function SpectrumPlot({ spectrogram, window }: { spectrogram: Spectrogram; window: Window }) {
  const { band } = spectrogram;
  const { low, high } = window;
  const data = useMemo(() => {
    const { from, to } = columnsOf(spectrogram, low, high);
    const columns = Array.from({ length: to - from }, (_, index) => from + index);
    const peaks = peaksOf(spectrogram);
    const stored = columns.map((column) => storedColumn(spectrogram, column));
    return [
      columns.map((column) => frequencyAt(band, column / spectrogram.columns)),
      stored.map((column) => spectrogram.means[column] ?? Number.NaN),
      stored.map((column) => peaks[column] ?? Number.NaN),
    ];
  }, [spectrogram, low, high]);
  const peak = (data[1] ?? []).reduce((best, power, index, all) => (power > (all[best] ?? Number.NEGATIVE_INFINITY) ? index : best), 0);
  const peakText = `${band.text(data[0]?.[peak] ?? 0)}, ${level(data[1]?.[peak] ?? Number.NaN)}`;
  return (
    <>
      <p class="of" data-peak={data[0]?.[peak] ?? ''} data-peak-db={data[1]?.[peak] ?? ''}>
        Strongest mean: {peakText}
      </p>
      <Plot
        label="Spectrum"
        x={{ label: 'Frequency', text: band.text, range: [frequencyAt(band, low), frequencyAt(band, high)], ticks: TICKS.length }}
        unit="dBFS"
        least={10}
        height={220}
        series={[
          { label: 'Mean', colour: '--line-1', text: level },
          { label: 'Peak', colour: '--line-2', text: level },
        ]}
        data={data}
      />
      <div class="beside">
        <Axis name="spectrum" texts={tickTexts(band, low, high)} />
      </div>
    </>
  );
}

function partOf(window: Window, part: Part): Window {
  const width = window.high - window.low;
  return { first: window.first + window.count * part.y0, count: window.count * (part.y1 - part.y0), low: window.low + width * part.x0, high: window.low + width * part.x1 };
}

export function SpectrumView(props: Props) {
  const { timeline, window, setWindow } = props;
  const samples = timeline.samples;
  const { spectrogram, error } = useSpectrogram(props);
  const [levels, setLevels] = useState({ low: '', high: '' });
  const range = useMemo(() => (spectrogram ? rangeOf(spectrogram) : { low: -100, high: 0 }), [spectrogram]);
  const darkest = Number(levels.low || range.low);
  const key = (pressed: string) => {
    if (pressed !== '+' && pressed !== '-') return false;
    setWindow(zoomTime(window, samples, pressed === '+' ? 0.5 : 2));
    return true;
  };
  return (
    <Panel title="Spectrum and waterfall">
      <Toolbar {...props} />
      <Failure error={error} />
      {spectrogram && (
        <>
          <SpectrumPlot spectrogram={spectrogram} window={window} />
          <Waterfall
            spectrogram={spectrogram}
            window={window}
            band={spectrogram.band}
            sampleRate={timeline.sample_rate}
            darkest={darkest}
            brightest={Math.max(darkest + 1, Number(levels.high || range.high))}
            onZoom={(part) => setWindow(inside(partOf(window, part), samples))}
            onKey={key}
          />
          <p class="of" role="status" data-shown={`${spectrogram.first} ${spectrogram.samples}`} data-missing-rows={missingRows(spectrogram)}>
            Samples {count(spectrogram.first)} to {count(spectrogram.first + spectrogram.samples)}, {spectrogram.columns} frequencies, {spectrogram.rows} rows
            {missingRows(spectrogram) > 0 && `, of which ${missingRows(spectrogram)} are missing (hatched)`}. {madeOf(spectrogram)}
          </p>
          <div class="fields levels">
            <TextField label="Darkest, dBFS" hint={`Auto (${minus(range.low)})`} inputMode="numeric" value={levels.low} onInput={(low) => setLevels({ ...levels, low })} />
            <TextField label="Brightest, dBFS" hint={`Auto (${minus(range.high)})`} inputMode="numeric" value={levels.high} onInput={(high) => setLevels({ ...levels, high })} />
          </div>
        </>
      )}
    </Panel>
  );
}
