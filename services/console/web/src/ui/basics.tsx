// The small parts that all pages are made of. Names and labels come from strangers: they are text nodes everywhere.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ApiError, NodeAway } from '../api.ts';
import { count } from '../format.ts';

type Children = { children?: ComponentChildren };

export function Failure({ error }: { error: Error | undefined }) {
  if (!error) return null;
  const reason = error instanceof ApiError && error.reason ? error.reason : '';
  return (
    <p class={error instanceof NodeAway ? 'failure away' : 'failure'} role="alert">
      {error.message} {reason && <code>{reason}</code>}
    </p>
  );
}

export function Panel({ title, actions, children }: Children & { title: string; actions?: ComponentChildren }) {
  return (
    <section class="panel" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {children}
    </section>
  );
}

export const Empty = ({ children }: Children) => <p class="empty">{children}</p>;

export type Tone = 'good' | 'busy' | 'bad' | 'live' | 'plain';

export const Badge = ({ tone, children }: Children & { tone: Tone }) => <span class={`badge ${tone}`}>{children}</span>;

// A count of lost or missing things: silent at 0.
export const Lost = ({ count: lost }: { count: number }) => <span class={lost > 0 ? 'lost' : 'none'}>{count(lost)}</span>;

// On narrow screens the rows are cards (style/narrow.css): each cell says its heading, and the roles that blocks lose are told.
function tellCells(table: HTMLTableElement, head: string[]): void {
  table.setAttribute('role', 'table');
  for (const group of table.querySelectorAll('thead, tbody')) group.setAttribute('role', 'rowgroup');
  for (const cell of table.querySelectorAll('thead th')) cell.setAttribute('role', 'columnheader');
  // A heading stands above its column, also where that is to the right.
  for (const [index, cell] of [...(table.tBodies[0]?.rows[0]?.cells ?? [])].entries()) table.tHead?.rows[0]?.cells[index]?.classList.toggle('number', cell.classList.contains('number'));
  for (const row of table.rows) {
    row.setAttribute('role', 'row');
    for (const [index, cell] of [...row.cells].entries()) {
      if (cell.tagName !== 'TD') continue;
      cell.setAttribute('role', 'cell');
      cell.setAttribute('data-head', head[index] ?? '');
    }
  }
}

// A region that scrolls by itself is reached by the keyboard.
export function Table({ caption, head, columns, children }: Children & { caption: string; head: string[]; columns?: 'even' }) {
  const table = useRef<HTMLTableElement>(null);
  useLayoutEffect(() => {
    const element = table.current;
    if (!element) return;
    const tell = () => tellCells(element, head);
    tell();
    // Rows that open by themselves come later.
    const later = new MutationObserver(tell);
    later.observe(element, { childList: true, subtree: true });
    return () => later.disconnect();
  }, [head.join()]);
  return (
    <div class="scrolls" role="region" aria-label={caption} tabIndex={0}>
      <table ref={table} class={columns}>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {head.map((cell) => (cell === '' ? <td /> : <th scope="col">{cell}</th>))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

// A text longer than this has a line of its own, and a fact without a value has none.
const SHORT_FACT = 80;

export function Facts({ facts }: { facts: [string, ComponentChildren][] }) {
  return (
    <dl class="facts">
      {facts.filter(([, value]) => value !== '' && value !== '—').map(([name, value]) => (
        <div key={name} class={typeof value === 'string' && value.length > SHORT_FACT ? 'wide' : undefined}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

// Above `high` it is too full.
export function Meter({ label, value, high = 1 }: { label: string; value: number; high?: number }) {
  return <meter aria-label={label} min={0} max={1} low={0} optimum={0} high={high} value={Math.max(0, Math.min(1, value))} />;
}

// The command line that does the same, to be copied.
export function Line({ text }: { text: string }) {
  const [copied, setCopied] = useState(false);
  const code = useRef<HTMLElement>(null);
  // Where the browser does not let it be copied it is selected.
  const select = () => code.current && getSelection()?.selectAllChildren(code.current);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
    } catch {
      select();
    }
  };
  return (
    <div class="line">
      <code ref={code}>{text}</code>
      <button type="button" onClick={() => void copy()} aria-label={`${copied ? 'Copied' : 'Copy'}: the command`}>
        {copied ? 'Copied' : 'Copy'}
      </button>
    </div>
  );
}
