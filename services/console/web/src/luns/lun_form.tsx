// Makes or changes a LUN.
import { useState } from 'preact/hooks';
import { call, requestId } from '../api.ts';
import { useAction } from '../load.ts';
import { line } from '../tapectl.ts';
import type { Lun, NodeInfo } from '../types.ts';
import { Failure, Line } from '../ui/basics.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Choice, Form, TextField } from '../ui/form.tsx';
import { changed, type LunFields, lunFields, lunOf, lunOptions, maskOf, memberLines } from './fields.ts';

const MASK = {
  members: 'members',
  capacity: 'capacity_bytes',
  policy: 'full_policy',
  maxAge: 'max_age',
  maxFill: 'max_fill_percent',
  prewriteFiles: 'prewrite_files',
  prewriteBytes: 'prewrite_bytes',
  description: 'description',
  labels: 'labels',
};

function lineOf(before: LunFields | undefined, fields: LunFields): string {
  const members = memberLines(fields.members);
  if (!before) return line(['lun', 'create', fields.name || 'NAME'], { store: fields.store, member: members, copies: fields.copies === '1' ? '' : fields.copies, ...lunOptions(fields) });
  const more = members.slice(memberLines(before.members).length);
  return line(['lun', 'update', fields.name], { 'add-member': more, ...changed(lunOptions(before), lunOptions(fields)) });
}

async function save(before: LunFields | undefined, fields: LunFields): Promise<void> {
  const lun = lunOf(fields);
  if (before) {
    await call('CatalogService', 'UpdateLun', { lun, update_mask: maskOf(before, fields, MASK), request_id: requestId() });
  } else {
    await call('CatalogService', 'CreateLun', { lun_id: fields.name, lun: { ...lun, name: '' }, request_id: requestId() });
  }
}

function Policy({ fields, set }: { fields: LunFields; set: (change: Partial<LunFields>) => void }) {
  return (
    <>
      <Choice
        label="When full"
        value={fields.policy}
        onChange={(policy) => set({ policy })}
        choices={[
          ['stop', 'Stop recording'],
          ['ring', 'Delete the oldest (ring)'],
        ]}
      />
      <TextField label="Age limit" hint="Delete recordings this long after their end, e.g. 72h; empty: never" value={fields.maxAge} onInput={(maxAge) => set({ maxAge })} />
      <TextField label="Fill limit" hint="Delete the oldest recordings above this percentage; empty: never" inputMode="numeric" value={fields.maxFill} onInput={(maxFill) => set({ maxFill })} />
    </>
  );
}

const Copies = ({ fields, set }: { fields: LunFields; set: (change: Partial<LunFields>) => void }) => (
  <Choice
    label="Copies"
    hint="Two copies need two members"
    value={fields.copies}
    onChange={(copies) => set({ copies })}
    choices={[
      ['1', '1: striped over all members'],
      ['2', '2: mirrored on two members'],
    ]}
  />
);

// Files that members of a file system keep ready.
function Prewrite({ fields, set }: { fields: LunFields; set: (change: Partial<LunFields>) => void }) {
  return (
    <>
      <TextField label="Prewritten files per member" hint="Faster to record into, at most 1000; empty: none" inputMode="numeric" value={fields.prewriteFiles} onInput={(prewriteFiles) => set({ prewriteFiles })} />
      <TextField label="Size of a prewritten file" hint="Best the size of a segment on one member, e.g. 1GiB" value={fields.prewriteBytes} onInput={(prewriteBytes) => set({ prewriteBytes })} />
    </>
  );
}

export function LunForm({ lun, node, onDone, onClose }: { lun?: Lun | undefined; node: NodeInfo | undefined; onDone: () => void; onClose: () => void }) {
  const before = lun && lunFields(lun);
  const [fields, setFields] = useState(lunFields(lun));
  const action = useAction();
  const set = (change: Partial<LunFields>) => setFields((now) => ({ ...now, ...change }));
  const stores = (node?.stores ?? []).map((store) => store.name);
  return (
    <Dialog title={lun ? `Configure ${fields.name}` : 'New LUN'} onClose={onClose}>
      <Form
        onSubmit={() =>
          action.run(async () => {
            await save(before, fields);
            onDone();
            onClose();
          })
        }
      >
        <div class="fields">
          {!lun && <TextField label="Name" value={fields.name} onInput={(name) => set({ name })} required />}
          {!lun && <Choice label="Store" value={fields.store} onChange={(store) => set({ store })} choices={stores.length > 0 ? stores : ['posix', 'direct', 'device', 'memory']} />}
          <div class="field wide">
            <label for="lun-members">Members</label>
            <textarea id="lun-members" rows={2} value={fields.members} disabled={fields.store === 'memory'} onInput={(event) => set({ members: event.currentTarget.value })} />
            <small>An empty directory or a device of the storage node, one per line. You can add members later but not remove them.</small>
          </div>
          <TextField label="Capacity" hint="e.g. 10GiB; empty: all space of the members" value={fields.capacity} onInput={(capacity) => set({ capacity })} />
          {!lun && <Copies fields={fields} set={set} />}
          <TextField label="Description" value={fields.description} onInput={(description) => set({ description })} />
          <TextField label="Labels" hint="e.g. site=north, rack=7" value={fields.labels} onInput={(labels) => set({ labels })} />
        </div>
        <fieldset>
          <legend>Deletion</legend>
          <Policy fields={fields} set={set} />
        </fieldset>
        <fieldset>
          <legend>Prewritten files</legend>
          <Prewrite fields={fields} set={set} />
        </fieldset>
        <Line text={lineOf(before, fields)} />
        <Failure error={action.error} />
        <div class="buttons">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="main" disabled={action.busy}>
            {lun ? 'Save' : 'Create'}
          </button>
        </div>
      </Form>
    </Dialog>
  );
}
