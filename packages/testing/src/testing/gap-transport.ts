import type { Transport, TransportConnection, TransportEvents } from "@zooid/client";

/** The fault of one request of a client. */
export type GapFault =
  /** The connection breaks, and the request is lost. */
  | "lost"
  /** The request is carried out, and its answer is lost with the connection. */
  | "answer lost"
  /** The session ends before the request arrives. */
  | "expired"
  /** The request is carried out, and the session ends before its answer arrives. */
  | "answer expired"
  /** The answer comes late. */
  | "answer late"
  /** The connection breaks, the request is lost, and the next server lags behind the leader. */
  | "lost before a server that lags"
  /** The request is carried out, its answer is lost, and the next server has not applied it. */
  | "answer lost before a server that lags"
  /** The server begins to lag behind the leader. */
  | "sent to a server that lags";

export const GAP_FAULTS: readonly GapFault[] = [
  "lost",
  "answer lost",
  "expired",
  "answer expired",
  "answer late",
  "lost before a server that lags",
  "answer lost before a server that lags",
  "sent to a server that lags",
];

/** Those that need an ensemble: a server alone never lags. */
export const LAG_FAULTS: ReadonlySet<GapFault> = new Set<GapFault>([
  "lost before a server that lags",
  "answer lost before a server that lags",
  "sent to a server that lags",
]);

/** The acts of a {@link GapTransport} on its client. */
export interface GapHost {
  /** Breaks the connection. */
  cut(): void;
  /** Ends the session at the servers. */
  expire(): Promise<void>;
  /** Holds answers back, those that follow too. */
  freeze(): void;
  thaw(): void;
  /**
   * Lets a follower lag behind the leader from now on. @param than not this one, if there is
   * another
   * @returns its host
   */
  lag(than?: string): string;
  /** The host of a follower. */
  follower(): string;
  /** Later, in virtual time. */
  after(ms: number, run: () => void): void;
}

const LATE_MS = 700;

/**
 * Counts the requests of a client, and lets a fault happen to one of them: in the gap between two
 * steps of what the client does.
 */
export class GapTransport implements Transport {
  readonly #inner: Transport;
  readonly #host: GapHost;
  readonly #fault: GapFault | undefined;
  readonly #at: number;
  /** Requests until now, but for pings and those by which a connection begins. */
  requestCount = 0;
  hasHappened = false;
  isOn = false;
  /** The one server to which the client connects, if not to any. */
  #only: string | undefined;

  /** @param at the request to which the fault happens, from 1 on */
  constructor(inner: Transport, host: GapHost, at: number, fault?: GapFault) {
    this.#inner = inner;
    this.#host = host;
    this.#at = at;
    this.#fault = fault;
    if (fault === "sent to a server that lags") this.#only = host.follower();
  }

  resolve(...host: Parameters<Transport["resolve"]>): ReturnType<Transport["resolve"]> {
    return this.#inner.resolve(...host);
  }

  connect(address: Parameters<Transport["connect"]>[0], events: TransportEvents): TransportConnection {
    /** The xid whose answer the fault waits for. */
    let awaited: number | undefined;
    let isGreeted = false;
    const host = this.#only ?? address.host;
    const inner = this.#inner.connect(
      { ...address, host },
      {
        opened: () => events.opened(),
        drained: () => events.drained(),
        closed: (error) => events.closed(error),
        data: (chunk) => {
          if (awaited === undefined || !framesOf(chunk).some(({ xid }) => xid === awaited)) return events.data(chunk);
          awaited = undefined;
          this.#answered(Buffer.from(chunk), (bytes) => events.data(bytes));
        },
      },
    );
    return {
      destroy: () => inner.destroy(),
      write: (bytes, written) => {
        const requests = isGreeted ? framesOf(bytes).filter(({ xid }) => xid >= 0) : [];
        isGreeted = true;
        const before = this.requestCount;
        if (this.isOn) this.requestCount += requests.length;
        const hit = requests[this.#at - before - 1];
        if (!this.isOn || hit === undefined || this.#fault === undefined || this.hasHappened)
          return inner.write(bytes, written);
        this.hasHappened = true;
        if (this.#fault === "sent to a server that lags") {
          this.#host.lag();
          return inner.write(bytes, written);
        }
        if (LAG_FAULTS.has(this.#fault)) this.#only = this.#host.lag(host);
        if (this.#fault === "lost" || this.#fault === "lost before a server that lags") {
          this.#host.after(0, () => this.#host.cut());
          return true;
        }
        if (this.#fault === "expired") void this.#host.expire();
        else awaited = hit.xid;
        return inner.write(bytes, written);
      },
    };
  }

  #answered(chunk: Buffer, deliver: (chunk: Buffer) => void): void {
    const host = this.#host;
    if (this.#fault === "answer expired") void host.expire().then(() => host.cut());
    else if (this.#fault !== "answer late") host.after(0, () => host.cut());
    else {
      host.freeze();
      host.after(LATE_MS, () => {
        deliver(chunk);
        host.thaw();
      });
    }
  }
}

interface Frame {
  readonly xid: number;
}

/** A write and a chunk of the simulated network hold whole frames. */
function framesOf(bytes: Buffer): readonly Frame[] {
  const frames: Frame[] = [];
  for (let at = 0; at + 8 <= bytes.length; at += 4 + bytes.readInt32BE(at))
    frames.push({ xid: bytes.readInt32BE(at + 4) });
  return frames;
}
