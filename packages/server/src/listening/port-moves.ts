import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { Backoff, hostPort } from "@zooid/model";
import type { ServerLog } from "../server-api.ts";
import type { Lookup } from "./listen-host.ts";
import { isSame, type ListenSocket, overlaps, type Place } from "./listen-socket.ts";
import { isTakenFrom, type OtherPlace } from "./other-places.ts";

const RETRY_MS_LEAST = 1000;
const RETRY_MS_MOST = 15_000;
/** While a place is released for another server: that server opens its port, and frees this one. */
const RELEASED_RETRY_MS_LEAST = 50;
const RELEASED_RETRY_MS_MOST = 2500;
/**
 * Retries before a released place is taken back: 18 s, which is longer than the longest wait of a
 * server that wants it.
 */
const RELEASED_RETRY_COUNT = 12;
/** The line about a port that cannot move is repeated after this time. */
const REPEAT_MS = 60_000;

/** A port whose place the configuration of the ensemble decides. */
export interface MovablePort {
  /** For log lines: `the quorum port`. */
  readonly name: string;
  readonly socket: ListenSocket;
  /**
   * Where it belongs as of now: a host's name, or an address, undefined for every address; port 0
   * is any port. Undefined leaves it where it is.
   */
  wanted(): { readonly host: string | undefined; readonly port: number } | undefined;
}

export interface PortMovesOptions {
  readonly info: ServerLog["info"];
  readonly error: ServerLog["error"];
  /** The ports that the configuration gives to other servers. Default: none. */
  readonly others?: () => readonly OtherPlace[];
  /** Default: the system's. */
  readonly lookup?: Lookup;
  /** Default: 1 s, up to 15 s; 50 ms, up to 2.5 s, while a place is released for another server. */
  readonly retryMs?: number;
}

interface Failure {
  readonly text: string;
  loggedMs: number;
}

interface Move {
  readonly port: MovablePort;
  readonly to: Place;
  /** As the configuration names it. */
  readonly named: string;
}

/** A place that the configuration gives to another server. */
interface Released {
  /** Where the port is to be, as the configuration names it. */
  readonly named: string;
  retryCount: number;
}

/**
 * Moves the ports of this server to the places that the configuration in force gives them.
 *
 * - A port whose resolved address and number stay is not touched: a name and its address are one.
 * - A port that cannot be opened at its new place stays at the old one, in service; the move is
 *   reported and tried again.
 * - Ports that change places with each other, or a port that gets another address under its number,
 *   are released, bound, and on failure bound where they were.
 * - A place that the configuration gives to another server is released at once: two servers of one
 *   machine that swap ports would wait for each other, and connections for the one would reach the
 *   other. It is taken back, if it is free, only where the new place cannot be opened for a while.
 */
export class PortMoves {
  readonly #options: PortMovesOptions;
  readonly #ports: MovablePort[] = [];
  readonly #failures = new Map<MovablePort, Failure>();
  /** Where a port was that has no socket now: neither its new nor its old place could be bound. */
  readonly #lost = new Map<MovablePort, Place>();
  /** Ports whose place before belongs to another server, until they have moved. */
  readonly #released = new Map<MovablePort, Released>();
  readonly #backoff: Backoff;
  /** While a place is released. */
  readonly #soon: Backoff;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #isAskedAgain = false;
  #isStopped = false;

  constructor(options: PortMovesOptions) {
    this.#options = options;
    const { retryMs } = options;
    const backoff = (leastMs: number, mostMs: number): Backoff =>
      new Backoff({ leastMs: retryMs ?? leastMs, mostMs: retryMs ?? mostMs, jitter: 0, random: () => 0 });
    this.#backoff = backoff(RETRY_MS_LEAST, RETRY_MS_MOST);
    this.#soon = backoff(RELEASED_RETRY_MS_LEAST, RELEASED_RETRY_MS_MOST);
  }

  add(...ports: readonly MovablePort[]): void {
    this.#ports.push(...ports);
  }

  /** Ports that are not where the configuration says, a sentence each. */
  get problems(): readonly string[] {
    return Array.from(this.#failures.values(), ({ text }) => text);
  }

  /** Places may have changed. @returns when each port has moved, or could not for now */
  follow(): Promise<void> {
    this.#backoff.reset();
    this.#soon.reset();
    return this.#run();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #run(): Promise<void> {
    clearTimeout(this.#timer);
    this.#isAskedAgain = true;
    this.#running ??= this.#runAll().finally(() => {
      this.#running = undefined;
      if (this.#failures.size === 0 || this.#isStopped) return;
      const backoff = this.#released.size > 0 ? this.#soon : this.#backoff;
      this.#timer = setTimeout(() => this.#retry(), backoff.nextDelayMs());
      this.#timer.unref();
    });
    return this.#running;
  }

  #retry(): void {
    for (const released of this.#released.values()) released.retryCount++;
    void this.#run();
  }

  async #runAll(): Promise<void> {
    while (this.#isAskedAgain && !this.#isStopped) {
      this.#isAskedAgain = false;
      const moves = await this.#movesNow();
      for (const move of moves) await this.#releaseForOther(move);
      await this.#moveFree(moves);
      // A place of another port that did not move does not become free.
      for (let stuck = this.#stuckOf(moves); stuck !== undefined; stuck = this.#stuckOf(moves)) {
        moves.splice(moves.indexOf(stuck.move), 1);
        await this.#takeBack(stuck.move.port);
        this.#failed(stuck.move, `${stuck.by} of this server has that place`);
      }
      if (moves.length > 0 && !this.#isStopped) await this.#exchange(moves);
    }
  }

  async #movesNow(): Promise<Move[]> {
    const moves: Move[] = [];
    for (const port of this.#ports) {
      const wanted = port.wanted();
      const at = port.socket.place ?? this.#lost.get(port);
      if (wanted === undefined || at === undefined) continue;
      const number = wanted.port === 0 ? at.port : wanted.port;
      const named = hostPort(wanted.host ?? "*", number);
      try {
        const to = { address: await this.#resolve(wanted.host), port: number };
        if (port.socket.place !== undefined && isSame(port.socket.place, to)) {
          this.#failures.delete(port);
          this.#released.delete(port);
        } else moves.push({ port, to, named });
      } catch (error) {
        this.#failed({ port, to: { address: wanted.host, port: number }, named }, reasonOf(error));
      }
    }
    return moves;
  }

  async #releaseForOther({ port, named }: Move): Promise<void> {
    const { place } = port.socket;
    if (place === undefined) return;
    const heir = await this.#heirOf(place);
    // Another change may have come while a name was looked up.
    if (heir === undefined || port.socket.place !== place || this.#isStopped) return;
    if (this.#released.get(port)?.named !== named) this.#released.set(port, { named, retryCount: 0 });
    if (!this.#isReleased(port)) return;
    this.#lost.set(port, place);
    port.socket.release();
    this.#options.info(
      `${port.name} is closed at ${hostPort(place.address ?? "*", place.port)}, which the configuration gives to server ${heir.sid}; it is to be opened at ${named}`,
      { event: "port-released" },
    );
  }

  async #heirOf(place: Place): Promise<OtherPlace | undefined> {
    for (const other of this.#options.others?.() ?? []) {
      if (other.port !== place.port) continue;
      try {
        if (isTakenFrom(place, (await this.#resolve(other.host)) ?? other.host)) return other;
      } catch {
        // A name without an address is no server's that could open the port.
      }
    }
    return undefined;
  }

  #isReleased(port: MovablePort): boolean {
    return (this.#released.get(port)?.retryCount ?? RELEASED_RETRY_COUNT) < RELEASED_RETRY_COUNT;
  }

  /**
   * Opens what no port of this server is in the way of. Each move may free the place of another
   * one.
   */
  async #moveFree(moves: Move[]): Promise<void> {
    for (;;) {
      const next = moves.find(({ to }) => this.#holdersOf(to).length === 0);
      if (next === undefined || this.#isStopped) return;
      moves.splice(moves.indexOf(next), 1);
      try {
        await next.port.socket.open(next.to);
        this.#moved(next);
      } catch (error) {
        await this.#takeBack(next.port);
        this.#failed(next, reasonOf(error));
      }
    }
  }

  #holdersOf(place: Place): readonly MovablePort[] {
    return this.#ports.filter(({ socket }) => socket.place !== undefined && overlaps(socket.place, place));
  }

  #stuckOf(moves: readonly Move[]): { readonly move: Move; readonly by: string } | undefined {
    for (const move of moves) {
      const by = this.#holdersOf(move.to).find((holder) => !moves.some(({ port }) => port === holder));
      if (by !== undefined) return { move, by: by.name };
    }
    return undefined;
  }

  /** All of them release their places before the first one is bound. */
  async #exchange(moves: readonly Move[]): Promise<void> {
    for (const { port } of moves) {
      const { place } = port.socket;
      if (place !== undefined) this.#lost.set(port, place);
      port.socket.release();
    }
    try {
      for (const { port, to } of moves) await port.socket.open(to);
      for (const move of moves) this.#moved(move);
    } catch (error) {
      for (const { port } of moves) port.socket.release();
      for (const move of moves) {
        await this.#takeBack(move.port);
        this.#failed(move, reasonOf(error));
      }
    }
  }

  /** Binds the place that a port was at before, if it has none now. */
  async #takeBack(port: MovablePort): Promise<void> {
    const before = this.#lost.get(port);
    if (before === undefined || this.#isReleased(port)) return;
    try {
      await port.socket.open(before);
      this.#lost.delete(port);
    } catch {
      // Another process was faster. Both places are tried with the next attempt.
    }
  }

  #moved({ port, named }: Move): void {
    this.#lost.delete(port);
    this.#failures.delete(port);
    this.#released.delete(port);
    this.#options.info(`${port.name} is at ${named} now, as the configuration says`, { event: "port-moved" });
  }

  #failed({ port, named }: Move, reason: string): void {
    const { place } = port.socket;
    const stays = place === undefined ? "it is closed" : `it stays at ${hostPort(place.address ?? "*", place.port)}`;
    const text = `${port.name} cannot move to ${named}, where the configuration puts it: ${reason}; ${stays}`;
    const nowMs = performance.now();
    const before = this.#failures.get(port);
    const isNew = before?.text !== text || nowMs - before.loggedMs >= REPEAT_MS;
    // Servers that swap are not ready at the same moment.
    if (this.#isReleased(port)) {
      this.#failures.set(port, { text, loggedMs: Number.NEGATIVE_INFINITY });
      return;
    }
    this.#failures.set(port, { text, loggedMs: isNew ? nowMs : before.loggedMs });
    if (!isNew) return;
    this.#options.error(`${text}, and the move is tried again`, { event: "port-not-moved" });
  }

  async #resolve(host: string | undefined): Promise<string | undefined> {
    if (host === undefined || isIP(host) !== 0) return host;
    return await (this.#options.lookup ?? systemLookup)(host);
  }
}

async function systemLookup(host: string): Promise<string> {
  return (await lookup(host)).address;
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  switch (code) {
    case "EADDRINUSE":
      return "another process has it";
    case "EACCES":
      return "it needs more rights than this process has";
    case "EADDRNOTAVAIL":
      return "that is not an address of this machine";
    default:
      return error instanceof Error ? error.message : String(error);
  }
}
