// What is computed of a spectrogram for the eye.
import { hertzOfAxis, hertzTo } from '../format.ts';
import { floatsOf } from './numbers.ts';
import type { SpectrogramMessage } from '../types.ts';

export interface Spectrogram {
  columns: number;
  rows: number;
  first: number;
  samplesPerRow: number;
  samples: number;
  covered: number; // of them
  bins: number; // of each recorded spectrum; 0: samples in time
  band: Band;
  powers: Float32Array; // dB, row by row, each the greatest of its transforms; NaN: missing
  means: Float32Array; // dB, of each column over all transforms
}

export const spectrogramOf = (message: SpectrogramMessage): Spectrogram => ({
  columns: message.columns,
  rows: message.rows,
  first: message.first_sample,
  samplesPerRow: message.samples_per_row,
  samples: message.sample_count,
  covered: message.covered_samples,
  bins: message.bins,
  band: bandOf(message),
  powers: floatsOf(message.powers),
  means: floatsOf(message.means),
});

// Frequencies from the lowest to the highest; of an unknown rate, shares of it.
export interface Band {
  lowest: number;
  width: number;
  isComplex: boolean;
  inHertz: boolean;
  text: (frequency: number) => string;
}

export function bandOf({ band_rate: bandRate, frequency, complex, columns }: Pick<SpectrogramMessage, 'band_rate' | 'frequency' | 'complex' | 'columns'>): Band {
  const rate = bandRate > 0 ? bandRate : 1;
  const text = bandRate > 0 ? (value: number) => hertzTo(value, rate / columns) : (value: number) => `${value.toFixed(4)} of the rate`;
  // The middle of the band is in a column of its own, also of an odd number.
  return complex
    ? { lowest: frequency - (rate * Math.floor(columns / 2)) / columns, width: rate, isComplex: true, inHertz: bandRate > 0, text }
    : { lowest: frequency, width: rate / 2, isComplex: false, inHertz: bandRate > 0, text };
}

export const frequencyAt = (band: Band, share: number) => band.lowest + band.width * share;

// The shares of the band at which an axis has a tick, both ends included.
export const TICKS = [0, 0.25, 0.5, 0.75, 1];

// The texts of the ticks of a part of the band: one unit, and digits that tell them apart.
export function tickTexts(band: Band, low: number, high: number): string[] {
  const values = TICKS.map((share) => frequencyAt(band, low + (high - low) * share));
  return band.inHertz ? hertzOfAxis(values) : values.map(band.text);
}

// The columns that a part of the band shows, the outermost ones in part: a column is as wide as a bin, with its frequency in the middle.
export const columnsOf = (spectrogram: Spectrogram, low: number, high: number): { from: number; to: number } => ({
  from: Math.floor(low * spectrogram.columns + 0.5),
  to: Math.ceil(high * spectrogram.columns + 0.5),
});

// Beyond the highest column of complex samples the band begins again; that of real ones ends there.
export const storedColumn = ({ band, columns }: Spectrogram, column: number) => (band.isComplex ? column % columns : Math.min(column, columns - 1));

export const isMissing = (spectrogram: Spectrogram, row: number) => Number.isNaN(spectrogram.powers[row * spectrogram.columns] ?? Number.NaN);

export function missingRows(spectrogram: Spectrogram): number {
  let rows = 0;
  for (let row = 0; row < spectrogram.rows; row += 1) if (isMissing(spectrogram, row)) rows += 1;
  return rows;
}

// Of each column the greatest power of all rows that are there, in dB.
export function peaksOf(spectrogram: Spectrogram): number[] {
  const { columns, rows, powers } = spectrogram;
  const peaks = new Array<number>(columns).fill(Number.NEGATIVE_INFINITY);
  for (let row = 0; row < rows; row += 1) {
    if (isMissing(spectrogram, row)) continue;
    for (let column = 0; column < columns; column += 1) {
      const power = powers[row * columns + column] ?? Number.NaN;
      peaks[column] = Math.max(peaks[column] ?? power, power);
    }
  }
  return peaks;
}

// What a picture is made of, for people.
export function madeOf({ bins, covered, samples }: Pick<Spectrogram, 'bins' | 'covered' | 'samples'>): string {
  const what = bins > 0 ? `recorded spectra of ${bins} bins` : 'transforms';
  if (covered >= samples) return `Each row holds the maximum of its ${what}.`;
  const percent = Math.min(99.9, (100 * covered) / samples).toPrecision(3);
  return `Each row holds the maximum of its ${what}, which cover ${percent} % of its samples. Zoom in to see the rest.`;
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
