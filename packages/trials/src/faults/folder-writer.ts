/**
 * Writes one folder through one session at a time, as fast as its pipeline allows, and keeps the
 * book that an audit needs: every step with the moments of sending and of the answer.
 */

import { JuteReader } from "@zooid/conformance/internal/jute";
import { Random } from "@zooid/conformance/internal/random";
import { create, multi, OP, setData, versioned } from "@zooid/conformance/internal/wire";
import { type Change, FolderState, hex, type Step, stateAfter } from "./owned-folder.ts";
import { RawSession, type Reply, SessionRefused, Unanswered } from "./raw-session.ts";

export const SESSION_TIMEOUT_MS = 40_000;
const FLAG_EPHEMERAL = 1;
const FLAG_SEQUENTIAL = 2;
const NODES_MAX = 40;

/** Writers that have a folder each, and a random stream of their own. */
export function folderWriters(
  { writers, seed }: { readonly writers: number; readonly seed: number },
  inFlightMax: () => number,
): readonly FolderWriter[] {
  return Array.from(
    { length: writers },
    (_, index) => new FolderWriter(`/folder${index}`, new Random(seed + index + 1), inFlightMax()),
  );
}

export class FolderWriter {
  readonly path: string;
  readonly steps: Step[] = [];
  readonly #random: Random;
  readonly #inFlightMax: number;
  base: FolderState = new FolderState();
  #ahead: FolderState = new FolderState();
  #session: RawSession | undefined;
  #valueCount = 0;
  #lastZxid = 0n;

  constructor(path: string, random: Random, inFlightMax: number) {
    this.path = path;
    this.#random = random;
    this.#inFlightMax = inFlightMax;
  }

  /**
   * Forgets the steps that turned out never to have happened, and continues from what is there.
   * Steps that were only found, not answered, count as answered from now on: content that a client
   * has read may not vanish either.
   */
  settle(length: number): void {
    this.steps.length = length;
    const now = process.hrtime.bigint();
    for (const step of this.steps) step.answeredAt ??= now;
    this.#ahead = stateAfter(this, length);
  }

  /** Folds the settled steps into the base, for runs that never look back. */
  compact(): void {
    this.base = this.#ahead.copy();
    this.steps.length = 0;
  }

  /**
   * Takes up the session that the book says is open; a test that finds it refused has found a
   * fault.
   */
  async resume(port: number): Promise<void> {
    await this.#session?.abandon();
    this.#session = undefined;
    const credentials = this.#ahead.session;
    if (credentials === undefined) return;
    try {
      this.#session = await RawSession.open({
        port,
        timeoutMs: SESSION_TIMEOUT_MS,
        resume: credentials,
        lastZxidSeen: this.#lastZxid,
      });
    } catch (error) {
      if (!(error instanceof SessionRefused)) throw error;
      throw new Error(`${this.path}: session ${hex(credentials.id)} was open and is refused`, { cause: error });
    }
  }

  /** Drops the connection; what is in flight stays unanswered. */
  async abandon(): Promise<void> {
    await this.#session?.abandon();
  }

  /**
   * Writes until the connection breaks or `isOver` says so; then waits for the answers that still
   * come.
   */
  async write(port: number, isOver: () => boolean): Promise<void> {
    const inFlight = new Set<Promise<void>>();
    let isBroken = false;
    let fault: unknown;
    try {
      while (!isOver() && !isBroken) {
        if (this.#session === undefined) await this.#open(port);
        const step = this.#send(this.#choose());
        const settled = step.answer.catch((error: unknown) => {
          isBroken = true;
          if (!(error instanceof Unanswered)) fault ??= error;
        });
        const entry = settled.finally(() => inFlight.delete(entry));
        inFlight.add(entry);
        if (step.change.kind === "close" || step.change.kind === "folder") await entry;
        if (step.change.kind === "close") this.#session = undefined;
        if (inFlight.size >= this.#inFlightMax) await Promise.race(inFlight);
      }
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error;
    }
    await Promise.all(inFlight);
    if (fault !== undefined) throw fault;
  }

  async #open(port: number): Promise<void> {
    const step: Step = { change: { kind: "open" }, sentAt: process.hrtime.bigint() };
    this.#session = await RawSession.open({ port, timeoutMs: SESSION_TIMEOUT_MS });
    step.answeredAt = process.hrtime.bigint();
    step.session = this.#session.credentials;
    this.steps.push(step);
    this.#ahead.apply(step);
  }

  #send(change: Change): { readonly change: Change; readonly answer: Promise<void> } {
    const session = this.#session;
    if (session === undefined) throw new Error("no session to send with");
    const expectedPath = change.kind === "append" ? `${this.path}/${this.#ahead.nextName(change.prefix)}` : undefined;
    const step: Step = { change, sentAt: process.hrtime.bigint() };
    this.steps.push(step);
    this.#ahead.apply(step);
    return { change, answer: this.#settle(step, session.ask(...this.#encode(change)), expectedPath) };
  }

  async #settle(step: Step, reply: Promise<Reply>, expectedPath: string | undefined): Promise<void> {
    const { zxid, error, body, arrivedAt } = await reply;
    const code = error === 0 && step.change.kind === "multi" ? multiError(body) : error;
    if (code !== 0) throw new Error(`${this.path}: ${step.change.kind} was refused with ${code}`);
    const path = expectedPath === undefined ? undefined : new JuteReader(body).string();
    if (path !== expectedPath) throw new Error(`${this.path}: ${path} was made where ${expectedPath} was due`);
    if (zxid <= this.#lastZxid)
      throw new Error(`${this.path}: zxid ${zxid} is not above the last one, ${this.#lastZxid}`);
    this.#lastZxid = zxid;
    step.answeredAt = arrivedAt;
    step.zxid = zxid;
  }

  #choose(): Change {
    const random = this.#random;
    const names = [...this.#ahead.nodes.keys()];
    if (!this.#ahead.exists) return { kind: "folder" };
    if (random.chance(0.002)) return { kind: "close" };
    if (names.length > NODES_MAX || (names.length > 0 && random.chance(0.2))) {
      return { kind: "delete", name: random.pick(names) };
    }
    if (names.length > 0 && random.chance(0.5)) return { kind: "set", name: random.pick(names), value: this.#value() };
    const ephemeral = random.chance(0.3);
    if (random.chance(0.3)) return { kind: "append", prefix: "s-", value: this.#value(), ephemeral };
    const create = (): Change => ({ kind: "create", name: this.#name(), value: this.#value(), ephemeral });
    if (!random.chance(0.3)) return create();
    const parts: Change[] = [create(), create()];
    const changed = names.at(0);
    if (changed !== undefined) parts.push({ kind: "set", name: changed, value: this.#value() });
    return { kind: "multi", parts };
  }

  #name(): string {
    return `n${this.#valueCount++}`;
  }

  /** Distinct in its head; some values span several disk blocks. */
  #value(): string {
    const padding = this.#random.chance(0.1) ? this.#random.between(1, 6000) : this.#random.between(0, 200);
    return `${this.#valueCount++}.${"v".repeat(padding)}`;
  }

  #encode(change: Change): readonly [opcode: number, body: Buffer] {
    const pathOf = (name: string): string => `${this.path}/${name}`;
    switch (change.kind) {
      case "folder":
        return [OP.create, create(this.path)];
      case "create":
      case "append": {
        const { value: data, ephemeral } = change;
        const [name, order] = change.kind === "create" ? [change.name, 0] : [change.prefix, FLAG_SEQUENTIAL];
        return [OP.create, create(pathOf(name), { data, flags: order | (ephemeral ? FLAG_EPHEMERAL : 0) })];
      }
      case "set":
        return [OP.setData, setData(pathOf(change.name), change.value)];
      case "delete":
        return [OP.delete, versioned(pathOf(change.name), -1)];
      case "multi":
        return [OP.multi, multi(...change.parts.map((part) => this.#encode(part)))];
      case "close":
        return [OP.close, Buffer.alloc(0)];
      case "open":
        throw new Error("a session opens with a handshake, not with a request");
    }
  }
}

/**
 * The first error among a transaction's results, or 0: a failed one is all error records, some of
 * them with code 0.
 */
function multiError(body: Buffer): number {
  const reader = new JuteReader(body);
  const type = reader.int();
  if (type !== -1) return 0;
  let first = 0;
  for (let isDone = reader.bool(); !isDone; isDone = reader.bool()) {
    reader.skip(4);
    first ||= reader.int();
    reader.skip(4);
  }
  return first === 0 ? -1 : first;
}
