// A plot of lines over one axis, by uPlot, in the colours of the page.
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

export interface Series {
  label: string;
  colour: string; // a custom property of the style sheet
  text?: (value: number) => string;
}

interface PlotProps {
  label: string;
  x: { label: string; text: (value: number) => string };
  series: Series[];
  data: number[][]; // x, then each series
  height?: number;
}

function colourOf(element: HTMLElement, property: string): string {
  return getComputedStyle(element).getPropertyValue(property).trim() || 'currentColor';
}

function optionsOf(element: HTMLElement, { x, series, height = 180 }: PlotProps): uPlot.Options {
  const text = colourOf(element, '--muted');
  const grid = { stroke: colourOf(element, '--edge'), width: 1 };
  const axis = { stroke: text, grid, ticks: grid };
  return {
    width: Math.max(200, element.clientWidth),
    height,
    scales: { x: { time: false } },
    axes: [{ ...axis, values: (_, marks) => marks.map(x.text), space: 90 }, { ...axis, size: 60, space: 24 }],
    series: [
      { label: x.label, value: (_, value) => (value === null ? '—' : x.text(value)) },
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
      plot.current = new uPlot(optionsOf(host, latest.current), aligned(latest.current.data), host);
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
