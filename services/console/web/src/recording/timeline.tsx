// The whole recording in one line: what is durable, what is missing, what is marked, and which part is looked at.
import { count, span, spansOfAxis } from '../format.ts';
import { Facts } from '../ui/basics.tsx';
import type { Timeline } from '../types.ts';
import { Axis } from './axis.tsx';
import { TICKS } from './spectrum.ts';
import type { Window } from './window.ts';

interface Props {
  timeline: Timeline;
  window: Window;
  onShow: (first: number) => void;
}

const percent = (part: number, all: number) => `${(100 * part) / Math.max(1, all)}%`;

function Line({ timeline, window, onShow }: Props) {
  const samples = timeline.samples;
  const at = (sample: number) => percent(sample, samples);
  const click = (event: MouseEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    onShow(((event.clientX - box.left) / box.width) * samples - window.count / 2);
  };
  const label = `${count(samples)} samples, ${timeline.gaps_total} gaps, ${timeline.annotations_total} annotations`;
  return (
    <svg class="timeline" role="img" aria-label={label} onClick={click}>
      <rect class="received" x="0" y="14" width="100%" height="20" />
      <rect class="durable" x="0" y="14" width={at(timeline.durable_samples)} height="20" />
      {timeline.gaps.map((gap) => (
        <rect class="gap" key={gap.first_sample} x={at(gap.first_sample)} y="14" width={at(gap.sample_count)} height="20" />
      ))}
      {timeline.annotations.map((mark, index) => (
        <rect class="mark" key={index} x={at(mark.first_sample)} y="2" width={at(mark.sample_count)} height="9">
          <title>{mark.label}</title>
        </rect>
      ))}
      <line class="watermark" x1={at(timeline.durable_samples)} x2={at(timeline.durable_samples)} y1="10" y2="38" />
      <rect class="shown" x={at(window.first)} y="11" width={at(window.count)} height="26" />
    </svg>
  );
}

const KEYS: [string, string][] = [
  ['durable', 'durable'],
  ['received', 'received, not durable yet'],
  ['gap', 'missing'],
  ['mark', 'annotation'],
  ['shown', 'shown below'],
];

export function TimelineView(props: Props) {
  const { timeline } = props;
  const samples = timeline.samples;
  const seconds = (value: number) => (timeline.sample_rate > 0 ? `, ${span(value / timeline.sample_rate)}` : '');
  const places = TICKS.map((share) => share * samples);
  const texts = timeline.sample_rate > 0 ? spansOfAxis(places.map((place) => place / timeline.sample_rate)) : places.map((place) => count(Math.round(place)));
  const behind = samples - timeline.durable_samples;
  return (
    <>
      <Line {...props} />
      <Axis name="timeline" texts={texts} />
      <p class="legend keys">
        {KEYS.map(([kind, text]) => (
          <span key={kind}>
            <i class={`key ${kind}`} />
            {text}
          </span>
        ))}
      </p>
      <Facts
        facts={[
          ['Samples', `${count(samples)}${seconds(samples)}`],
          ['Durable', `${count(timeline.durable_samples)}${behind > 0 ? `, ${count(behind)} behind` : ''}`],
          ['Gaps', count(timeline.gaps_total)],
        ]}
      />
    </>
  );
}
