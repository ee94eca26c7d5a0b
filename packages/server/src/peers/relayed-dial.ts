import type { EntriesMessage, ServerId } from "@zooid/model";
import type { EnvelopeMessage } from "@zooid/peer-protocol";
import type { ConnectionEnd, ConnectionHandler, PeerConnection } from "./peer-connection.ts";
import type { DialLimits, PeerPort } from "./peer-port.ts";
import { RelaySocket } from "./relay-socket.ts";

const REFUSAL_CHARS_MAX = 300;

/** A connection's handler, with events beside its frames. */
export interface RelayedHandler extends Omit<ConnectionHandler, "opened"> {
  opened(connection: PeerConnection, ...about: Parameters<ConnectionHandler["opened"]>): void;
  /** Entries that the follower inserted. They may be kept. */
  entries(message: EntriesMessage): void;
}

export interface RelayedWay {
  readonly leader: ServerId;
  /** The follower. */
  readonly by: ServerId;
  /** For the connection with the follower. */
  readonly limits: DialLimits;
  /** Time for the follower to relay. */
  readonly answerTimeoutMs: number;
}

/**
 * An observer's link to its leader through a follower: a connection with the follower, and through
 * it one with the leader.
 */
export class RelayedDial {
  readonly #leader: ServerId;
  readonly #by: ServerId;
  /** Timeout of a follower's answer. */
  readonly #answerTimeoutMs: number;
  readonly #quorumPort: PeerPort;
  readonly #handler: RelayedHandler;
  readonly #outer: PeerConnection;
  #socket: RelaySocket | undefined;
  #inner: PeerConnection | undefined;
  #isOpen = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    ports: { readonly observer: PeerPort; readonly quorum: PeerPort },
    way: RelayedWay,
    handler: RelayedHandler,
  ) {
    this.#leader = way.leader;
    this.#by = way.by;
    this.#answerTimeoutMs = way.answerTimeoutMs;
    this.#quorumPort = ports.quorum;
    this.#handler = handler;
    this.#outer = ports.observer.dial(
      way.by,
      {
        wake: () => handler.wake(),
        opened: () => this.#ask(),
        message: (message) => this.#received(message),
        drained: () => handler.drained(),
        ended: (end) => this.#outerEnded(end),
      },
      way.limits,
    );
  }

  destroy(): void {
    clearTimeout(this.#timer);
    this.#inner?.destroy();
    this.#outer.destroy();
  }

  #ask(): void {
    this.#outer.append({ kind: "relay-to", leader: this.#leader });
    this.#outer.flush();
    this.#timer = setTimeout(() => this.#fail(`server ${this.#by} does not answer`), this.#answerTimeoutMs);
  }

  #received(message: EnvelopeMessage): void {
    switch (message.kind) {
      case "relay-ready":
        if (this.#socket === undefined) this.#begin();
        break;
      case "relay-bytes":
        this.#socket?.arrived(message.bytes.subarray(message.start, message.end));
        break;
      case "entries":
        if (this.#isOpen) this.#handler.entries(message);
        else this.#fail("entries came before the handshake was over");
        break;
      case "link-refuse":
        this.#fail(`refused by server ${this.#by}: ${message.text.slice(0, REFUSAL_CHARS_MAX)}`);
        break;
      default:
        this.#fail(`${message.kind} does not belong on a link between observer and follower`);
    }
  }

  #begin(): void {
    clearTimeout(this.#timer);
    const outer = this.#outer;
    this.#socket = new RelaySocket({
      send: (bytes) => outer.append({ kind: "relay-bytes", channel: 0, bytes, start: 0, end: bytes.length }),
      flush: () => outer.flush(),
      waitingBytes: () => outer.bufferedBytes,
      close: () => outer.close(),
    });
    const { wake, message, drained, ended } = this.#handler;
    const inner = this.#quorumPort.dialThrough(this.#socket, this.#leader, this.#by, {
      wake,
      message,
      drained,
      ended,
      opened: (peer, roundTripMs) => {
        this.#isOpen = true;
        this.#handler.opened(inner, peer, roundTripMs);
      },
    });
    this.#inner = inner;
  }

  /** Ends a link that was open or opening: the connection through it is notified. */
  #outerEnded(end: ConnectionEnd): void {
    clearTimeout(this.#timer);
    if (this.#socket === undefined) this.#handler.ended(end);
    else this.#socket.lost(`by way of server ${this.#by}: ${end.reason}`);
  }

  #fail(reason: string): void {
    this.#outer.destroy();
    const refusal = undefined;
    this.#outerEnded({ reason, refusal, isEarly: true, isAnswered: true, isSilent: false, retryAfterMs: 0 });
  }
}
