/**
 * The rule for znode paths, on UTF-8 bytes as they arrive: a path is valid when it is `/`, or
 * starts with `/`, does not end in it, has no empty, `.` or `..` segment, and no character that
 * ZooKeeper refuses (U+0000 to U+001F, U+007F to U+009F, U+D800 to U+F8FF, U+FFF0 to U+FFFF,
 * everything above U+FFFF). Malformed UTF-8 decodes to U+FFFD in every ZooKeeper server and is
 * therefore refused too.
 */

const SLASH = 0x2f;
const DOT = 0x2e;

/** Why a path is refused, or undefined when it is valid. */
export type PathFault =
  | "empty"
  | "does not start with /"
  | "ends in /"
  | "has an empty segment"
  | "has a relative segment"
  | "has an illegal character";

export function pathFault(bytes: Uint8Array, start: number, end: number): PathFault | undefined {
  if (start >= end) return "empty";
  if (bytes[start] !== SLASH) return "does not start with /";
  if (end - start === 1) return undefined;
  if (bytes[end - 1] === SLASH) return "ends in /";
  let segment = start + 1;
  for (let i = start + 1; i < end; ) {
    const byte = bytes[i] as number;
    if (byte === SLASH) {
      if (i === segment) return "has an empty segment";
      if (isRelative(bytes, segment, i)) return "has a relative segment";
      segment = ++i;
      continue;
    }
    const width = legalWidth(bytes, i, end);
    if (width === 0) return "has an illegal character";
    i += width;
  }
  return isRelative(bytes, segment, end) ? "has a relative segment" : undefined;
}

export function isValidPath(bytes: Uint8Array, start: number, end: number): boolean {
  return pathFault(bytes, start, end) === undefined;
}

/** The same rule for a path that is text already, with a sentence that says what was found. */
export function checkPath(path: string): void {
  const bytes = new TextEncoder().encode(path);
  const fault = pathFault(bytes, 0, bytes.length);
  if (fault !== undefined)
    throw new RangeError(`invalid path ${JSON.stringify(path)}: it ${fault === "empty" ? "is empty" : fault}`);
}

/** How many bytes the legal character at `i` has; 0 when it is malformed or refused. */
function legalWidth(bytes: Uint8Array, i: number, end: number): number {
  const a = bytes[i] as number;
  if (a < 0x80) return a >= 0x20 && a !== 0x7f ? 1 : 0;
  if (a < 0xc2 || a > 0xef) return 0;
  if (i + 1 >= end) return 0;
  const b = bytes[i + 1] as number;
  if ((b & 0xc0) !== 0x80) return 0;
  if (a < 0xe0) return a === 0xc2 && b < 0xa0 ? 0 : 2;
  if (i + 2 >= end) return 0;
  const c = bytes[i + 2] as number;
  if ((c & 0xc0) !== 0x80 || (a === 0xe0 && b < 0xa0)) return 0;
  const point = ((a & 0x0f) << 12) | ((b & 0x3f) << 6) | (c & 0x3f);
  if ((point >= 0xd800 && point <= 0xf8ff) || point >= 0xfff0) return 0;
  return 3;
}

function isRelative(bytes: Uint8Array, start: number, end: number): boolean {
  if (bytes[start] !== DOT) return false;
  return end - start === 1 || (end - start === 2 && bytes[start + 1] === DOT);
}

/**
 * Where the last `/` of a path stands, or -1. The parent is what lies before it, and `/` itself for
 * a top-level path.
 */
export function lastSlash(bytes: Uint8Array, start: number, end: number): number {
  for (let i = end - 1; i >= start; i--) if (bytes[i] === SLASH) return i;
  return -1;
}

/** The parent of a path that is text; `/` for a top-level one. */
export function parentPath(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash <= 0 ? "/" : path.slice(0, slash);
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

export function joinPath(parent: string, name: string): string {
  return parent === "/" ? `/${name}` : `${parent}/${name}`;
}

/**
 * The suffix of a sequential node: decimal, ten wide, zero-padded, the sign counted in the width.
 *
 * @param counter a signed 32-bit integer: how many children the parent was ever given
 */
export function sequenceSuffix(counter: number): string {
  return counter < 0 ? `-${String(-counter).padStart(9, "0")}` : String(counter).padStart(10, "0");
}
