/** Elections without a queue. */
import type { Client } from "@zooid/client";
import { filter, firstValueFrom, map } from "rxjs";
import { describe, expect, test } from "vitest";
import { isRecipeError } from "../recipe-error.ts";
import { eachStaged } from "../testing/each-staged.ts";
import { aborted, enters, failure, type Stage, tree } from "../testing/stage.ts";
import { MasterCluster, MasterElection } from "./master-election.ts";
import { UnfairElection, type UnfairElectionOptions } from "./unfair-election.ts";

const PATH = "/leaders/unfair";
const ROOT = "/app";

let stage: Stage;
let a: Client;
let b: Client;

eachStaged((staged) => {
  ({ stage, a, b } = staged);
});

function election(zk: Client, options?: UnfairElectionOptions): UnfairElection {
  return stage.kept(new UnfairElection(zk, PATH, options));
}

function master(zk: Client, name: string): MasterElection {
  return stage.kept(new MasterElection(zk, ROOT, name));
}

describe("an unfair election", () => {
  test("one leads until it is closed, then any of the others", async () => {
    const candidates = [election(a, { id: "a" }), election(b, { id: "b" }), election(b, { id: "c" })];
    const winner = async (): Promise<UnfairElection> =>
      Promise.race(candidates.map((candidate) => candidate.leadership().then(() => candidate)));
    const first = await winner();
    expect(candidates.filter(({ isLeader }) => isLeader)).toEqual([first]);
    expect(await tree(a, PATH)).toEqual(["leader", "terms"]);
    const { id } = (await first.leader()) ?? {};
    candidates.splice(candidates.indexOf(first), 1);
    await first.close();
    const second = await winner();
    expect((await second.leader())?.id).not.toBe(id);
    expect(isRecipeError(await failure(first.leadership()), "RECIPE_CLOSED")).toBe(true);
  });

  test("a leader that releases its term may win again, and each term has a greater token", async () => {
    const seen: boolean[] = [];
    const only = election(a);
    only.isLeader$.subscribe((leads) => seen.push(leads));
    const first = await only.leadership();
    await first.release();
    const second = await only.leadership();
    expect(second.token).toBeGreaterThan(first.token);
    await only.close();
    expect(seen).toEqual([false, true, false, true, false]);
    expect(await tree(b, PATH)).toEqual(["terms"]);
  });

  test("a leader that reconnects in time leads again, by the same node", async () => {
    const { zk, relay } = await stage.relayed();
    const first = election(zk);
    const term = await first.leadership();
    relay.refuse();
    relay.cut();
    await aborted(term.signal);
    expect(first.isLeader).toBe(false);
    relay.accept();
    expect((await first.leadership()).token).toBe(term.token);
    await first.close();
    expect(await tree(b, PATH)).toEqual(["terms"]);
  });

  test("a leader whose session ends is followed by another, and stands again", async () => {
    const { zk, relay } = await stage.relayed();
    const first = election(zk, { onSuspended: "keep" });
    const term = await first.leadership();
    const second = election(b);
    relay.refuse();
    relay.cut();
    await stage.expire(zk);
    const next = await second.leadership();
    expect(next.token).toBeGreaterThan(term.token);
    relay.accept();
    await aborted(term.signal);
    expect(first.isLeader).toBe(false);
    await second.close();
    expect((await first.leadership()).sessionId).toBe(zk.sessionId);
  });

  test("it ends with its client", async () => {
    const zk = await stage.client();
    const first = election(zk);
    const term = await first.leadership();
    await zk.close();
    await first.close();
    expect(term.lostReason).toBe("client-closed");
  });
});

describe("a cluster with a master", () => {
  const text = (bytes: Uint8Array | null): string | null => bytes && Buffer.from(bytes).toString();

  test("one is active, the others stand by and take over; workers come and go", async () => {
    const cluster = new MasterCluster(b, ROOT);
    const first = master(a, "m1");
    const term = await first.activity();
    const second = master(b, "m2");
    const until = (names$: typeof cluster.backups$, wanted: string): Promise<unknown> =>
      firstValueFrom(names$.pipe(filter((names) => names.join() === wanted)));
    await until(cluster.backups$, "m2");
    const worker = stage.kept(cluster.work("w1", "10.0.0.1"));
    await until(cluster.workers$, "w1");
    expect(await tree(a, ROOT)).toEqual([
      "backup-masters",
      "backup-masters/m2",
      "master",
      "rs",
      "rs/w1",
      "running",
      "terms",
    ]);
    expect(text(await firstValueFrom(cluster.active$))).toBe("m1");
    await first.close();
    const next = await second.activity();
    expect(next.token).toBeGreaterThan(term.token);
    await until(cluster.backups$, "");
    expect(text(await firstValueFrom(cluster.active$))).toBe("m2");
    await worker.close();
    await until(cluster.workers$, "");
    expect(await firstValueFrom(cluster.isRunning$)).toBe(true);
    await cluster.shutDown();
    await firstValueFrom(cluster.isRunning$.pipe(filter((isRunning) => !isRunning)));
  });

  test("a master that lost its session stands by", async () => {
    const { zk, relay } = await stage.relayed();
    const first = master(zk, "m1");
    await first.activity();
    relay.refuse();
    relay.cut();
    await stage.expire(zk);
    const second = master(b, "m2");
    await second.activity();
    relay.accept();
    await enters(zk, "connected");
    const backups$ = second.cluster.backups$.pipe(map((names) => names.join()));
    await firstValueFrom(backups$.pipe(filter((names) => names === "m1")));
    expect([first.isActive, second.isActive]).toEqual([false, true]);
    await Promise.all([first.close(), second.close()]);
    expect(await tree(a, ROOT)).toEqual(["backup-masters", "running", "terms"]);
  });

  test("a client has one candidate of a name, until that has ended", async () => {
    const first = master(a, "m1");
    await first.activity();
    expect(() => master(a, "m1")).toThrow(/has a candidate m1 at \/app already/);
    const another = master(a, "m2");
    const waits = master(b, "m1");
    await first.close();
    await Promise.race([another.activity(), waits.activity()]);
    await another.close();
    await waits.activity();
    await waits.close();
    await master(a, "m1").activity();
  });

  test("a master whose connection is lost before its term is published is a candidate again", async () => {
    await a.create(`${ROOT}/terms`, "", { parents: "persistent" });
    const { zk, relay } = await stage.relayed();
    relay.freeze("answers");
    const only = master(zk, "m1");
    await firstValueFrom(a.watchExists$(`${ROOT}/master`).pipe(filter((stat) => stat !== null)));
    // The answer to the election's transaction passes, and the next one does not.
    const isElected = zk.exists(ROOT).then(() => relay.freeze("answers"));
    await a.sync();
    relay.thaw();
    await isElected;
    await firstValueFrom(a.watchExists$(`${ROOT}/running`).pipe(filter((stat) => stat !== null)));
    relay.cut();
    relay.thaw();
    expect((await only.activity()).isValid()).toBe(true);
  });

  test("the tree of another writer can be observed", async () => {
    const bytes = Buffer.from([0xff, 0, 0, 0, 1, ...Buffer.from("PBUF")]);
    await a.create("/hbase/master", bytes, { parents: "persistent" });
    await a.create("/hbase/draining/w2", "", { parents: "persistent" });
    const cluster = new MasterCluster(b, "/hbase", { workers: "draining" });
    expect(Buffer.from((await firstValueFrom(cluster.active$)) ?? [])).toEqual(bytes);
    expect(await firstValueFrom(cluster.workers$)).toEqual(["w2"]);
    expect(await firstValueFrom(cluster.backups$)).toEqual([]);
  });
});
