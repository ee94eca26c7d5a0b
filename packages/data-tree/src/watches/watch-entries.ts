import { type ConnectionRef, type HashKey, mix32 } from "@zooid/model";
import { IntColumn } from "../nodes/columns.ts";
import { HashTable } from "../nodes/hash-table.ts";

/** No entry. */
const NONE = 0;
/** The bytes of an entry in its columns and its table. */
const ENTRY_BYTES = 48;

/**
 * Entries that join a path to a connection. Each is in two lists, its path's and its connection's,
 * and is found by both together. The index of an entry that was removed is used again.
 */
export class WatchEntries {
  readonly #key: HashKey;
  readonly #paths = new IntColumn();
  readonly #connections = new IntColumn();
  readonly #modes = new IntColumn();
  /** The next entry of the same path; for a free index, the next free one. */
  readonly #nextOfPath = new IntColumn();
  readonly #previousOfPath = new IntColumn();
  readonly #nextOfConnection = new IntColumn();
  readonly #previousOfConnection = new IntColumn();
  readonly #firstOfPath = new IntColumn();
  readonly #firstOfConnection = new IntColumn();
  readonly #connectionCounts = new IntColumn();
  readonly #table = new HashTable();
  #end = 1;
  #free: number = NONE;
  #connectionEnd = 0;

  constructor(key: HashKey) {
    this.#key = key;
  }

  get count(): number {
    return this.#table.count;
  }

  get heldBytes(): number {
    return this.#table.count * ENTRY_BYTES;
  }

  /** Every connection that ever had an entry is below it. */
  get connectionEnd(): number {
    return this.#connectionEnd;
  }

  path(entry: number): number {
    return this.#paths.get(entry);
  }

  connection(entry: number): ConnectionRef {
    return this.#connections.get(entry) as ConnectionRef;
  }

  modes(entry: number): number {
    return this.#modes.get(entry);
  }

  setModes(entry: number, modes: number): void {
    this.#modes.set(entry, modes);
  }

  /** How many entries a connection has. */
  countOf(connection: number): number {
    return this.#connectionCounts.get(connection);
  }

  /** The first entry of a path, or 0; {@link nextOfPath} gives the others. */
  firstOfPath(path: number): number {
    return this.#firstOfPath.get(path);
  }

  nextOfPath(entry: number): number {
    return this.#nextOfPath.get(entry);
  }

  firstOfConnection(connection: number): number {
    return this.#firstOfConnection.get(connection);
  }

  nextOfConnection(entry: number): number {
    return this.#nextOfConnection.get(entry);
  }

  /** The entry of a path and a connection, or 0. */
  find(path: number, connection: number): number {
    let entry = this.#table.first(this.#hash(path, connection));
    while (entry !== NONE) {
      if (this.#paths.get(entry) === path && this.#connections.get(entry) === connection) return entry;
      entry = this.#table.next();
    }
    return NONE;
  }

  /** Adds an entry that {@link find} does not find, without modes. */
  add(path: number, connection: number): number {
    let entry = this.#free;
    if (entry === NONE) entry = this.#end++;
    else this.#free = this.#nextOfPath.get(entry);
    this.#paths.set(entry, path);
    this.#connections.set(entry, connection);
    this.#modes.set(entry, 0);

    const ofPath = this.#firstOfPath.get(path);
    this.#nextOfPath.set(entry, ofPath);
    this.#previousOfPath.set(entry, NONE);
    if (ofPath !== NONE) this.#previousOfPath.set(ofPath, entry);
    this.#firstOfPath.set(path, entry);

    const ofConnection = this.#firstOfConnection.get(connection);
    this.#nextOfConnection.set(entry, ofConnection);
    this.#previousOfConnection.set(entry, NONE);
    if (ofConnection !== NONE) this.#previousOfConnection.set(ofConnection, entry);
    this.#firstOfConnection.set(connection, entry);
    this.#connectionCounts.set(connection, this.#connectionCounts.get(connection) + 1);
    if (connection >= this.#connectionEnd) this.#connectionEnd = connection + 1;

    this.#table.insert(this.#hash(path, connection), entry);
    return entry;
  }

  /** @returns whether it was the last entry of its path */
  remove(entry: number): boolean {
    const path = this.#paths.get(entry);
    const connection = this.#connections.get(entry);
    this.#table.remove(this.#hash(path, connection), entry);

    const nextOfPath = this.#nextOfPath.get(entry);
    const previousOfPath = this.#previousOfPath.get(entry);
    if (nextOfPath !== NONE) this.#previousOfPath.set(nextOfPath, previousOfPath);
    if (previousOfPath !== NONE) this.#nextOfPath.set(previousOfPath, nextOfPath);
    else this.#firstOfPath.set(path, nextOfPath);

    const nextOfConnection = this.#nextOfConnection.get(entry);
    const previousOfConnection = this.#previousOfConnection.get(entry);
    if (nextOfConnection !== NONE) this.#previousOfConnection.set(nextOfConnection, previousOfConnection);
    if (previousOfConnection !== NONE) this.#nextOfConnection.set(previousOfConnection, nextOfConnection);
    else this.#firstOfConnection.set(connection, nextOfConnection);
    this.#connectionCounts.set(connection, this.#connectionCounts.get(connection) - 1);

    this.#nextOfPath.set(entry, this.#free);
    this.#free = entry;
    return nextOfPath === NONE && previousOfPath === NONE;
  }

  #hash(path: number, connection: number): number {
    return mix32(Math.imul(path, 0x9e3779b1) ^ mix32(connection ^ this.#key.k0));
  }
}
