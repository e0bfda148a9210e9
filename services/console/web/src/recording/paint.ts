// A spectrogram as pixels: one for each column and row, missing rows hatched.
import { columnsOf, isMissing, type Spectrogram, storedColumn } from './spectrum.ts';

// Dark blue over green to yellow: as even to the eye in grey as in colour.
const STOPS = [
  [13, 8, 55],
  [48, 47, 126],
  [33, 105, 141],
  [31, 158, 137],
  [122, 208, 81],
  [253, 231, 37],
] as const;

function palette(): Uint8ClampedArray {
  const colours = new Uint8ClampedArray(256 * 3);
  for (let index = 0; index < 256; index += 1) {
    const place = (index / 255) * (STOPS.length - 1);
    const stop = Math.min(Math.floor(place), STOPS.length - 2);
    for (let part = 0; part < 3; part += 1) {
      const from = STOPS[stop]?.[part] ?? 0;
      const to = STOPS[stop + 1]?.[part] ?? 0;
      colours[index * 3 + part] = from + (to - from) * (place - stop);
    }
  }
  return colours;
}

const COLOURS = palette();
// What is no power: two greys, which no colour of the palette is near.
const HATCH = [150, 110] as const;

export interface Look {
  low: number; // of the band, 0 to 1
  high: number;
  darkest: number; // dB
  brightest: number;
}

function colourAt(power: number, { darkest, brightest }: Look): number {
  return Math.round(Math.min(255, Math.max(0, ((power - darkest) * 255) / (brightest - darkest)))) * 3;
}

function putColour(image: ImageData, at: number, colour: number): void {
  for (let part = 0; part < 3; part += 1) image.data[at + part] = COLOURS[colour + part] ?? 0;
  image.data[at + 3] = 255;
}

function putGrey(image: ImageData, at: number, grey: number): void {
  for (let part = 0; part < 3; part += 1) image.data[at + part] = grey;
  image.data[at + 3] = 255;
}

// The canvas is wider than its frame by the parts of the outermost columns that lie outside.
function place(canvas: HTMLCanvasElement, spectrogram: Spectrogram, { low, high }: Look): void {
  const { from, to } = columnsOf(spectrogram, low, high);
  const shareOf = (columns: number) => columns / spectrogram.columns / (high - low);
  canvas.style.left = `${100 * (shareOf(from - 0.5) - low / (high - low))}%`;
  canvas.style.width = `${100 * shareOf(to - from)}%`;
}

export function paint(canvas: HTMLCanvasElement, spectrogram: Spectrogram, look: Look): void {
  const { from, to } = columnsOf(spectrogram, look.low, look.high);
  const width = to - from;
  canvas.width = width;
  canvas.height = spectrogram.rows;
  place(canvas, spectrogram, look);
  const context = canvas.getContext('2d');
  if (!context || width < 1 || spectrogram.rows < 1) return;
  const image = context.createImageData(width, spectrogram.rows);
  for (let row = 0; row < spectrogram.rows; row += 1) {
    const missing = isMissing(spectrogram, row);
    for (let x = 0; x < width; x += 1) {
      const at = (row * width + x) * 4;
      const power = spectrogram.powers[row * spectrogram.columns + storedColumn(spectrogram, from + x)] ?? Number.NaN;
      if (missing) putGrey(image, at, HATCH[(x + row) % 8 < 4 ? 0 : 1]);
      else putColour(image, at, colourAt(power, look));
    }
  }
  context.putImageData(image, 0, 0);
}

// All colours, from the darkest to the brightest.
export function paintScale(canvas: HTMLCanvasElement): void {
  canvas.width = 256;
  canvas.height = 1;
  const context = canvas.getContext('2d');
  if (!context) return;
  const image = context.createImageData(256, 1);
  for (let x = 0; x < 256; x += 1) putColour(image, x * 4, x * 3);
  context.putImageData(image, 0, 0);
}
