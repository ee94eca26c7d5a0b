import { digestId } from "@zooid/client";
import type { Random } from "@zooid/conformance/internal/random";
import { CreateMode, OpCode } from "@zooid/model";
import { auth, create, multiBody, RawClient, request, setData, versioned } from "@zooid/wire/testing/raw-client";
import { USER } from "./apache-load.ts";
import type { Load } from "./load.ts";

const SESSION_MS = 40_000;
const FOLDERS = 12;
const NAMES = 80;
/** Requests that a client makes before it closes its session, with all ephemeral nodes. */
const LIFE_STEPS_MAX = 400;
const DATA_BYTES_MAX = 1500;
const AUTH_XID = -4;
const MODES = [
  CreateMode.PERSISTENT,
  CreateMode.PERSISTENT,
  CreateMode.EPHEMERAL,
  CreateMode.PERSISTENT_SEQUENTIAL,
  CreateMode.EPHEMERAL_SEQUENTIAL,
];
const ACLS = [
  ["world", "anyone"],
  ["digest", digestId("alice", "secret")],
  ["ip", "127.0.0.1/8"],
] as const;

type Body = NonNullable<Parameters<RawClient["ask"]>[1]>;

/** The load for servers of version 3.4: requests that they know, one at a time for each client. */
export class RawLoad implements Load {
  answered = 0;
  readonly #random: Random;
  readonly #port: number;
  #isStopped = false;

  constructor(random: Random, port: number) {
    this.#random = random;
    this.#port = port;
  }

  async begin(): Promise<void> {
    await using client = await RawClient.withSession(this.#port);
    for (let i = 0; i < FOLDERS; i++) await client.ask(OpCode.CREATE, create(folderOf(i)));
    await client.ask(OpCode.CREATE, create("/zookeeper/quota/f0"));
    await client.ask(OpCode.CREATE, create("/zookeeper/quota/f0/zookeeper_limits", "count=100000,bytes=-1"));
    await client.ask(OpCode.CREATE, create("/zookeeper/quota/f0/zookeeper_stats", "count=0,bytes=0"));
    await client.ask(OpCode.CLOSE_SESSION);
  }

  async run(clients: number): Promise<void> {
    await Promise.all(Array.from({ length: clients }, () => this.#runClients()));
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #runClients(): Promise<void> {
    while (!this.#isStopped) {
      await using client = await RawClient.withSession(this.#port, { timeoutMs: SESSION_MS });
      client.send(request(AUTH_XID, OpCode.AUTH, auth("digest", USER)));
      await client.reply();
      const steps = this.#random.between(1, LIFE_STEPS_MAX);
      for (let i = 0; i < steps && !this.#isStopped; i++) {
        await client.ask(...this.#request());
        this.answered++;
      }
      if (!this.#isStopped) await client.ask(OpCode.CLOSE_SESSION);
    }
  }

  #request(): [op: number, body: Body] {
    const random = this.#random;
    const path = `${folderOf(random.between(0, FOLDERS - 1))}/n${random.between(0, NAMES - 1)}`;
    switch (random.between(0, 7)) {
      case 0:
      case 1:
      case 2:
        return [OpCode.CREATE, create(path, this.#data(), random.pick(MODES))];
      case 3:
        return [OpCode.CREATE, create(`${path}/child`, this.#data())];
      case 4:
        return [OpCode.SET_DATA, setData(path, this.#data())];
      case 5:
        return [OpCode.SET_ACL, this.#acl(path)];
      case 6:
        return [OpCode.DELETE, versioned(random.chance(0.5) ? path : `${path}/child`)];
      default: {
        // Some fail at their check, and change nothing.
        const [again, check] = [`${path}-m`, versioned(path, random.chance(0.5) ? -1 : 7)];
        return [
          OpCode.MULTI,
          multiBody([OpCode.CREATE, create(again)], [OpCode.CHECK, check], [OpCode.DELETE, versioned(again)]),
        ];
      }
    }
  }

  #acl(path: string): Body {
    const [scheme, id] = this.#random.pick(ACLS);
    return (writer) => {
      writer.text(path);
      writer.int(1);
      writer.int(31);
      writer.text(scheme);
      writer.text(id);
      writer.int(-1);
    };
  }

  #data(): string {
    return "x".repeat(this.#random.between(0, DATA_BYTES_MAX));
  }
}

function folderOf(i: number): string {
  return `/f${i}`;
}
