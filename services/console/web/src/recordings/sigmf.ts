// Samples as a SigMF archive: a tar of NAME.sigmf-meta and NAME.sigmf-data, as `tapectl recordings export` and other programs read it.
import { aheadAt } from '../recording/positions.ts';
import type { Annotation, MarkedSpan, Recording, SampleRun, Timeline } from '../types.ts';
import type { Range } from './samples.ts';

// Of the part that a range has of a run of samples, counted from the range's first one; undefined: none.
function within(range: Range, first: number, length: number): SampleRun | undefined {
  const from = Math.max(first, range.first);
  const to = Math.min(first + Math.max(1, length), range.first + range.count);
  return from < to ? { first_sample: from - range.first, sample_count: length > 0 ? to - from : 0 } : undefined;
}

// A time as the node writes it, `samples` later, to the nanosecond.
export function later(text: string, samples: number, sampleRate: number): string {
  const found = /^(.*?)(?:\.(\d{1,9}))?Z$/.exec(text);
  const wholeMs = Date.parse(`${found?.[1] ?? ''}Z`);
  if (Number.isNaN(wholeMs)) return text;
  const seconds = Math.floor(samples / sampleRate);
  const rest = Math.round(((samples - seconds * sampleRate) / sampleRate) * 1e9);
  const nanoseconds = Number((found?.[2] ?? '').padEnd(9, '0')) + rest;
  const whole = new Date(wholeMs + (seconds + Math.floor(nanoseconds / 1e9)) * 1000).toISOString().slice(0, 19);
  const fraction = String(nanoseconds % 1e9).padStart(9, '0').replace(/0+$/, '');
  return `${whole}${fraction && `.${fraction}`}Z`;
}

function capturesOf(timeline: Timeline, range: Range): object[] {
  const { captures, sample_rate: rate } = timeline;
  const before = captures.filter((capture) => capture.sample <= range.first).at(-1);
  const inside = captures.filter((capture) => capture.sample > range.first && capture.sample < range.first + range.count);
  const first = { ...(before ?? { frequency: timeline.frequency, time: null, sample: range.first }), at: range.first };
  return [first, ...inside.map((capture) => ({ ...capture, at: capture.sample }))].map(({ at, sample, frequency, time }) => ({
    'core:sample_start': at - range.first,
    'core:global_index': at + aheadAt(timeline, at),
    ...(frequency !== 0 && { 'core:frequency': frequency }),
    ...(time && (rate > 0 || at === sample) && { 'core:datetime': later(time, at - sample, rate || 1) }),
  }));
}

const spanOf = ({ first_sample: first, sample_count: samples }: SampleRun) => ({ 'core:sample_start': first, 'core:sample_count': samples });

// Losses that an annotation tells together lie anywhere in it, so a part of it names the whole: model::PartOf.
function lostComment(comment: string, whole: Pick<Annotation, 'sample_start' | 'sample_count'>, part: SampleRun): string {
  if (part.sample_count === whole.sample_count) return comment;
  return comment.replace(/^(\d+ samples in \d+ places of )this span$/, `$1samples ${whole.sample_start} to ${whole.sample_start + whole.sample_count - 1} of the stream`);
}

// A mark of the timeline as the recording has it, which says whether it is foreign and counts the stream's samples.
function toldOf(recording: Recording, timeline: Timeline, mark: MarkedSpan): Annotation | undefined {
  const start = mark.first_sample + aheadAt(timeline, mark.first_sample);
  return recording.annotations.find((one) => one.sample_start === start && one.label === mark.label && one.comment === mark.comment);
}

// As tapectl's export writes it. Without a count a point would last to the end.
function annotationOf(recording: Recording, timeline: Timeline, mark: MarkedSpan, part: SampleRun): object {
  const told = toldOf(recording, timeline, mark);
  const lost = mark.label === 'lost' && !told?.foreign;
  const comment = lost && told ? lostComment(mark.comment, told, part) : mark.comment;
  return {
    ...spanOf(part),
    ...(mark.label && { 'core:label': mark.label }),
    ...(comment && { 'core:comment': comment }),
    ...(lost && { 'tapedeck:lost': true }),
  };
}

// The node answers in pieces: a gap over several is one.
function joined(runs: SampleRun[]): SampleRun[] {
  const whole: SampleRun[] = [];
  for (const run of runs) {
    const last = whole.at(-1);
    if (last && last.first_sample + last.sample_count === run.first_sample) last.sample_count += run.sample_count;
    else whole.push({ ...run });
  }
  return whole;
}

function annotationsOf(recording: Recording, timeline: Timeline, range: Range, missing: SampleRun[]): object[] {
  const marks = timeline.annotations.flatMap((mark) => {
    const part = within(range, mark.first_sample, mark.sample_count);
    return part ? [annotationOf(recording, timeline, mark, part)] : [];
  });
  const gaps = joined(missing).flatMap((run) => {
    const part = within(range, run.first_sample, run.sample_count);
    return part ? [{ ...spanOf(part), 'core:label': 'missing', 'tapedeck:missing': true }] : [];
  });
  const startOf = (one: object) => (one as Record<string, number>)['core:sample_start'] ?? 0;
  return [...marks, ...gaps].sort((a, b) => startOf(a) - startOf(b));
}

export function metaOf(recording: Recording, timeline: Timeline, range: Range, missing: SampleRun[]): object {
  return {
    global: {
      'core:datatype': recording.datatype,
      'core:version': '1.2.5',
      ...(timeline.sample_rate > 0 && { 'core:sample_rate': timeline.sample_rate }),
      ...(recording.description && { 'core:description': recording.description }),
      'core:recorder': 'Tapedeck',
      'core:extensions': [{ name: 'tapedeck', version: '1.0.0', optional: true }],
      'tapedeck:recording': recording.name,
      'tapedeck:labels': Object.fromEntries(Object.entries(recording.labels).sort(([a], [b]) => (a < b ? -1 : 1))),
    },
    captures: capturesOf(timeline, range),
    annotations: annotationsOf(recording, timeline, range, missing),
  };
}

const TAR_BLOCK = 512;

function tarHeader(folder: string, name: string, size: number): Uint8Array<ArrayBuffer> {
  const block = new Uint8Array(TAR_BLOCK);
  const put = (at: number, text: string) => block.set(new TextEncoder().encode(text), at);
  put(0, `${folder}/${name}`);
  put(100, '0000644');
  put(108, '0000000');
  put(116, '0000000');
  put(124, size.toString(8).padStart(11, '0'));
  put(136, '00000000000');
  put(148, ' '.repeat(8));
  put(156, '0');
  put(257, 'ustar\0' + '00');
  const sum = block.reduce((total, byte) => total + byte, 0);
  put(148, `${sum.toString(8).padStart(6, '0')}\0 `);
  return block;
}

const padding = (size: number) => new Uint8Array((TAR_BLOCK - (size % TAR_BLOCK)) % TAR_BLOCK);

// `name` has 40 letters at most, so that a header has it twice.
export function archiveOf(name: string, meta: object, data: Blob): Blob {
  const text = new TextEncoder().encode(`${JSON.stringify(meta, undefined, 2)}\n`);
  const files: BlobPart[] = [tarHeader(name, `${name}.sigmf-meta`, text.length), text, padding(text.length)];
  files.push(tarHeader(name, `${name}.sigmf-data`, data.size), data, padding(data.size), new Uint8Array(2 * TAR_BLOCK));
  return new Blob(files, { type: 'application/x-tar' });
}
