// What the form of a recording asks of the worker, and the command that asks the same.
import { requestId } from '../api.ts';
import { parseSpan } from '../format.ts';
import { line } from '../tapectl.ts';
import { flagsOf, railsOf, type StageFields, stageOf, textOf, type Where } from './stage_fields.ts';

export interface RecordFields {
  channel: string;
  source: StageFields;
  transforms: StageFields[];
  blocks: string;
  duration: string;
}

// Undefined: the field is empty, or not a duration above 0 s.
const durationOf = (fields: RecordFields) => parseSpan(fields.duration) || undefined;

export const isWrong = (fields: RecordFields) => fields.duration.trim() !== '' && durationOf(fields) === undefined;

// Blocks go before a duration: a job has one limit.
export function recordRequest(where: Where, fields: RecordFields) {
  if (isWrong(fields)) throw new Error('The duration must be longer than 0 s, for example 10s or 1m30s.');
  const duration = durationOf(fields);
  const [lun, channel] = fields.channel.split('/');
  return {
    storage: where.storage,
    channel: `luns/${lun}/channels/${channel}`,
    source: stageOf(fields.source),
    transforms: fields.transforms.map(stageOf),
    ...(fields.blocks !== '' ? { blocks: fields.blocks } : duration ? { duration_s: duration } : {}),
    rails: railsOf(where.rails),
    device: where.device,
    request_id: requestId(),
  };
}

export const recordLine = (where: Where, fields: RecordFields) =>
  line(['record', fields.channel || 'LUN/CHANNEL'], {
    source: textOf(fields.source),
    ...flagsOf(fields.source),
    transform: fields.transforms.map(textOf),
    blocks: fields.blocks,
    duration: fields.blocks === '' && durationOf(fields) ? fields.duration : '',
    rails: where.rails,
    device: where.device,
  });
