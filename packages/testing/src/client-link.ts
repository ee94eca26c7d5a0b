/** The directions between a client and servers: its requests, the servers' answers. */
export type Direction = "requests" | "answers";

/** The last session that a client was granted. */
export interface GrantedSession {
  readonly id: bigint;
  readonly password: Uint8Array;
}

/** One connection over a link. */
export interface LinkedPipe {
  /** The connection breaks. */
  lost(): void;
}

/** The network between one client and all servers, which can be cut, refused and frozen. */
export class ClientLink {
  /** As the client is called in errors and events. */
  readonly name: string;
  /** @internal */
  readonly pipes: Set<LinkedPipe> = new Set();
  /** @internal */
  session: GrantedSession | undefined;
  readonly #frozen = { requests: false, answers: false };
  readonly #blocked = new Set<number>();
  readonly #held: { readonly direction: Direction | "opening"; readonly sid: number; readonly arrive: () => void }[] =
    [];
  #isRefusing = false;
  #isExpiring = false;

  readonly #note: (fault: string) => void;

  /** @internal @param note receives each fault, in words */
  constructor(name: string, note: (fault: string) => void = () => {}) {
    this.name = name;
    this.#note = note;
  }

  /** Whether new connections are refused. */
  get isRefusing(): boolean {
    return this.#isRefusing;
  }

  /** Whether nothing is frozen, blocked or refused. */
  get isHealthy(): boolean {
    const { requests, answers } = this.#frozen;
    return !this.#isRefusing && !requests && !answers && this.#blocked.size === 0;
  }

  /** Breaks the connection. The client connects again, to a server of its choice. */
  cut(): void {
    this.#note(`the connection of ${this.name} breaks`);
    for (const pipe of [...this.pipes]) pipe.lost();
  }

  /** Refuses new connections until {@link accept}. */
  refuse(): void {
    this.#note(`new connections of ${this.name} are refused`);
    this.#isRefusing = true;
  }

  /** Ends {@link refuse}. */
  accept(): void {
    this.#isRefusing = false;
  }

  /** Holds packets back until {@link thaw}: connections look alive, or open, and stay silent. */
  freeze(direction: Direction | "both" = "both"): void {
    this.#note(`${direction === "both" ? "requests and answers" : direction} of ${this.name} are held back`);
    if (direction !== "answers") this.#frozen.requests = true;
    if (direction !== "requests") this.#frozen.answers = true;
  }

  /** Ends {@link freeze}: what was held back arrives. */
  thaw(): void {
    this.#frozen.requests = false;
    this.#frozen.answers = false;
    this.#release();
  }

  /** @internal Holds back requests while the client's session is ended elsewhere. */
  async whileExpiring(work: () => Promise<void>): Promise<void> {
    this.#isExpiring = true;
    try {
      await work();
    } finally {
      this.#isExpiring = false;
      this.#release();
    }
  }

  /**
   * @internal Holds back everything to and from these servers, and lets through what the others'
   *   was held.
   */
  block(sids: readonly number[]): void {
    this.#blocked.clear();
    for (const sid of sids) this.#blocked.add(sid);
    this.#release();
  }

  /** @internal */
  pass(direction: Direction | "opening", sid: number, arrive: () => void): void {
    const isFrozen = direction !== "opening" && this.#frozen[direction];
    const isHeld = isFrozen || this.#blocked.has(sid) || (this.#isExpiring && direction !== "answers");
    if (isHeld) this.#held.push({ direction, sid, arrive });
    else arrive();
  }

  /** The faults that hold at present, in words. */
  describe(): readonly string[] {
    const { requests, answers } = this.#frozen;
    return [
      ...(this.#isRefusing ? ["connections refused"] : []),
      ...(requests ? ["requests frozen"] : []),
      ...(answers ? ["answers frozen"] : []),
      ...(this.#blocked.size > 0
        ? [`cut off from ${[...this.#blocked].map((sid) => `server ${sid}`).join(", ")}`]
        : []),
    ];
  }

  #release(): void {
    for (const { direction, sid, arrive } of this.#held.splice(0)) this.pass(direction, sid, arrive);
  }
}
