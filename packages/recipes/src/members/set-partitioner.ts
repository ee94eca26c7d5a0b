import { hostname } from "node:os";
import { type Client, isZkError } from "@zooid/client";
import { checkArgument, checkDifferent, joinPath, rules, type Shape, shape, wordRule } from "@zooid/model";
import { BehaviorSubject, filter, map, type Observable, switchMap } from "rxjs";
import { checkArguments } from "../arguments.ts";
import { FailureReports } from "../failure-reports.ts";
import { type WaitOptions, within } from "../leases/deadline.ts";
import type { Lease } from "../leases/lease.ts";
import { anySignal, OwnWork, WorkController } from "../leases/own-work.ts";
import { Attempts, after, firstOf, isReasonOf, keepOn, unlessAborted } from "../leases/waiting.ts";
import { isContender } from "../locks/child-names.ts";
import { Mutex } from "../locks/mutex.ts";
import { distinctNames } from "../nodes/distinct.ts";
import { eachOf } from "../nodes/each-of.ts";
import { isRecipeError, RecipeError } from "../recipe-error.ts";
import { warn } from "../warn.ts";
import { type Divide, inTurn, shareOf } from "./division.ts";
import { PersistentNode, type WhenTaken } from "./persistent-node.ts";

export interface SetPartitionerOptions {
  /**
   * Id of this member, unique among the members. Default: the host's name, the process id, and a
   * random part, since a process may have several.
   */
  readonly id?: string;
  /**
   * The act where another member has the id: wait until it has left, after one warning, or fail
   * with NAME_TAKEN. Default `wait`.
   */
  readonly whenTaken?: Exclude<WhenTaken, "takeOver">;
  /**
   * How long the members must be unchanged before the set is divided, in milliseconds. Default 30
   * s.
   */
  readonly quietMs?: number;
  /**
   * The items of one member. Each member calls it for all of them, so it is a function of its
   * arguments alone, and gives each item to one member; another result ends this member's part.
   * Default: round robin in the order of the ids.
   */
  readonly divide?: (id: string, members: readonly string[], items: readonly string[]) => readonly string[];
}

/**
 * Work on a share. Its items belong to no other member until it has ended: `signal` aborts when the
 * set is to be divided again, or a lock was lost; then it must end soon. If it ends earlier, the
 * share is kept.
 */
export type ShareWork = (share: readonly string[], signal: AbortSignal) => unknown;

const SHAPE: Shape<SetPartitionerOptions & { items: unknown; work: unknown }> = shape({
  id: rules.name,
  whenTaken: wordRule("wait", "fail"),
  quietMs: rules.duration,
  divide: rules.callable,
  items: rules.list,
  work: rules.callable,
});

/**
 * Divides a set among members: kazoo's SetPartitioner, on the same znodes. Each member has a node
 * `<path>/party/<uuid>-<id>`, and for each of its items a lock `<path>/locks/<item>`.
 */
export class SetPartitioner implements AsyncDisposable {
  readonly path: string;
  readonly id: string;
  readonly #zk: Client;
  readonly #items: readonly string[];
  readonly #work: ShareWork;
  readonly #quietMs: number;
  readonly #divide: Divide;
  readonly #whenTaken: "wait" | "fail";
  /** The name of its node. */
  readonly #name: string;
  readonly #closing = new WorkController();
  readonly #own = new OwnWork();
  readonly #reports: FailureReports;
  readonly #share$ = new BehaviorSubject<readonly string[]>([]);
  #member: PersistentNode | undefined;
  #hasWarned = false;
  readonly #ended: Promise<void>;

  constructor(
    zk: Client,
    path: string,
    given: SetPartitionerOptions & { readonly items: readonly string[]; readonly work: ShareWork },
  ) {
    checkArguments("SetPartitioner", zk, path, given, SHAPE, ["items", "work"]);
    const { items, work, ...options } = given;
    // A hole of the array counts as an item too.
    for (const [i, item] of Array.from(items).entries())
      checkArgument("SetPartitioner", `items[${i}]`, item, rules.name);
    checkDifferent("SetPartitioner", "items", items);
    const { id = uniqueId(), whenTaken = "wait", quietMs = 30_000, divide = inTurn } = options;
    this.#zk = zk;
    this.path = path;
    this.id = id;
    this.#items = [...items];
    this.#work = work;
    this.#reports = new FailureReports(zk, undefined);
    this.#quietMs = quietMs;
    this.#divide = divide;
    this.#whenTaken = whenTaken;
    this.#name = `${crypto.randomUUID().replaceAll("-", "")}-${id}`;
    this.#ended = this.#run(this.#closing.signal);
  }

  /**
   * This member's share, now and after each change; empty while it is unknown. Fails with errors of
   * the work, permanent errors and NAME_TAKEN, which end this member's part; there is a warning
   * (`ZOOID_FAILED`) too. Completes when it or the client is closed.
   */
  get share$(): Observable<readonly string[]> {
    return this.#share$.pipe(distinctNames());
  }

  /**
   * Leaves when the work has ended; from inside of the work it returns at once. May be repeated.
   */
  async close(options: WaitOptions = {}): Promise<void> {
    this.#closing.abort(new RecipeError("RECIPE_CLOSED", `${this.path} is divided without ${this.id}`));
    await within(this.#own.untilEnded(this.#ended), options, `close the partitioner on ${this.path}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  get #party(): string {
    return joinPath(this.path, "party");
  }

  get #path(): string {
    return joinPath(this.#party, this.#name);
  }

  async #run(signal: AbortSignal): Promise<void> {
    try {
      await keepOn(this.#zk, signal, () => this.#takeShare(signal));
    } catch (error) {
      if (!signal.aborted && !this.#isClientsEnd(error)) {
        this.#reports.reportEnd(`the part of ${this.id} in the set ${this.path} has ended`, error);
        this.#share$.error(error);
      }
    } finally {
      await this.#member?.close();
      this.#share$.complete();
    }
  }

  /** The member's node ends with the client, and may be waited for then. */
  #isClientsEnd(error: unknown): boolean {
    if (isZkError(error, "CLIENT_CLOSED")) return true;
    return this.#zk.state.kind === "closed" && isRecipeError(error, "RECIPE_CLOSED");
  }

  /** From one division to the next. */
  async #takeShare(closing: AbortSignal): Promise<void> {
    await this.#join(closing);
    const quietMs = (await this.#isFirst(closing)) ? 0 : this.#quietMs;
    const members = await firstOf(this.#quietParty$(quietMs), closing);
    if (members === undefined) return;
    const ids = [...new Set(members.map(idOf))];
    const share = shareOf(this.#divide, this.id, { members: ids, items: this.#items });
    const changing = new WorkController();
    const isOther = (now: readonly string[]): boolean => now.join() !== members.join();
    const changed = new RecipeError("LEASE_LOST", `${this.path} is divided again`);
    const watching = this.#party$()
      .pipe(filter(isOther))
      .subscribe({
        next: () => changing.abort(changed),
        error: (error) => changing.abort(error),
        complete: () => changing.abort(changed),
      });
    const signal = anySignal([closing, changing.signal]);
    const leases: Lease[] = [];
    try {
      await this.#lockAll(share, leases, signal);
      await this.#use(share, anySignal([signal, ...leases.map((lease) => lease.signal)]));
    } finally {
      watching.unsubscribe();
      this.#share$.next([]);
      await Promise.all(leases.map((lease) => lease.release()));
    }
  }

  /**
   * Becomes a member, as the only one of its id: of two with one id, a division by ids would give
   * neither what belongs to the other.
   *
   * @throws NAME_TAKEN
   */
  async #join(closing: AbortSignal): Promise<void> {
    for (;;) {
      if (this.#member === undefined) await this.#untilFree(closing);
      this.#member ??= new PersistentNode(this.#zk, { path: this.#path, data: this.id });
      await this.#member.ready({ signal: closing });
      if (!(await this.#isSecond(closing))) return;
      // Both have begun at one moment, or this one was away while its session ended.
      await this.#member.close();
      this.#member = undefined;
    }
  }

  /** Waits until no other member has the id. @throws NAME_TAKEN */
  async #untilFree(closing: AbortSignal): Promise<void> {
    const twins$ = this.#party$().pipe(map((names) => this.#twinsIn(names)));
    const twins = await firstOf(twins$, closing);
    if (twins === undefined || twins.length === 0) return;
    if (this.#whenTaken === "fail") {
      throw new RecipeError("NAME_TAKEN", `another member of the set ${this.path} has the id ${this.id}`);
    }
    this.#warnOfWait();
    await firstOf(twins$.pipe(filter((twins) => twins.length === 0)), closing);
  }

  /** Whether another member of the id was there before. */
  async #isSecond(signal: AbortSignal): Promise<boolean> {
    const names = (await firstOf(this.#party$(), signal)) ?? [];
    const others = this.#twinsIn(names);
    if (others.length === 0) return false;
    const mine = await this.#zk.exists(this.#path, { signal });
    const twins = await eachOf(others, (name) => this.#zk.exists(joinPath(this.#party, name), { signal }));
    return twins.some((twin) => twin !== null && mine !== null && twin.czxid < mine.czxid);
  }

  #twinsIn(names: readonly string[]): readonly string[] {
    return names.filter((name) => name !== this.#name && idOf(name) === this.id);
  }

  #warnOfWait(): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    const message = `another member of the set ${this.path} has the id ${this.id}, and is waited for: each needs its own`;
    warn(this.#zk, "ZOOID_NAME_TAKEN", message, { path: this.path });
  }

  /**
   * Whether this member is alone, and no other one was there before: nothing else can be working.
   */
  async #isFirst(signal: AbortSignal): Promise<boolean> {
    const party = await this.#zk.exists(this.#party, { signal });
    return party?.numChildren === 1 && party.cversion === 1;
  }

  /** As far as possible: a change of the members changes this share. */
  async #lockAll(share: readonly string[], leases: Lease[], signal: AbortSignal): Promise<void> {
    try {
      // The previous owner may still be working.
      for (const item of share) leases.push(await this.#lock(item, signal));
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  async #use(share: readonly string[], signal: AbortSignal): Promise<void> {
    // A lock may have been lost while the next one was acquired.
    if (signal.aborted) return;
    this.#share$.next(share);
    try {
      await this.#own.run(() => this.#work(share, signal), signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      if (!isReasonOf(signal, error)) this.#reports.report(`the work on a share of ${this.path} has failed`, error);
    }
    await unlessAborted(new Promise(() => {}), signal).catch(() => {
      // The share is released.
    });
  }

  /** A lock that is refused for now costs no lock that is held already. */
  async #lock(item: string, signal: AbortSignal): Promise<Lease> {
    const path = joinPath(joinPath(this.path, "locks"), item);
    const mutex = new Mutex(this.#zk, path, { dialect: "kazoo", data: this.id });
    const attempts = new Attempts(this.#zk);
    for (;;) {
      try {
        return await mutex.acquire({ signal });
      } catch (error) {
        await attempts.failed(error, signal);
        signal.throwIfAborted();
      }
    }
  }

  /** The members, once they have not changed for a while. */
  #quietParty$(quietMs: number): Observable<readonly string[]> {
    return this.#party$().pipe(
      switchMap((names) => after(quietMs).pipe(map(() => names))),
      filter((names) => names.includes(this.#name)),
    );
  }

  #party$(): Observable<readonly string[]> {
    return this.#zk.watchChildren$(this.#party).pipe(map((names) => membersOf(names ?? [])));
  }
}

function uniqueId(): string {
  return `${hostname()}-${process.pid}-${crypto.randomUUID().slice(0, 8)}`;
}

function idOf(name: string): string {
  return name.slice(name.indexOf("-") + 1);
}

/** Other children of the directory are no members. */
function membersOf(names: readonly string[]): readonly string[] {
  return names.filter((name) => isContender(name, "party-member")).sort();
}
