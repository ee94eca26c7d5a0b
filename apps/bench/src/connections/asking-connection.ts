import { errorName } from "@zooid/model";
import {
  type ConnectionEvents,
  type ConnectionTarget,
  FrameOffset,
  LoadConnection,
  type LoadSession,
  readInt,
} from "./load-connection.ts";
import { type Digits, fillTemplate, type RequestTemplate } from "./request-template.ts";

/** A load connection for few requests: some at a time, and one promise for all of their answers. */
export class AskingConnection implements ConnectionEvents {
  readonly connection: LoadConnection;
  /** Called for each event of a watch. */
  onEvent: () => void = () => {};
  #waiting:
    | {
        readonly count: number;
        readonly codes: number[];
        resolve(codes: readonly number[]): void;
        reject(e: Error): void;
      }
    | undefined;
  #onLost: (() => void) | undefined;

  constructor(index: number, target: ConnectionTarget) {
    this.connection = new LoadConnection(index, target, this);
  }

  open(options: { readonly resume?: boolean } = {}): Promise<LoadSession> {
    return this.connection.open(options);
  }

  /** Sends some requests at once. @returns their codes, in order */
  ask(
    templates: readonly RequestTemplate[],
    numbers: Readonly<Record<Digits["shows"], number>> = NO_NUMBERS,
  ): Promise<readonly number[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly number[]>();
    if (!this.connection.isOpen) return Promise.reject(new Error("the connection is lost"));
    if (templates.length === 0) return Promise.resolve([]);
    this.#waiting = { count: templates.length, codes: [], resolve, reject };
    const frames = templates.map((template) => fillTemplate(template, this.connection.takeXid(), numbers));
    this.connection.write(Buffer.concat(frames), performance.now());
    return promise;
  }

  /** As `ask`; throws for the first refusal. */
  async demand(
    templates: readonly RequestTemplate[],
    numbers?: Readonly<Record<Digits["shows"], number>>,
  ): Promise<void> {
    for (const code of await this.ask(templates, numbers)) if (code !== 0) throw new ServerRefusal(errorName(code));
  }

  /** Resolves when the other side closes the connection. */
  lostByItself(): Promise<void> {
    if (!this.connection.isOpen) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onLost = resolve;
    return promise;
  }

  receiving(): void {}

  reply(connection: LoadConnection, bytes: Uint8Array, at: number): void {
    const xid = readInt(bytes, at + FrameOffset.xid);
    if (xid === EVENT_XID) this.onEvent();
    if (xid < 0) return;
    const waiting = this.#waiting;
    if (waiting === undefined || !connection.isNextReply(xid)) {
      this.lost(connection, `answered request ${xid} out of order`);
      return;
    }
    waiting.codes.push(readInt(bytes, at + FrameOffset.code));
    if (waiting.codes.length < waiting.count) return;
    this.#waiting = undefined;
    waiting.resolve(waiting.codes);
  }

  received(): void {}

  lost(_connection: LoadConnection, reason: string): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.reject(new Error(`the connection was lost: ${reason}`));
    this.#onLost?.();
  }
}

/** The server refused a request. */
export class ServerRefusal extends Error {
  override readonly name = "ServerRefusal";
  readonly code: string;

  constructor(code: string) {
    super(`the server refused with ${code}`);
    this.code = code;
  }
}

const EVENT_XID = -1;
const NO_NUMBERS: Readonly<Record<Digits["shows"], number>> = { node: 0, counter: 0, connection: 0 };
