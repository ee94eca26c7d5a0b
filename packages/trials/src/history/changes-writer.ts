import { setTimeout as delay } from "node:timers/promises";
import { type Client, type Created, isZkError, type Transaction, ZkError } from "@zooid/client";
import type { Random } from "@zooid/conformance/internal/random";
import type { Zxid } from "@zooid/model";
import type { Change, WrittenChanges } from "./written-changes.ts";

const SHARED_COUNT = 4;
const OWN_MAX = 20;
const PAUSE_MS_MAX = 5;

/** Makes what the writers share. @returns when it is there */
export async function prepareChanges(client: Client, root: string): Promise<void> {
  await client.create(root);
  for (let i = 0; i < SHARED_COUNT; i++) await client.create(`${root}/shared${i}`);
}

/**
 * Creates, sets and deletes nodes of its own, sets those of all, and does some of that in one
 * transaction, one request at a time.
 */
export class ChangesWriter {
  readonly #client: Client;
  readonly #random: Random;
  readonly #written: WrittenChanges;
  readonly #root: string;
  readonly #number: number;
  /** Nodes that are there for certain. */
  readonly #own: string[] = [];
  #serial = 0;

  constructor(options: {
    readonly client: Client;
    readonly random: Random;
    readonly written: WrittenChanges;
    readonly root: string;
    readonly number: number;
  }) {
    this.#client = options.client;
    this.#random = options.random;
    this.#written = options.written;
    this.#root = options.root;
    this.#number = options.number;
  }

  async run(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await this.#write();
      await delay(this.#random.between(0, PAUSE_MS_MAX));
    }
  }

  async #write(): Promise<void> {
    const changes = this.#random.chance(0.2) ? [this.#creation(), this.#change(), this.#change()] : [this.#change()];
    const transaction = this.#written.begin(this.#number, changes);
    try {
      transaction.answered(await this.#ask(changes));
    } catch (error) {
      if (!(error instanceof ZkError)) throw error;
      if (error.outcome === "rejected" && !isZkError(error, "OPERATION_TIMEOUT")) this.#written.refused(error);
      return;
    }
    for (const { op, path } of changes) if (op === "create") this.#own.push(path);
  }

  /** The changed node: a deleted one is no longer its own, whatever the answer will be. */
  #change(): Change {
    const isFull = this.#own.length >= OWN_MAX;
    if (this.#own.length > 0 && this.#random.chance(isFull ? 0.5 : 0.2)) {
      const [path = ""] = this.#own.splice(this.#random.between(0, this.#own.length - 1), 1);
      return { op: "delete", path, value: "" };
    }
    if (isFull || this.#random.chance(0.6)) {
      const shared = `${this.#root}/shared${this.#random.between(0, SHARED_COUNT - 1)}`;
      const path = this.#own.length > 0 && this.#random.chance(0.5) ? this.#random.pick(this.#own) : shared;
      return { op: "set", path, value: this.#unique() };
    }
    return this.#creation();
  }

  #creation(): Change {
    const value = this.#unique();
    return { op: "create", path: `${this.#root}/n${value}`, value };
  }

  #unique(): string {
    return `${this.#number}-${++this.#serial}`;
  }

  /** @returns its zxid, where the answer has it */
  async #ask(changes: readonly Change[]): Promise<Zxid | undefined> {
    const [first] = changes;
    if (changes.length > 1 || first === undefined) return await this.#askAtOnce(changes);
    const { op, path, value } = first;
    switch (op) {
      case "create":
        return (await this.#client.create(path, value)).stat.mzxid;
      case "set":
        return (await this.#client.set(path, value)).mzxid;
      case "delete":
        await this.#client.delete(path);
        return undefined;
    }
  }

  async #askAtOnce(changes: readonly Change[]): Promise<Zxid | undefined> {
    let transaction: Transaction<readonly unknown[]> = this.#client.transaction();
    for (const { op, path, value } of changes) {
      if (op === "create") transaction = transaction.create(path, value);
      else transaction = op === "set" ? transaction.set(path, value) : transaction.delete(path);
    }
    // Each of several begins with a create.
    const [created] = await transaction.commit();
    return (created as Created).stat.mzxid;
  }
}
