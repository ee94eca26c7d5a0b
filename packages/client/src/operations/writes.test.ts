import { OPEN_ACL } from "@zooid/model";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { retry } from "../calls/retry.ts";
import type { Client } from "../client.ts";
import { setStage } from "../testing/stage.ts";
import type { Relay } from "../testing.ts";

let relay: Relay;
let zk: Client;
/** Connected to the server without the relay. */
let witness: Client;

beforeEach(async () => {
  ({ relay, zk, witness } = await setStage(onTestFinished));
});

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));

/** Delivers a request, loses its answer with the connection, then lets another client act. */
async function unanswered<T>(ask: () => Promise<T>, path: string, meanwhile = async () => {}): Promise<T> {
  const { watch } = await witness.exists(path, { watch: true });
  await zk.sync();
  relay.freeze("answers");
  const asked = ask();
  asked.catch(() => {});
  await watch.fired;
  await meanwhile();
  relay.cut();
  relay.thaw();
  return asked;
}

describe("an idempotent write whose answer was lost", () => {
  const once = { idempotent: true } as const;

  test("succeeds, and is applied once", async () => {
    const { stat } = await unanswered(() => zk.create("/a", "1", once), "/a");
    expect(stat).toEqual(await witness.exists("/a"));
    const changed = await unanswered(() => zk.set("/a", "2", { version: 0, ...once }), "/a");
    expect(changed.version).toBe(1);
    await unanswered(() => zk.delete("/a", { version: 1, ...once }), "/a");
    expect(await witness.exists("/a")).toBeNull();
  });

  test("is its own only with the session's ephemeral owner", async () => {
    const { stat } = await unanswered(() => zk.create("/mine", "", { mode: "ephemeral", ...once }), "/mine");
    expect(stat.ephemeralOwner).toBe(zk.sessionId);
  });

  test("is refused where another client has written instead", async () => {
    const replaced = async (): Promise<void> => {
      await witness.delete("/b");
      await witness.create("/b", "another's");
    };
    await expect(unanswered(() => zk.create("/b", "mine", once), "/b", replaced)).rejects.toMatchObject({
      code: "NODE_EXISTS",
    });
    const overwritten = async (): Promise<void> => void (await witness.set("/b", "another's again"));
    const setting = unanswered(() => zk.set("/b", "mine", { version: 0, ...once }), "/b", overwritten);
    await expect(setting).rejects.toMatchObject({ code: "BAD_VERSION" });
  });

  test("is not repeated against the policy, nor without the option", async () => {
    const never = () => zk.create("/c", "", { ...once, retry: retry.none });
    await expect(unanswered(never, "/c")).rejects.toMatchObject({ code: "CONNECTION_LOSS", outcome: "unknown" });
    const plain = () => zk.set("/c", "x");
    await expect(unanswered(plain, "/c")).rejects.toMatchObject({ code: "CONNECTION_LOSS", outcome: "unknown" });
  });

  test("a refusal of the first attempt is reported", async () => {
    await witness.create("/d", "same");
    await expect(zk.create("/d", "same", once)).rejects.toMatchObject({ code: "NODE_EXISTS" });
    await expect(zk.delete("/none", once)).rejects.toMatchObject({ code: "NO_NODE" });
  });

  test("a sequential node needs protect", async () => {
    const creating = zk.create("/n-", "", { mode: "persistent-sequential", ...once });
    await expect(creating).rejects.toThrow(/protect: true is for those/);
  });
});

describe("put", () => {
  test("writes an existing node, and creates a missing one", async () => {
    expect((await zk.put("/p", "1")).version).toBe(0);
    expect((await zk.put("/p", "2")).version).toBe(1);
    await expect(zk.put("/q/r", "1")).rejects.toMatchObject({ code: "NO_NODE" });
    await zk.put("/q/r", "1", { parents: "persistent" });
    expect((await zk.get("/q/r")).data).toEqual(bytes("1"));
  });

  test("succeeds while another client creates and deletes the same node", async () => {
    const flicker = (async () => {
      for (let i = 0; i < 50; i++) {
        await witness.put("/f", "theirs");
        await witness.delete("/f", { missingOk: true });
      }
    })();
    await Promise.all([flicker, ...Array.from({ length: 50 }, () => zk.put("/f", "ours"))]);
    await zk.put("/f", "last");
    expect((await witness.get("/f")).data).toEqual(bytes("last"));
  });
});

describe("deleteTree", () => {
  async function grow(root: string, width: number, depth: number): Promise<void> {
    await witness.create(root);
    if (depth === 0) return;
    await Promise.all(Array.from({ length: width }, (_, i) => grow(`${root}/n${i}`, width, depth - 1)));
  }

  test("deletes the whole tree, in batches, and counts", async () => {
    await grow("/t", 4, 3);
    expect(await zk.deleteTree("/t", { batch: 7 })).toBe(1 + 4 + 16 + 64);
    expect(await witness.exists("/t")).toBeNull();
    expect(await zk.deleteTree("/t")).toBe(0);
  });

  test("is not atomic by default: nodes that were deleted before a refusal are gone", async () => {
    await grow("/t", 3, 2);
    await witness.setAcl("/t/n1", [{ perms: 31 - 8, scheme: "world", id: "anyone" }]);
    await expect(zk.deleteTree("/t", { batch: 1 })).rejects.toMatchObject({ code: "NO_AUTH" });
    expect(await witness.getAllChildrenNumber("/t")).toBeLessThan(12);
    await witness.setAcl("/t/n1", OPEN_ACL);
  });

  test("is atomic on request", async () => {
    await grow("/t", 3, 2);
    const noDelete = [{ perms: 31 - 8, scheme: "world", id: "anyone" }];
    await witness.setAcl("/t/n1", noDelete);
    await expect(zk.deleteTree("/t", { atomic: true })).rejects.toMatchObject({ code: "NO_AUTH" });
    expect(await witness.getAllChildrenNumber("/t")).toBe(12);
    await witness.setAcl("/t/n1", OPEN_ACL);
    expect(await zk.deleteTree("/t", { atomic: true, childrenOnly: true })).toBe(12);
    expect([await zk.deleteTree("/t", { atomic: true }), await zk.deleteTree("/t", { atomic: true })]).toEqual([1, 0]);
  });

  test("atomically deletes nodes that other clients create meanwhile, too", async () => {
    await grow("/t", 3, 2);
    const growing = (async () => {
      for (let i = 0; i < 100; i++) await witness.create(`/t/n1/late${i}`);
    })();
    await Promise.all([zk.deleteTree("/t", { atomic: true }), growing.catch(() => {})]);
    expect(await witness.exists("/t")).toBeNull();
  });

  test("may keep the node itself, the root too", async () => {
    await grow("/t", 2, 1);
    expect(await zk.deleteTree("/t", { childrenOnly: true })).toBe(2);
    expect((await witness.exists("/t"))?.numChildren).toBe(0);
    const view = zk.namespace("/t");
    await view.create("/x");
    expect(await view.deleteTree("/", { childrenOnly: true })).toBe(1);
  });

  test("refuses the root before any delete, and keeps the server's own nodes", async () => {
    await grow("/t", 2, 1);
    await expect(zk.deleteTree("/")).rejects.toMatchObject({ code: "BAD_ARGUMENTS", outcome: "not-sent" });
    expect(await witness.getAllChildrenNumber("/t")).toBe(2);
    expect(await zk.deleteTree("/", { childrenOnly: true })).toBe(3);
    expect((await witness.children("/")).names).toEqual(["zookeeper"]);
  });

  test("deletes nodes that other clients create meanwhile", async () => {
    await grow("/t", 3, 2);
    const growing = (async () => {
      for (let i = 0; i < 100; i++) await witness.create(`/t/n1/late${i}`);
    })();
    await Promise.all([zk.deleteTree("/t"), growing.catch(() => {})]);
    expect(await witness.exists("/t")).toBeNull();
  });

  test("fails where a delete is not permitted", async () => {
    await grow("/t", 2, 1);
    await witness.setAcl("/t", [{ perms: 1, scheme: "world", id: "anyone" }]);
    await expect(zk.deleteTree("/t")).rejects.toMatchObject({ code: "NO_AUTH" });
    await expect(zk.deleteTree("/", { batch: 0 })).rejects.toThrow(RangeError);
  });
});

describe("reads", () => {
  test("are answered together, each with its own result, below the client's root", async () => {
    await witness.create("/v");
    await witness.create("/v/a", "x");
    const [node, names, none] = await zk.namespace("/v").reads().get("/a").children("/").get("/none").run();
    expect(node).toMatchObject({ ok: true, value: { data: bytes("x") } });
    expect(names).toEqual({ ok: true, value: ["a"] });
    expect(none).toEqual({ ok: false, code: "NO_NODE", path: "/none" });
  });

  test("need at least one step", async () => {
    await expect(zk.reads().run()).rejects.toMatchObject({ code: "BAD_ARGUMENTS" });
    expect(() => zk.reads().get("a")).toThrow(/^get: /);
  });
});
