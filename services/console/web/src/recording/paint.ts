// A spectrogram as pixels: one for each column and row, missing rows hatched.
import { columnsOf, isMissing, type Spectrogram } from './spectrum.ts';

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

export function paint(canvas: HTMLCanvasElement, spectrogram: Spectrogram, look: Look): void {
  const { from, to } = columnsOf(spectrogram, look.low, look.high);
  const width = to - from;
  canvas.width = width;
  canvas.height = spectrogram.rows;
  const context = canvas.getContext('2d');
  if (!context || width < 1 || spectrogram.rows < 1) return;
  const image = context.createImageData(width, spectrogram.rows);
  const scale = 255 / (look.brightest - look.darkest);
  for (let row = 0; row < spectrogram.rows; row += 1) {
    const missing = isMissing(spectrogram, row);
    for (let x = 0; x < width; x += 1) {
      const at = (row * width + x) * 4;
      const power = spectrogram.powers[row * spectrogram.columns + from + x] ?? Number.NaN;
      const colour = Math.round(Math.min(255, Math.max(0, (power - look.darkest) * scale))) * 3;
      const grey = HATCH[(x + row) % 8 < 4 ? 0 : 1];
      image.data[at] = missing ? grey : (COLOURS[colour] ?? 0);
      image.data[at + 1] = missing ? grey : (COLOURS[colour + 1] ?? 0);
      image.data[at + 2] = missing ? grey : (COLOURS[colour + 2] ?? 0);
      image.data[at + 3] = 255;
    }
  }
  context.putImageData(image, 0, 0);
}
