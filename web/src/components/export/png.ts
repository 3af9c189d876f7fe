/* The resolution of a PNG, which a canvas does not write: the chunk pHYs. Source: PNG
   specification, 11.3.4.3. */

const INCH = 0.0254; // metres
const AFTER = 33; // bytes of the signature and the header, which comes first

const crc = (bytes: Uint8Array): number => {
  let value = ~0;
  for (const byte of bytes) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit++) value = (value >>> 1) ^ (value & 1 ? 0xedb88320 : 0);
  }
  return ~value >>> 0;
};

/** A PNG that says at which resolution it is to be printed. */
export const withResolution = async (png: Blob, dpi: number): Promise<Blob> => {
  const data = new Uint8Array(await png.arrayBuffer());
  const chunk = new DataView(new ArrayBuffer(21));
  chunk.setUint32(0, 9);
  [..."pHYs"].forEach((letter, i) => chunk.setUint8(4 + i, letter.charCodeAt(0)));
  const perMetre = Math.round(dpi / INCH);
  chunk.setUint32(8, perMetre);
  chunk.setUint32(12, perMetre);
  chunk.setUint8(16, 1); // metres
  chunk.setUint32(17, crc(new Uint8Array(chunk.buffer, 4, 13)));
  return new Blob([data.subarray(0, AFTER), chunk.buffer, data.subarray(AFTER)], {
    type: png.type,
  });
};
