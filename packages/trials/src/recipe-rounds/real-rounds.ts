import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type Client, connect } from "@zooid/client";
import { expireSession, Relay } from "@zooid/client/testing";
import { Random } from "@zooid/conformance/internal/random";
import { ServerProcess } from "@zooid/conformance/internal/servers/endpoint";
import type { RecipeKind } from "@zooid/recipes/testing/contenders";
import { playRound } from "./round.ts";
import type { Rounds } from "./simulated-rounds.ts";
import type { LinedClient, World } from "./world.ts";

const SESSION_TIMEOUT_MS = 800;
const SETTINGS = ["tickTime=200", "minSessionTimeout=400", "maxSessionTimeout=60000"];

export interface RealRounds extends Rounds {
  /** How many rounds are played at a time. */
  readonly sideBySide: number;
}

/**
 * All recipes at once, and some rounds side by side, each on a server of its own: what takes long
 * is that servers start and sessions expire. What a round tries is its seed's, whatever runs beside
 * it.
 */
export async function playReal(recipes: readonly RecipeKind[], options: RealRounds): Promise<void> {
  const { rounds, firstSeed, sideBySide, isEnough, tell } = options;
  const folder = mkdtempSync(join(tmpdir(), "recipe-rounds-"));
  const servers = Array.from({ length: Math.min(sideBySide, rounds) }, (_, i) => {
    const own = join(folder, String(i));
    mkdirSync(own);
    return new ServerProcess({ kind: "zooid", folder: own, settings: SETTINGS });
  });
  let seed = firstSeed;
  const playOn = async (server: ServerProcess): Promise<void> => {
    await server.start();
    while (seed < firstSeed + rounds && !isEnough()) await playAll(recipes, { server, seed: seed++, tell });
  };
  try {
    await Promise.all(servers.map(playOn));
  } finally {
    await Promise.all(servers.map((server) => server.kill()));
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One round of each. */
async function playAll(
  recipes: readonly RecipeKind[],
  { server, seed, tell }: { readonly server: ServerProcess; readonly seed: number; readonly tell: Rounds["tell"] },
): Promise<void> {
  const servers = new Servers(server, seed);
  await Promise.all(
    recipes.map(async (recipe, i) => {
      const world = new RealWorld(servers, seed * 1000 + i);
      const report = await playRound(world, recipe, `r${seed}`);
      await world.close();
      tell(recipe.name, seed, report);
    }),
  );
}

/** The servers that all worlds of a round share: one of them breaks it for all. */
class Servers {
  readonly server: ServerProcess;
  readonly #random: Random;
  #starting: Promise<void> = Promise.resolve();
  #isBroken = false;

  constructor(server: ServerProcess, seed: number) {
    this.server = server;
    this.#random = new Random(seed);
  }

  break(): string {
    if (this.#isBroken || this.#random.chance(0.7)) return "";
    this.#isBroken = true;
    const downMs = this.#random.between(0, 700);
    this.#starting = this.#restart(downMs);
    return `the server is killed and comes back in ${downMs} ms`;
  }

  async up(): Promise<void> {
    await this.#starting;
  }

  async #restart(downMs: number): Promise<void> {
    await this.server.kill();
    await pause(downMs);
    await this.server.start();
    // Once in a while, so that something else happens too.
    await pause(SESSION_TIMEOUT_MS);
    this.#isBroken = false;
  }
}

class RealWorld implements World {
  readonly sessionTimeoutMs: number = SESSION_TIMEOUT_MS;
  readonly keepsTime = true;
  readonly #servers: Servers;
  readonly #random: Random;
  readonly #relays: Relay[] = [];

  constructor(servers: Servers, seed: number) {
    this.#servers = servers;
    this.#random = new Random(seed);
  }

  get nowMs(): number {
    return performance.now();
  }

  below(bound: number): number {
    return Math.floor(this.#random.next() * bound);
  }

  async sleep(ms: number): Promise<void> {
    await pause(ms);
  }

  async client(): Promise<LinedClient> {
    const relay = await Relay.start(this.#servers.server);
    this.#relays.push(relay);
    const zk = await connect(`127.0.0.1:${relay.port}`, {
      sessionTimeoutMs: SESSION_TIMEOUT_MS,
      connectTimeoutMs: 500,
    });
    return { zk, line: relay };
  }

  async expire(client: Client, about: (sessionId: bigint) => void): Promise<void> {
    await this.#servers.up();
    // The server may come back on another port meanwhile.
    await using relay = await Relay.start(this.#servers.server);
    // Only now: the client may have another session than before the wait.
    if (client.sessionId === 0n) return;
    about(client.sessionId);
    await expireSession(client, `127.0.0.1:${relay.port}`);
  }

  async breakServers(): Promise<string> {
    return this.#servers.break();
  }

  async heal(): Promise<void> {
    await this.#servers.up();
  }

  async close(): Promise<void> {
    await Promise.all(this.#relays.map((relay) => relay[Symbol.asyncDispose]()));
  }
}
