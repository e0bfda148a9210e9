// Makes or changes a channel.
import { useState } from 'preact/hooks';
import { call, requestId } from '../api.ts';
import { useAction } from '../load.ts';
import { line } from '../tapectl.ts';
import type { Channel } from '../types.ts';
import { Failure, Line } from '../ui/basics.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Choice, Form, TextField } from '../ui/form.tsx';
import { CHANNEL_MASK, changed, type ChannelFields, channelFields, channelOf, channelOptions, maskOf, wordsOf } from './fields.ts';
import { CHANNEL_SETTINGS, type Setting } from './settings.ts';

const DATATYPES = ['cf32_le', 'ci16_le', 'ci8', 'cu8', 'cf64_le', 'ci32_le', 'rf32_le', 'ri16_le', 'ri8', 'ru8'];
// Where the words of the option would be unclear in a form.
const LABELS: Record<string, string> = {
  block_bytes: 'Block size',
  sample_rate: 'Sample rate',
  datatype: 'Sample type',
  commit_level: 'Commit level',
  transfer_op: 'Transfer operation',
  pre_trigger: 'Keep before a trigger',
  post_trigger: 'Keep after a trigger',
  segment_bytes: 'Segment size',
  move_after: 'Delay before moving',
  labels: 'Labels',
};

// Where the help of the option names other options.
const HINTS: Record<string, string> = {
  sample_rate: 'Samples per second, e.g. 2.4M or 1e9; empty: unknown',
  transfer_op: 'How the worker moves blocks over RDMA rails',
  commit_level: 'A block counts once it is received, written or durable',
  pre_trigger: 'e.g. 2s; empty: nothing. Commit level "received" keeps it in memory; other levels need a ring LUN',
  post_trigger: 'e.g. 2s; empty: nothing',
  segment_bytes: 'e.g. 10GiB; empty: never, or 1/64 of a ring LUN',
  move_to: 'A LUN of this node; empty: never',
  move_after: 'Counts from the end of a recording, e.g. 1h',
  move_rate_bytes_per_second: 'Bytes per second, e.g. 200MB; empty: 100 MB',
  description: '',
  labels: 'e.g. site=north, rack=7',
};

// What few channels need stands together below. A setting that is new to this page is among the first.
const GROUPS: [string, string[]][] = [
  ['Trigger', ['pre_trigger', 'post_trigger']],
  ['Segments and transfer', ['segment_bytes', 'transfer_op']],
  ['Move to another LUN', ['move_to', 'move_after', 'move_rate_bytes_per_second']],
];

const groupOf = (name: string) => GROUPS.find(([, names]) => names.includes(name))?.[0] ?? '';

const settingsOf = (group: string) => CHANNEL_SETTINGS.filter(({ name }) => groupOf(name) === group).sort(byPlace(group));

const byPlace = (group: string) => {
  const names = GROUPS.find(([title]) => title === group)?.[1] ?? ['datatype', 'sample_rate', 'block_bytes', 'commit_level', 'description', 'labels'];
  return (a: Setting, b: Setting) => names.indexOf(a.name) - names.indexOf(b.name);
};

async function save(lun: string, before: ChannelFields | undefined, fields: ChannelFields): Promise<void> {
  const channel = channelOf(lun, fields);
  if (before) {
    await call('CatalogService', 'UpdateChannel', { channel, update_mask: maskOf(before, fields, CHANNEL_MASK), request_id: requestId() });
  } else {
    await call('CatalogService', 'CreateChannel', {
      parent: `luns/${lun}`,
      channel_id: fields['name'],
      channel: { ...channel, name: '' },
      request_id: requestId(),
    });
  }
}

function SettingField({ setting, value, set }: { setting: Setting; value: string; set: (value: string) => void }) {
  const { name, words, help, zero, initial } = setting;
  const hint = HINTS[name] ?? (zero ? `${help}; empty: ${zero}` : help);
  const named = { label: LABELS[name] ?? wordsOf(setting), value, hint };
  if (words.length > 0) return <Choice {...named} onChange={set} choices={zero ? [['', zero], ...words] : words} />;
  const suggestions = name === 'datatype' ? { suggestions: DATATYPES } : {};
  return <TextField {...named} {...suggestions} onInput={set} required={zero === '' && initial !== ''} />;
}

export function ChannelForm({ lun, channel, onDone, onClose }: { lun: string; channel?: Channel | undefined; onDone: () => void; onClose: () => void }) {
  const before = channel && channelFields(channel);
  const [fields, setFields] = useState(channelFields(channel));
  const action = useAction();
  const set = (change: ChannelFields) => setFields((now) => ({ ...now, ...change }));
  const field = (setting: Setting) => <SettingField key={setting.name} setting={setting} value={fields[setting.name] ?? ''} set={(value) => set({ [setting.name]: value })} />;
  const options = before ? changed(channelOptions(before), channelOptions(fields)) : channelOptions(fields);
  return (
    <Dialog title={channel ? `Configure ${lun}/${fields['name']}` : `New channel of ${lun}`} onClose={onClose}>
      <Form
        onSubmit={() =>
          action.run(async () => {
            await save(lun, before, fields);
            onDone();
            onClose();
          })
        }
      >
        <div class="fields">
          {!channel && <TextField label="Name" value={fields['name'] ?? ''} onInput={(name) => set({ name })} required />}
          {settingsOf('').map(field)}
        </div>
        {GROUPS.map(([title]) => (
          <fieldset key={title}>
            <legend>{title}</legend>
            {settingsOf(title).map(field)}
          </fieldset>
        ))}
        <Line text={line(['channel', channel ? 'update' : 'create', `${lun}/${fields['name'] || 'NAME'}`], options)} />
        <Failure error={action.error} />
        <div class="buttons">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="main" disabled={action.busy}>
            {channel ? 'Save' : 'Create'}
          </button>
        </div>
      </Form>
    </Dialog>
  );
}
