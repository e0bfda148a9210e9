// A plot of lines over one axis, by uPlot, in the colours of the page.
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
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
  // Of a given range the page shows the ticks itself, at the places where the plot has lines.
  x: { label: string; text: (value: number) => string; range?: [number, number]; ticks?: number };
  unit?: string; // of y
  series: Series[];
  data: number[][]; // x, then each series
  height?: number;
}

function colourOf(element: HTMLElement, property: string): string {
  return getComputedStyle(element).getPropertyValue(property).trim() || 'currentColor';
}

const inSteps = ([low, high]: [number, number], ticks: number) => Array.from({ length: ticks }, (_, index) => low + ((high - low) * index) / (ticks - 1));

function optionsOf(element: HTMLElement, latest: { current: PlotProps }): uPlot.Options {
  const { x, series, unit, height = 180 } = latest.current;
  const text = colourOf(element, '--muted');
  const grid = { stroke: colourOf(element, '--edge'), width: 1 };
  const axis = { stroke: text, grid, ticks: grid };
  return {
    width: Math.max(200, element.clientWidth),
    height,
    ...(x.range && { padding: [8, 0, 0, 0] as uPlot.Padding }),
    scales: { x: x.range ? { time: false, range: () => latest.current.x.range ?? [0, 1] } : { time: false } },
    axes: [
      x.range
        ? { ...axis, size: 8, values: (_, marks) => marks.map(() => ''), splits: () => inSteps(latest.current.x.range ?? [0, 1], x.ticks ?? 2) }
        : { ...axis, values: (_, marks) => marks.map((mark) => latest.current.x.text(mark)), space: 90 },
      { ...axis, space: 24, ...(unit ? { label: unit, labelSize: 20, size: AXIS - 20 } : { size: AXIS }) },
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
    const resized = new ResizeObserver(() => plot.current?.setSize({ width: Math.max(200, host.clientWidth), height: latest.current.height ?? 180 }));
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
