// Makes or changes a channel.
import { useState } from 'preact/hooks';
import { call, requestId } from '../api.ts';
import { useAction } from '../load.ts';
import { line, type Options } from '../tapectl.ts';
import type { Channel } from '../types.ts';
import { Failure, Line } from '../ui/basics.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Choice, Form, TextField } from '../ui/form.tsx';
import { changed, type ChannelFields, channelFields, channelOf, channelOptions, maskOf } from './fields.ts';

const DATATYPES = ['cf32_le', 'ci16_le', 'ci8', 'cu8', 'cf64_le', 'ci32_le', 'rf32_le', 'ri16_le', 'ri8', 'ru8'];
const MASK = {
  blockBytes: 'block_bytes',
  datatype: 'datatype',
  sampleRate: 'sample_rate',
  commit: 'commit_level',
  op: 'transfer_op',
  preTrigger: 'pre_trigger',
  postTrigger: 'post_trigger',
  segment: 'segment_bytes',
  moveTo: 'move_to',
  moveAfter: 'move_after',
  moveRate: 'move_rate_bytes_per_second',
  description: 'description',
  labels: 'labels',
};

type Set = (change: Partial<ChannelFields>) => void;

async function save(lun: string, before: ChannelFields | undefined, fields: ChannelFields): Promise<void> {
  const channel = channelOf(lun, fields);
  if (before) {
    await call('CatalogService', 'UpdateChannel', { channel, update_mask: maskOf(before, fields, MASK), request_id: requestId() });
  } else {
    await call('CatalogService', 'CreateChannel', {
      parent: `luns/${lun}`,
      channel_id: fields.name,
      channel: { ...channel, name: '' },
      request_id: requestId(),
    });
  }
}

function Samples({ fields, set }: { fields: ChannelFields; set: Set }) {
  return (
    <>
      <TextField label="Sample type" hint="a SigMF name" value={fields.datatype} suggestions={DATATYPES} onInput={(datatype) => set({ datatype })} required />
      <TextField label="Samples per second" hint="1e9; empty: unknown" inputMode="decimal" value={fields.sampleRate} onInput={(sampleRate) => set({ sampleRate })} />
      <TextField label="Block" hint="64KiB to 8MiB" value={fields.blockBytes} onInput={(blockBytes) => set({ blockBytes })} required />
    </>
  );
}

function Ways({ fields, set }: { fields: ChannelFields; set: Set }) {
  return (
    <>
      <Choice
        label="A block counts when it is"
        value={fields.commit}
        onChange={(commit) => set({ commit })}
        choices={[
          ['durable', 'durable'],
          ['written', 'written'],
          ['received', 'received'],
        ]}
      />
      <Choice
        label="Payload moves by"
        value={fields.op}
        onChange={(op) => set({ op })}
        choices={[
          ['', 'READ to record, WRITE to play'],
          ['READ', 'READ'],
          ['WRITE', 'WRITE'],
          ['SEND', 'SEND'],
        ]}
      />
      <TextField label="Keep before a trigger" hint="2s; empty: no trigger" value={fields.preTrigger} onInput={(preTrigger) => set({ preTrigger })} />
      <TextField label="Keep after a trigger" hint="1s" value={fields.postTrigger} onInput={(postTrigger) => set({ postTrigger })} />
      <TextField label="Segment" hint="10GiB; empty: one recording, in a ring 1/64 of it" value={fields.segment} onInput={(segment) => set({ segment })} />
    </>
  );
}

function Tier({ fields, set }: { fields: ChannelFields; set: Set }) {
  return (
    <>
      <TextField label="Move recordings to" hint="another LUN; empty: they stay" value={fields.moveTo} onInput={(moveTo) => set({ moveTo })} />
      <TextField label="So long after their end" hint="1h" value={fields.moveAfter} onInput={(moveAfter) => set({ moveAfter })} />
      <TextField label="Bytes a second at most" hint="empty: 100 MB" value={fields.moveRate} onInput={(moveRate) => set({ moveRate })} />
    </>
  );
}

export function ChannelForm({ lun, channel, onDone, onClose }: { lun: string; channel?: Channel | undefined; onDone: () => void; onClose: () => void }) {
  const before = channel && channelFields(channel);
  const [fields, setFields] = useState(channelFields(channel));
  const action = useAction();
  const set: Set = (change) => setFields((now) => ({ ...now, ...change }));
  const options = before ? (changed(channelOptions(before), channelOptions(fields)) as Options) : channelOptions(fields);
  return (
    <Dialog title={channel ? `Configure ${lun}/${fields.name}` : `New channel of ${lun}`} onClose={onClose}>
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
          {!channel && <TextField label="Name" value={fields.name} onInput={(name) => set({ name })} required />}
          <Samples fields={fields} set={set} />
          <Ways fields={fields} set={set} />
          <Tier fields={fields} set={set} />
          <TextField label="Description" value={fields.description} onInput={(description) => set({ description })} />
          <TextField label="Labels" hint="site=north, rack=7" value={fields.labels} onInput={(labels) => set({ labels })} />
        </div>
        <Line text={line(['channel', channel ? 'update' : 'create', `${lun}/${fields.name || 'NAME'}`], options)} />
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
