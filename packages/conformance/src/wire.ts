/**
 * A connection of plain bytes that prints every packet it receives, for scenarios that are compared
 * as text.
 *
 * Zxids are printed relative to the newest seen (`+1`: the next transaction), so that refused
 * writes count; session ids and times become words. Packets come in the order of the wire: events
 * before the reply of the write that fires them.
 */
import { createHash } from "node:crypto";
import { RawConnection } from "@zooid/wire/testing/raw-connection";
import { JuteReader, JuteWriter } from "./jute.ts";

const WAIT_MS = 20_000;
const CLOSED = "closed";
export const ALL = 31;
export const OPEN_ACL: readonly Acl[] = [[ALL, "world", "anyone"]];

export type Acl = readonly [permissions: number, scheme: string, id: string];

export const OP = {
  create: 1,
  delete: 2,
  exists: 3,
  getData: 4,
  setData: 5,
  getAcl: 6,
  setAcl: 7,
  getChildren: 8,
  sync: 9,
  ping: 11,
  getChildren2: 12,
  check: 13,
  multi: 14,
  create2: 15,
  reconfig: 16,
  checkWatches: 17,
  removeWatches: 18,
  createContainer: 19,
  deleteContainer: 20,
  createTtl: 21,
  multiRead: 22,
  auth: 100,
  setWatches: 101,
  getEphemerals: 103,
  getAllChildrenNumber: 104,
  setWatches2: 105,
  addWatch: 106,
  whoAmI: 107,
  close: -11,
} as const;

/** Replaces values that differ between runs by words. */
class Normaliser {
  #newest = 0n;
  readonly #sessions = new Map<bigint, string>();

  zxid(value: bigint): string {
    if (value <= 0n) return String(value);
    const distance = this.#newest === 0n ? 0n : value - this.#newest;
    if (value > this.#newest) this.#newest = value;
    return distance > 0n ? `+${distance}` : String(distance === 0n ? "=" : distance);
  }
  /** Earlier zxids in a Stat: printed without updating the newest one. */
  stamp(value: bigint): string {
    return value <= 0n ? String(value) : `now-${this.#newest - value}`;
  }
  name(session: bigint, word: string): void {
    this.#sessions.set(session, word);
  }
  /** A negative owner is no session but gives the node's kind. */
  session(value: bigint): string {
    if (value < 0n) return `kind ${BigInt.asUintN(64, value).toString(16)}`;
    return value === 0n ? "none" : (this.#sessions.get(value) ?? "unknown");
  }
  get newest(): bigint {
    return this.#newest;
  }
}

/** The record of received packets, with words for values that differ between runs. */
export class Transcript {
  readonly normal: Normaliser = new Normaliser();
  readonly #line: (text: string) => void;

  constructor(line: (text: string) => void) {
    this.#line = line;
  }

  print(label: string, text: string): void {
    // Control characters are escaped, so that transcripts are text.
    this.#line(
      `${label}: ${text}`.replace(/\p{Cc}/gu, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`),
    );
  }
}

const CONSOLE = new Transcript((text) => console.log(text));

export const normal: Normaliser = CONSOLE.normal;

export interface HandshakeFields {
  readonly id?: bigint;
  readonly password?: Buffer;
  readonly timeoutMs?: number;
  readonly lastZxid?: bigint;
  readonly withReadOnly?: boolean;
}

const SILENT_XID = 2 ** 30;

export class Wire {
  readonly #transcript: Transcript;
  readonly #connection: RawConnection;
  readonly #asked = new Map<number, string>();
  #xid = 0;
  #hasEnded = false;
  #lastError = 0;
  id = 0n;
  password: Buffer = Buffer.alloc(16);

  constructor(address: string, transcript: Transcript = CONSOLE) {
    this.#transcript = transcript;
    const [host = "", port = ""] = address.split(":");
    this.#connection = RawConnection.to({ host, port: Number(port), deadlineMs: WAIT_MS });
  }

  /** @throws when nothing arrives for a long time */
  async next(): Promise<Buffer | typeof CLOSED> {
    try {
      const frame = await this.#connection.frameOrEnd();
      if (frame === undefined) this.#hasEnded = true;
      return frame ?? CLOSED;
    } catch (error) {
      this.#transcript.print("(nothing came)", [...this.#asked.values()].join(", "));
      throw new Error("nothing came", { cause: error });
    }
  }

  /** Whether the connection has ended. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The error of the last printed reply. */
  get lastError(): number {
    return this.#lastError;
  }

  write(bytes: Buffer): void {
    this.#connection.send(bytes);
  }

  async handshake(label: string, fields: HandshakeFields = {}): Promise<void> {
    const { id = 0n, password = Buffer.alloc(16), timeoutMs = 20_000, lastZxid = 0n, withReadOnly = true } = fields;
    const request = new JuteWriter().int(0).long(lastZxid).int(timeoutMs).long(id).buffer(password);
    if (withReadOnly) request.bool(false);
    this.#connection.sendFrame(request.bytes());
    const frame = await this.next();
    if (frame === CLOSED) return this.#transcript.print(label, CLOSED);
    const reader = new JuteReader(frame);
    const version = reader.int();
    const negotiatedMs = reader.int();
    this.id = reader.long();
    this.password = Buffer.from(reader.buffer() ?? []);
    const isNew = id === 0n && this.id !== 0n;
    const identity = isNew
      ? "new session"
      : this.id === 0n
        ? "no session"
        : this.id === id
          ? "same session"
          : "ANOTHER SESSION";
    const secret = this.password.every((byte) => byte === 0) ? "zero password" : `password of ${this.password.length}`;
    const readOnly = reader.rest().length === 0 ? "no read-only byte" : `read-only ${reader.bool()}`;
    this.#transcript.print(label, `version ${version}, ${negotiatedMs} ms, ${identity}, ${secret}, ${readOnly}`);
  }

  /** Sends a request without waiting; `label` is printed with its reply. */
  send(label: string, opcode: number, body: Buffer = Buffer.alloc(0), xid: number = ++this.#xid): void {
    this.#asked.set(xid, `${opcode} ${label}`);
    this.#connection.sendFrame(new JuteWriter().int(xid).int(opcode).bytes(), body);
  }

  /**
   * For requests whose preceding events have no guaranteed order: prints them sorted, without
   * zxids.
   */
  async askSorted(label: string, opcode: number, body?: Buffer, xid?: number): Promise<void> {
    this.send(label, opcode, body, xid);
    const events: string[] = [];
    await this.settle((line) => events.push(line.replace(/zxid \S+ /, "")));
    for (const event of events.sort()) this.#transcript.print("event, in any order", event);
  }

  /** Prints packets up to and with the reply to the last request. */
  async settle(onEvent: (text: string) => void = (text) => this.#transcript.print("event", text)): Promise<void> {
    while (this.#asked.size > 0) {
      const frame = await this.next();
      if (frame === CLOSED) {
        this.#transcript.print([...this.#asked.values()].map((asked) => asked.replace(/^\S+ /, "")).join(", "), CLOSED);
        return;
      }
      this.#print(new JuteReader(frame), onEvent);
    }
  }

  async ask(label: string, opcode: number, body?: Buffer, xid?: number): Promise<void> {
    this.send(label, opcode, body, xid);
    await this.settle();
  }

  /**
   * The error of a request that is not part of the transcript. No other request may be in flight.
   */
  async errorOf(opcode: number, body: Buffer): Promise<number> {
    this.#connection.sendFrame(new JuteWriter().int(SILENT_XID).int(opcode).bytes(), body);
    const frame = await this.next();
    if (frame === CLOSED) return 0;
    const reader = new JuteReader(frame);
    if (reader.int() !== SILENT_XID) throw new Error("another answer came first");
    reader.long();
    return reader.int();
  }

  /** Prints the next packet, which is not a reply. */
  async event(label: string): Promise<void> {
    const frame = await this.next();
    if (frame === CLOSED) this.#transcript.print(label, CLOSED);
    else this.#print(new JuteReader(frame), (text) => this.#transcript.print(label, text));
  }

  #print(reader: JuteReader, onEvent: (text: string) => void): void {
    const xid = reader.int();
    const zxid = this.#transcript.normal.zxid(reader.long());
    const error = reader.int();
    if (xid === -1) {
      onEvent(`zxid ${zxid} type ${reader.int()} state ${reader.int()} ${reader.string()}${leftover(reader)}`);
      return;
    }
    this.#lastError = error;
    const asked = this.#asked.get(xid) ?? "";
    this.#asked.delete(xid);
    const [opcode = "", ...words] = asked.split(" ");
    const body = error === 0 ? bodyText(Number(opcode), reader, this.#transcript.normal) : "";
    this.#transcript.print(
      words.join(" "),
      `xid ${xid < 0 ? xid : "same"} zxid ${zxid} error ${error}${body}${leftover(reader)}`,
    );
  }

  end(): void {
    this.#connection.socket.destroy();
  }
}

function leftover(reader: JuteReader): string {
  const rest = reader.rest();
  return rest.length === 0 ? "" : ` and ${rest.length} more bytes: ${rest.toString("hex")}`;
}

function bodyText(opcode: number, reader: JuteReader, normal: Normaliser): string {
  switch (opcode) {
    case OP.create:
    case OP.sync:
      return ` ${reader.string()}`;
    case OP.create2:
    case OP.createContainer:
    case OP.createTtl:
      return ` ${reader.string()} ${statText(reader, normal)}`;
    case OP.exists:
    case OP.setData:
    case OP.setAcl:
      return ` ${statText(reader, normal)}`;
    case OP.getData:
    case OP.reconfig:
      return ` ${dataText(reader)} ${statText(reader, normal)}`;
    case OP.getAcl:
      return ` ${aclText(reader)} ${statText(reader, normal)}`;
    case OP.getChildren:
      return ` ${namesText(reader)}`;
    case OP.getChildren2:
      return ` ${namesText(reader)} ${statText(reader, normal)}`;
    case OP.getEphemerals:
      return ` ${namesText(reader)}`;
    case OP.getAllChildrenNumber:
    case OP.addWatch:
      return ` ${reader.int()}`;
    case OP.whoAmI:
      return ` ${usersText(reader)}`;
    case OP.multi:
    case OP.multiRead:
      return ` [${resultsText(reader, normal)}]`;
    default:
      return "";
  }
}

function statText(reader: JuteReader, normal: Normaliser): string {
  const [czxid, mzxid, ctime, mtime] = [reader.long(), reader.long(), reader.long(), reader.long()];
  const [version, cversion, aversion] = [reader.int(), reader.int(), reader.int()];
  const [owner, length, children, pzxid] = [reader.long(), reader.int(), reader.int(), reader.long()];
  const [c, m, p] = [normal.stamp(czxid), normal.stamp(mzxid), normal.stamp(pzxid)];
  const times = ctime === 0n && mtime === 0n ? "never" : mtime >= ctime ? "dated" : "MODIFIED BEFORE IT WAS MADE";
  return `(c ${c} m ${m} p ${p} v ${version}/${cversion}/${aversion} ${normal.session(owner)} ${length} bytes ${children} children ${times})`;
}

function dataText(reader: JuteReader): string {
  const data = reader.buffer();
  return data === undefined ? "null" : `'${data}'`;
}

function namesText(reader: JuteReader): string {
  return `[${Array.from({ length: reader.int() }, () => reader.string())
    .sort()
    .join(" ")}]`;
}

/** The identities of the connection, in no guaranteed order. */
function usersText(reader: JuteReader): string {
  const users = Array.from({ length: reader.int() }, () => `${reader.string()}:'${reader.string()}'`);
  return `[${users.sort().join(" ")}]`;
}

/**
 * In the order of the list, except among users with the same permissions: the expansion of an
 * `auth` entry has no guaranteed order.
 */
function aclText(reader: JuteReader): string {
  const runs: string[][] = [];
  let before = "";
  for (let left = reader.int(); left > 0; left--) {
    const kind = `${reader.int()}:${reader.string()}`;
    if (kind !== before) runs.push([]);
    before = kind;
    runs.at(-1)?.push(`${kind}:${reader.string()}`);
  }
  return runs.flatMap((run) => run.sort()).join(",");
}

function resultsText(reader: JuteReader, normal: Normaliser): string {
  const texts: string[] = [];
  for (;;) {
    const type = reader.int();
    const isDone = reader.bool();
    const error = reader.int();
    if (isDone) return [...texts, `end ${type} ${error}`].join("; ");
    texts.push(type === -1 ? `failed ${error} ${reader.int()}` : `${type} ${error}${bodyText(type, reader, normal)}`);
  }
}

export function aclBytes(acl: readonly Acl[]): Buffer {
  const writer = new JuteWriter().int(acl.length);
  for (const [permissions, scheme, id] of acl) writer.int(permissions).string(scheme).string(id);
  return writer.bytes();
}

export interface CreateOptions {
  readonly data?: string | null;
  readonly acl?: readonly Acl[];
  readonly flags?: number;
  /** For createTtl only, in milliseconds. */
  readonly ttl?: bigint;
}

export function create(path: string, { data = "", acl = OPEN_ACL, flags = 0, ttl }: CreateOptions = {}): Buffer {
  const writer = new JuteWriter().string(path);
  if (data === null) writer.int(-1);
  else writer.string(data);
  writer.raw(aclBytes(acl)).int(flags);
  return (ttl === undefined ? writer : writer.long(ttl)).bytes();
}
export const onPath = (path: string): Buffer => new JuteWriter().string(path).bytes();
/** The protocol's null string, and the data that may follow it. */
export const onNoPath = (...rest: readonly number[]): Buffer => {
  const writer = new JuteWriter().int(-1);
  for (const value of rest) writer.int(value);
  return writer.bytes();
};
/** A watch of one mode for addWatch, or of one type for checkWatches and removeWatches. */
export const watchOn = (path: string, mode: number): Buffer => new JuteWriter().string(path).int(mode).bytes();
export const read = (path: string, isWatched = false): Buffer => new JuteWriter().string(path).bool(isWatched).bytes();
export const versioned = (path: string, version: number): Buffer => new JuteWriter().string(path).int(version).bytes();
export const setData = (path: string, data: string, version = -1): Buffer =>
  new JuteWriter().string(path).string(data).int(version).bytes();
export const setAcl = (path: string, acl: readonly Acl[], version = -1): Buffer =>
  new JuteWriter().string(path).raw(aclBytes(acl)).int(version).bytes();
export const auth = (scheme: string, credentials: string): Buffer =>
  new JuteWriter().int(0).string(scheme).string(credentials).bytes();
const strings = (values: readonly string[]): Buffer => {
  const writer = new JuteWriter().int(values.length);
  for (const value of values) writer.string(value);
  return writer.bytes();
};
export function multi(...parts: readonly (readonly [opcode: number, body: Buffer])[]): Buffer {
  const writer = new JuteWriter();
  for (const [opcode, body] of parts) writer.int(opcode).bool(false).int(-1).raw(body);
  return writer.int(-1).bool(true).int(-1).bytes();
}
/** Watches to arm again, for a client that has seen all changes up to `lastZxid`. */
export function setWatches(lastZxid: bigint, lists: readonly (readonly string[])[]): Buffer {
  return Buffer.concat([new JuteWriter().long(lastZxid).bytes(), ...lists.map(strings)]);
}
export const digest = (text: string): string =>
  `${text.split(":")[0]}:${createHash("sha1").update(text).digest("base64")}`;
