/**
 * Contenders for one recipe while everything around them fails: connections are cut, held back and
 * refused, sessions and nodes ended by force, servers killed. Then all is well, and everybody must
 * get what it wants, and leave nothing behind.
 */
import { type Client, isZkError } from "@zooid/client";
import type { Contender, Held, RecipeKind } from "@zooid/recipes/testing/contenders";
import { ephemerals } from "@zooid/recipes/testing/ephemerals";
import { History } from "./history.ts";
import type { LinedClient, World } from "./world.ts";

const CLIENTS = 3;
const CONTENDERS_PER_CLIENT = 2;
const GRANTS_PER_CONTENDER = 2;
/** In session timeouts. */
const FAULTS_FOR = 4;
const LIVENESS_LIMIT = 30;

export interface RoundReport {
  readonly grants: number;
  readonly lost: number;
  readonly entries: number;
  readonly faults: readonly string[];
  readonly violations: readonly string[];
}

interface Seat {
  readonly name: string;
  readonly zk: Client;
  readonly contender: Contender;
  grantCount: number;
}

export async function playRound(world: World, recipe: RecipeKind, round: string): Promise<RoundReport> {
  const root = `/${round}-${recipe.name}`;
  return await new Round(world, recipe, `${root}/lock`, `${root}/entries`).play();
}

class Round {
  readonly #world: World;
  readonly #recipe: RecipeKind;
  readonly #path: string;
  readonly #entriesPath: string;
  readonly #history: History;
  readonly #faults: string[] = [];
  #isOver = false;
  #lost = 0;
  #grants = 0;

  constructor(world: World, recipe: RecipeKind, path: string, entriesPath: string) {
    this.#world = world;
    this.#recipe = recipe;
    this.#path = path;
    this.#entriesPath = entriesPath;
    this.#history = new History(recipe.holderCountMax, world.keepsTime);
  }

  async play(): Promise<RoundReport> {
    const world = this.#world;
    const [witness, ...clients] = await Promise.all(Array.from({ length: CLIENTS + 1 }, () => world.client()));
    if (witness === undefined) throw new Error("no witness");
    await this.#surely(() => witness.zk.create(this.#entriesPath, "", { parents: "persistent" }));
    const seats = clients.flatMap(({ zk }, i) =>
      Array.from({ length: CONTENDERS_PER_CLIENT }, (_, j) => this.#seat(zk, `c${i}-${j}`)),
    );
    const working = Promise.all(seats.map((seat) => this.#work(seat)));
    const breaking = this.#break(clients, witness.zk);
    await breaking;
    await world.heal();
    this.#isOver = true;
    const limitMs = LIVENESS_LIMIT * world.sessionTimeoutMs;
    const stuck = world.sleep(limitMs).then(() => "stuck" as const);
    if ((await Promise.race([working, stuck])) === "stuck") {
      const waiting = seats.filter(({ grantCount }) => grantCount < GRANTS_PER_CONTENDER).map(({ name }) => name);
      this.#history.violations.push(`${waiting.join(", ")} still wait`);
    }
    const entries = await this.#entries(witness.zk);
    this.#history.check(entries);
    await this.#leftovers(clients, witness.zk);
    await Promise.all([witness, ...clients].map(({ zk }) => zk.close()));
    const { violations } = this.#history;
    return { grants: this.#grants, lost: this.#lost, entries: entries.length, faults: this.#faults, violations };
  }

  #seat(zk: Client, name: string): Seat {
    const world = this.#world;
    const options = {
      path: this.#path,
      name,
      onSuspended: world.below(2) === 0 ? "lose" : "keep",
      below: (bound: number) => world.below(bound),
    } as const;
    return { name, zk, contender: this.#recipe.make(zk, options), grantCount: 0 };
  }

  /** Until it had its grants, and as long as things go wrong. */
  async #work(seat: Seat): Promise<void> {
    const world = this.#world;
    while (seat.grantCount < GRANTS_PER_CONTENDER || !this.#isOver) {
      const isImpatient = !this.#isOver && world.below(5) === 0;
      let held: Held;
      try {
        held = await seat.contender.acquire(isImpatient ? { timeoutMs: 1 + world.below(600) } : {});
      } catch (error) {
        if (!isExpected(error)) this.#history.violations.push(`${seat.name}: acquire fails with ${error}`);
        await world.sleep(1 + world.below(50));
        continue;
      }
      await this.#hold(seat, held);
      await world.sleep(world.below(80));
    }
  }

  async #hold(seat: Seat, first: Held): Promise<void> {
    const world = this.#world;
    let held = first;
    let record = this.#granted(seat, held);
    try {
      for (let i = 1 + world.below(3); i > 0 && held.grant.isValid(); i--) {
        // Now and then longer than its session may live.
        await world.sleep(world.below(world.below(10) === 0 ? 2 * world.sessionTimeoutMs : 60));
        this.#history.look(`${record.id} goes on`);
        await held.guard().create(`${this.#entriesPath}/e-`, record.id, { mode: "persistent-sequential" }).commit();
        if (held.downgrade !== undefined && world.below(3) === 0) {
          held = await held.downgrade();
          this.#history.ended(record);
          record = this.#granted(seat, held);
        }
      }
    } catch (error) {
      if (!isExpected(error)) this.#history.violations.push(`${record.id}: ${error}`);
    }
    if (held.grant.lostReason !== undefined) this.#lost++;
    // From here on it does not take it for held.
    this.#history.ended(record);
    try {
      await held.release();
    } catch (error) {
      if (!isExpected(error)) this.#history.violations.push(`${record.id}: release fails with ${error}`);
    }
  }

  #granted(seat: Seat, held: Held) {
    const record = { id: `${seat.name}/${++this.#grants}`, contender: seat.name, held };
    seat.grantCount++;
    this.#history.granted(record);
    return record;
  }

  async #break(clients: readonly LinedClient[], witness: Client): Promise<void> {
    const world = this.#world;
    const endMs = world.nowMs + FAULTS_FOR * world.sessionTimeoutMs;
    const mending: Promise<void>[] = [];
    while (world.nowMs < endMs) {
      await world.sleep(world.below(500));
      const victim = clients[world.below(clients.length)];
      if (victim !== undefined) mending.push(this.#breakSomething(victim, witness));
    }
    await Promise.all(mending);
  }

  /** Resolves when it is mended. */
  async #breakSomething({ zk, line }: LinedClient, witness: Client): Promise<void> {
    const world = this.#world;
    // Up to one and a half times what a session lives.
    const forMs = world.below(1.5 * world.sessionTimeoutMs);
    switch (world.below(7)) {
      case 0:
        this.#faults.push("cut");
        line.cut();
        return;
      case 1: {
        const direction = (["requests", "answers", "both"] as const)[world.below(3)] ?? "both";
        this.#faults.push("freeze");
        line.freeze(direction);
        await world.sleep(forMs);
        if (world.below(2) === 0) line.cut();
        line.thaw();
        return;
      }
      case 2:
        this.#faults.push("partition");
        line.refuse();
        line.cut();
        await world.sleep(forMs);
        line.accept();
        return;
      case 3:
        if (zk.sessionId === 0n) return;
        this.#faults.push("expire");
        await world.expire(zk, (sessionId) => this.#history.force(sessionId)).catch(() => {});
        return;
      case 4:
        await this.#deleteSomething(witness).catch(() => {});
        return;
      case 5:
      case 6:
        if ((await world.breakServers()) !== "") this.#faults.push("server");
        return;
    }
  }

  /** As an administrator would: the node of a holder, or of another contender. */
  async #deleteSomething(witness: Client): Promise<void> {
    const line = this.#recipe.line?.(this.#path);
    const holders = this.#history.holders.flatMap(({ held }) => held.grant.paths);
    const waiting = line === undefined ? [] : (await witness.children(line)).names.map((name) => `${line}/${name}`);
    const all = [...holders, ...waiting];
    const path = all[this.#world.below(all.length)];
    if (path === undefined) return;
    this.#faults.push("delete");
    this.#history.force(path);
    await witness.delete(path);
  }

  async #entries(witness: Client) {
    const { names } = await this.#surely(() => witness.children(this.#entriesPath, { sync: true }));
    const paths = names.toSorted().map((name) => `${this.#entriesPath}/${name}`);
    const nodes = await Promise.all(paths.map((path) => this.#surely(() => witness.get(path))));
    return nodes.map(({ data }) => ({ grant: Buffer.from(data ?? []).toString() }));
  }

  /** A node that outlives a session's timeout by far will never be deleted. */
  async #leftovers(clients: readonly LinedClient[], witness: Client): Promise<void> {
    const world = this.#world;
    const endMs = world.nowMs + 5 * world.sessionTimeoutMs;
    for (;;) {
      const left = [
        ...(await this.#surely(() => ephemerals(witness, this.#path))),
        ...clients.flatMap(({ zk }, i) => (zk.watchCount === 0 ? [] : [`${zk.watchCount} watches of client ${i}`])),
        ...clients.flatMap(({ zk }, i) => (zk.pendingDeleteCount === 0 ? [] : [`deletes of client ${i}`])),
      ];
      if (left.length === 0) return;
      if (world.nowMs > endMs) return void this.#history.violations.push(`left behind: ${left.join(", ")}`);
      await world.sleep(100);
    }
  }

  async #surely<T>(ask: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (isZkError(error, "NODE_EXISTS")) return undefined as T;
        if (!isZkError(error) || !error.retriable) throw error;
      }
      await this.#world.sleep(50);
    }
  }
}

const EXPECTED: ReadonlySet<unknown> = new Set([
  "LOCK_TIMEOUT",
  "LEASE_LOST",
  "CONNECTION_LOSS",
  "SESSION_EXPIRED",
  "SESSION_MOVED",
  "OPERATION_TIMEOUT",
  // Of a guard whose grant is gone.
  "NO_NODE",
  "BAD_VERSION",
]);

function isExpected(error: unknown): boolean {
  return typeof error === "object" && error !== null && "code" in error && EXPECTED.has(error.code);
}
