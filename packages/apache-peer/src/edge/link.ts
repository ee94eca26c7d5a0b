import { formatZxid, type Zxid } from "@zooid/model";
import { type Attempt, LeaderSearch, type QuorumAddress } from "../core/leader-search.ts";
import { ApacheObserver, type Epochs, type ObserverOptions, type ObserverSinks } from "../core/observer.ts";
import { ApachePeerError, type ApachePeerErrorDetail, isFatal } from "../core/peer-error.ts";
import { PendingTouches } from "../core/pending-touches.ts";
import { encodePacket, type SessionTouch } from "../core/quorum-packet.ts";
import type { EpochFile } from "./epoch-file.ts";
import { type ConnectionOptions, LeaderConnection } from "./leader-connection.ts";
import type { AttemptFailure, LinkNote } from "./link-note.ts";
import type { Spool } from "./spool.ts";
import { noteBytes, RecordKind, toDetail } from "./spool-record.ts";

export interface LinkOptions extends ObserverOptions, Omit<ConnectionOptions, "reachMs"> {
  readonly addresses: readonly QuorumAddress[];
  /** The last transaction that the consumer has; undefined asks for a snapshot. */
  readonly position: Zxid | undefined;
  /** Where the link ends, because that much waits to be read. */
  readonly spoolBytesMax: number;
}

/** How the link stands, for operators. */
export interface LinkStatus {
  readonly state: "searching" | "synchronizing" | "following" | "waiting-for-consumer" | "failed" | "closed";
  /** The leader's, where there is one. */
  readonly address: QuorumAddress | undefined;
  readonly acceptedEpoch: number;
  /** The last transaction that came, in hexadecimal; undefined before the first one. */
  readonly position: string | undefined;
  /** Bytes that came and wait to be read. */
  readonly spoolBytes: number;
  readonly transactionCount: number;
  readonly snapshotCount: number;
  /** How often the link ended after a leader was accepted. */
  readonly disconnectCount: number;
  /** Why the last attempt, or the last link, ended. */
  readonly lastError: ApachePeerErrorDetail | undefined;
}

/** The parts of the process that a link needs. */
export interface LinkDevices {
  readonly spool: Spool;
  readonly epochs: EpochFile;
  /** Milliseconds that never go backwards. */
  now(): number;
  /** At least 0, below 1. */
  random(): number;
  /** Something was spooled, or the state is another one. */
  changed(): void;
}

const TICK_MS = 250;
/** A link that ended at the bound begins again when this share of it is free. */
const ROOM_SHARE = 0.5;

/**
 * Keeps a link to the ensemble: finds a leader, reads what it sends into the spool at once, answers
 * its pings, and begins again when the link ends. It never waits for the consumer: a leader keeps
 * everything in memory that a slow observer does not read. At the bound of the spool the link ends
 * instead, and is resumed when there is room.
 */
export class Link {
  readonly #options: LinkOptions;
  readonly #devices: LinkDevices;
  readonly #search: LeaderSearch;
  readonly #touches = new PendingTouches();
  #state: LinkStatus["state"] = "searching";
  #connection: LeaderConnection | undefined;
  #observer: ApacheObserver | undefined;
  #address: QuorumAddress | undefined;
  #timer: NodeJS.Timeout | undefined;
  #position: Zxid | undefined;
  /** Failures since a leader was accepted, of one round. */
  #failures: AttemptFailure[] = [];
  #isRoundNoted = false;
  /** When the leader had sent everything; undefined before. */
  #followingSinceMs: number | undefined;
  #isLeaderFound = false;
  #isReplacing = false;
  #snapshotBytes = 0;
  #waitingSyncs = 0;
  #transactionCount = 0;
  #snapshotCount = 0;
  #disconnectCount = 0;
  #lastError: ApachePeerErrorDetail | undefined;

  constructor(options: LinkOptions, devices: LinkDevices) {
    this.#options = options;
    this.#devices = devices;
    this.#search = new LeaderSearch(options.addresses, devices.random);
    this.#position = options.position;
  }

  get status(): LinkStatus {
    const position = this.#observer === undefined ? this.#position : this.#observer.memory.position;
    return {
      state: this.#state,
      address: this.#isLeaderFound ? this.#address : undefined,
      acceptedEpoch: this.#devices.epochs.epochs.acceptedEpoch,
      position: position === undefined ? undefined : formatZxid(position),
      spoolBytes: this.#devices.spool.bytes,
      transactionCount: this.#transactionCount,
      snapshotCount: this.#snapshotCount,
      disconnectCount: this.#disconnectCount,
      lastError: this.#lastError,
    };
  }

  start(): void {
    const attempt = this.#search.next();
    this.#state = "searching";
    this.#timer = setTimeout(() => this.#attempt(attempt), attempt.afterMs);
  }

  /** The consumer has read: a link that ended at the bound may begin again. */
  drained(): void {
    if (this.#state !== "waiting-for-consumer") return;
    // A snapshot may take all of it.
    const share = this.#position === undefined ? 0 : ROOM_SHARE;
    if (this.#devices.spool.bytes <= this.#options.spoolBytesMax * share) this.start();
  }

  touch(touches: Iterable<SessionTouch>): void {
    this.#touches.add(touches);
  }

  /** The note `synced` follows everything that the leader has proposed by now. */
  sync(): void {
    // Asked again after each link that ends before the answer.
    this.#waitingSyncs++;
    this.#observer?.sync();
  }

  close(): void {
    this.#disconnect();
    if (this.#state !== "failed") this.#state = "closed";
  }

  #attempt({ address, reachMs }: Attempt): void {
    this.#address = address;
    const observer = new ApacheObserver(
      this.#options,
      { ...this.#devices.epochs.epochs, position: this.#position },
      this.#sinks(),
      this.#touches,
    );
    this.#observer = observer;
    this.#connection = new LeaderConnection(
      address,
      { ...this.#options, reachMs },
      {
        ready: () => {
          observer.begin(this.#devices.now());
          this.#timer = setInterval(() => this.#step(() => observer.tick(this.#devices.now())), TICK_MS);
        },
        bytes: (bytes) => this.#step(() => observer.take(bytes, this.#devices.now())),
        ended: (error) => this.#leave(error),
      },
    );
  }

  /** Advances the observer; a refusal ends the link. */
  #step(act: () => void): void {
    try {
      act();
    } catch (error) {
      if (!(error instanceof ApachePeerError)) throw error;
      this.#leave(error);
    }
    this.#devices.changed();
  }

  #sinks(): ObserverSinks {
    return {
      send: (packet) => this.#connection?.send(encodePacket(packet)),
      keepEpochs: (epochs: Epochs) => this.#devices.epochs.keep(epochs),
      leaderFound: (epoch) => {
        this.#isLeaderFound = true;
        this.#state = "synchronizing";
        if (this.#address !== undefined) this.#note({ kind: "connected", address: this.#address, epoch });
      },
      diffBegins: () => this.#note({ kind: "diff" }),
      snapshotBegins: (zxid) => {
        this.#isReplacing = true;
        this.#snapshotBytes = 0;
        this.#note({ kind: "snapshot", zxid: formatZxid(zxid) });
      },
      snapshotBytes: (bytes) => {
        this.#snapshotBytes += bytes.length;
        const { spoolBytesMax: bytesMax } = this.#options;
        if (this.#snapshotBytes > bytesMax) throw new ApachePeerError({ code: "SNAPSHOT_TOO_LARGE", bytesMax });
        this.#push(RecordKind.SNAPSHOT_BYTES, bytes);
      },
      snapshotEnds: (zxid) => {
        this.#snapshotCount++;
        this.#note({ kind: "snapshot-end", zxid: formatZxid(zxid) });
      },
      transaction: (_, bytes) => {
        this.#transactionCount++;
        this.#push(RecordKind.TRANSACTION, bytes);
      },
      upToDate: (epoch, servers) => {
        this.#isReplacing = false;
        this.#state = "following";
        this.#failures = [];
        this.#isRoundNoted = false;
        this.#followingSinceMs = this.#devices.now();
        this.#note({ kind: "up-to-date", epoch, servers });
        for (let left = this.#waitingSyncs; left > 0; left--) this.#observer?.sync();
      },
      synced: () => {
        if (this.#waitingSyncs > 0) this.#waitingSyncs--;
        this.#note({ kind: "synced" });
      },
    };
  }

  #note(note: LinkNote): void {
    this.#push(RecordKind.NOTE, noteBytes(note));
  }

  #push(kind: RecordKind, body: Uint8Array): void {
    const { spool } = this.#devices;
    try {
      spool.push(kind, body);
    } catch (error) {
      // The record is kept in memory; the next one may find room on the disk.
      const reason = error instanceof Error ? error.message : String(error);
      throw new ApachePeerError({ code: "SPOOL_FULL", bytes: spool.bytes, reason });
    }
    if (spool.bytes > this.#options.spoolBytesMax)
      throw new ApachePeerError({ code: "SPOOL_FULL", bytes: this.#options.spoolBytesMax });
  }

  #leave(error: ApachePeerError): void {
    const detail = toDetail(error);
    const [wasFound, sinceMs] = [this.#isLeaderFound, this.#followingSinceMs];
    const address = this.#address;
    // What came counts, also what ended the link.
    if (this.#observer !== undefined) this.#position = this.#observer.memory.position;
    this.#disconnect();
    this.#lastError = detail;
    if (wasFound) {
      this.#disconnectCount++;
      // Behind NEWLEADER it is a position, and the next link continues it.
      const isSnapshotLost = this.#isReplacing && this.#position === undefined;
      this.#lastNote({ kind: "disconnected", error: detail, isSnapshotLost });
      this.#isReplacing = false;
    }
    if (isFatal(detail)) {
      this.#state = "failed";
      this.#lastNote({ kind: "failed", error: detail });
    } else if (detail.code === "SPOOL_FULL") {
      this.#state = "waiting-for-consumer";
      this.drained();
    } else {
      if (sinceMs !== undefined) this.#search.lose(this.#devices.now() - sinceMs);
      else if (address !== undefined) this.#countFailure({ address, error: detail });
      this.start();
    }
    this.#devices.changed();
  }

  #countFailure(failure: AttemptFailure): void {
    this.#search.fail(failure.error.code === "UNREACHED");
    this.#failures = [...this.#failures, failure].slice(-this.#options.addresses.length);
    if (!this.#search.isRoundOver || this.#isRoundNoted) return;
    this.#isRoundNoted = true;
    this.#lastNote({ kind: "no-leader", failures: this.#failures });
  }

  /** A note behind the end of a link: there is nothing left to end. */
  #lastNote(note: LinkNote): void {
    try {
      this.#devices.spool.push(RecordKind.NOTE, noteBytes(note));
    } catch {
      // The note is kept in memory, and the link has ended.
    }
  }

  #disconnect(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#connection?.close();
    this.#connection = undefined;
    this.#observer = undefined;
    this.#isLeaderFound = false;
    this.#followingSinceMs = undefined;
  }
}
