// The fields of a job's forms, and what is made of them.
import { fileFlags, type Options, stageText } from '../tapectl.ts';
import type { NodeInfo } from '../types.ts';

export interface StageFields {
  name: string;
  settings: string; // one NAME=VALUE on each line
}

// Of a worker's list, e.g. "source synth": what there is of a kind.
export const stagesOf = (node: NodeInfo | undefined, kind: string) =>
  (node?.stages ?? [])
    .map((stage) => stage.split(' '))
    .filter(([first]) => first === kind)
    .map(([, name]) => name ?? '');

export function parametersOf(fields: StageFields): Record<string, string> {
  const parameters: Record<string, string> = {};
  for (const text of fields.settings.split('\n')) {
    const at = text.indexOf('=');
    if (at > 0) parameters[text.slice(0, at).trim()] = text.slice(at + 1).trim();
  }
  return parameters;
}

export function stageOf(fields: StageFields): object {
  const parameters = Object.entries(parametersOf(fields)).map(([name, text]) => [name, { text }] as const);
  return parameters.length === 0 ? { name: fields.name } : { name: fields.name, parameters: Object.fromEntries(parameters) };
}

export const textOf = (fields: StageFields) => stageText(fields.name, parametersOf(fields));
export const flagsOf = (fields: StageFields): Options => fileFlags(fields.name, parametersOf(fields));

// What a job's forms ask of every job.
export interface Where {
  worker: string;
  storage: string;
  device: string;
  rails: string;
}

export const railsOf = (text: string) =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean);
