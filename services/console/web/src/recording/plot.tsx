// A plot of lines over one axis, by uPlot, in the colours of the page.
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { minus } from '../format.ts';
import 'uplot/dist/uPlot.min.css';

export interface Series {
  label: string;
  colour: string; // a custom property of the style sheet
  text?: (value: number) => string;
}

// So many pixels are left of what is plotted: of the waterfall, too (style/recording.css).
const AXIS = 72;

interface PlotProps {
  label: string;
  // The page shows the ticks of x itself (Axis), at the places where the plot has lines.
  x: { label: string; text: (value: number) => string; range: [number, number]; ticks: number };
  unit: string; // of y
  least?: number; // of y the smallest range: less than this is no change
  series: Series[];
  data: number[][]; // x, then each series
  height?: number;
}

function colourOf(element: HTMLElement, property: string): string {
  return getComputedStyle(element).getPropertyValue(property).trim() || 'currentColor';
}

const HEIGHT = 180;
const FONT = '12px system-ui, DejaVu Sans, sans-serif';

// Some room above and below, and around a line that is flat.
export function rangeOfY(low: number | null, high: number | null, least: number): [number, number] {
  if (low === null || high === null) return [0, 1];
  const spread = Math.max(high - low, least, 1e-9);
  const middle = (low + high) / 2;
  return [middle - spread * 0.55, middle + spread * 0.55];
}

const inSteps = ([low, high]: [number, number], ticks: number) => Array.from({ length: ticks }, (_, index) => low + ((high - low) * index) / (ticks - 1));

function optionsOf(element: HTMLElement, latest: { current: PlotProps }): uPlot.Options {
  const { x, series, unit, height = HEIGHT } = latest.current;
  const text = colourOf(element, '--muted');
  const grid = { stroke: colourOf(element, '--edge'), width: 1 };
  const axis = { stroke: text, grid, ticks: grid };
  return {
    width: Math.max(200, element.clientWidth),
    height,
    padding: [8, 0, 0, 0],
    scales: { x: { time: false, range: () => latest.current.x.range }, y: { range: (_, low, high) => rangeOfY(low, high, latest.current.least ?? 0) } },
    axes: [
      { ...axis, size: 8, values: (_, marks) => marks.map(() => ''), splits: () => inSteps(latest.current.x.range, x.ticks) },
      { ...axis, space: 24, label: unit, labelFont: FONT, labelSize: 20, size: AXIS - 20, font: FONT, values: (_, marks) => marks.map(minus) },
    ],
    series: [
      { label: x.label, value: (_, value) => (value === null ? '—' : latest.current.x.text(value)) },
      ...series.map((one) => ({
        label: one.label,
        stroke: colourOf(element, one.colour),
        width: 1,
        points: { show: false },
        value: (_: uPlot, value: number | null) => (value === null || Number.isNaN(value) ? '—' : (one.text ?? String)(value)),
      })),
    ],
    legend: { markers: { width: 0, fill: (_, index) => colourOf(element, series[index - 1]?.colour ?? '--muted') } },
    cursor: { drag: { x: false, y: false } },
  };
}

// What is not a number is a hole in the line.
const aligned = (data: number[][]) => data.map((values, index) => (index === 0 ? values : values.map((value) => (Number.isFinite(value) ? value : null)))) as uPlot.AlignedData;

export function Plot(props: PlotProps) {
  const element = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const shape = JSON.stringify([props.x.label, props.series.map((one) => one.label), props.height]);
  useEffect(() => {
    const host = element.current;
    if (!host) return;
    const build = () => {
      plot.current?.destroy();
      plot.current = new uPlot(optionsOf(host, latest), aligned(latest.current.data), host);
    };
    build();
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', build);
    const resized = new ResizeObserver(() => plot.current?.setSize({ width: Math.max(200, host.clientWidth), height: latest.current.height ?? HEIGHT }));
    resized.observe(host);
    return () => {
      dark.removeEventListener('change', build);
      resized.disconnect();
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [shape]);
  useEffect(() => plot.current?.setData(aligned(props.data)), [props.data]);
  return <div class="plot" ref={element} role="group" aria-label={props.label} />;
}
