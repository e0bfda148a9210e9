// The part of a recording that is looked at: samples, and a share of the band.

export interface Window {
  first: number;
  count: number;
  low: number; // 0 to 1 of the band
  high: number;
}

const LEAST_SAMPLES = 16;
const LEAST_BAND = 1 / 256;

const clamp = (value: number, least: number, most: number) => Math.min(Math.max(value, least), most);

export const whole = (samples: number): Window => ({ first: 0, count: samples, low: 0, high: 1 });

export function inside(window: Window, samples: number): Window {
  const count = clamp(Math.round(window.count), Math.min(LEAST_SAMPLES, samples), samples);
  const first = clamp(Math.round(window.first), 0, samples - count);
  const width = clamp(window.high - window.low, LEAST_BAND, 1);
  const low = clamp(window.low, 0, 1 - width);
  return { first, count, low, high: low + width };
}

// `factor` below 1 comes nearer; what lies at `at`, 0 to 1 of the window, stays there.
export const zoomTime = (window: Window, samples: number, factor: number, at = 0.5) =>
  inside({ ...window, first: window.first + window.count * at * (1 - factor), count: window.count * factor }, samples);

export function zoomBand(window: Window, factor: number, at = 0.5): Window {
  const middle = window.low + (window.high - window.low) * at;
  const width = clamp((window.high - window.low) * factor, LEAST_BAND, 1);
  const low = clamp(middle - width * at, 0, 1 - width);
  return { ...window, low, high: low + width };
}

export const shiftTime = (window: Window, samples: number, share: number) => inside({ ...window, first: window.first + window.count * share }, samples);

export function shiftBand(window: Window, share: number): Window {
  const width = window.high - window.low;
  const low = clamp(window.low + width * share, 0, 1 - width);
  return { ...window, low, high: low + width };
}

// The newest samples, as many as are shown.
export const newest = (window: Window, samples: number) => inside({ ...window, first: samples - window.count }, samples);

// The newest samples of a recording that grows: as many as are shown of a part of it, else a second of it, or what there is.
export function followed(window: Window | undefined, samples: number, sampleRate: number): Window {
  if (window && window.first > 0) return newest(window, samples);
  return newest({ ...(window ?? whole(samples)), count: Math.max(65536, sampleRate) }, samples);
}

// So many frequencies that the part of the band that is shown has about 512, and no more than there are samples.
export function columnsFor(window: Window, isComplex: boolean): number {
  const wanted = 512 / (window.high - window.low);
  const most = isComplex ? window.count : window.count / 2;
  const power = Math.min(Math.ceil(Math.log2(wanted)), Math.floor(Math.log2(Math.max(16, most))));
  return 2 ** clamp(power, 4, 12);
}
