import { type AclEntry, CreateMode, OpCode, type SessionId, type Stat } from "@zooid/model";
import {
  type JuteReader,
  type JuteWriter,
  type PartResult,
  readAclEntries,
  readData,
  readNames,
  readPartResults,
  readStat,
  readText,
} from "@zooid/wire";
import { multiBody, RawClient, read, request, versioned } from "@zooid/wire/testing/raw-client";
import type { ActWeights } from "./acts.ts";
import { type Dump, type ModelNode, ModelTree } from "./model-tree.ts";

export type ClientAct =
  | "create"
  | "set"
  | "delete"
  | "set access"
  | "multi"
  | "open session"
  | "close session"
  | "lose connection"
  | "fill";

export const CLIENT_ACTS: ActWeights<ClientAct> = [
  ["create", 8],
  ["set", 6],
  ["delete", 3],
  ["set access", 2],
  ["multi", 5],
  ["open session", 2],
  ["close session", 1],
  ["lose connection", 1],
  // Segments are rolled, the state is checkpointed, and what lies before it is purged.
  ["fill", 2],
];

const SESSION_COUNT_MAX = 4;
const CLOSED_COUNT_MAX = 4;
const NODE_COUNT_MAX = 60;
const FILL_WRITES = 24;
const ACCESS_LISTS: readonly (readonly AclEntry[])[] = [
  [{ perms: 31, scheme: "world", id: "anyone" }],
  [
    { perms: 15, scheme: "world", id: "anyone" },
    { perms: 31, scheme: "ip", id: "10.0.0.0/8" },
  ],
  [{ perms: 31, scheme: "ip", id: "127.0.0.0/8" }],
];
const [OPEN = []] = ACCESS_LISTS;
const MODES = [
  { op: OpCode.CREATE2, flags: CreateMode.PERSISTENT },
  { op: OpCode.CREATE2, flags: CreateMode.PERSISTENT_SEQUENTIAL },
  { op: OpCode.CREATE2, flags: CreateMode.EPHEMERAL },
  { op: OpCode.CREATE2, flags: CreateMode.EPHEMERAL_SEQUENTIAL },
  { op: OpCode.CREATE_CONTAINER, flags: CreateMode.CONTAINER },
  { op: OpCode.CREATE_TTL, flags: CreateMode.PERSISTENT_WITH_TTL },
] as const;
const TTL_MS = 1_000_000_000;
/** The node whose mtime each server sets on its own. */
const CONFIG_PATH = "/zookeeper/config";

interface Session {
  readonly id: SessionId;
  readonly password: Uint8Array;
  client: RawClient;
}

/** A write, and what its answer does to the model. */
interface Write {
  readonly op: number;
  readonly body: (writer: JuteWriter) => void;
  apply(result: PartResult, zxid: number): void;
}

/**
 * Clients of one server or of an ensemble, and what their answers promised. Between two acts
 * nothing is unanswered.
 */
export class HistoryClients implements AsyncDisposable {
  readonly #portOf: () => number;
  readonly #mayBeCarriedOut: boolean;
  readonly #sessions: Session[] = [];
  #model = new ModelTree(new Map());
  /** Writes whose connection ended before their answers. */
  #unanswered: readonly Write[] = [];
  /** Sessions that were closed last must not come back. */
  readonly #closed: Pick<Session, "id" | "password">[] = [];

  /**
   * @param portOf where the next connection goes
   * @param options `mayBeCarriedOut`: whether writes without an answer may be there after all, the
   *   first of them without the others; default false
   */
  constructor(portOf: () => number, { mayBeCarriedOut = false }: { readonly mayBeCarriedOut?: boolean } = {}) {
    this.#portOf = portOf;
    this.#mayBeCarriedOut = mayBeCarriedOut;
  }

  /** The tree as it is now is the beginning. */
  async begin(): Promise<void> {
    this.#model = new ModelTree(await this.#dump());
  }

  async perform(kind: ClientAct, a: number, b: number): Promise<void> {
    const model = this.#model;
    const paths = model.paths;
    const one = paths[a % Math.max(1, paths.length)];
    switch (kind) {
      case "create":
        return this.#write([this.#create(a, b)]);
      case "set":
        return one === undefined ? undefined : this.#write([this.#set(one, b)]);
      case "delete":
        return one === undefined ? undefined : this.#write([this.#delete(one)]);
      case "set access":
        return one === undefined ? undefined : this.#write([this.#setAccess(one, b)]);
      case "multi":
        return this.#write(this.#parts(a, b));
      case "open session":
        if (this.#sessions.length < SESSION_COUNT_MAX) await this.#openSession();
        return;
      case "close session":
        return this.#closeSession(a);
      case "lose connection":
        return this.#loseConnection(a);
      case "fill":
        return this.#fill(a, 1 + (b % 6000));
    }
  }

  /**
   * Sends many writes from a session that there is, and does not wait for their answers.
   *
   * @returns resolves when all of them have come that the server gives before the connection ends
   */
  async beginFill(a: number, length: number): Promise<{ readonly answered: Promise<void> }> {
    const { client } = this.#sessions[0] ?? (await this.#openSession());
    const answered = this.#fill(a, length).catch((error: unknown) => {
      if (!client.isClosed) throw error;
    });
    return { answered };
  }

  /** The present content of the server, without the sessions. */
  get snapshot(): ModelTree {
    return this.#model.withoutEphemerals();
  }

  /**
   * A snapshot has replaced all data of the server.
   *
   * @param options `isFounded`: an ensemble was founded on it since, with another configuration
   */
  async restored(snapshot: ModelTree, { isFounded = false }: { readonly isFounded?: boolean } = {}): Promise<void> {
    await this.disconnect();
    for (const session of this.#sessions.splice(0)) this.#noteClosed(session);
    this.#model = snapshot;
    if (isFounded) {
      const founded = (await this.#dump()).get(CONFIG_PATH);
      if (founded !== undefined) snapshot.changed(CONFIG_PATH, founded, founded.stat);
    }
    await this.resume();
  }

  /** Every connection ends. */
  async disconnect(): Promise<void> {
    for (const { client } of this.#sessions) await client[Symbol.asyncDispose]();
  }

  /** Every session resumes where it may connect now, and what was promised is there. */
  async resume(): Promise<void> {
    for (const session of this.#sessions) session.client = await this.#resume(session);
    for (const session of this.#closed) {
      await using client = await RawClient.open(this.#portOf());
      const { sessionId } = await client.handshake({ sessionId: session.id, password: session.password });
      if (sessionId !== 0n) throw new Error(`session 0x${session.id.toString(16)} was closed, and is back`);
    }
    await this.check();
  }

  /** The server that the first session is connected to shows what was promised. */
  async check(): Promise<void> {
    const dump = await this.#dump();
    this.#settleUnanswered(dump);
    checkEqual(dump, this.#model.dump);
  }

  /** The first session moves to where it may connect now. */
  async move(): Promise<void> {
    await this.#loseConnection(0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.disconnect();
  }

  #create(a: number, b: number): Write {
    const parents = ["/", ...this.#model.paths];
    const parent = parents[a % parents.length] ?? "/";
    const isFull = parents.length > NODE_COUNT_MAX;
    const { op, flags } = MODES[isFull ? 0 : b % MODES.length] ?? MODES[0];
    // A name that is there already is refused, and so a full tree grows no more.
    const path = isFull
      ? "/"
      : `${parent === "/" ? "" : parent}/${"abcdefgh"[b % 8]}${b % 3 === 0 ? "" : "é".repeat(b % 40)}`;
    const data = dataOf(a, b % 700);
    return {
      op,
      body: (writer) => {
        writer.text(path);
        putData(writer, data);
        putAccess(writer, OPEN);
        writer.int(flags);
        if (op === OpCode.CREATE_TTL) writer.long(0, TTL_MS);
      },
      apply: (result) => {
        if (result.op !== "create" || result.stat === undefined)
          throw new Error("a create is answered by path and Stat");
        this.#model.created(result.path, { data, acl: OPEN, stat: { ...result.stat } });
      },
    };
  }

  #set(path: string, b: number, length: number = b % 900): Write {
    const data = dataOf(b, length);
    return {
      op: OpCode.SET_DATA,
      body: (writer) => {
        writer.text(path);
        putData(writer, data);
        writer.int(-1);
      },
      apply: (result) => this.#model.changed(path, { data }, statOfSet(result)),
    };
  }

  #setAccess(path: string, b: number): Write {
    const acl = ACCESS_LISTS[b % ACCESS_LISTS.length] ?? OPEN;
    return {
      op: OpCode.SET_ACL,
      body: (writer) => {
        writer.text(path);
        putAccess(writer, acl);
        writer.int(-1);
      },
      apply: (result) => this.#model.changed(path, { acl }, statOfSet(result)),
    };
  }

  #delete(path: string): Write {
    return { op: OpCode.DELETE, body: versioned(path), apply: (_, zxid) => this.#model.deleted(path, zxid) };
  }

  /** Writes of a multi; some of them make it fail as a whole. */
  #parts(a: number, b: number): readonly Write[] {
    const paths = this.#model.paths;
    const leaf = paths.filter((path) => this.#model.isLeaf(path)).at(b % 7);
    const sets = paths.slice(0, 1 + (a % 3)).map((path, i) => this.#set(path, b + i));
    const more = [this.#create(a, b), this.#create(a + 1, b + 3)].slice(0, a % 3);
    return [...sets, ...more, ...(leaf === undefined || b % 4 === 0 ? [] : [this.#delete(leaf)])];
  }

  async #write(writes: readonly Write[]): Promise<void> {
    const [only, ...others] = writes;
    if (only === undefined) return;
    const { client } = this.#sessions[0] ?? (await this.#openSession());
    const isMulti = others.length > 0;
    const parts = writes.map(({ op, body }) => [op, body] as const);
    const { code, zxid, body } = await (isMulti
      ? client.ask(OpCode.MULTI, multiBody(...parts))
      : client.ask(only.op, only.body));
    if (code !== 0) return;
    const results = isMulti ? readPartResults(body) : [resultOf(only.op, body)];
    if (results.some(({ op }) => op === "error")) return;
    for (const [i, write] of writes.entries()) {
      const result = results[i];
      if (result === undefined) throw new Error(`the answer lacks the result of part ${i}`);
      write.apply(result, zxid);
    }
  }

  /** Many writes at once, which share syncs. */
  async #fill(a: number, length: number): Promise<void> {
    const { client } = this.#sessions[0] ?? (await this.#openSession());
    const writes = Array.from({ length: FILL_WRITES }, (_, i) => this.#set("/", a + i, length));
    for (const { op, body } of writes) client.send(request(1, op, body));
    if (this.#mayBeCarriedOut) this.#unanswered = writes;
    for (const write of writes) {
      const { code, zxid, body } = await client.reply();
      this.#unanswered = this.#unanswered.slice(1);
      if (code !== 0) continue;
      write.apply(resultOf(write.op, body), zxid);
    }
  }

  /** Their node's version says how many of them were carried out: the first ones, in order. */
  #settleUnanswered(dump: Dump): void {
    const [is, was] = [dump, this.#model.dump].map((tree) => tree.get("/")?.stat);
    if (is === undefined || was === undefined) return;
    const last = this.#unanswered[is.version - was.version - 1];
    this.#unanswered = [];
    last?.apply({ op: "set", stat: is }, is.mzxid);
  }

  // Sessions

  async #openSession(): Promise<Session> {
    const client = await RawClient.open(this.#portOf());
    const { sessionId, password } = await client.handshake({ timeoutMs: 40_000 });
    const session = { id: sessionId, password: password.bytes.slice(password.start, password.end), client };
    this.#sessions.push(session);
    return session;
  }

  async #closeSession(a: number): Promise<void> {
    const [session] = this.#sessions.splice(a % Math.max(1, this.#sessions.length), 1);
    if (session === undefined) return;
    const { zxid } = await session.client.ask(OpCode.CLOSE_SESSION);
    this.#model.sessionEnded(session.id, zxid);
    this.#noteClosed(session);
    await session.client[Symbol.asyncDispose]();
  }

  #noteClosed(session: Session): void {
    this.#closed.push(session);
    if (this.#closed.length > CLOSED_COUNT_MAX) this.#closed.shift();
  }

  async #loseConnection(a: number): Promise<void> {
    const session = this.#sessions[a % Math.max(1, this.#sessions.length)];
    if (session === undefined) return;
    await session.client[Symbol.asyncDispose]();
    session.client = await this.#resume(session);
  }

  async #resume({ id, password }: Pick<Session, "id" | "password">): Promise<RawClient> {
    const client = await RawClient.open(this.#portOf());
    const answer = await client.handshake({ sessionId: id, password, timeoutMs: 40_000 });
    if (answer.sessionId !== id) throw new Error(`session 0x${id.toString(16)} is gone`);
    return client;
  }

  async #dump(): Promise<Dump> {
    const { client } = this.#sessions[0] ?? (await this.#openSession());
    // A follower may lag behind an answer of the leader's.
    await client.ask(OpCode.SYNC, (writer) => writer.text("/"));
    const dump = new Map<string, ModelNode>();
    for (let paths = ["/"]; paths.length > 0; ) {
      const next: string[] = [];
      for (const path of paths) {
        client.send(request(1, OpCode.GET_DATA, read(path)));
        client.send(request(2, OpCode.GET_ACL, (writer) => writer.text(path)));
        client.send(request(3, OpCode.GET_CHILDREN, read(path)));
      }
      for (const path of paths) {
        const { body: node } = await client.reply();
        const bytes = readData(node);
        const data = bytes === null ? null : Buffer.from(bytes).toString();
        const stat = { ...readStat(node), ...(path === CONFIG_PATH ? { mtimeMs: 0 } : {}) };
        dump.set(path, { data, acl: readAclEntries((await client.reply()).body), stat });
        const names = readNames((await client.reply()).body);
        next.push(...names.map((name) => `${path === "/" ? "" : path}/${name}`));
      }
      paths = next;
    }
    return dump;
  }
}

/** Null where its length is divisible by 11: a node without data is not one with none. */
function dataOf(seed: number, length: number): string | null {
  return length % 11 === 0 ? null : `${seed} `.repeat(Math.ceil(length / 2)).slice(0, length);
}

function putData(writer: JuteWriter, data: string | null): void {
  if (data === null) writer.null();
  else writer.text(data);
}

function putAccess(writer: JuteWriter, acl: readonly AclEntry[]): void {
  writer.int(acl.length);
  for (const { perms, scheme, id } of acl) {
    writer.int(perms);
    writer.text(scheme);
    writer.text(id);
  }
}

function resultOf(op: number, body: JuteReader): PartResult {
  switch (op) {
    case OpCode.SET_DATA:
    case OpCode.SET_ACL:
      return { op: "set", stat: readStat(body) };
    case OpCode.DELETE:
      return { op: "done" };
    default:
      return { op: "create", path: readText(body), stat: readStat(body) };
  }
}

function statOfSet(result: PartResult): Stat {
  if (result.op !== "set") throw new Error(`a write is answered by a Stat, found ${result.op}`);
  return { ...result.stat };
}

function checkEqual(found: Dump, expected: Dump): void {
  const shown: string[] = [];
  for (const path of new Set([...expected.keys(), ...found.keys()])) {
    const [is, was] = [fieldsOf(found.get(path)), fieldsOf(expected.get(path))];
    const differing = Object.keys({ ...was, ...is }).filter((name) => is[name] !== was[name]);
    shown.push(...differing.map((name) => `${name} of ${path} is ${is[name]}, not ${was[name]}`));
  }
  if (shown.length > 0) throw new Error(`a start does not find what was promised: ${shown.slice(0, 8).join("; ")}`);
}

function fieldsOf(node: ModelNode | undefined): Readonly<Record<string, string>> {
  if (node === undefined) return {};
  const fields = Object.entries({ data: node.data, acl: JSON.stringify(node.acl), ...node.stat });
  return Object.fromEntries(fields.map(([name, value]) => [name, String(value)]));
}
