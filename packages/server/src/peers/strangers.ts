import { addressShare } from "@zooid/model";

/**
 * Limits of connections of addresses that are no server's: in all, and of one address, or one /64.
 */
const STRANGER_COUNT_MAX = 256;
const STRANGER_COUNT_PER_ADDRESS_MAX = 16;
/**
 * Limit of connections of each address that is a server's: several servers may share one. They do
 * not count towards the others.
 */
const MEMBER_COUNT_PER_ADDRESS_MAX = 64;

/**
 * Connections that have not authenticated as a peer's yet, by address. Even when the port is
 * flooded, a server that returns finds room: the oldest connection is closed for a new one, and the
 * addresses of the configured servers have a limit of their own.
 */
export class Strangers<Connection> {
  readonly #isMember: (address: string) => boolean;
  /** Each with the share of its address, oldest first; of addresses that are no server's. */
  readonly #others = new Map<Connection, string>();
  readonly #members = new Map<Connection, string>();

  constructor(isMember: (address: string) => boolean) {
    this.#isMember = isMember;
  }

  /** Whether a connection of this address is refused because of the address' limit. */
  isRefused(address: string): boolean {
    return !this.#isMember(address) && countOf(this.#others, addressShare(address)) >= STRANGER_COUNT_PER_ADDRESS_MAX;
  }

  /** Adds a connection. @returns the one that has to be closed for it */
  add(connection: Connection, address: string): Connection | undefined {
    const isMember = this.#isMember(address);
    const connections = isMember ? this.#members : this.#others;
    const isFull = isMember
      ? countOf(connections, address) >= MEMBER_COUNT_PER_ADDRESS_MAX
      : connections.size >= STRANGER_COUNT_MAX;
    const oldest = isFull ? oldestOf(connections, isMember ? address : undefined) : undefined;
    if (oldest !== undefined) connections.delete(oldest);
    connections.set(connection, isMember ? address : addressShare(address));
    return oldest;
  }

  /** It is closed, or authenticated. */
  delete(connection: Connection): void {
    this.#others.delete(connection);
    this.#members.delete(connection);
  }

  *[Symbol.iterator](): Generator<Connection> {
    yield* this.#members.keys();
    yield* this.#others.keys();
  }
}

function countOf<Connection>(connections: ReadonlyMap<Connection, string>, address: string): number {
  let count = 0;
  for (const other of connections.values()) if (other === address) count++;
  return count;
}

/** @param of an address; undefined for any */
function oldestOf<Connection>(
  connections: ReadonlyMap<Connection, string>,
  of: string | undefined,
): Connection | undefined {
  for (const [connection, address] of connections) if (of === undefined || address === of) return connection;
  return undefined;
}
