// Whether the node answers: every call and stream reports here, and the frame of the page shows it.

export interface Presence {
  isAway: boolean;
  seenMs: number; // when the node last answered, by this machine's clock; 0: never
}

let presence: Presence = { isAway: false, seenMs: 0 };
const listeners = new Set<() => void>();

export function report(answers: boolean): void {
  const { isAway } = presence;
  presence = { isAway: !answers, seenMs: answers ? Date.now() : presence.seenMs };
  if (isAway === answers) for (const listener of listeners) listener();
}

// Returns what ends it.
export function onPresence(change: (presence: Presence) => void): () => void {
  const listener = () => change(presence);
  listeners.add(listener);
  listener();
  return () => void listeners.delete(listener);
}
