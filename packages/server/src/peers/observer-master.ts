import type { EntriesMessage, PeerMessage, ServerId } from "@zooid/model";
import type { EnvelopeMessage, RelayBytes, RelayClose, RelayMessage, RelayRun } from "@zooid/peer-protocol";
import { WireError } from "@zooid/wire";
import type { MovablePort } from "../listening/port-moves.ts";
import type { ServerLog } from "../server-api.ts";
import type { PeerIdentity } from "./handshake.ts";
import { type PeerConnection, type ProtectedLink, RENEWED } from "./peer-connection.ts";
import { type AcceptedHandler, type PeerLinkOptions, PeerPort } from "./peer-port.ts";
import { HeldRuns } from "./relayed-runs.ts";

/** The link to the leader that this server follows. */
export interface Uplink {
  readonly leader: ServerId;
  send(message: RelayMessage): void;
}

export interface ObserverMasterOptions extends PeerLinkOptions {
  readonly wake: () => void;
  /** Unsent bytes of a slow observer before it is disconnected. */
  readonly bufferedBytesMax: number;
  /** Reports observers that are disconnected for that. */
  readonly warn: ServerLog["warn"];
}

/** An observer that connected here. */
interface Relay {
  readonly sid: ServerId;
  readonly connection: PeerConnection;
  /** Its number on the uplink; 0 until it is relayed. */
  channel: number;
  /** The leader that it wants to reach. */
  leader: ServerId | undefined;
  timer: NodeJS.Timeout | undefined;
  isDirty: boolean;
}

/** An observer may know of a leader a little before this server follows it. */
const UPLINK_WAIT_MS = 1000;

/**
 * A follower's port for observers. It relays between them and its leader, so that the leader sends
 * long messages only to voters.
 *
 * The relayed messages pass through as bytes: for observer and leader the link is like any other,
 * with its own handshake. Only entries are not sent twice: the leader names those that the follower
 * received itself, and the follower inserts them here.
 */
export class ObserverMaster {
  readonly #options: ObserverMasterOptions;
  readonly #port: PeerPort;
  readonly #relays = new Set<Relay>();
  readonly #byChannel = new Map<number, Relay>();
  readonly #dirty: Relay[] = [];
  readonly #held = new HeldRuns();
  #uplink: Uplink | undefined;
  #lastChannel = 0;
  #cannotListen: (problem: string) => void = () => {};

  constructor(options: ObserverMasterOptions) {
    this.#options = options;
    const taken = (error: Error): void => this.#cannotListen(`${error.message}; it is tried again until it is free`);
    this.#port = new PeerPort(
      "observer",
      { ...options, bindRetryCount: 0, taken },
      {
        accepted: () => this.#acceptedHandler(),
        admit: ({ sid }) =>
          options.ensemble.directory.find(sid)?.isObserver === true
            ? undefined
            : { reason: "configuration", text: `server ${sid} has a vote; observerMasterPort is for observers` },
      },
    );
  }

  /**
   * Resolves once observers can connect, or once binding has failed for now: observers can do
   * without this server, and its clients cannot. A taken port is retried until it is free.
   */
  listen(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#cannotListen = (problem) => {
      this.#options.warn(`observers cannot come by this server: ${problem}`, { event: "observers-refused" });
      resolve();
    };
    this.#port.listen().then(resolve, (error: unknown) => {
      this.#cannotListen(error instanceof Error ? error.message : String(error));
    });
    return promise;
  }

  /** The bound port, also where the configuration left the choice to the system. */
  get port(): number {
    return this.#port.port;
  }

  get protectedLinks(): readonly ProtectedLink[] {
    return Array.from(this.#relays, (relay) => {
      const { sid, connection } = relay;
      const renew = (): void => {
        if (this.#relays.has(relay)) this.#disconnect(relay, RENEWED);
      };
      return { sid, isDialed: false, ...connection.protection, renew };
    });
  }

  get movable(): MovablePort {
    return this.#port.movable;
  }

  /** The relayed observers, in the order in which they connected. */
  observers(): readonly ServerId[] {
    return Array.from(this.#byChannel.values(), ({ sid }) => sid);
  }

  /**
   * This server follows a new leader, or none: observers that were relayed to the previous one have
   * to reconnect.
   */
  follow(uplink: Uplink | undefined): void {
    this.#uplink = undefined;
    for (const relay of this.#byChannel.values()) relay.connection.close();
    for (const relay of this.#byChannel.values()) this.#relays.delete(relay);
    this.#byChannel.clear();
    this.#held.clear();
    this.#uplink = uplink;
    for (const relay of this.#relays) if (relay.leader !== undefined) this.#relayTo(relay, relay.leader);
  }

  /** A message of the leader to this server itself. */
  received(message: PeerMessage): void {
    if (message.kind === "entries" && this.#byChannel.size > 0) this.#held.received(message);
  }

  /**
   * A message of the leader about an observer, or to it. If the observer is gone, its end was
   * reported, or will be.
   */
  relayed(message: RelayBytes | RelayRun | RelayClose): void {
    const relay = this.#byChannel.get(message.channel);
    if (relay === undefined) return;
    switch (message.kind) {
      case "relay-bytes":
        this.#send(relay, { ...message, channel: 0 });
        break;
      case "relay-run": {
        const frames = this.#held.framesOf(message);
        if (frames === undefined) this.#disconnect(relay, "entries that it is due are not here any more");
        else this.#send(relay, entriesOf(message, frames));
        break;
      }
      case "relay-close":
        this.#forget(relay);
        relay.connection.close();
        break;
    }
  }

  /** Writes the messages relayed since the last call, to each observer once. */
  flush(): void {
    for (const relay of this.#dirty) {
      relay.isDirty = false;
      if (this.#relays.has(relay)) relay.connection.flush();
    }
    this.#dirty.length = 0;
  }

  async stop(): Promise<void> {
    this.#uplink = undefined;
    for (const { timer } of this.#relays) clearTimeout(timer);
    this.#relays.clear();
    this.#byChannel.clear();
    await this.#port.stop();
  }

  #acceptedHandler(): AcceptedHandler {
    let relay: Relay | undefined;
    return {
      wake: () => this.#options.wake(),
      opened: (connection, { sid }: PeerIdentity) => {
        relay = { sid, connection, channel: 0, leader: undefined, timer: undefined, isDirty: false };
        this.#relays.add(relay);
      },
      message: (message) => {
        if (relay !== undefined && this.#relays.has(relay)) this.#said(relay, message);
      },
      drained: () => {
        // No bytes wait for it.
      },
      ended: ({ reason }) => {
        if (relay !== undefined && this.#forget(relay)) this.#tellLeader(relay, reason);
      },
    };
  }

  #said(relay: Relay, message: EnvelopeMessage): void {
    if (message.kind === "relay-to" && relay.leader === undefined) {
      relay.leader = message.leader;
      this.#relayTo(relay, message.leader);
    } else if (message.kind === "relay-bytes" && relay.channel !== 0) {
      this.#uplink?.send({ ...message, channel: relay.channel });
    } else {
      this.#disconnect(relay, `${message.kind} does not belong on a link between observer and follower`);
    }
  }

  /** A server that follows none yet may come to follow this leader. */
  #relayTo(relay: Relay, leader: ServerId): void {
    const uplink = this.#uplink;
    if (uplink === undefined) {
      relay.timer ??= setTimeout(() => this.#refuse(relay, leader), UPLINK_WAIT_MS);
    } else if (uplink.leader === leader) {
      clearTimeout(relay.timer);
      relay.channel = ++this.#lastChannel;
      this.#byChannel.set(relay.channel, relay);
      uplink.send({ kind: "relay-open", channel: relay.channel, sid: relay.sid });
      this.#send(relay, { kind: "relay-ready" });
    } else this.#refuse(relay, leader);
  }

  #refuse(relay: Relay, leader: ServerId): void {
    this.#forget(relay);
    const text = `server ${this.#options.ensemble.sid} does not follow server ${leader}`;
    relay.connection.refuse({ reason: "busy", text, retryAfterMs: 0 });
  }

  #send(relay: Relay, message: RelayMessage | EntriesMessage): void {
    const { connection } = relay;
    try {
      connection.append(message);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.#disconnect(relay, error.message);
      return;
    }
    const waiting = connection.bufferedBytes;
    if (waiting > this.#options.bufferedBytesMax) {
      this.#disconnect(relay, `${waiting} bytes wait for it and it does not take them`);
    } else if (!relay.isDirty) {
      relay.isDirty = true;
      this.#dirty.push(relay);
    }
  }

  #disconnect(relay: Relay, reason: string): void {
    this.#options.warn(`closed the link with observer ${relay.sid}: ${reason}`, {
      event: "link-closed",
      peer: relay.sid,
    });
    this.#forget(relay);
    relay.connection.destroy();
    this.#tellLeader(relay, reason);
  }

  #tellLeader({ channel }: Relay, text: string): void {
    if (channel !== 0) this.#uplink?.send({ kind: "relay-close", channel, text });
  }

  /** @returns whether it was here */
  #forget(relay: Relay): boolean {
    clearTimeout(relay.timer);
    this.#byChannel.delete(relay.channel);
    if (this.#byChannel.size === 0) this.#held.clear();
    return this.#relays.delete(relay);
  }
}

function entriesOf(
  { epoch, previous, first, last, count, committed, check }: RelayRun,
  frames: Pick<EntriesMessage, "bytes" | "start" | "end">,
): EntriesMessage {
  return { kind: "entries", epoch, previous, first, last, count, committed, check, ...frames };
}
