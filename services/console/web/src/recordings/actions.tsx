// The buttons of one recording, the same in the list and on its page.
import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { shortName } from '../format.ts';
import { useAction } from '../load.ts';
import { linkTo } from '../route.ts';
import type { Recording } from '../types.ts';
import { Failure } from '../ui/basics.tsx';
import { AnnotateDialog, DeleteDialog, VerifyDialog } from './dialogs.tsx';
import { DownloadDialog } from './download.tsx';

type Open = 'verify' | 'annotate' | 'delete' | 'download';

interface Props {
  recording: Recording;
  onChange: () => void;
  onDelete?: () => void;
  // What the page shows just now.
  shown?: { first: number; samples: number } | undefined;
}

export function RecordingActions({ recording, onChange, onDelete = onChange, shown }: Props) {
  const [open, setOpen] = useState<Open>();
  const action = useAction();
  const name = shortName(recording.name);
  const keep = () =>
    action.run(async () => {
      await call('RecorderService', 'KeepRecording', { recording: recording.name, kept: !recording.kept });
      onChange();
    });
  const button = (what: Open, title: string) => (
    <button type="button" aria-label={`${title} ${name}`} onClick={() => setOpen(what)}>
      {title}
    </button>
  );
  const dialog = { recording, onDone: onChange, onClose: () => setOpen(undefined) };
  return (
    <>
      <div class="does">
        <a class="button" href={linkTo('play', { recording: name })} aria-label={`Play ${name}`}>
          Play
        </a>
        {button('verify', 'Verify')}
        {button('annotate', 'Annotate')}
        <button type="button" aria-pressed={recording.kept} aria-label={`Keep ${name}`} disabled={action.busy} onClick={keep}>
          Keep
        </button>
        {button('download', 'Download')}
        {button('delete', 'Delete')}
      </div>
      <Failure error={action.error} />
      {open === 'verify' && <VerifyDialog {...dialog} />}
      {open === 'annotate' && <AnnotateDialog {...dialog} sample={shown?.first ?? 0} />}
      {open === 'delete' && <DeleteDialog {...dialog} onDone={onDelete} />}
      {open === 'download' && <DownloadDialog {...dialog} {...shown} />}
    </>
  );
}
