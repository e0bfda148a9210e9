// The node's counters as they come, and the rates that follow from them.
import { useEffect, useRef, useState } from 'preact/hooks';
import { call, watch } from '../api.ts';
import { lunOf } from '../format.ts';
import { useLoad } from '../load.ts';
import { RateMeters } from '../rates.ts';
import type { Recording, Stats } from '../types.ts';

// Over so long a rate is taken: long enough that single blocks do not show.
const WINDOW_MS = 4000;

export interface Live {
  stats: Stats | undefined;
  rails: Map<string, number>;
  total: number;
  error: Error | undefined;
}

export function useLive(): Live {
  const [live, setLive] = useState<Live>({ stats: undefined, rails: new Map(), total: 0, error: undefined });
  useEffect(() => {
    const meters = new RateMeters(WINDOW_MS);
    return watch<Stats>('NodeService', 'WatchStats', { interval_s: 0.5 }, {
      message: (stats) => {
        const now = performance.now();
        const rails = new Map(stats.rails.map((rail) => [rail.name, meters.add(`rail ${rail.name}`, now, rail.bytes) ?? 0]));
        setLive({ stats, rails, total: meters.add('total', now, stats.bytes) ?? 0, error: undefined });
      },
      end: (error) => setLive((before) => ({ ...before, error })),
    });
  }, []);
  return live;
}

export interface Running {
  recording: Recording;
  bytesPerS: number; // NaN: not measured yet
}

// What is being recorded, and at which rate; of LUNs the sum.
export function useRunning(): { running: Running[]; byLun: Map<string, number>; error: Error | undefined } {
  const meters = useRef(new RateMeters(WINDOW_MS * 2));
  const loaded = useLoad(async (signal) => {
    // The newest first: what runs is among so many.
    const request = { parent: 'luns/-/channels/-', page_size: 1000 };
    const page = await call<{ recordings: Recording[] }>('CatalogService', 'ListRecordings', request, { signal });
    const now = performance.now();
    const recordings = page.recordings.filter((one) => one.state === 'RECORDING');
    meters.current.keep(recordings.map((one) => one.name));
    return recordings.map((recording) => ({ recording, bytesPerS: meters.current.add(recording.name, now, recording.bytes) ?? Number.NaN }));
  }, 'running', 2000);
  const running = loaded.value ?? [];
  const byLun = new Map<string, number>();
  for (const one of running) {
    const lun = lunOf(one.recording.name);
    byLun.set(lun, (byLun.get(lun) ?? 0) + one.bytesPerS);
  }
  return { running, byLun, error: loaded.error };
}
