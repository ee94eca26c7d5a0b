/**
 * A cluster with one active master, standby masters, and workers: the pattern of HBase.
 *
 *     <root>/master                  ephemeral: the name of the active master
 *     <root>/backup-masters/<name>   ephemeral, one for each standby; goes when it becomes active
 *     <root>/rs/<name>               ephemeral, one for each worker
 *     <root>/running                 persistent: there is a cluster; made by the first master, removed by `shutDown`
 *     <root>/terms                   persistent: its version goes up with each term
 *
 * Other nodes below the root belong to the application.
 */

import type { Client, Payload } from "@zooid/client";
import { checkArgument, checkFit, joinPath, rules, type Shape, shape } from "@zooid/model";
import { distinctUntilChanged, map, type Observable } from "rxjs";
import { checkArguments } from "../arguments.ts";
import { type WaitOptions, within } from "../leases/deadline.ts";
import { HOLD, type HoldOptions, type Lease } from "../leases/lease.ts";
import { NameClaims } from "../members/name-claims.ts";
import { PersistentNode } from "../members/persistent-node.ts";
import { distinctData, distinctNames } from "../nodes/distinct.ts";
import { makeNamed } from "../nodes/named-node.ts";
import { RecipeError } from "../recipe-error.ts";
import { ExclusiveCandidacy } from "./exclusive-candidacy.ts";
import { Terms } from "./terms.ts";

/**
 * Names of the nodes below the root. The defaults are HBase's, except for `terms`, which is ours.
 */
export interface MasterNames {
  readonly master: string;
  readonly backups: string;
  readonly workers: string;
  readonly running: string;
  readonly terms: string;
}

export const MASTER_NAMES: MasterNames = {
  master: "master",
  backups: "backup-masters",
  workers: "rs",
  running: "running",
  terms: "terms",
};

export interface MasterElectionOptions extends HoldOptions {
  readonly names?: Partial<MasterNames> | undefined;
}

const NAMES: Shape<MasterNames> = shape<MasterNames>({
  master: rules.name,
  backups: rules.name,
  workers: rules.name,
  running: rules.name,
  terms: rules.name,
});

/** A cluster as an observer sees it, also HBase's, whose nodes hold bytes of its own. */
export class MasterCluster {
  readonly root: string;
  readonly #zk: Client;
  readonly #names: MasterNames;

  constructor(zk: Client, root: string, names: Partial<MasterNames> = {}) {
    checkArguments("MasterCluster", zk, root, names, NAMES);
    this.#zk = zk;
    this.root = root;
    this.#names = { ...MASTER_NAMES, ...names };
  }

  /**
   * Data of the active master's node, which is its name for a {@link MasterElection}; null while
   * there is none.
   */
  get active$(): Observable<Uint8Array | null> {
    return this.#zk.watchData$(this.#at("master")).pipe(
      distinctData(),
      map((node) => (node.exists ? (node.data ?? NOTHING) : null)),
    );
  }

  /** Names of the standby masters, in their order. */
  get backups$(): Observable<readonly string[]> {
    return this.#names$("backups");
  }

  get workers$(): Observable<readonly string[]> {
    return this.#names$("workers");
  }

  /** Whether the cluster is up: a master has been active, and the cluster was not shut down. */
  get isRunning$(): Observable<boolean> {
    return this.#zk.watchExists$(this.#at("running")).pipe(
      map((stat) => stat !== null),
      distinctUntilChanged(),
    );
  }

  /** Registers a worker until it is closed, over lost connections and sessions. */
  work(name: string, data: Payload = ""): PersistentNode {
    checkArgument("MasterCluster.work", "the name", name, rules.name);
    return new PersistentNode(this.#zk, { path: joinPath(this.#at("workers"), name), data });
  }

  /**
   * Marks the cluster as down. Processes that observe `isRunning$` should end; they are not forced
   * to.
   */
  async shutDown(): Promise<void> {
    await this.#zk.delete(this.#at("running"), { missingOk: true });
  }

  #names$(what: keyof MasterNames): Observable<readonly string[]> {
    return this.#zk.watchChildren$(this.#at(what)).pipe(
      map((names) => (names ?? []).toSorted()),
      distinctNames(),
    );
  }

  #at(what: keyof MasterNames): string {
    return joinPath(this.root, this.#names[what]);
  }
}

const NOTHING = new Uint8Array(0);

const SHAPE: Shape<MasterElectionOptions> = shape<MasterElectionOptions>({ ...HOLD, names: rules.record });

/**
 * A candidate for active master, otherwise a standby, from `new` until `close`. The fastest
 * candidate becomes active.
 */
export class MasterElection implements AsyncDisposable {
  readonly cluster: MasterCluster;
  readonly name: string;
  readonly #zk: Client;
  readonly #terms: Terms;
  readonly #candidacy: ExclusiveCandidacy;
  readonly #standbyPath: string;
  readonly #runningPath: string;
  #standby: PersistentNode | undefined;
  #leaving: Promise<void> = Promise.resolve();

  /**
   * @param name unique among the candidates
   * @throws NAME_TAKEN where this client has a candidate of the name, which has not ended
   */
  constructor(zk: Client, root: string, name: string, options: MasterElectionOptions = {}) {
    checkArguments("MasterElection", zk, root, options, SHAPE);
    checkArgument("MasterElection", "the name", name, rules.name);
    checkFit("MasterElection", options.names, NAMES);
    const names = { ...MASTER_NAMES, ...options.names };
    this.#zk = zk;
    this.name = name;
    this.cluster = new MasterCluster(zk, root, names);
    this.#terms = new Terms(zk, `${name}'s candidacy at ${root}`);
    this.#standbyPath = joinPath(joinPath(root, names.backups), name);
    this.#runningPath = joinPath(root, names.running);
    const claimed = this.#claim(joinPath(joinPath(root, names.master), name));
    this.#standBy();
    const node = {
      path: joinPath(root, names.master),
      countPath: joinPath(root, names.terms),
      data: Buffer.from(name),
    };
    this.#candidacy = new ExclusiveCandidacy(zk, node, this.#terms, {
      onSuspended: options.onSuspended,
      elected: (signal) => this.#elected(signal),
      over: () => this.#standBy(),
      ended: () => claimed.release(),
    });
  }

  /** Whether this candidate is active at this instant, by the clock. */
  get isActive(): boolean {
    return this.#terms.isLeader;
  }

  /** The current term, or undefined. Completes when it is closed; fails with permanent errors. */
  get term$(): Observable<Lease | undefined> {
    return this.#terms.term$;
  }

  /**
   * Waits until this candidate is active. The lease is the term: releasing it makes it a standby.
   *
   * @throws LOCK_TIMEOUT, the signal's reason, or RECIPE_CLOSED
   */
  activity(options: WaitOptions = {}): Promise<Lease> {
    return this.#terms.leadership(options);
  }

  /**
   * Ends its role as active master or standby. Resolves when its nodes are deleted, or the session
   * may be over. May be repeated.
   */
  async close(options: WaitOptions = {}): Promise<void> {
    await within(this.#end(), options, `close the election of ${this.#standbyPath}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #end(): Promise<void> {
    await this.#candidacy.close();
    await this.#leave();
    await this.#leaving;
  }

  /**
   * The active master's node has its name alone: after a lost answer, two of one name and session
   * would each take the other's node for its own.
   */
  #claim(path: string): { release(): void } {
    const claims = new NameClaims(this.#zk);
    const claimant = { replaced: () => {} };
    if (claims.take(path, claimant) !== undefined) {
      throw new RecipeError("NAME_TAKEN", `this client has a candidate ${this.name} at ${this.cluster.root} already`);
    }
    return { release: () => claims.release(path, claimant) };
  }

  #standBy(): void {
    this.#standby ??= new PersistentNode(this.#zk, { path: this.#standbyPath, data: "" });
  }

  async #elected(signal: AbortSignal): Promise<void> {
    // An earlier standby node may still be being deleted.
    this.#leaving = Promise.all([this.#leaving, this.#leave()]).then(() => {});
    await makeNamed(this.#zk, { path: this.#runningPath, data: "", mode: "persistent", signal });
  }

  async #leave(): Promise<void> {
    const standby = this.#standby;
    this.#standby = undefined;
    await standby?.close();
  }
}
