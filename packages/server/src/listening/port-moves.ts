import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { Backoff, hostPort } from "@zooid/model";
import type { ServerLog } from "../server-api.ts";
import type { Lookup } from "./listen-host.ts";
import { isSame, type ListenSocket, overlaps, type Place } from "./listen-socket.ts";

const RETRY_MS_LEAST = 1000;
const RETRY_MS_MOST = 15_000;
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
  /** Default: the system's. */
  readonly lookup?: Lookup;
  /** Default: 1 s, up to 15 s. */
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

/**
 * Moves the ports of this server to the places that the configuration in force gives them.
 *
 * - A port whose resolved address and number stay is not touched: a name and its address are one.
 * - A port that cannot be opened at its new place stays at the old one, in service; the move is
 *   reported and tried again.
 * - Ports that change places with each other, or a port that gets another address under its number,
 *   are released, bound, and on failure bound where they were.
 */
export class PortMoves {
  readonly #options: PortMovesOptions;
  readonly #ports: MovablePort[] = [];
  readonly #failures = new Map<MovablePort, Failure>();
  /** Where a port was that has no socket now: neither its new nor its old place could be bound. */
  readonly #lost = new Map<MovablePort, Place>();
  readonly #backoff: Backoff;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #isAskedAgain = false;
  #isStopped = false;

  constructor(options: PortMovesOptions) {
    this.#options = options;
    const { retryMs = RETRY_MS_LEAST } = options;
    this.#backoff = new Backoff({
      leastMs: retryMs,
      mostMs: Math.max(RETRY_MS_MOST, retryMs),
      jitter: 0,
      random: () => 0,
    });
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
      this.#timer = setTimeout(() => void this.#run(), this.#backoff.nextDelayMs());
      this.#timer.unref();
    });
    return this.#running;
  }

  async #runAll(): Promise<void> {
    while (this.#isAskedAgain && !this.#isStopped) {
      this.#isAskedAgain = false;
      const moves = await this.#movesNow();
      await this.#moveFree(moves);
      // A place of another port that did not move does not become free.
      for (let stuck = this.#stuckOf(moves); stuck !== undefined; stuck = this.#stuckOf(moves)) {
        moves.splice(moves.indexOf(stuck.move), 1);
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
        if (port.socket.place !== undefined && isSame(port.socket.place, to)) this.#failures.delete(port);
        else moves.push({ port, to, named });
      } catch (error) {
        this.#failed({ port, to: { address: wanted.host, port: number }, named }, reasonOf(error));
      }
    }
    return moves;
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
        this.#failed(next, reasonOf(error));
        await this.#takeBack(next.port);
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
    if (before === undefined) return;
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
    this.#options.info(`${port.name} is at ${named} now, as the configuration says`, { event: "port-moved" });
  }

  #failed({ port, named }: Move, reason: string): void {
    const { place } = port.socket;
    const stays = place === undefined ? "it is closed" : `it stays at ${hostPort(place.address ?? "*", place.port)}`;
    const text = `${port.name} cannot move to ${named}, where the configuration puts it: ${reason}; ${stays}`;
    const nowMs = performance.now();
    const before = this.#failures.get(port);
    const isNew = before?.text !== text || nowMs - before.loggedMs >= REPEAT_MS;
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
