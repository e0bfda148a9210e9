// The console's HTTP: one call, one stream. A service is this node's, unless a worker is named.

import { report } from './presence.ts';
import type { ErrorBody } from './types.ts';

const PACKAGE = 'tapedeck.v1.';

// What a node answered instead, with the reason of errors.proto.
export class ApiError extends Error {
  readonly code: string;
  readonly reason: string;

  constructor(code: string, message: string, reason: string) {
    super(message);
    this.code = code;
    this.reason = reason;
  }
}

// Not even an error came back. The frame of the page says so for all of it.
export class NodeAway extends ApiError {}

const errorOf = (body: Partial<ErrorBody>, otherwise: string) =>
  new ApiError(body.code ?? 'UNKNOWN', body.message || otherwise, body.reason ?? '');

function pathOf(service: string, method: string, worker?: string): string {
  const at = worker === undefined ? '' : `workers/${encodeURIComponent(worker)}/`;
  return `/api/${at}${PACKAGE}${service}/${method}`;
}

// What an open request fails with: the page has dropped it, or the node has.
function failureOf(error: unknown): Error {
  if (error instanceof DOMException && error.name === 'AbortError') return error;
  report(false);
  return new NodeAway('UNAVAILABLE', 'The storage node does not answer.', '');
}

async function answerOf<Answer>(response: Response): Promise<Answer> {
  let text: string;
  try {
    text = await response.text();
  } catch (error) {
    throw failureOf(error);
  }
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new ApiError('UNKNOWN', `The node answered ${response.status} without JSON.`, '');
  }
  if (!response.ok) throw errorOf(body as ErrorBody, `The node answered ${response.status}.`);
  return body as Answer;
}

async function ask<Answer>(path: string, init: RequestInit): Promise<Answer> {
  let response: Response;
  try {
    response = await fetch(path, init);
  } catch (error) {
    throw failureOf(error);
  }
  report(true);
  return answerOf<Answer>(response);
}

export interface CallOptions {
  worker?: string | undefined;
  signal?: AbortSignal | undefined;
}

export function call<Answer>(service: string, method: string, request: object, options: CallOptions = {}): Promise<Answer> {
  return ask<Answer>(pathOf(service, method, options.worker), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(request),
    signal: options.signal ?? null,
  });
}

// A node that has not answered by then is away; one that is frozen takes connections all the same.
const PATIENCE_MS = 5000;

export const read = <Answer>(path: string, signal: AbortSignal) => ask<Answer>(path, { signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]) });

export interface Watcher<Message> {
  message: (message: Message) => void;
  // The stream is over: by the node, with an error or without. A connection that breaks is made anew, and nothing said.
  end?: (error?: ApiError) => void;
}

// One server-sent event: its name, empty for a message, and its data.
interface Happened {
  name: string;
  data: string;
}

function eventIn(text: string): Happened {
  const happened: Happened = { name: '', data: '' };
  for (const line of text.split('\n')) {
    if (line.startsWith('event: ')) happened.name = line.slice(7);
    if (line.startsWith('data: ')) happened.data = line.slice(6);
  }
  return happened;
}

// What comes until `take` wants no more, or the connection breaks.
async function readEvents(body: ReadableStream<Uint8Array>, take: (event: Happened) => boolean): Promise<void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = (text + decoder.decode(value, { stream: true })).split('\n\n');
    text = events.pop() ?? '';
    for (const event of events) if (!take(eventIn(event))) return;
  }
}

// After a connection that broke, as EventSource waits. That one cannot POST, and what a GET asks for any page can ask.
const AGAIN_MS = 3000;

// Returns what stops it.
export function watch<Message>(service: string, method: string, request: object, watcher: Watcher<Message>, worker?: string): () => void {
  const stop = new AbortController();
  const finish = (error?: ApiError) => {
    if (stop.signal.aborted) return;
    stop.abort();
    watcher.end?.(error);
  };
  const take = ({ name, data }: Happened) => {
    if (stop.signal.aborted) return false;
    if (name === 'end') finish();
    else if (name === 'error') finish(errorOf(JSON.parse(data) as ErrorBody, 'The stream failed.'));
    else if (data !== '') watcher.message(JSON.parse(data) as Message);
    return !stop.signal.aborted;
  };
  const follow = async () => {
    const response = await fetch(pathOf(service, method, worker), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'text/event-stream' },
      body: JSON.stringify(request),
      signal: stop.signal,
    });
    if (response.ok && response.body !== null) return readEvents(response.body, take);
    try {
      await answerOf(response);
    } catch (error) {
      finish(error instanceof ApiError ? error : new ApiError('UNAVAILABLE', 'The node refused the stream.', ''));
    }
  };
  const again = () => {
    void follow()
      .catch(() => undefined) // the connection broke
      .then(() => !stop.signal.aborted && setTimeout(() => !stop.signal.aborted && again(), AGAIN_MS));
  };
  again();
  return () => stop.abort();
}

// What all pages of a list have under a key, up to a bound that nobody scrolls through.
export async function list<Item>(service: string, method: string, request: object, key: string, options: CallOptions = {}): Promise<Item[]> {
  const items: Item[] = [];
  let token = '';
  const seen = new Set<string>(['']);
  do {
    seen.add(token);
    const page = await call<Record<string, unknown>>(service, method, { ...request, page_token: token }, options);
    items.push(...((page[key] as Item[] | undefined) ?? []));
    token = String(page['next_page_token'] ?? '');
  } while (!seen.has(token) && items.length < 10000); // a node may repeat itself
  return items;
}

// As crypto.randomUUID makes them, which a page in clear from another machine does not have.
export function requestId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = Array.from(bytes, (byte, i) => {
    const value = i === 6 ? (byte & 0x0f) | 0x40 : i === 8 ? (byte & 0x3f) | 0x80 : byte;
    return value.toString(16).padStart(2, '0');
  }).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
