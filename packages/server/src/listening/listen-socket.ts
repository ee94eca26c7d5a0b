import { once } from "node:events";
import type { Server } from "node:net";
import { javaAddress } from "@zooid/model";

/** Where a port is bound. */
export interface Place {
  /** Undefined for every address. */
  readonly address: string | undefined;
  readonly port: number;
}

/**
 * The system reduces a backlog to its own maximum (`net.core.somaxconn`). Node.js would ask for
 * 511: of the connections beyond it that come within one turn the system drops the SYN, and the
 * client repeats it after a second.
 */
const SYSTEM_BACKLOG = 65_535;

/**
 * The listening socket of one port. It can be replaced by a socket at another place: the new one is
 * bound first, then the old one is closed. Connections that were accepted stay.
 */
export class ListenSocket {
  readonly #create: () => Server;
  readonly #backlog: number;
  #bound: { readonly server: Server; readonly place: Place } | undefined;
  #isStopped = false;

  /** @param create makes a server that is not bound yet, once for each place */
  constructor(create: () => Server, backlog: number = SYSTEM_BACKLOG) {
    this.#create = create;
    this.#backlog = backlog;
  }

  /** The bound place, with the port that the system chose; undefined while nothing is bound. */
  get place(): Place | undefined {
    return this.#bound?.place;
  }

  /** The bound address, as the system has it. */
  get address(): string | undefined {
    const bound = this.#bound?.server.address();
    return bound !== null && typeof bound === "object" ? bound.address : undefined;
  }

  /**
   * Binds a place, then closes the socket at the place before. Rejects with the system's error, and
   * changes nothing then.
   */
  async open({ address, port }: Place): Promise<void> {
    const server = this.#create();
    server.listen({
      port,
      ...(address === undefined ? {} : { host: address }),
      backlog: this.#backlog,
    });
    await once(server, "listening");
    if (this.#isStopped) {
      server.close();
      return;
    }
    this.release();
    const bound = server.address();
    this.#bound = {
      server,
      place: { address, port: bound !== null && typeof bound === "object" ? bound.port : port },
    };
  }

  /** Closes the socket; connections stay. */
  release(): void {
    this.#bound?.server.close();
    this.#bound = undefined;
  }

  /** As {@link release}, and nothing is bound from now on. */
  stop(): void {
    this.#isStopped = true;
    this.release();
  }
}

const WILDCARDS: ReadonlySet<string | undefined> = new Set([undefined, "*", "0.0.0.0", "::"]);

/** Whether two sockets cannot be bound at the same time. */
export function overlaps(a: Place, b: Place): boolean {
  return a.port === b.port && (isSameAddress(a, b) || WILDCARDS.has(a.address) || WILDCARDS.has(b.address));
}

export function isSame(a: Place, b: Place): boolean {
  return a.port === b.port && (isSameAddress(a, b) || (WILDCARDS.has(a.address) && WILDCARDS.has(b.address)));
}

/** IPv6 addresses have several spellings, and may have a zone. */
function isSameAddress({ address: a }: Place, { address: b }: Place): boolean {
  if (a === b || a === undefined || b === undefined) return a === b;
  const [[textA = "", zoneA], [textB = "", zoneB]] = [a.split("%"), b.split("%")];
  return zoneA === zoneB && javaAddress(textA) === javaAddress(textB);
}
