// What the node's bytes mean.

export function bytesOf(base64: string | undefined): Uint8Array<ArrayBuffer> {
  const text = atob(base64 ?? '');
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index += 1) bytes[index] = text.charCodeAt(index);
  return bytes;
}

// float32, little-endian, whatever the machine is.
export function floatsOf(base64: string | undefined): Float32Array {
  const bytes = bytesOf(base64);
  const view = new DataView(bytes.buffer);
  return Float32Array.from({ length: Math.floor(bytes.length / 4) }, (_, index) => view.getFloat32(index * 4, true));
}

export const isComplex = (datatype: string) => datatype.startsWith('c');

// dB of a power whose full scale is 1.
export const decibels = (power: number) => 10 * Math.log10(Math.max(power, 1e-20));

// Bytes of one sample, by its SigMF name; 0: unknown.
export function bytesOfSample(datatype: string): number {
  const found = /^([cr])[fiu](\d+)/.exec(datatype);
  return found ? (Number(found[2]) / 8) * (found[1] === 'c' ? 2 : 1) : 0;
}
