// What somebody should look at, from what the overview has anyway.
import { plural, shortName } from '../format.ts';
import type { Lun, Stats } from '../types.ts';

export interface Alarm {
  bad: boolean;
  text: string;
}

function ofLun(lun: Lun): Alarm[] {
  const name = shortName(lun.name);
  if (lun.state === 'DEGRADED') return [{ bad: true, text: `LUN ${name} is DEGRADED: ${lun.cause}` }];
  if (lun.state === 'OFFLINE') return [{ bad: true, text: `LUN ${name} is OFFLINE: ${lun.cause}` }];
  const capacity = lun.capacity_bytes;
  const free = capacity - lun.used_bytes;
  if (capacity === 0 || lun.full_policy === 'ring' || free >= capacity * 0.1) return [];
  return [{ bad: free < capacity * 0.01, text: `LUN ${name} has ${((100 * free) / capacity).toFixed(1)} % of its space left` }];
}

function ofStats(stats: Stats): Alarm[] {
  // Without a session no rail is connected.
  const alarms = (stats.sessions > 0 ? stats.rails : [])
    .filter((rail) => !rail.up && rail.cause !== '')
    .map((rail) => ({ bad: true, text: `Rail ${rail.name} is down: ${rail.cause}` }));
  const damaged = stats.crc_errors;
  if (damaged > 0) alarms.push({ bad: false, text: `Since the node started, ${plural(damaged, 'block')} failed the check in transit. The worker sent them again.` });
  return alarms;
}

export const alarmsOf = (luns: Lun[], stats: Stats | undefined): Alarm[] => [...luns.flatMap(ofLun), ...(stats ? ofStats(stats) : [])];
