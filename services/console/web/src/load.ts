// What a page shows of the node: asked for once, or again and again while somebody looks.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { onPresence, type Presence } from './presence.ts';

export interface Loaded<Value> {
  value: Value | undefined;
  error: Error | undefined;
  reload: () => void;
}

// `ask` is called when `key` changes, and `everyMs` later again. What an older question answers late is dropped.
export function useLoad<Value>(ask: (signal: AbortSignal) => Promise<Value>, key: string, everyMs = 0): Loaded<Value> {
  const [state, setState] = useState<{ value?: Value; error?: Error | undefined; key?: string }>({});
  const [turn, setTurn] = useState(0);
  const latest = useRef(ask);
  latest.current = ask;
  useEffect(() => {
    const abort = new AbortController();
    let timer: number | undefined;
    const again = () => {
      if (everyMs > 0 && !abort.signal.aborted) timer = setTimeout(() => void run(), everyMs);
    };
    const run = async () => {
      if (document.hidden) return again();
      try {
        const value = await latest.current(abort.signal);
        if (!abort.signal.aborted) setState({ value, error: undefined, key });
      } catch (error) {
        if (!abort.signal.aborted) setState((before) => ({ ...before, error: error as Error }));
      }
      again();
    };
    void run();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [key, everyMs, turn]);
  const reload = useCallback(() => setTurn((before) => before + 1), []);
  return { value: state.key === key ? state.value : undefined, error: state.error, reload };
}

// The same for what changes faster than the node answers: one question at a time, and the last answer stays until the next.
export function useLatest<Value>(ask: (signal: AbortSignal) => Promise<Value>, key: string): { value: Value | undefined; error: Error | undefined } {
  const [state, setState] = useState<{ value: Value | undefined; error: Error | undefined }>({ value: undefined, error: undefined });
  const latest = useRef({ ask, key });
  latest.current = { ask, key };
  const abort = useRef<AbortController>(undefined);
  const run = useCallback(async (signal: AbortSignal) => {
    for (let asked: string | undefined; asked !== latest.current.key && !signal.aborted; ) {
      asked = latest.current.key;
      try {
        const value = await latest.current.ask(signal);
        if (!signal.aborted) setState({ value, error: undefined });
      } catch (error) {
        if (!signal.aborted) setState((before) => ({ ...before, error: error as Error }));
      }
    }
    if (abort.current?.signal === signal) abort.current = undefined;
  }, []);
  useEffect(() => {
    if (abort.current) return;
    abort.current = new AbortController();
    void run(abort.current.signal);
  }, [key]);
  useEffect(() => () => abort.current?.abort(), []);
  return state;
}

// What a button starts: one at a time, with how it ended.
export interface Action {
  busy: boolean;
  error: Error | undefined;
  run: (work: () => Promise<void>) => void;
}

export function useAction(): Action {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  const run = useCallback((work: () => Promise<void>) => {
    setBusy(true);
    setError(undefined);
    work()
      .catch((failure: Error) => setError(failure))
      .finally(() => setBusy(false));
  }, []);
  return { busy, error, run };
}

export function usePresence(): Presence {
  const [presence, setPresence] = useState<Presence>({ isAway: false, seenMs: 0 });
  useEffect(() => onPresence(setPresence), []);
  return presence;
}
