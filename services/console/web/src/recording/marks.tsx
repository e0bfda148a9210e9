// Gaps and marks as lists, from where one gets to them.
import { count } from '../format.ts';
import { Empty, Panel, Table } from '../ui/basics.tsx';
import type { Timeline } from '../types.ts';

// Of each; the rest tapectl tells.
const MOST_ROWS = 100;

interface Props {
  timeline: Timeline;
  onShow: (first: number, samples: number) => void;
}

function Show({ what, first, samples, onShow }: { what: string; first: number; samples: number; onShow: Props['onShow'] }) {
  return (
    <button type="button" aria-label={`Show ${what}`} onClick={() => onShow(first, samples)}>
      Show
    </button>
  );
}

export function MarksView({ timeline, onShow }: Props) {
  const marks = timeline.annotations ?? [];
  if (marks.length === 0) return null;
  return (
    <Panel title="Marks">
      <Table caption="Marks" head={['Sample', 'Samples', 'Label', 'Comment', '']}>
        {marks.slice(0, MOST_ROWS).map((mark, index) => (
          <tr key={index}>
            <td class="number">{count(mark.firstSample)}</td>
            <td class="number">{count(mark.sampleCount)}</td>
            <td>{mark.label}</td>
            <td>{mark.comment}</td>
            <td>
              <Show what={`the mark at sample ${mark.firstSample}`} first={Number(mark.firstSample)} samples={Number(mark.sampleCount)} onShow={onShow} />
            </td>
          </tr>
        ))}
      </Table>
    </Panel>
  );
}

export function GapsView({ timeline, onShow }: Props) {
  const gaps = timeline.gaps ?? [];
  if (gaps.length === 0) return null;
  return (
    <Panel title="Gaps">
      <Table caption="Gaps" head={['Sample', 'Samples missing', '']}>
        {gaps.slice(0, MOST_ROWS).map((gap) => (
          <tr key={gap.firstSample}>
            <td class="number">{count(gap.firstSample)}</td>
            <td class="number">{count(gap.sampleCount)}</td>
            <td>
              <Show what={`the gap at sample ${gap.firstSample}`} first={Number(gap.firstSample)} samples={Number(gap.sampleCount)} onShow={onShow} />
            </td>
          </tr>
        ))}
      </Table>
      {Number(timeline.gapsTotal) > MOST_ROWS && <Empty>There are {count(timeline.gapsTotal)} of them.</Empty>}
    </Panel>
  );
}
