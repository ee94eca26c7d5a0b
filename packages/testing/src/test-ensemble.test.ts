import { spawnSync } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { ArgumentError } from "@zooid/model";
import { Mutex } from "@zooid/recipes";
import { describe, expect, test } from "vitest";
import { formatEvent, forSeeds, TestEnsemble, VirtualDeadlineError } from "./index.ts";

/** The course of a run, by its events. */
async function transcriptOf(seed: number): Promise<readonly string[]> {
  return await TestEnsemble.run({ seed }, async (ensemble) => {
    const [first, second] = [await ensemble.connect(), await ensemble.connect()];
    const lease = await new Mutex(first, "/lock").acquire();
    const next = new Mutex(second, "/lock").acquire();
    ensemble.crashLeader({ forMs: 3000 });
    await ensemble.sleep(5000);
    await lease.release();
    const { path } = await next;
    return [...ensemble.events.map(formatEvent), path, `${Math.random()}`];
  });
}

describe("a test ensemble", () => {
  test("starts with a leader, and the requested numbers of servers and observers", async () => {
    await using ensemble = await TestEnsemble.start({ servers: 5, observers: 1 });
    expect(ensemble.servers).toEqual([1, 2, 3, 4, 5, 6]);
    expect(ensemble.leader).toBeDefined();
    expect(ensemble.status(6)).toBe("observing");
  });

  test("of one server serves", async () => {
    await using ensemble = await TestEnsemble.start({ servers: 1 });
    const zk = await ensemble.connect();
    expect((await ensemble.run(() => zk.create("/a", "1"))).path).toBe("/a");
  });

  test("gives equal runs for equal seeds, and others for others", async () => {
    const [first, second, other] = [await transcriptOf(5), await transcriptOf(5), await transcriptOf(6)];
    expect(second).toEqual(first);
    expect(other).not.toEqual(first);
  });

  test("grants session timeouts between its limits, and closes what it has connected", async () => {
    await using ensemble = await TestEnsemble.start({ minSessionTimeoutMs: 1000, maxSessionTimeoutMs: 5000 });
    const short = await ensemble.connect({ sessionTimeoutMs: 500 });
    const long = await ensemble.connect({ sessionTimeoutMs: 60_000 });
    expect([short.sessionTimeoutMs, long.sessionTimeoutMs]).toEqual([1000, 5000]);
    await ensemble.close();
    await ensemble.close();
    expect(long.state.kind).toBe("closed");
  });

  test("takes clients that the code under test makes, below a chroot", async () => {
    const { connect } = await import("@zooid/client");
    await using ensemble = await TestEnsemble.start();
    const admin = await ensemble.connect({ name: "admin" });
    await ensemble.run(async () => {
      await admin.create("/app");
      const service = await connect(`${ensemble.connectString}/app`, { transport: ensemble.transport("service") });
      await service.create("/config", "1");
      expect((await admin.children("/app")).names).toEqual(["config"]);
      await ensemble.expireSession("service");
      await ensemble.until(() => ensemble.events.length > 0 && service.state.kind === "lost");
      await service.close();
    });
  });

  test("shows servers' wall clocks as the process's own", async () => {
    const startTimeMs = Date.UTC(2031, 4, 5);
    await using ensemble = await TestEnsemble.start({ startTimeMs });
    const zk = await ensemble.connect();
    await ensemble.sleep(3_600_000);
    const { stat } = await ensemble.run(() => zk.create("/a"));
    expect(new Date(stat.ctimeMs).toISOString().slice(0, 13)).toBe("2031-05-05T01");
    expect(Math.abs(Date.now() - stat.ctimeMs)).toBeLessThan(100);
  });
});

describe("faults", () => {
  test("crash the leader: another one leads, and what was acknowledged is there", async () => {
    await using ensemble = await TestEnsemble.start({ seed: 2 });
    const zk = await ensemble.connect();
    await ensemble.run(() => zk.create("/a", "1"));
    const old = ensemble.crashLeader();
    expect(ensemble.status(old)).toBe("down");
    await ensemble.settle();
    expect(ensemble.leader).not.toBe(old);
    expect(Buffer.from((await ensemble.run(() => zk.get("/a"))).data ?? []).toString()).toBe("1");
    ensemble.restart(old);
    await ensemble.settle();
    expect(ensemble.status(old)).toBe("following");
  });

  test("a leader cut off from the others steps down, and follows when the network heals", async () => {
    await using ensemble = await TestEnsemble.start();
    const old = ensemble.leader ?? 0;
    ensemble.isolate(old);
    await ensemble.settle();
    expect([ensemble.status(old), ensemble.leader === old]).toEqual(["looking", false]);
    ensemble.heal();
    await ensemble.settle();
    expect(ensemble.status(old)).toBe("following");
  });

  test("a client on the lesser side of a partition loses its session, and one on the other side keeps it", async () => {
    await using ensemble = await TestEnsemble.start();
    const [left, right] = [await ensemble.connect(), await ensemble.connect()];
    const { sessionId } = right;
    const [lone = 0, ...others] = ensemble.servers.filter((sid) => sid !== ensemble.leader);
    ensemble.partition([
      [lone, left],
      [ensemble.leader ?? 0, ...others, right],
    ]);
    await ensemble.until(() => left.state.kind === "lost");
    ensemble.heal();
    await ensemble.settle();
    expect(right.sessionId).toBe(sessionId);
    expect(left.state.kind).toBe("connected");
  });

  test("a partition for a time ends unasked", async () => {
    await using ensemble = await TestEnsemble.start();
    ensemble.partition([[1]], { forMs: 1000 });
    await ensemble.sleep(20_000);
    await ensemble.settle();
    expect(ensemble.servers.map((sid) => ensemble.status(sid))).not.toContain("looking");
  });

  test("a paused server holds what arrives until it continues", async () => {
    await using ensemble = await TestEnsemble.start({ servers: 1 });
    const zk = await ensemble.connect();
    ensemble.pause(1, { forMs: 500 });
    const before = ensemble.nowMs;
    await ensemble.run(() => zk.create("/a"));
    expect(ensemble.nowMs - before).toBeGreaterThanOrEqual(500);
    ensemble.pause(1);
    expect(ensemble.status(1)).toBe("paused");
    ensemble.resume(1);
    expect(ensemble.status(1)).toBe("leading");
  });

  test("a slow disk delays writes, a slow link commits", async () => {
    await using ensemble = await TestEnsemble.start({ servers: 1 });
    const zk = await ensemble.connect();
    ensemble.slowDisk(1, { minMs: 300, maxMs: 300 });
    const before = ensemble.nowMs;
    await ensemble.run(() => zk.create("/a"));
    expect(ensemble.nowMs - before).toBeGreaterThanOrEqual(300);
  });

  test("a server that lost its disk is brought level by the others", async () => {
    await using ensemble = await TestEnsemble.start();
    const zk = await ensemble.connect();
    await ensemble.run(() => zk.create("/a"));
    const victim = ensemble.servers.find((sid) => sid !== ensemble.leader) ?? 0;
    ensemble.wipe(victim);
    ensemble.restart(victim);
    await ensemble.settle();
    expect(ensemble.status(victim)).toBe("following");
  });

  test("a link that is cut, refused or frozen, and mended", async () => {
    await using ensemble = await TestEnsemble.start();
    const zk = await ensemble.connect({ sessionTimeoutMs: 10_000 });
    const link = ensemble.link(zk);
    const { sessionId } = zk;
    link.refuse();
    link.cut();
    await ensemble.until(() => zk.state.kind === "suspended");
    link.accept();
    await ensemble.settle();
    expect(zk.sessionId).toBe(sessionId);
    link.freeze();
    await ensemble.until(() => zk.state.kind === "lost");
    link.thaw();
    await ensemble.settle();
    expect(zk.state.kind).toBe("connected");
  });

  test("an expired session ends with its ephemeral nodes, for every seed", async () => {
    for (let seed = 1; seed <= 20; seed++) {
      await TestEnsemble.run({ seed }, async (ensemble) => {
        const [owner, other] = [await ensemble.connect(), await ensemble.connect()];
        await owner.create("/mine", "", { mode: "ephemeral" });
        await ensemble.expireSession(owner);
        await ensemble.settle();
        expect(await other.exists("/mine", { sync: true })).toBeNull();
      });
    }
  });

  test("name the server or client that there is not", async () => {
    await using ensemble = await TestEnsemble.start();
    expect(() => ensemble.crash(4)).toThrow("expected a server from 1 to 3, found 4");
    expect(() => ensemble.link("unknown")).toThrow("expected a client of this ensemble (by name: none), found unknown");
    ensemble.crashLeader();
    expect(() => ensemble.crashLeader()).toThrow(/^expected a leader to crash at .* server 3: down$/);
  });
});

describe("virtual time", () => {
  test("passes for whatever waits, in order", async () => {
    await using ensemble = await TestEnsemble.start();
    const order: string[] = [];
    await ensemble.run(
      async () => {
        const interval = setInterval(() => order.push("interval"), 400);
        setTimeout(() => order.push("timeout"), 1000);
        setImmediate(() => order.push("immediate"));
        clearTimeout(setTimeout(() => order.push("never"), 1));
        clearTimeout(Number(setTimeout(() => order.push("never"), 1)));
        await pause(1001);
        clearInterval(interval);
        await pause(3_600_000, undefined, { ref: false });
      },
      { deadlineMs: 4_000_000 },
    );
    expect(order).toEqual(["immediate", "interval", "interval", "timeout"]);
  });

  test("ends timeouts of signals and of clients' calls", async () => {
    await using ensemble = await TestEnsemble.start();
    const zk = await ensemble.connect();
    ensemble.link(zk).freeze();
    await expect(ensemble.run(() => zk.get("/a", { signal: AbortSignal.timeout(50) }))).rejects.toThrow("timeout");
    await expect(ensemble.run(() => zk.get("/a", { timeoutMs: 50 }))).rejects.toThrow("OPERATION_TIMEOUT");
  });

  test("that passes for something that never happens ends with an error that says what waits", async () => {
    await using ensemble = await TestEnsemble.start({ seed: 3 });
    const zk = await ensemble.connect({ name: "holder" });
    const mutex = new Mutex(zk, "/lock");
    const lease = await ensemble.run(() => mutex.acquire());
    const stuck = ensemble.run(() => mutex.acquire({ owner: Symbol("another") }), { name: "the second grant" });
    await expect(stuck).rejects.toThrow(VirtualDeadlineError);
    await expect(stuck).rejects.toThrow(
      /^the second grant was not settled within 600000 ms of virtual time \(seed 3\)/,
    );
    await expect(stuck).rejects.toThrow(/holder: connected to server-\d; \d watches; last answer: /);
    await ensemble.run(() => lease.release());
  });

  test("names calls that are not answered, and links that are broken", async () => {
    await using ensemble = await TestEnsemble.start();
    const zk = await ensemble.connect();
    ensemble.link(zk).freeze("answers");
    const call = zk.get("/never", { timeoutMs: 700_000 }).catch(() => {});
    await expect(ensemble.run(() => call, { deadlineMs: 20 })).rejects.toThrow(
      /client-1: connected to server-\d; answers frozen; waits for get \/never since/,
    );
  });

  test("stands still while something real is waited for", async () => {
    const { stat } = await import("node:fs/promises");
    await using ensemble = await TestEnsemble.start();
    await ensemble.run(async () => {
      const before = ensemble.nowMs;
      for (let i = 0; i < 20; i++) await ensemble.real(() => stat("."));
      expect(ensemble.nowMs).toBe(before);
    });
  });

  test("fails the run in which a timer throws", async () => {
    await using ensemble = await TestEnsemble.start();
    const run = ensemble.run(() => {
      setTimeout(() => {
        throw new Error("a defect of the service");
      }, 10);
      return ensemble.sleep(1000);
    });
    await expect(run).rejects.toThrow("a defect of the service");
  });

  test("belongs to one ensemble at a time, and is real again when it is closed", async () => {
    const before = { setTimeout, Date, random: Math.random, now: performance.now, timeout: AbortSignal.timeout };
    await using ensemble = await TestEnsemble.start({ seed: 4 });
    await expect(TestEnsemble.start()).rejects.toThrow("a TestEnsemble (seed 4) has this process's time already");
    expect(new Date().getUTCFullYear()).toBe(2030);
    expect(new Date(0) instanceof Date).toBe(true);
    await ensemble.close();
    expect({ setTimeout, Date, random: Math.random, now: performance.now, timeout: AbortSignal.timeout }).toEqual(
      before,
    );
    await expect(ensemble.sleep(1)).rejects.toThrow("the ensemble is closed");
  });

  test("refuses to stand beside fake timers", async () => {
    const { vi } = await import("vitest");
    vi.useFakeTimers();
    try {
      await expect(TestEnsemble.start()).rejects.toThrow("useRealTimers() comes first");
    } finally {
      vi.useRealTimers();
    }
  });

  test("keeps no timer of the process when it is closed", () => {
    const program = `
      import { TestEnsemble } from "@zooid/testing";
      await TestEnsemble.run({}, async (ensemble) => {
        await ensemble.connect();
        ensemble.crashLeader();
        await ensemble.sleep(1000);
      });
      console.log(process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").join());
    `;
    const args = ["--conditions=@zooid/source", "--no-warnings", "--input-type=module", "--eval", program];
    const { stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: import.meta.dirname,
      encoding: "utf8",
      timeout: 30_000,
    });
    expect([stdout, stderr]).toEqual(["\n", ""]);
  });
});

test("each method refuses arguments that it cannot use, with the nearest name, before anything happens", async () => {
  await using ensemble = await TestEnsemble.start({ servers: 1 });
  /** As a program without a type checker gives it. */
  const loose = (value: unknown): never => value as never;
  const calls: readonly (readonly [call: () => unknown, sentence: string])[] = [
    [() => TestEnsemble.begin(loose(null)), "the options are an object, found null"],
    [() => TestEnsemble.begin(loose({ server: 3 })), "did you mean servers?"],
    [() => TestEnsemble.begin(loose({ latency: 5 })), "latency is { minMs, maxMs } with 0 <= minMs <= maxMs, found 5"],
    [() => TestEnsemble.run({}, loose(undefined)), "the work is a function, found undefined"],
    [() => forSeeds(loose(undefined), () => {}), "seeds is a whole number from 1 on, found undefined"],
    [() => forSeeds({ seeds: 2, from: 0.5 }, () => {}), "from is a whole number from 0 on, found 0.5"],
    [() => ensemble.run(loose("x")), "the work is a function"],
    [() => ensemble.run(() => {}, loose({ deadline: 5 })), "did you mean deadlineMs?"],
    [() => ensemble.sleep(loose("5")), 'the time is a number of milliseconds, found "5"'],
    [() => ensemble.until(loose(true)), "the work is a function, found true"],
    [() => ensemble.real(loose(undefined)), "the work is a function"],
    [() => ensemble.connect(loose({ chrot: "/a" })), "there is no option"],
    [() => ensemble.crash(9), "expected a server from 1 to 1, found 9"],
    [() => ensemble.crash(1, loose({ forMS: 5 })), "did you mean forMs?"],
    [() => ensemble.crashLeader(loose({ forMs: -1 })), "forMs is a number of milliseconds, at least 0, found -1"],
    [() => ensemble.pause(1, loose(5)), "the options are an object, found 5"],
    [() => ensemble.isolate(1, loose({ forMs: "5" })), 'found "5"'],
    [() => ensemble.partition(loose([1, 2])), "the groups are an array of arrays"],
    [() => ensemble.slowDisk(1, loose(5)), "the sync is { minMs, maxMs }"],
    [() => ensemble.slowLink(1, 1, Number.NaN), "byMs is a number of milliseconds, found NaN"],
    [() => ensemble.skewClock(1, loose("1")), "byMs is a number of milliseconds"],
    [() => ensemble.below(0), "the bound is a whole number from 1 on, found 0"],
    [() => ensemble.restart(loose("1")), 'expected a server from 1 to 1, found "1"'],
  ];
  const before = ensemble.events.length;
  for (const [call, sentence] of calls) {
    const error = await Promise.resolve()
      .then(call)
      .catch((thrown: unknown) => thrown);
    expect([String(error), error]).toEqual([expect.stringContaining(sentence), expect.any(ArgumentError)]);
  }
  expect(ensemble.events.slice(before)).toEqual([]);
});

test("options that cannot be right are all named in one error", async () => {
  const options = { servers: 0, seed: 0.5, latency: { minMs: 5, maxMs: 1 } };
  await expect(TestEnsemble.start(options)).rejects.toThrow(
    "test ensemble options: servers is a whole number from 1 to 9, found 0; " +
      "seed is a whole number from 0 to 4294967295, found 0.5; " +
      "latency is { minMs, maxMs } with 0 <= minMs <= maxMs, found { minMs: 5, maxMs: 1 }",
  );
});
