import { describe, expect, test } from "vitest";
import { forSeeds, SeedError, TestEnsemble } from "./index.ts";

describe("for each seed", () => {
  test("a test gets an ensemble of its own", async () => {
    const seeds: number[] = [];
    await forSeeds({ seeds: 3, from: 5, servers: 1 }, ({ seed }) => void seeds.push(seed));
    expect(seeds).toEqual([5, 6, 7]);
  });

  test("the first that fails is in the error, with its events and how to run it alone", async () => {
    const failing = forSeeds({ seeds: 100 }, async (ensemble) => {
      ensemble.crashLeader();
      await ensemble.sleep(10);
      if (ensemble.seed === 3) throw new Error("found it");
    });
    await expect(failing).rejects.toThrow(SeedError);
    await expect(failing).rejects.toThrow(/^seed 3 failed: found it\nTo run it alone: { from: 3, seeds: 1 }/);
    await expect(failing).rejects.toThrow(/server 3 crashes\n.* server 3 is down/);
  });

  test("a number of seeds that cannot be right is refused", async () => {
    await expect(forSeeds({ seeds: 0 }, () => {})).rejects.toThrow("seeds is a whole number from 1 on, found 0");
  });
});

describe("random faults", () => {
  test("of every kind end by themselves or by stop, and equal seeds give equal faults", async () => {
    const faultsOf = (seed: number): Promise<readonly string[]> =>
      TestEnsemble.run({ seed }, async (ensemble) => {
        const clients = [await ensemble.connect(), await ensemble.connect()];
        const faults = ensemble.randomFaults({ everyMs: 500 });
        await ensemble.sleep(30_000);
        await faults.stop();
        expect(clients.map(({ state }) => state.kind)).toEqual(["connected", "connected"]);
        expect(ensemble.servers.map((sid) => ensemble.status(sid))).not.toContain("down");
        return ensemble.events.flatMap((event) => (event.kind === "fault" ? [`${event.atMs} ${event.fault}`] : []));
      });
    const first = await faultsOf(1);
    expect(first.length).toBeGreaterThan(20);
    expect(await faultsOf(1)).toEqual(first);
    expect(await faultsOf(2)).not.toEqual(first);
  });

  test("refuse kinds that there are not", async () => {
    await using ensemble = await TestEnsemble.start({ servers: 1 });
    expect(() => ensemble.randomFaults({ kinds: [] })).toThrow("kinds are some of crash, pause, isolate");
    expect(() => ensemble.randomFaults({ kinds: ["crsh"] as never })).toThrow('found "crsh"');
    expect(() => ensemble.randomFaults({ everyMs: 0 })).toThrow(
      "everyMs is a number of milliseconds, at least 1, found 0",
    );
  });
});
