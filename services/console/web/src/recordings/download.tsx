// A range of samples as a file of the browser.
import { useEffect, useRef, useState } from 'preact/hooks';
import { bytes, count, shortName } from '../format.ts';
import { useAction } from '../load.ts';
import { bytesOfSample } from '../recording/numbers.ts';
import { line, segmentOf } from '../tapectl.ts';
import { Failure, Line } from '../ui/basics.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { courseOf } from '../recording/positions.ts';
import type { Recording, SampleRun } from '../types.ts';
import { Choice, Form, TextField } from '../ui/form.tsx';
import type { DialogProps } from './dialogs.tsx';
import { MOST_BYTES, type Range, readRaw, saveAs } from './samples.ts';
import { archiveOf, metaOf } from './sigmf.ts';

interface Props extends DialogProps {
  first?: number;
  samples?: number;
}

const FORMATS: [string, string][] = [
  ['raw', 'Raw: samples only'],
  ['sigmf', 'SigMF archive with metadata'],
];

// The parts of a name that an archive has room for: when and which.
async function sigmfOf(recording: Recording, range: Range, samples: Blob, missing: SampleRun[]): Promise<Blob> {
  const id = shortName(recording.name).split('/').at(-1) ?? '';
  return archiveOf(`${id.slice(0, 24)}-${range.first}`, metaOf(recording, await courseOf(recording.name), range, missing), samples);
}

const isCount = (text: string) => /^\d+$/.test(text.trim());

// As much of a recording as fits, unless the page shows a part of it.
const allOf = ({ bytes: size, datatype }: Recording) => Math.floor(Math.min(size, MOST_BYTES) / (bytesOfSample(datatype) || 1));

export function DownloadDialog({ recording, first = 0, samples = allOf(recording), onClose }: Props) {
  const [from, setFrom] = useState(String(first));
  const [length, setLength] = useState(String(samples));
  const [format, setFormat] = useState('raw');
  const [share, setShare] = useState(0);
  const action = useAction();
  const abort = useRef(new AbortController());
  useEffect(() => () => abort.current.abort(), []);
  const name = shortName(recording.name);
  const asSigmf = format === 'sigmf';
  const file = `${name.replaceAll('/', '-')}-${from}.${asSigmf ? 'sigmf' : recording.datatype}`;
  const size = Number(length) * bytesOfSample(recording.datatype);
  const sensible = isCount(from) && isCount(length) && Number(length) > 0;
  const save = async () => {
    abort.current = new AbortController();
    const range = { first: Number(from), count: Number(length) };
    const { samples: raw, missing } = await readRaw(recording.name, range, abort.current.signal, setShare);
    saveAs(asSigmf ? await sigmfOf(recording, range, raw, missing) : raw, file);
  };
  const range = { 'from-sample': Number(from), 'to-sample': Number(from) + Number(length) };
  return (
    <Dialog title={`Download ${name}`} onClose={onClose}>
      <Form onSubmit={() => sensible && size <= MOST_BYTES && action.run(save)}>
        <div class="fields">
          <Choice label="Format" value={format} onChange={setFormat} choices={FORMATS} />
          <TextField label="First sample" inputMode="numeric" value={from} onInput={setFrom} wrong={!isCount(from)} required />
          <TextField label="Number of samples" inputMode="numeric" value={length} onInput={setLength} wrong={!isCount(length)} required />
        </div>
        <p>
          {sensible ? `${count(length)} samples of ${recording.datatype}, ${bytes(size)}.` : 'The first sample and the number of samples must be whole numbers.'}
          {size > MOST_BYTES && ` The browser takes ${bytes(MOST_BYTES)} at most. The command below takes any length.`}
        </p>
        {action.busy && <progress aria-label="Progress" max={1} value={share} />}
        <Line
          text={
            asSigmf
              ? line(['recordings', 'export', name], { ...segmentOf(recording), format: 'sigmf', to: file, ...range })
              : line(['play', name], { ...segmentOf(recording), sink: `file:${file}`, ...range })
          }
        />
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
