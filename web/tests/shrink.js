// Makes pictures small: node shrink.js FROM TO NAME... reads FROM/NAME.png and writes TO/NAME.png with 256 colours at most.
//
// A view has few colours, and the shades of its letters between them. The most frequent colours stay as they are; every
// other one becomes the nearest of these.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import zlib from "node:zlib";

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const COLOURS = 256;

/** The pixels of a picture as a browser writes it: 8 bits, RGB or RGBA, not interlaced. */
function decode(file) {
  let [width, height, channels] = [0, 0, 0];
  const parts = [];
  for (let at = 8; at < file.length; ) {
    const length = file.readUInt32BE(at);
    const kind = file.toString("latin1", at + 4, at + 8);
    const data = file.subarray(at + 8, at + 8 + length);
    if (kind === "IHDR") {
      [width, height] = [data.readUInt32BE(0), data.readUInt32BE(4)];
      channels = { 2: 3, 6: 4 }[data[9]];
      if (data[8] !== 8 || !channels || data[12] !== 0) throw new Error("only plain pictures of 8 bits can be read");
    }
    if (kind === "IDAT") parts.push(data);
    at += 12 + length;
  }
  const raw = zlib.inflateSync(Buffer.concat(parts));
  const row = width * channels;
  const pixels = Buffer.alloc(row * height);
  for (let y = 0; y < height; y += 1) {
    const filter = raw[y * (row + 1)];
    for (let x = 0; x < row; x += 1) {
      const left = x >= channels ? pixels[y * row + x - channels] : 0;
      const up = y ? pixels[(y - 1) * row + x] : 0;
      const corner = x >= channels && y ? pixels[(y - 1) * row + x - channels] : 0;
      const add = [0, left, up, (left + up) >> 1, filter === 4 ? paeth(left, up, corner) : 0][filter];
      pixels[y * row + x] = raw[y * (row + 1) + 1 + x] + add;
    }
  }
  return { width, height, channels, pixels };
}

function paeth(a, b, c) {
  const p = a + b - c;
  const [da, db, dc] = [Math.abs(p - a), Math.abs(p - b), Math.abs(p - c)];
  return da <= db && da <= dc ? a : db <= dc ? b : c;
}

/** The most frequent colours, each a number, and a function to the nearest of them. */
function paletteOf({ pixels, channels }) {
  const counts = new Map();
  for (let i = 0; i < pixels.length; i += channels) {
    const colour = (pixels[i] << 16) | (pixels[i + 1] << 8) | pixels[i + 2];
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const sorted = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([colour]) => colour);
  // A colour that is nearly another one takes no place of its own.
  const palette = [];
  for (const near of [18, 8, 0]) {
    for (const one of sorted) {
      if (palette.length >= COLOURS) break;
      if (palette.every((other) => distance(one, other) > near)) palette.push(one);
    }
  }
  const known = new Map(palette.map((colour, i) => [colour, i]));
  const indexOf = (colour) => {
    let found = known.get(colour);
    if (found === undefined) {
      found = palette.reduce((best, one, i) => (distance(colour, one) < distance(colour, palette[best]) ? i : best), 0);
      known.set(colour, found);
    }
    return found;
  };
  return { palette, indexOf };
}

function distance(a, b) {
  return Math.abs((a >> 16) - (b >> 16)) + Math.abs(((a >> 8) & 255) - ((b >> 8) & 255)) + Math.abs((a & 255) - (b & 255));
}

function encode(picture) {
  const { width, height, channels, pixels } = picture;
  const { palette, indexOf } = paletteOf(picture);
  const raw = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const i = (y * width + x) * channels;
      raw[y * (width + 1) + 1 + x] = indexOf((pixels[i] << 16) | (pixels[i + 1] << 8) | pixels[i + 2]);
    }
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  const colours = Buffer.from(palette.flatMap((one) => [one >> 16, (one >> 8) & 255, one & 255]));
  return Buffer.concat([SIGNATURE, chunk("IHDR", head), chunk("PLTE", colours), chunk("IDAT", zlib.deflateSync(raw, { level: 9, memLevel: 9 })), chunk("IEND", Buffer.alloc(0))]);
}

function chunk(kind, data) {
  const body = Buffer.concat([Buffer.from(kind, "latin1"), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

const [from, to, ...names] = process.argv.slice(2);
let all = 0;
for (const name of names) {
  const small = encode(decode(readFileSync(join(from, `${name}.png`))));
  writeFileSync(join(to, `${name}.png`), small);
  all += small.length;
}
console.log(`${names.length} pictures, ${Math.round(all / 1000)} kB`);
