// The waterfall: frequency to the right, time downwards. A cursor by pointer or keys tells what is under it; dragging over
// a part zooms into it.
import { useEffect, useRef, useState } from 'preact/hooks';
import { count, level, minus, span, spansOfAxis } from '../format.ts';
import { Axis } from './axis.tsx';
import { paint, paintScale } from './paint.ts';
import { type Band, frequencyAt, type Spectrogram, storedColumn, TICKS, tickTexts } from './spectrum.ts';
import type { Window } from './window.ts';

// Of the picture, 0 to 1 each way.
export interface Part {
  x0: number;
  x1: number;
  y0: number;
  y1: number;
}

interface Props {
  spectrogram: Spectrogram;
  window: Window;
  band: Band;
  sampleRate: number;
  darkest: number;
  brightest: number;
  onZoom: (part: Part) => void;
  onKey: (key: string) => boolean;
}

interface Point {
  x: number;
  y: number;
}

const clamp = (value: number) => Math.min(1, Math.max(0, value));

function pointOf(event: PointerEvent): Point {
  const box = (event.currentTarget as Element).getBoundingClientRect();
  return { x: clamp((event.clientX - box.left) / box.width), y: clamp((event.clientY - box.top) / box.height) };
}

function valueAt({ spectrogram, window, band, sampleRate }: Props, { x, y }: Point): string {
  const column = Math.round((window.low + x * (window.high - window.low)) * spectrogram.columns);
  const row = Math.min(spectrogram.rows - 1, Math.floor(y * spectrogram.rows));
  const power = spectrogram.powers[row * spectrogram.columns + storedColumn(spectrogram, column)] ?? Number.NaN;
  const sample = Math.floor(spectrogram.first + row * spectrogram.samplesPerRow);
  const when = sampleRate > 0 ? `, ${span(sample / sampleRate)}` : '';
  const said = Number.isNaN(power) ? 'missing' : level(power);
  return `${band.text(frequencyAt(band, column / spectrogram.columns))} · sample ${count(sample)}${when} · ${said}`;
}

// Keys move the cursor by a hundredth, or are the page's.
const STEPS: Record<string, Point> = {
  ArrowLeft: { x: -0.01, y: 0 },
  ArrowRight: { x: 0.01, y: 0 },
  ArrowUp: { x: 0, y: -0.01 },
  ArrowDown: { x: 0, y: 0.01 },
};

function useCursor({ onZoom, onKey }: Props) {
  const [cursor, setCursor] = useState<Point>();
  const [start, setStart] = useState<Point>();
  const release = (event: PointerEvent) => {
    const end = pointOf(event);
    setStart(undefined);
    if (!start || Math.abs(end.x - start.x) + Math.abs(end.y - start.y) < 0.02) return;
    const part = { x0: Math.min(start.x, end.x), x1: Math.max(start.x, end.x), y0: Math.min(start.y, end.y), y1: Math.max(start.y, end.y) };
    onZoom(part);
  };
  const press = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (step) setCursor((at) => ({ x: clamp((at?.x ?? 0.5) + step.x), y: clamp((at?.y ?? 0.5) + step.y) }));
    if (step || onKey(event.key)) event.preventDefault();
  };
  const handlers = {
    onPointerDown: (event: PointerEvent) => setStart(pointOf(event)),
    onPointerMove: (event: PointerEvent) => setCursor(pointOf(event)),
    onPointerUp: release,
    onPointerLeave: () => setStart(undefined),
    onKeyDown: press,
  };
  return { cursor, start, handlers };
}

const percent = (share: number) => `${100 * share}%`;

function Overlay({ cursor, start }: { cursor: Point | undefined; start: Point | undefined }) {
  return (
    <svg class="overlay" aria-hidden="true">
      {cursor && <line x1={percent(cursor.x)} x2={percent(cursor.x)} y1="0" y2="100%" />}
      {cursor && <line x1="0" x2="100%" y1={percent(cursor.y)} y2={percent(cursor.y)} />}
      {cursor && start && (
        <rect x={percent(Math.min(cursor.x, start.x))} y={percent(Math.min(cursor.y, start.y))} width={percent(Math.abs(cursor.x - start.x))} height={percent(Math.abs(cursor.y - start.y))} />
      )}
    </svg>
  );
}

function Times({ spectrogram, sampleRate }: Props) {
  const places = TICKS.map((share) => spectrogram.first + share * spectrogram.samples);
  const texts = sampleRate > 0 ? spansOfAxis(places.map((place) => place / sampleRate)) : places.map((place) => count(Math.round(place)));
  return (
    <div class="times" aria-hidden="true">
      {texts.map((text, index) => (
        <span key={index}>{text}</span>
      ))}
    </div>
  );
}

// Which colour is which power.
function Scale({ darkest, brightest }: { darkest: number; brightest: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (canvas.current) paintScale(canvas.current);
  }, []);
  const texts = [0, 0.5, 1].map((share) => `${minus(Number((darkest + (brightest - darkest) * share).toFixed(1)))} dBFS`);
  return (
    <div class="scale" role="img" aria-label={`Colours from ${texts[0]} to ${texts[2]}`}>
      <canvas ref={canvas} />
      <Axis name="colours" texts={texts} />
    </div>
  );
}

export function Waterfall(props: Props) {
  const { spectrogram, window, band, darkest, brightest } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const { cursor, start, handlers } = useCursor(props);
  useEffect(() => {
    if (canvas.current) paint(canvas.current, spectrogram, { low: window.low, high: window.high, darkest, brightest });
  }, [spectrogram, window.low, window.high, darkest, brightest]);
  const say = cursor ? valueAt(props, cursor) : 'Point at the waterfall or use the arrow keys to read values. Drag, + or − zooms.';
  return (
    <>
      <div class="waterfall">
        <Times {...props} />
        <div class="picture" role="application" aria-label="Waterfall: arrows move the cursor, plus and minus zoom in time" tabIndex={0} {...handlers}>
          <canvas ref={canvas} />
          <Overlay cursor={cursor} start={start} />
        </div>
        <Axis name="waterfall" texts={tickTexts(band, window.low, window.high)} />
      </div>
      <Scale darkest={darkest} brightest={brightest} />
      <p class="cursor" aria-live="polite">
        {say}
      </p>
    </>
  );
}
