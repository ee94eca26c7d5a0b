import { MajorityQuorum, type ServerId, serverId } from "@zooid/model";
import type { ReplicaEvent } from "@zooid/replica";
import { describe, expect, test } from "vitest";
import { ScenarioClient } from "../scenarios/client.ts";
import { answerSink } from "./answers.ts";
import { Cluster } from "./cluster.ts";

/** An ensemble is founded where one of its voters has served alone, and has data that no other one has a part of. */

const [S1, S2, S3] = [1, 2, 3].map(serverId) as [ServerId, ServerId, ServerId];

class Founding {
  readonly alone = new Set<ServerId>();
  readonly events: [ServerId, ReplicaEvent][] = [];
  readonly cluster: Cluster;
  #client: ScenarioClient | undefined;

  constructor() {
    this.cluster = new Cluster({
      voters: [S1, S2, S3],
      serverOptions: (sid) => ({
        ...(this.alone.has(sid) ? { standalone: true, verifier: new MajorityQuorum([sid]) } : {}),
        replies: answerSink((_, xid, zxid, answer) => this.#client?.heard(xid, zxid, answer)),
      }),
      watcher: { noted: (server, event) => void this.events.push([server.sid, event]) },
    });
  }

  run(ms = 5000): void {
    this.cluster.run(ms);
  }

  start(...sids: ServerId[]): void {
    for (const sid of sids) this.cluster.start(sid);
    this.run();
  }

  /** A server serves alone, and is given a node. */
  serveAlone(sid: ServerId, path: string): void {
    this.alone.add(sid);
    this.start(sid);
    expect(this.create(sid, path)).toBe(path);
    this.cluster.crash(sid, Number.POSITIVE_INFINITY);
    this.alone.delete(sid);
  }

  create(sid: ServerId, path: string): string {
    return this.#ask(sid, {
      kind: "write",
      request: { kind: "one", write: { kind: "create", path, data: "1", ephemeral: false, sequential: false } },
    });
  }

  read(sid: ServerId, path: string): string {
    return this.#ask(sid, { kind: "read", read: { kind: "data", path, watch: false } });
  }

  #ask(sid: ServerId, request: Parameters<ScenarioClient["ask"]>[0]): string {
    const server = this.cluster.server(sid);
    if (server === undefined) throw new Error(`s${sid} is down`);
    const client = new ScenarioClient("c1", () => true);
    this.#client = client;
    client.connect(server);
    this.run(1000);
    client.ask(request, "", 0);
    this.run(1000);
    client.leave();
    return client.lastAnswer;
  }

  leaders(): ServerId[] {
    return this.cluster.running().flatMap((server) => (server.isLeading ? [server.sid] : []));
  }

  noted(sid: ServerId): string[] {
    return this.events.flatMap(([of, { kind }]) => (of === sid ? [kind] : []));
  }
}

describe("a server with data that it has made alone", () => {
  test.each([
    ["first", [S1, S2, S3]],
    ["last", [S2, S3, S1]],
    ["between", [S2, S1, S3]],
  ])("founds an ensemble with two that have none, started %s at the same time", (_, order) => {
    const founding = new Founding();
    founding.serveAlone(S1, "/a");
    founding.start(...order);
    expect(founding.leaders()).toEqual([S1]);
    for (const sid of order) expect(founding.read(sid, "/a")).toBe("1");
    expect(founding.create(S3, "/b")).toBe("/b");
    const ids = founding.cluster.running().map(({ disk }) => disk.durable.identity.ensembleId);
    expect(new Set(ids).size).toBe(1);
    expect(ids[0]).not.toBe("");
  });

  test("founds it with the first of them alone, and the other one joins later", () => {
    const founding = new Founding();
    founding.serveAlone(S1, "/a");
    founding.start(S1, S2);
    expect(founding.leaders()).toEqual([S1]);
    founding.start(S3);
    expect(founding.read(S3, "/a")).toBe("1");
  });

  test("counts no empty disk any more once others have a part of its data", () => {
    const founding = new Founding();
    founding.serveAlone(S1, "/a");
    founding.start(S1, S2, S3);
    founding.cluster.crash(S1);
    founding.run();
    expect(founding.create(S2, "/b")).toBe("/b");
    founding.cluster.crash(S2);
    founding.cluster.wipe(S3, 0);
    // Neither has /b.
    founding.start(S1, S3);
    expect(founding.leaders()).toEqual([]);
    founding.start(S2);
    expect(founding.read(S3, "/b")).toBe("1");
  });

  test("goes on founding after a crash at any moment of it", () => {
    for (let atMs = 1; atMs < 400; atMs += 3) {
      const founding = new Founding();
      founding.serveAlone(S1, "/a");
      for (const sid of [S1, S2, S3]) founding.cluster.start(sid);
      founding.run(atMs);
      for (const sid of [S1, S2, S3]) founding.cluster.crash(sid);
      founding.start(S1, S2, S3);
      expect([atMs, founding.read(S2, "/a")]).toEqual([atMs, "1"]);
    }
  });

  test("keeps them beside an ensemble that two others have founded without it, and says so", () => {
    const founding = new Founding();
    founding.serveAlone(S1, "/a");
    founding.start(S2, S3);
    expect(founding.create(S2, "/b")).toBe("/b");
    founding.start(S1);
    expect(founding.noted(S1)).toContain("history-of-one-server");
    const attempts = founding.noted(S1).length;
    founding.run(60_000);
    // It does not try again at once.
    expect(founding.noted(S1).length - attempts).toBeLessThan(60);
    expect(founding.leaders()).toHaveLength(1);
    expect(founding.read(S3, "/b")).toBe("1");
    for (const sid of [S2, S3]) founding.cluster.wipe(sid, 0);
    founding.cluster.crash(S1);
    founding.start(S2, S3, S1);
    for (const sid of [S1, S2, S3]) expect(founding.read(sid, "/a")).toBe("1");
  });

  test("leads or keeps them, however much later than the two others it starts", () => {
    const outcomes = new Set<string>();
    for (let laterMs = 0; laterMs < 300; laterMs += 7) {
      const founding = new Founding();
      founding.serveAlone(S1, "/a");
      for (const sid of [S2, S3]) founding.cluster.start(sid);
      founding.run(laterMs);
      founding.start(S1);
      const leads = founding.leaders().includes(S1);
      outcomes.add(leads ? "leads" : "keeps");
      if (leads) expect([laterMs, founding.read(S3, "/a")]).toEqual([laterMs, "1"]);
      else expect([laterMs, founding.noted(S1)]).toEqual([laterMs, expect.arrayContaining(["history-of-one-server"])]);
      expect(founding.cluster.server(S1)?.disk.durable.tail.zxid).toBeGreaterThanOrEqual(0x1_0000_0001);
    }
    expect(outcomes).toEqual(new Set(["leads", "keeps"]));
  });

  test("keeps them from another one that has other data", () => {
    const founding = new Founding();
    founding.serveAlone(S1, "/a");
    founding.serveAlone(S2, "/b");
    founding.start(S1, S2);
    expect(founding.leaders()).toEqual([]);
    founding.start(S3);
    const [leader] = founding.leaders();
    expect(leader).toBeDefined();
    const other = leader === S1 ? S2 : S1;
    const path = leader === S1 ? "/a" : "/b";
    expect(founding.read(S3, path)).toBe("1");
    expect(founding.noted(other)).toContain("history-of-one-server");
  });
});
