import type { LinkRef, LogPosition, PeerMessage, StateOrigin } from "@zooid/model";
import type { ReceivedSnapshot, SnapshotPort, SnapshotPosition } from "@zooid/zab";
import type { Disk } from "./disk.ts";
import type { Prng } from "./prng.ts";
import type { Scheduler } from "./scheduler.ts";
import type { StateImage } from "./state-image.ts";

/** Snapshots in flight. A chunk carries the number of its snapshot in place of the content. */
export class SnapshotRegistry {
  readonly #states: StateImage[] = [];

  put(state: StateImage): number {
    return this.#states.push(state) - 1;
  }

  get(number: number): StateImage | undefined {
    return this.#states[number];
  }
}

const CHUNKS = 3;

interface Sending {
  readonly state: StateImage;
  readonly hold: Disposable;
  readonly number: number;
  sent: (() => void) | undefined;
  next: number;
}

/** A server of the simulation, as its snapshots need it. */
export interface SnapshotParts {
  readonly disk: Disk;
  readonly scheduler: Scheduler;
  readonly random: Prng;
  readonly registry: SnapshotRegistry;
  readonly send: (link: LinkRef, message: PeerMessage) => void;
  readonly input: (step: () => void) => void;
  /** Writes the state, of which there is none yet. */
  readonly checkpoint: () => void;
  /** A snapshot that was received in part is given up. */
  readonly abandoned?: (nextChunk: number) => void;
  /** The state that this server has ready at a position, if it is the one that is named. */
  readonly ready?: (origin: StateOrigin, position: LogPosition) => StateImage | undefined;
}

/**
 * Sends a server's snapshot in a few chunks, one for each credit, and receives another server's.
 */
export class SnapshotTransfer implements SnapshotPort {
  readonly #parts: SnapshotParts;
  readonly #sending = new Map<LinkRef, Sending>();
  #receiving:
    | {
        readonly link: LinkRef;
        readonly position: LogPosition;
        readonly stored: (result: ReceivedSnapshot) => void;
        next: number;
      }
    | undefined;
  #fileNumber = 1;

  constructor(parts: SnapshotParts) {
    this.#parts = parts;
  }

  open(link: LinkRef, opened: (at: SnapshotPosition | undefined) => void): void {
    // A real server has a state from the start on.
    if (this.#parts.disk.state === undefined) this.#parts.checkpoint();
    const { state } = this.#parts.disk;
    this.#later(() => {
      if (state === undefined) {
        opened(undefined);
        return;
      }
      const hold = this.#parts.disk.log.hold(state.position.zxid);
      this.#sending.set(link, { state, hold, number: this.#parts.registry.put(state), sent: undefined, next: 0 });
      const { origin, position } = state;
      opened({ position, epochs: this.#parts.disk.epochsThrough(position.zxid), origin });
    });
  }

  start(link: LinkRef, sent: () => void): void {
    const sending = this.#sending.get(link);
    if (sending === undefined) return;
    sending.sent = sent;
    this.#chunk(link, sending);
  }

  credit(link: LinkRef, next: number, isWhole = false): void {
    const sending = this.#sending.get(link);
    if (sending === undefined) return;
    if (isWhole) sending.next = CHUNKS;
    if (isWhole || next >= CHUNKS) sending.sent?.();
    else if (next === sending.next) this.#chunk(link, sending);
  }

  end(link: LinkRef): void {
    this.#sending.get(link)?.hold[Symbol.dispose]();
    this.#sending.delete(link);
  }

  receive(
    link: LinkRef,
    position: LogPosition,
    stored: (result: ReceivedSnapshot) => void,
    origin?: StateOrigin,
  ): void {
    const receiving = { link, position, stored, next: 0 };
    this.#receiving = receiving;
    const ready = origin === undefined ? undefined : this.#parts.ready?.(origin, position);
    if (ready === undefined) return;
    // The chunks that come all the same are left.
    receiving.next = Number.POSITIVE_INFINITY;
    this.#later(() => {
      if (this.#receiving !== receiving) return;
      this.#receiving = undefined;
      const stateFile = `ready-${++this.#fileNumber}`;
      this.#parts.disk.putState(stateFile, ready);
      stored({ stateFile });
      this.#parts.send(link, { kind: "snapshot-credit", next: 0, isWhole: true });
    });
  }

  chunk(index: number, isLast: boolean, bytes: Uint8Array, start: number): void {
    const receiving = this.#receiving;
    if (receiving === undefined || index !== receiving.next) return;
    receiving.next++;
    const number = new DataView(bytes.buffer, bytes.byteOffset).getUint32(start);
    this.#later(() => {
      if (this.#receiving !== receiving) return;
      if (isLast) {
        const state = this.#parts.registry.get(number);
        this.#receiving = undefined;
        if (state === undefined) receiving.stored({ failed: "the snapshot is unknown" });
        else {
          const stateFile = `received-${++this.#fileNumber}-${number}`;
          this.#parts.disk.putState(stateFile, state);
          receiving.stored({ stateFile });
        }
      }
      this.#parts.send(receiving.link, { kind: "snapshot-credit", next: receiving.next });
    });
  }

  abandon(): void {
    if (this.#receiving !== undefined) this.#parts.abandoned?.(this.#receiving.next);
    this.#receiving = undefined;
  }

  #chunk(link: LinkRef, sending: Sending): void {
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setUint32(0, sending.number);
    const index = sending.next++;
    this.#later(() => {
      if (this.#sending.get(link) !== sending) return;
      const isLast = index === CHUNKS - 1;
      this.#parts.send(link, { kind: "snapshot-chunk", index, isLast, bytes, start: 0, end: bytes.length });
    });
  }

  #later(step: () => void): void {
    this.#parts.scheduler.after(this.#parts.random.below(20), () => this.#parts.input(step));
  }
}
