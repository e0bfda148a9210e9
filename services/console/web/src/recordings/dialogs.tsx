// What can be done to one recording, and needs to be told something first or shown for a while.
import { useEffect, useState } from 'preact/hooks';
import { call, requestId, watch } from '../api.ts';
import { count, shortName } from '../format.ts';
import { useAction } from '../load.ts';
import { courseOf, inSession } from '../recording/positions.ts';
import { line, segmentOf } from '../tapectl.ts';
import type { DamagedBlock, Recording, VerifyProgress } from '../types.ts';
import { Badge, Failure, Line, Table } from '../ui/basics.tsx';
import { Deletion, Dialog } from '../ui/dialog.tsx';
import { Form, TextField } from '../ui/form.tsx';

export interface DialogProps {
  recording: Recording;
  onDone: () => void;
  onClose: () => void;
}

export function DeleteDialog({ recording, onDone, onClose }: DialogProps) {
  const name = shortName(recording.name);
  const remove = async () => {
    await call('CatalogService', 'DeleteRecording', { name: recording.name, request_id: requestId() });
    onDone();
  };
  return (
    <Deletion
      what="recording"
      name={name}
      consequence="This deletes its samples at once. You cannot restore them."
      line={line(['recordings', 'delete', name], segmentOf(recording))}
      onDelete={remove}
      onClose={onClose}
    />
  );
}

const MOST_ROWS = 100;

function Verdict({ damaged, ended }: { damaged: DamagedBlock[]; ended: boolean }) {
  if (damaged.length === 0) return ended ? <p role="status" class="note good">Every block is intact.</p> : null;
  return (
    <>
      <p role="status" class="failure">
        {damaged.length === 1 ? '1 block is' : `${count(damaged.length)} blocks are`} damaged or missing{damaged.length > MOST_ROWS ? `; the first ${MOST_ROWS}:` : '.'}
      </p>
      <Table caption="Damaged blocks" head={['Block', 'Damage', 'Detail']}>
        {damaged.slice(0, MOST_ROWS).map((block) => (
          <tr key={`${block.sequence} ${block.kind}`}>
            <td class="number">{count(block.sequence)}</td>
            <td>
              <Badge tone="bad">{block.kind}</Badge>
            </td>
            <td>{block.detail}</td>
          </tr>
        ))}
      </Table>
    </>
  );
}

// Runs as long as it is open.
export function VerifyDialog({ recording, onClose }: DialogProps) {
  const [progress, setProgress] = useState({ checked: 0, blocks: recording.blocks, damaged: [] as DamagedBlock[], ended: false });
  const [error, setError] = useState<Error>();
  const name = shortName(recording.name);
  useEffect(
    () =>
      watch<VerifyProgress>('CatalogService', 'VerifyRecording', { name: recording.name }, {
        message: (message) =>
          setProgress((before) => ({
            checked: message.checked_blocks,
            blocks: message.blocks,
            damaged: [...before.damaged, ...message.damaged],
            ended: false,
          })),
        end: (failure) => {
          setError(failure);
          setProgress((before) => ({ ...before, ended: failure === undefined }));
        },
      }),
    [recording.name],
  );
  return (
    <Dialog title={`Verify ${name}`} onClose={onClose}>
      <progress aria-label="Blocks read" max={Math.max(1, progress.blocks)} value={progress.checked} />
      <p>
        {count(progress.checked)} of {count(progress.blocks)} blocks
      </p>
      <Verdict damaged={progress.damaged} ended={progress.ended} />
      <Failure error={error} />
      <Line text={line(['recordings', 'verify', name], segmentOf(recording))} />
    </Dialog>
  );
}

interface AnnotateProps extends DialogProps {
  sample?: number;
  samples?: number;
}

export function AnnotateDialog({ recording, sample = 0, samples = 0, onDone, onClose }: AnnotateProps) {
  const [fields, setFields] = useState({ sample: String(sample), samples: samples > 0 ? String(samples) : '', label: '', comment: '' });
  const action = useAction();
  const name = shortName(recording.name);
  const set = (change: Partial<typeof fields>) => setFields((now) => ({ ...now, ...change }));
  const save = async () => {
    const annotation = { sample_start: inSession(await courseOf(recording.name), fields.sample), sample_count: fields.samples || '0', label: fields.label, comment: fields.comment };
    await call('RecorderService', 'AnnotateRecording', { recording: recording.name, annotation });
    onDone();
    onClose();
  };
  const range = { 'from-sample': fields.sample, 'to-sample': Number(fields.samples) > 0 ? Number(fields.sample) + Number(fields.samples) : '' };
  return (
    <Dialog title={`Annotate ${name}`} onClose={onClose}>
      <Form onSubmit={() => action.run(save)}>
        <div class="fields">
          <TextField label="First sample" hint="Counts from 0" inputMode="numeric" value={fields.sample} onInput={(value) => set({ sample: value })} required />
          <TextField label="Samples" hint="Empty: a point" inputMode="numeric" value={fields.samples} onInput={(value) => set({ samples: value })} />
          <TextField label="Label" hint="e.g. burst" value={fields.label} onInput={(label) => set({ label })} required />
          <TextField label="Comment" value={fields.comment} onInput={(comment) => set({ comment })} />
        </div>
        <Line text={line(['annotate', name], { ...segmentOf(recording), ...range, label: fields.label, comment: fields.comment })} />
        <Failure error={action.error} />
        <div class="buttons">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="main" disabled={action.busy}>
            Annotate
          </button>
        </div>
      </Form>
    </Dialog>
  );
}
