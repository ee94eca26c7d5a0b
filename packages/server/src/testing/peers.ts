import { crc32 } from "node:zlib";
import { type ServerId, serverId } from "@zooid/model";
import { type EnvelopeMessage, PeerFrameWriter } from "@zooid/peer-protocol";
import { BufferPool } from "@zooid/wire";
import type { SaidHistory } from "@zooid/zab";
import { parseServerConfig } from "../config.ts";
import { RefusalLog } from "../operators/refusal-log.ts";
import type { EnsembleOptions, QuorumPeerConfig } from "../peers/ensemble-config.ts";
import { Handshake } from "../peers/handshake.ts";
import type { PeerAddress } from "../peers/member-directory.ts";
import type { PeerLinkOptions } from "../peers/peer-port.ts";

/** A port that is not bound: dialing it is refused at once. */
const CLOSED_PORT = 1;

export interface TestPeerOptions extends Partial<PeerLinkOptions> {
  readonly bootCount?: number;
  /** Default: it does not say. */
  readonly startId?: string;
  readonly ensembleId?: string;
  readonly history?: SaidHistory;
  readonly config?: Partial<QuorumPeerConfig>;
  /** In place of the places that were set. */
  readonly addressOf?: (sid: ServerId) => PeerAddress;
}

/**
 * An ensemble on loopback whose ports the system chooses: a server's address is known once it
 * listens.
 */
export class TestPeers {
  /** The log lines, in order. */
  readonly lines: string[] = [];
  readonly refusals: RefusalLog = new RefusalLog(
    (line) => this.lines.push(line),
    () => performance.now(),
  );
  readonly #servers: EnsembleOptions["servers"];
  readonly #places = new Map<number, Partial<PeerAddress>>();

  constructor(count: number, observers: readonly number[] = []) {
    this.#servers = Array.from({ length: count }, (_, i) => ({
      sid: i + 1,
      host: "127.0.0.1",
      quorumPort: 0,
      electionPort: 0,
      isObserver: observers.includes(i + 1),
    }));
  }

  /** Sets a server's address; without ports it is unreachable. */
  place(sid: number, ports: Partial<PeerAddress>): void {
    this.#places.set(sid, ports);
  }

  /** Where a server finds another one, or listens itself. */
  addressOf(sid: number, other: ServerId): PeerAddress {
    const unknown = other === sid ? 0 : CLOSED_PORT;
    return { host: "127.0.0.1", quorumPort: unknown, electionPort: unknown, ...this.#places.get(other) };
  }

  options(sid: number, options: TestPeerOptions = {}): PeerLinkOptions {
    const { bootCount = 1, startId = "", ensembleId = "", history = "ensemble", config = {}, ...more } = options;
    const { addressOf = (other: ServerId) => this.addressOf(sid, other) } = options;
    const { ensemble } = parseServerConfig({ ensemble: { sid, servers: this.#servers, addressOf } });
    if (ensemble === undefined) throw new Error("there is an ensemble");
    return {
      ensemble: { ...ensemble, sid: serverId(sid), ...config },
      identity: () => ({ ensembleId, bootCount, history, startId }),
      tickMs: 2000,
      frameBytesMax: 4 * 1024 * 1024,
      refusals: this.refusals,
      random: () => 0.5,
      ...more,
    };
  }
}

/** The first frame of a server that dials server 1. */
export function helloFrame(peers: TestPeers, sid: number): Buffer {
  const { ensemble, identity } = peers.options(sid);
  const handshake = new Handshake(
    {
      sid: serverId(sid),
      purpose: "quorum",
      electionAlg: 3,
      frameBytesMax: 1000,
      secrets: [],
      identity,
      secretMode: "require",
      tls: { takesTls: false, takesPlain: true, dialsTls: false },
      isListed: (other) => ensemble.servers.some((server) => server.sid === other),
      admit: () => undefined,
      isChangeable: () => false,
      isFileInForce: () => true,
      host: () => "127.0.0.1",
    },
    serverId(1),
  );
  return frameOf(handshake.begin());
}

/** The bytes of a message on a link. */
export function frameOf(message: EnvelopeMessage): Buffer {
  const writer = new PeerFrameWriter({ pool: new BufferPool(), crc32, frameBytesMax: 1000 });
  writer.append(message);
  const frames: Buffer[] = [];
  writer.take(({ buffer, end }) => frames.push(Buffer.from(buffer.subarray(0, end))));
  return Buffer.concat(frames);
}

/** Events, in order, for tests that wait for them. */
export class Happenings {
  readonly list: string[] = [];
  #changed: PromiseWithResolvers<void> = Promise.withResolvers();

  add(text: string): void {
    this.list.push(text);
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  count(pattern: RegExp): number {
    return this.list.filter((text) => pattern.test(text)).length;
  }

  /** Resolves when this many matching events have happened. */
  async until(pattern: RegExp | string, count = 1): Promise<void> {
    const matches = (text: string): boolean => (typeof pattern === "string" ? text === pattern : pattern.test(text));
    while (this.list.filter(matches).length < count) await this.#changed.promise;
  }
}
