// A source, transform or sink of a job: which one of the worker's, and how it is set.
import type { NodeInfo } from '../types.ts';
import { Choice, TextField } from '../ui/form.tsx';
import type { StageFields, Where } from './stage_fields.ts';

// Examples of what the stages take; gpu_worker/README.md has all of it.
const HINTS: Record<string, string> = {
  synth: 'seed=1, tones=0.125,-0.25, noise=0.1',
  file: 'path=/data/capture.bin',
  ingest: 'udp=HOST:PORT or tcp=HOST:PORT',
  fft: 'points=1024, window=hann',
  power: 'points=64, average=64',
  convert: 'from=ci16_le, to=cf32_le',
  detect: 'threshold=-10, low=0.1, high=0.2',
  udp: 'address=HOST:PORT',
};

interface Props {
  label: string;
  fields: StageFields;
  names: string[];
  set: (fields: StageFields) => void;
  id: string;
}

export function StageForm({ label, fields, names, set, id }: Props) {
  const hint = HINTS[fields.name];
  return (
    <fieldset class="stage">
      <legend>{label}</legend>
      <Choice label="Kind" value={fields.name} choices={names.includes(fields.name) ? names : [fields.name, ...names]} onChange={(name) => set({ ...fields, name })} />
      <div class="field wide">
        <label for={id}>Parameters</label>
        <textarea id={id} rows={2} value={fields.settings} onInput={(event) => set({ ...fields, settings: event.currentTarget.value })} />
        <small>One NAME=VALUE per line{hint ? `, e.g. ${hint}` : ''}. The others keep their defaults.</small>
      </div>
    </fieldset>
  );
}

export function Transforms({ transforms, names, set }: { transforms: StageFields[]; names: string[]; set: (transforms: StageFields[]) => void }) {
  return (
    <>
      {transforms.map((transform, index) => (
        <div class="transform" key={index}>
          <StageForm
            label={`Transform ${index + 1}`}
            id={`transform-${index}`}
            fields={transform}
            names={names}
            set={(changed) => set(transforms.map((one, at) => (at === index ? changed : one)))}
          />
          <button type="button" aria-label={`Remove transform ${index + 1}`} onClick={() => set(transforms.filter((_, at) => at !== index))}>
            Remove
          </button>
        </div>
      ))}
      {transforms.length < 16 && names.length > 0 && (
        <button type="button" class="more" onClick={() => set([...transforms, { name: names[0] ?? '', settings: '' }])}>
          Add a transform
        </button>
      )}
    </>
  );
}

export function WhereForm({ where, workers, node, set }: { where: Where; workers: string[]; node: NodeInfo | undefined; set: (change: Partial<Where>) => void }) {
  return (
    <fieldset>
      <legend>Nodes</legend>
      <Choice label="Worker" value={where.worker} choices={workers} onChange={(worker) => set({ worker })} />
      <TextField label="Storage node" hint="HOST:PORT that the worker connects to" value={where.storage} onInput={(storage) => set({ storage })} required />
      <TextField label="Device" hint="Empty: the device with the fewest jobs" value={where.device} suggestions={(node?.memory ?? []).map((memory) => memory.device)} onInput={(device) => set({ device })} />
      <TextField label="Rails" hint="e.g. r0,r1; empty: the nearest rails" value={where.rails} onInput={(rails) => set({ rails })} />
    </fieldset>
  );
}
