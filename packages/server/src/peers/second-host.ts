import type { ServerId } from "@zooid/model";
import type { HandshakeFault, PeerIdentity } from "./handshake.ts";

/** The start of a server that a connection is from, and where that server is, as it says. */
export type ConnectedStart = Pick<PeerIdentity, "bootCount" | "startId" | "host">;

/** Starts of one server that wait for the answer of a connected one; older ones are forgotten. */
const WAITING_STARTS_MAX = 8;

/**
 * Decides between two starts of one server, of which one is connected:
 *
 * 1. S3 restarts after a power failure. Its old connection still exists here, and is dead.
 * 2. The data directory of S3 is copied to another host, and both run. Neither would serve if each
 * connection of one replaced that of the other. Which of the two has started later says nothing.
 *
 * So the connected start is sent a heartbeat. If it answers, both run, and the other one is
 * refused. If it does not, its connection is closed, and the other one's next attempt is accepted.
 */
export class SecondHosts {
  readonly #sid: ServerId;
  readonly #connected: ConnectedStart;
  /** The heartbeat that the connected start must answer, for each other start. */
  readonly #awaited = new Map<string, number>();
  #answered = 0;

  /** @param connected the start whose connection this is */
  constructor(sid: ServerId, connected: ConnectedStart) {
    this.#sid = sid;
    this.#connected = connected;
  }

  /** Whether a connection is from the start that is connected. */
  isConnected(other: ConnectedStart): boolean {
    const { bootCount, startId } = this.#connected;
    // Servers of version 0.1.0 do not name their starts.
    if (startId === "" || other.startId === "") return bootCount === other.bootCount;
    return startId === other.startId;
  }

  /** The connected start has answered a heartbeat. */
  answered(heartbeat: number): void {
    this.#answered = Math.max(this.#answered, heartbeat);
  }

  /** Refuses another start if it is known that both run. It may not be authenticated yet. */
  refusalOf(other: ConnectedStart): HandshakeFault | undefined {
    const awaited = this.#awaited.get(keyOf(other));
    return awaited !== undefined && this.#answered >= awaited ? this.#fault(other) : undefined;
  }

  /**
   * Refuses another start, for now or because both run.
   *
   * @param ask sends the connected start a heartbeat, and returns its number
   */
  refuse(other: ConnectedStart, ask: () => number): HandshakeFault {
    const known = this.refusalOf(other);
    if (known !== undefined) return known;
    const key = keyOf(other);
    if (!this.#awaited.has(key)) {
      const [oldest] = this.#awaited.keys();
      if (oldest !== undefined && this.#awaited.size >= WAITING_STARTS_MAX) this.#awaited.delete(oldest);
      this.#awaited.set(key, ask());
    }
    return {
      reason: "duplicate",
      text: `server ${this.#sid} has a connection already (${placeOf(this.#connected)}), which is asked whether it is alive`,
    };
  }

  #fault(other: ConnectedStart): HandshakeFault {
    const places = `${placeOf(this.#connected)}; this one: ${placeOf(other)}`;
    return {
      reason: "configuration",
      text: `another server runs as server ${this.#sid} already (${places}): two have this number in myid, or a data directory was copied. Stop the one that is not meant`,
    };
  }
}

function keyOf({ bootCount, startId }: ConnectedStart): string {
  return `${bootCount} ${startId}`;
}

function placeOf({ host, bootCount }: ConnectedStart): string {
  return `${host === "" ? "an unknown host" : host}, start ${bootCount}`;
}
