// What the forms of records and playbacks share: the worker, its stages, and the job that comes of them.
import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { useLoad } from '../load.ts';
import type { ConsoleInfo, NodeInfo } from '../types.ts';
import { Empty } from '../ui/basics.tsx';
import type { Where } from './stage_fields.ts';

// The node's address as this browser last gave it: a worker may reach it by another one than this node listens on.
const KEY = 'tapedeck.storage';

export function useWhere(info: ConsoleInfo) {
  const [where, setWhere] = useState<Where>({
    worker: info.workers[0] ?? '',
    storage: localStorage.getItem(KEY) ?? info.listen ?? '127.0.0.1:7400',
    device: '',
    rails: '',
  });
  const node = useLoad((signal) => call<NodeInfo>('NodeService', 'GetNode', {}, { worker: where.worker, signal }), `worker ${where.worker}`);
  const remember = () => localStorage.setItem(KEY, where.storage);
  return { where, node, remember, set: (change: Partial<Where>) => setWhere((now) => ({ ...now, ...change })) };
}

export const NoWorker = () => (
  <Empty>
    No worker is configured. Start the storage node with <code>--console-worker NAME=HOST:PORT</code> for each worker.
  </Empty>
);
