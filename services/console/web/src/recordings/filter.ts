// Which recordings are shown.
import { originText, shortName } from '../format.ts';
import type { Recording } from '../types.ts';

export interface Filter {
  channel: string; // LUN, or LUN/CHANNEL; empty: all
  state: string;
  label: string; // NAME or NAME=VALUE, or a part of the description or of how it was made
  since: string; // YYYY-MM-DDTHH:MM, UTC
  until: string;
}

export const NO_FILTER: Filter = { channel: '', state: '', label: '', since: '', until: '' };

function hasLabel(recording: Recording, wanted: string): boolean {
  const text = wanted.trim().toLowerCase();
  if (text === '') return true;
  const labels = Object.entries(recording.labels).map(([name, value]) => `${name}=${value}`);
  const marks = recording.annotations.map((annotation) => annotation.label);
  return [...labels, ...marks, recording.description, originText(recording.origin), recording.group?.name ?? ''].some((one) => one.toLowerCase().includes(text));
}

const utc = (text: string) => (text === '' ? Number.NaN : Date.parse(`${text}Z`));

export function matches(recording: Recording, filter: Filter): boolean {
  const name = shortName(recording.name);
  if (filter.channel !== '' && !name.startsWith(`${filter.channel}/`)) return false;
  if (filter.state === 'KEPT' ? !recording.kept : filter.state !== '' && recording.state !== filter.state) return false;
  const start = Date.parse(recording.start_time ?? '');
  const unknown = Number.isNaN(start) && (filter.since !== '' || filter.until !== '');
  if (unknown || start < utc(filter.since) || start > utc(filter.until)) return false;
  return hasLabel(recording, filter.label);
}
