import { type CreateMode, copyRange, OPEN_ACL, OpCode } from "@zooid/model";
import { JuteWriter, writeAcl } from "@zooid/wire";

/**
 * A request as bytes that are complete except for its xid and a few digits of its paths. Sending
 * one is a copy and some patches.
 *
 *     0 length   4 xid   8 opcode   12 path length   16 /bench/…/n-0000017 …
 *                ^^^                                             ^^^^^^^ digits
 *
 * Plain data: it travels to the worker threads.
 */
export interface RequestTemplate {
  /** The name of its latencies. */
  readonly kind: string;
  readonly frame: Uint8Array;
  readonly isMulti: boolean;
  readonly digits: readonly Digits[];
}

/** Decimal digits inside a frame, and the number that they show. */
export interface Digits {
  readonly at: number;
  readonly length: number;
  /**
   * A random node, plus `add`; the next number of this connection; or the connection's own number.
   */
  readonly shows: "node" | "counter" | "connection";
  readonly add: number;
}

/**
 * Path placeholders: a run of one of these characters becomes digits. They are illegal elsewhere in
 * a bench path.
 */
const PLACEHOLDERS: ReadonlyMap<string, Digits["shows"]> = new Map([
  ["#", "node"],
  ["%", "counter"],
  ["@", "connection"],
]);

/**
 * getData. In each path here, `#######` stands for a node's number, `%%%` for a counter, `@@@` for
 * the connection.
 */
export function readTemplate(kind: string, path: string): RequestTemplate {
  return template(kind, OpCode.GET_DATA, (writer) => {
    writer.text(path);
    writer.bool(false);
  });
}

/** getChildren2. */
export function listTemplate(kind: string, path: string): RequestTemplate {
  return template(kind, OpCode.GET_CHILDREN2, (writer) => {
    writer.text(path);
    writer.bool(false);
  });
}

export function setTemplate(kind: string, path: string, payload: Uint8Array): RequestTemplate {
  return template(kind, OpCode.SET_DATA, (writer) => setBody(writer, path, payload));
}

export interface CreateWhat {
  readonly path: string;
  readonly payload: Uint8Array;
  readonly mode: CreateMode;
}

export function createTemplate(kind: string, { path, payload, mode }: CreateWhat): RequestTemplate {
  return template(kind, OpCode.CREATE, (writer) => {
    writer.text(path);
    writer.range(payload, 0, payload.length);
    writeAcl(writer, OPEN_ACL);
    writer.int(mode);
  });
}

/** exists, without a watch. */
export function existsTemplate(kind: string, path: string): RequestTemplate {
  return template(kind, OpCode.EXISTS, (writer) => {
    writer.text(path);
    writer.bool(false);
  });
}

/** getData that arms a watch. */
export function watchTemplate(kind: string, path: string): RequestTemplate {
  return template(kind, OpCode.GET_DATA, (writer) => {
    writer.text(path);
    writer.bool(true);
  });
}

export function closeTemplate(kind: string): RequestTemplate {
  return template(kind, OpCode.CLOSE_SESSION, () => {});
}

/**
 * One transaction that sets some nodes; in paths with a node's number, the first has the chosen
 * one, the others the following ones.
 */
export function multiSetTemplate(kind: string, paths: readonly string[], payload: Uint8Array): RequestTemplate {
  return template(
    kind,
    OpCode.MULTI,
    (writer) => {
      for (const path of paths) {
        partHeader(writer, OpCode.SET_DATA, false);
        setBody(writer, path, payload);
      }
      partHeader(writer, -1, true);
    },
    (index) => index,
  );
}

function setBody(writer: JuteWriter, path: string, payload: Uint8Array): void {
  writer.text(path);
  writer.range(payload, 0, payload.length);
  writer.int(-1);
}

function partHeader(writer: JuteWriter, op: number, isDone: boolean): void {
  writer.int(op);
  writer.bool(isDone);
  writer.int(-1);
}

/** Placeholders are located by inspecting each text as it is written. */
class PlaceholderWriter extends JuteWriter {
  readonly digits: Digits[] = [];
  #nodes = 0;
  readonly #addOf: (index: number) => number;

  constructor(addOf: (index: number) => number) {
    super();
    this.#addOf = addOf;
  }

  override text(value: string): void {
    super.text(value);
    const start = this.end - value.length;
    for (const [run] of value.matchAll(/#+|%+|@+/g)) {
      const shows = PLACEHOLDERS.get(run.charAt(0)) ?? "node";
      const at = start + value.indexOf(run);
      const add = shows === "node" ? this.#addOf(this.#nodes++) : 0;
      this.digits.push({ at, length: run.length, shows, add });
    }
  }
}

function template(
  kind: string,
  op: number,
  body: (writer: JuteWriter) => void,
  addOf: (index: number) => number = () => 0,
): RequestTemplate {
  const writer = new PlaceholderWriter(addOf);
  const frame = writer.beginFrame();
  writer.int(0);
  writer.int(op);
  body(writer);
  writer.endFrame(frame);
  return { kind, frame: copyRange(writer.bytes, 0, writer.end), isMulti: op === OpCode.MULTI, digits: writer.digits };
}

/** The complete request, to be sent alone. */
export function fillTemplate(
  { frame, digits }: RequestTemplate,
  xid: number,
  numbers: Readonly<Record<Digits["shows"], number>>,
): Uint8Array {
  const bytes = copyRange(frame, 0, frame.length);
  putInt(bytes, XID_OFFSET, xid);
  for (const { at, length, shows, add } of digits) putDigits(bytes, at, length, numbers[shows] + add);
  return bytes;
}

export const XID_OFFSET = 4;

export function putInt(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}

/** Writes a number's last digits in decimal, with leading zeros. */
export function putDigits(bytes: Uint8Array, at: number, length: number, value: number): void {
  let rest = value;
  for (let i = at + length - 1; i >= at; i--) {
    const next = (rest / 10) | 0;
    bytes[i] = 48 + rest - next * 10;
    rest = next;
  }
}
