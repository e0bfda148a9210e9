// A dialog over the page: the browser keeps the focus in it and gives it back.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useAction } from '../load.ts';
import { Failure, Line } from './basics.tsx';
import { Form, TextField } from './form.tsx';

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}

export function Dialog({ title, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => element.current?.showModal(), []);
  return (
    <dialog ref={element} aria-label={title} onClose={onClose}>
      <header>
        <h2>{title}</h2>
        <button type="button" class="plain" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </header>
      {children}
    </dialog>
  );
}

interface DeletionProps {
  what: string;
  name: string;
  consequence: string;
  line: string;
  onDelete: () => Promise<void>;
  onClose: () => void;
}

// Deletes a thing once its name is typed in full.
export function Deletion({ what, name, consequence, line, onDelete, onClose }: DeletionProps) {
  const [typed, setTyped] = useState('');
  const action = useAction();
  const submit = () =>
    typed === name &&
    action.run(async () => {
      await onDelete();
      onClose();
    });
  return (
    <Dialog title={`Delete ${what}`} onClose={onClose}>
      <Form onSubmit={submit}>
        <p>{consequence}</p>
        <TextField label={`Type ${name} to confirm`} value={typed} onInput={setTyped} required />
        <Line text={line} />
        <Failure error={action.error} />
        <div class="buttons">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="danger" disabled={typed !== name || action.busy}>
            Delete
          </button>
        </div>
      </Form>
    </Dialog>
  );
}
