import { copyRange, type LinkRef, type LogPosition, type PeerMessage, type StateOrigin } from "@zooid/model";
import { type PlacedState, SNAPSHOT_CHUNK_BYTES, type SnapshotReceiver, type SnapshotSource } from "@zooid/txn-log";
import type { ReceivedSnapshot, SnapshotPort, SnapshotPosition } from "@zooid/zab";

/** Chunks in transit to one learner that it has not stored yet. */
const CHUNKS_IN_FLIGHT_MAX = 16;

/** The surroundings of a port. */
export interface TransferHost {
  openSnapshot(): Promise<SnapshotSource>;
  receiveSnapshot(position: LogPosition): Promise<SnapshotReceiver>;
  /** The state of another ensemble that the state at a position is made of, if it is. */
  originOf?(position: LogPosition): StateOrigin | undefined;
  /**
   * Whether this server has the state ready that a leader's is made of; if so, how to let it stand
   * at the position.
   */
  readyState?(origin: StateOrigin, position: LogPosition): (() => Promise<PlacedState>) | undefined;
  send(link: LinkRef, message: PeerMessage): void;
  /** Runs a step of the core as part of a turn. */
  input(step: () => void): void;
  /** A sentence for operators. */
  note(text: string): void;
}

interface Sending {
  readonly source: SnapshotSource;
  sent: (() => void) | undefined;
  /** Chunks sent, and stored there. */
  next: number;
  credit: number;
  /** The chunk that was read ahead: only the one behind it shows whether it is the last. */
  ahead: Uint8Array | undefined;
  isReading: boolean;
  isDone: boolean;
}

interface Receiving {
  readonly link: LinkRef;
  readonly receiver: Promise<SnapshotReceiver>;
  readonly stored: (result: ReceivedSnapshot) => void;
  /** Chunks that came, and those of them that are stored. */
  next: number;
  storedCount: number;
}

/**
 * Moves whole states between data directories, a few chunks at a time, beside everything else that
 * the links carry.
 */
export class StoreSnapshotPort implements SnapshotPort {
  readonly #host: TransferHost;
  readonly #sending = new Map<LinkRef, Sending>();
  /** Links whose source is being opened. */
  readonly #opening = new Set<LinkRef>();
  #receiving: Receiving | undefined;
  /** A state that is whole, and that no log may name yet. */
  #whole: { abandon(): Promise<void> | void } | undefined;
  /** The last receiver is gone, or will be: one at a time. */
  #abandoned: Promise<void> = Promise.resolve();

  constructor(host: TransferHost) {
    this.#host = host;
  }

  open(link: LinkRef, opened: (at: SnapshotPosition | undefined) => void): void {
    this.#opening.add(link);
    this.#host.openSnapshot().then(
      (source) => {
        if (!this.#opening.delete(link)) {
          this.#dispose(source);
          return;
        }
        const { position, epochs } = source;
        this.#sending.set(link, {
          source,
          sent: undefined,
          next: 0,
          credit: 0,
          ahead: undefined,
          isReading: false,
          isDone: false,
        });
        const origin = this.#host.originOf?.(position);
        this.#host.input(() => opened({ position, epochs, origin }));
      },
      (error: unknown) => {
        this.#opening.delete(link);
        this.#host.note(`no state can be sent: ${textOf(error)}`);
        this.#host.input(() => opened(undefined));
      },
    );
  }

  start(link: LinkRef, sent: () => void): void {
    const sending = this.#sending.get(link);
    if (sending === undefined) return;
    sending.sent = sent;
    this.#read(link, sending);
  }

  credit(link: LinkRef, next: number, isWhole = false): void {
    const sending = this.#sending.get(link);
    if (sending === undefined || next > sending.next) return;
    if (isWhole) {
      sending.isDone = true;
      sending.next = next;
    }
    sending.credit = Math.max(sending.credit, next);
    if (sending.isDone && sending.credit === sending.next) {
      const { sent } = sending;
      sending.sent = undefined;
      sent?.();
    } else {
      this.#read(link, sending);
    }
  }

  end(link: LinkRef): void {
    this.#opening.delete(link);
    const sending = this.#sending.get(link);
    this.#sending.delete(link);
    if (sending !== undefined) this.#dispose(sending.source);
  }

  receive(
    link: LinkRef,
    position: LogPosition,
    stored: (result: ReceivedSnapshot) => void,
    origin?: StateOrigin,
  ): void {
    this.abandon();
    const take = origin === undefined ? undefined : this.#host.readyState?.(origin, position);
    if (take !== undefined) {
      this.#take(link, this.#abandoned.then(take), stored);
      return;
    }
    const receiver = this.#abandoned.then(() => this.#host.receiveSnapshot(position));
    const receiving: Receiving = { link, receiver, stored, next: 0, storedCount: 0 };
    this.#receiving = receiving;
    receiver.catch((error: unknown) => this.#failed(receiving, error));
  }

  /** The chunks that come all the same are left. */
  #take(link: LinkRef, ready: Promise<PlacedState>, stored: (result: ReceivedSnapshot) => void): void {
    const taking = {
      abandon: () =>
        ready.then(
          (placed) => placed.abandon(),
          () => {},
        ),
    };
    this.#whole = taking;
    ready.then(
      ({ stateFile }) => {
        if (this.#whole !== taking) return;
        this.#host.input(() => {
          stored({ stateFile });
          this.#host.send(link, { kind: "snapshot-credit", next: 0, isWhole: true });
        });
      },
      (error: unknown) => {
        if (this.#whole === taking) this.#host.input(() => stored({ failed: textOf(error) }));
      },
    );
  }

  chunk(index: number, isLast: boolean, bytes: Uint8Array, start: number, end: number): void {
    const receiving = this.#receiving;
    if (receiving === undefined) return;
    if (index !== receiving.next) {
      this.#failed(receiving, new Error(`chunk ${index} came where ${receiving.next} was due`));
      return;
    }
    // One that sends on and on, or more in a chunk than belongs there, would fill the memory.
    if (receiving.next - receiving.storedCount >= CHUNKS_IN_FLIGHT_MAX || end - start > SNAPSHOT_CHUNK_BYTES) {
      this.#failed(
        receiving,
        new Error(`chunk ${index} has ${end - start} bytes, and ${receiving.storedCount} are stored`),
      );
      return;
    }
    receiving.next++;
    // The bytes are lent for this call, and the receiver may not be ready yet.
    const chunk = copyRange(bytes, start, end);
    const next = receiving.next;
    receiving.receiver
      .then(async (receiver) => {
        await receiver.add(chunk);
        const whole = isLast ? await receiver.finish() : undefined;
        if (this.#receiving !== receiving) return;
        receiving.storedCount = next;
        if (isLast) {
          this.#receiving = undefined;
          this.#whole = receiver;
        }
        this.#host.input(() => {
          if (whole !== undefined) receiving.stored(whole);
          this.#host.send(receiving.link, { kind: "snapshot-credit", next });
        });
      })
      .catch((error: unknown) => this.#failed(receiving, error));
  }

  abandon(): void {
    const receiving = this.#receiving;
    const whole = this.#whole;
    this.#receiving = undefined;
    this.#whole = undefined;
    if (receiving !== undefined) this.#drop(receiving);
    // 1. A state came whole, and its leader died before it named the end of the history.
    // 2. The next leader sends another one: a store takes one at a time.
    if (whole !== undefined) this.#abandoned = Promise.all([this.#abandoned, whole.abandon()]).then(() => {});
  }

  /** Ends everything: the store is about to close. */
  async stop(): Promise<void> {
    this.abandon();
    for (const link of [...this.#opening, ...this.#sending.keys()]) this.end(link);
    await this.#abandoned;
  }

  #read(link: LinkRef, sending: Sending): void {
    if (sending.isReading || sending.isDone) return;
    if (sending.next - sending.credit >= CHUNKS_IN_FLIGHT_MAX) return;
    sending.isReading = true;
    sending.source.next().then(
      (chunk) => {
        sending.isReading = false;
        if (this.#sending.get(link) !== sending || sending.isDone) return;
        this.#host.input(() => this.#send(link, sending, chunk));
        this.#read(link, sending);
      },
      (error: unknown) => {
        sending.isReading = false;
        if (this.#sending.get(link) !== sending || sending.isDone) return;
        // The learner starts over: what it has so far is of no use to it.
        this.#host.note(`a state is not sent to its end: ${textOf(error)}`);
        this.#host.input(() =>
          this.#host.send(link, { kind: "refuse", reason: "unable", text: "the state could not be read to its end" }),
        );
        this.end(link);
      },
    );
  }

  #send(link: LinkRef, sending: Sending, chunk: Uint8Array | undefined): void {
    const { ahead } = sending;
    sending.ahead = chunk;
    if (chunk === undefined) sending.isDone = true;
    if (ahead === undefined) return;
    const index = sending.next++;
    const isLast = chunk === undefined;
    this.#host.send(link, { kind: "snapshot-chunk", index, isLast, bytes: ahead, start: 0, end: ahead.length });
  }

  #failed(receiving: Receiving, error: unknown): void {
    if (this.#receiving !== receiving) return;
    this.#receiving = undefined;
    this.#drop(receiving);
    this.#host.input(() => receiving.stored({ failed: textOf(error) }));
  }

  #drop({ receiver }: Receiving): void {
    this.#abandoned = receiver.then(
      (made) => made.abandon(),
      () => {
        // There never was one.
      },
    );
  }

  #dispose(source: SnapshotSource): void {
    Promise.resolve(source[Symbol.asyncDispose]()).catch((error: unknown) =>
      this.#host.note(`a state stays open: ${textOf(error)}`),
    );
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
