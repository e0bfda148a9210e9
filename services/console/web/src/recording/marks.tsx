// Gaps and annotations as lists, with buttons that show them.
import { count } from '../format.ts';
import { Empty, Panel, Table } from '../ui/basics.tsx';
import type { Timeline } from '../types.ts';

// Of each list; tapectl lists all.
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
  const marks = timeline.annotations;
  if (marks.length === 0) return null;
  return (
    <Panel title="Annotations">
      <Table caption="List of annotations" head={['First sample', 'Samples', 'Label', 'Comment', '']}>
        {marks.slice(0, MOST_ROWS).map((mark, index) => (
          <tr key={index}>
            <td class="number">{count(mark.first_sample)}</td>
            <td class="number">{count(mark.sample_count)}</td>
            <td>{mark.label}</td>
            <td>{mark.comment}</td>
            <td>
              <Show what={`the annotation at sample ${mark.first_sample}`} first={mark.first_sample} samples={mark.sample_count} onShow={onShow} />
            </td>
          </tr>
        ))}
      </Table>
    </Panel>
  );
}

export function GapsView({ timeline, onShow }: Props) {
  const gaps = timeline.gaps;
  if (gaps.length === 0) return null;
  return (
    <Panel title="Gaps">
      <Table caption="List of gaps" head={['First sample', 'Missing samples', '']}>
        {gaps.slice(0, MOST_ROWS).map((gap) => (
          <tr key={gap.first_sample}>
            <td class="number">{count(gap.first_sample)}</td>
            <td class="number">{count(gap.sample_count)}</td>
            <td>
              <Show what={`the gap at sample ${gap.first_sample}`} first={gap.first_sample} samples={gap.sample_count} onShow={onShow} />
            </td>
          </tr>
        ))}
      </Table>
      {timeline.gaps_total > MOST_ROWS && <Empty>The list has {MOST_ROWS} of {count(timeline.gaps_total)} gaps.</Empty>}
    </Panel>
  );
}
