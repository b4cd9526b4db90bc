/** Computed on first use: the guard is loaded with every command, and few need this. */
let table: Uint32Array | undefined;

function makeTable(): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, byte) => {
    let value = byte;
    for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
    return value;
  });
}

/** CRC-32 as in zip and gzip (RFC 1952) of an ASCII text. */
export function crc32(text: string): number {
  table ??= makeTable();
  let crc = 0xffffffff;
  for (let i = 0; i < text.length; i += 1) {
    crc = (crc >>> 8) ^ (table[(crc ^ text.charCodeAt(i)) & 0xff] ?? 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** GitHub and npm end a token's body with its CRC-32: six characters in base 62, padded with zeros. */
export function hasCrcSuffix(body: string): boolean {
  let rest = crc32(body.slice(0, -6));
  let suffix = '';
  for (let i = 0; i < 6; i += 1) {
    suffix = BASE62[rest % 62] + suffix;
    rest = Math.floor(rest / 62);
  }
  return body.endsWith(suffix);
}
