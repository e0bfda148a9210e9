// What is computed of a spectrogram for the eye.
import { hertz } from '../format.ts';
import { floatsOf } from './numbers.ts';
import type { SpectrogramMessage } from './types.ts';

export interface Spectrogram {
  columns: number;
  rows: number;
  first: number;
  samplesPerRow: number;
  samples: number;
  powers: Float32Array; // dB, row by row; NaN: missing
}

export const spectrogramOf = (message: SpectrogramMessage): Spectrogram => ({
  columns: message.columns,
  rows: message.rows,
  first: Number(message.firstSample),
  samplesPerRow: message.samplesPerRow,
  samples: Number(message.sampleCount),
  powers: floatsOf(message.powers),
});

// Frequencies from the lowest to the highest; of an unknown rate, shares of it.
export interface Band {
  lowest: number;
  width: number;
  text: (frequency: number) => string;
}

export function bandOf(sampleRate: number, frequency: number, isComplex: boolean): Band {
  const rate = sampleRate > 0 ? sampleRate : 1;
  const text = sampleRate > 0 ? hertz : (value: number) => `${value.toFixed(4)} of the rate`;
  return isComplex ? { lowest: frequency - rate / 2, width: rate, text } : { lowest: frequency, width: rate / 2, text };
}

export const frequencyAt = (band: Band, share: number) => band.lowest + band.width * share;

// The columns of a share of the band, at least one.
export function columnsOf(spectrogram: Spectrogram, low: number, high: number): { from: number; to: number } {
  const from = Math.min(Math.floor(low * spectrogram.columns), spectrogram.columns - 1);
  return { from, to: Math.max(from + 1, Math.min(spectrogram.columns, Math.ceil(high * spectrogram.columns))) };
}

export const isMissing = (spectrogram: Spectrogram, row: number) => Number.isNaN(spectrogram.powers[row * spectrogram.columns] ?? Number.NaN);

export function missingRows(spectrogram: Spectrogram): number {
  let rows = 0;
  for (let row = 0; row < spectrogram.rows; row += 1) if (isMissing(spectrogram, row)) rows += 1;
  return rows;
}

// Of each column the mean and the greatest power over all rows that are there, in dB.
export function summary(spectrogram: Spectrogram): { mean: number[]; most: number[] } {
  const { columns, rows, powers } = spectrogram;
  const sums = new Float64Array(columns);
  const most = new Array<number>(columns).fill(Number.NEGATIVE_INFINITY);
  let there = 0;
  for (let row = 0; row < rows; row += 1) {
    if (isMissing(spectrogram, row)) continue;
    there += 1;
    for (let column = 0; column < columns; column += 1) {
      const power = powers[row * columns + column] ?? Number.NaN;
      sums[column] = (sums[column] ?? 0) + 10 ** (power / 10);
      most[column] = Math.max(most[column] ?? power, power);
    }
  }
  return { mean: Array.from(sums, (sum) => (there > 0 ? 10 * Math.log10(Math.max(sum / there, 1e-20)) : Number.NaN)), most };
}

// A range of dB that shows both noise and signals: from below the median to the greatest.
export function rangeOf(spectrogram: Spectrogram): { low: number; high: number } {
  const step = Math.max(1, Math.floor(spectrogram.powers.length / 4096));
  const some: number[] = [];
  for (let index = 0; index < spectrogram.powers.length; index += step) {
    const power = spectrogram.powers[index] ?? Number.NaN;
    if (!Number.isNaN(power)) some.push(power);
  }
  if (some.length === 0) return { low: -100, high: 0 };
  some.sort((a, b) => a - b);
  const most = spectrogram.powers.reduce((best, power) => (power > best ? power : best), Number.NEGATIVE_INFINITY);
  const low = Math.floor((some[Math.floor(some.length / 10)] ?? -100) - 3);
  return { low, high: Math.max(low + 10, Math.ceil(most)) };
}
