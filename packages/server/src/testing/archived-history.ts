import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OpCode, type Zxid } from "@zooid/model";
import { listBases } from "@zooid/txn-log/sqlite";
import { create, RawClient, setData } from "@zooid/wire/testing/raw-client";
import { expect, vi } from "vitest";
import { type Restored, restoreHistory } from "../offline/restore-history.ts";
import { planRestore, type RestoreTarget } from "../offline/restore-plan.ts";
import type { ZooidServer } from "../server-api.ts";
import { startTestServer } from "./server.ts";
import { shown } from "./snapshot-endpoint.ts";

/** A state that a client read, with the last zxid of it. */
export interface Moment {
  readonly zxid: Zxid;
  /** As {@link shown} gives each node of {@link PATHS}. */
  readonly nodes: readonly unknown[];
}

const PATHS = ["/", "/a", "/a/b", "/mine"];

/** A temporary folder with the data directory of a server that keeps a history. */
export class ArchivedHistory implements AsyncDisposable {
  readonly folder: string;
  readonly dataDir: string;
  readonly archive: string;

  static async make(): Promise<ArchivedHistory> {
    return new ArchivedHistory(await mkdtemp(join(tmpdir(), "zooid-restore-")));
  }

  private constructor(folder: string) {
    this.folder = folder;
    this.dataDir = join(folder, "data");
    this.archive = join(this.dataDir, "archive");
  }

  /** Starts the server `lives` times and sets nodes each time. @returns the state after each set */
  async write(lives: number): Promise<readonly Moment[]> {
    const moments: Moment[] = [];
    for (let life = 0; life < lives; life++) {
      await using zk = await this.start();
      await using client = await RawClient.withSession(zk.port);
      if (life === 0) {
        await client.ask(OpCode.CREATE, create("/a", "0"));
        await client.ask(OpCode.CREATE, create("/a/b", "0"));
      }
      for (let i = 1; i <= 3; i++) {
        const { zxid } = await client.ask(OpCode.SET_DATA, setData("/a/b", `${life}.${i}`));
        moments.push({ zxid: Number(zxid) as Zxid, nodes: await nodesOf(client) });
      }
    }
    return moments;
  }

  /** Starts the server. It has its first base: it copies its state after a start. */
  async start(): Promise<ZooidServer> {
    const zk = await startTestServer({ dataDir: this.dataDir, history: { retainMs: 3_600_000 } });
    await vi.waitFor(() => expect(listBases(join(this.archive, "base"))).not.toEqual([]), 30_000);
    return zk;
  }

  /** Restores into the directory `name` of {@link folder}. */
  restoreTo(name: string, target?: RestoreTarget, keepsSessions = false): Promise<Restored> {
    const directories = { dataDir: join(this.folder, name) };
    return restoreHistory(planRestore(this.archive, target), {
      directories,
      command: "restore",
      member: undefined,
      keepsSessions,
      warn: () => {},
    });
  }

  /** Restores a moment and expects its nodes, and later zxids for later writes. */
  async expectRestored({ zxid, nodes }: Moment, last: Zxid): Promise<void> {
    const name = `at-${zxid}`;
    expect((await this.restoreTo(name, { zxid })).zxid).toBe(zxid);
    await using zk = await startTestServer({ dataDir: join(this.folder, name) });
    await using client = await RawClient.withSession(zk.port);
    expect(await nodesOf(client)).toEqual(nodes);
    const { zxid: next } = await client.ask(OpCode.SET_DATA, setData("/a", "later"));
    expect(Number(next)).toBeGreaterThan(last);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

async function nodesOf(client: RawClient): Promise<readonly unknown[]> {
  const nodes: unknown[] = [];
  for (const path of PATHS) nodes.push(await shown(client, path));
  return nodes;
}
