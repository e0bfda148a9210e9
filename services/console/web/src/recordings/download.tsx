// A range of samples as a file of the browser.
import { useEffect, useRef, useState } from 'preact/hooks';
import { bytes, count, shortName } from '../format.ts';
import { useAction } from '../load.ts';
import { bytesOfSample } from '../recording/numbers.ts';
import { line } from '../tapectl.ts';
import { Failure, Line } from '../ui/basics.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Form, TextField } from '../ui/form.tsx';
import type { DialogProps } from './dialogs.tsx';
import { MOST_BYTES, readRaw, saveAs } from './samples.ts';

interface Props extends DialogProps {
  first?: number;
  samples?: number;
}

const isCount = (text: string) => /^\d+$/.test(text.trim());

export function DownloadDialog({ recording, first = 0, samples = 65536, onClose }: Props) {
  const [from, setFrom] = useState(String(first));
  const [length, setLength] = useState(String(samples));
  const [share, setShare] = useState(0);
  const action = useAction();
  const abort = useRef(new AbortController());
  useEffect(() => () => abort.current.abort(), []);
  const name = shortName(recording.name);
  const file = `${name.replaceAll('/', '-')}-${from}.${recording.datatype}`;
  const size = Number(length) * bytesOfSample(recording.datatype);
  const sensible = isCount(from) && isCount(length) && Number(length) > 0;
  const save = async () => {
    abort.current = new AbortController();
    saveAs(await readRaw(recording.name, { first: Number(from), count: Number(length) }, abort.current.signal, setShare), file);
  };
  return (
    <Dialog title={`Download of ${name}`} onClose={onClose}>
      <Form onSubmit={() => sensible && size <= MOST_BYTES && action.run(save)}>
        <div class="fields">
          <TextField label="First sample" inputMode="numeric" value={from} onInput={setFrom} wrong={!isCount(from)} required />
          <TextField label="Number of samples" inputMode="numeric" value={length} onInput={setLength} wrong={!isCount(length)} required />
        </div>
        <p>
          {sensible ? `${count(length)} samples of ${recording.datatype}, ${bytes(size)}.` : 'Both must be whole numbers.'}
          {size > MOST_BYTES && ` The browser takes ${bytes(MOST_BYTES)} at most; the command below takes any length.`}
        </p>
        {action.busy && <progress aria-label="Progress" max={1} value={share} />}
        <Line text={line(['play', name], { sink: `file:${file}`, 'from-sample': Number(from), 'to-sample': Number(from) + Number(length) })} />
        <Failure error={action.error} />
        <div class="buttons">
          <button type="button" onClick={onClose}>
            Close
          </button>
          <button type="submit" class="main" disabled={!sensible || size > MOST_BYTES || action.busy}>
            Download
          </button>
        </div>
      </Form>
    </Dialog>
  );
}
