// Fields of forms, each with its label and, where it helps, a hint.
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface Named {
  label: string;
  hint?: string;
}

interface TextProps extends Named {
  value: string;
  onInput: (value: string) => void;
  required?: boolean;
  wrong?: boolean | undefined;
  suggestions?: string[];
  inputMode?: 'text' | 'numeric' | 'decimal';
}

export function TextField({ label, hint, value, onInput, required, wrong, suggestions, inputMode }: TextProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        value={value}
        required={required ?? false}
        inputMode={inputMode ?? 'text'}
        aria-invalid={wrong ?? false}
        aria-describedby={hint ? `${id}-hint` : undefined}
        list={suggestions ? `${id}-list` : undefined}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {suggestions && (
        <datalist id={`${id}-list`}>
          {suggestions.map((one) => (
            <option value={one} key={one} />
          ))}
        </datalist>
      )}
      {hint && <small id={`${id}-hint`}>{hint}</small>}
    </div>
  );
}

interface ChoiceProps extends Named {
  value: string;
  choices: (string | [string, string])[];
  onChange: (value: string) => void;
}

export function Choice({ label, hint, value, choices, onChange }: ChoiceProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {choices.map((choice) => {
          const [worth, text] = typeof choice === 'string' ? [choice, choice] : choice;
          return (
            <option value={worth} key={worth} selected={worth === value}>
              {text}
            </option>
          );
        })}
      </select>
      {hint && <small>{hint}</small>}
    </div>
  );
}

export function Check({ label, checked, onChange }: Named & { checked: boolean; onChange: (checked: boolean) => void }) {
  const id = useId();
  return (
    <div class="check">
      <input id={id} type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
      <label for={id}>{label}</label>
    </div>
  );
}

export function Form({ onSubmit, children }: { onSubmit: () => void; children: ComponentChildren }) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}
