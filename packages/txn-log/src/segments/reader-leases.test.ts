import { Worker } from "node:worker_threads";
import { describe, expect, test } from "vitest";
import { LEASE_COUNT_MAX, ReaderLeases } from "./reader-leases.ts";

describe("ReaderLeases", () => {
  test("what was retired is closed when every lease from before is given back; later leases do not count", () => {
    const leases = new ReaderLeases();
    const before = leases.take();
    const other = new ReaderLeases(leases.memory).take();
    const first = leases.retire();
    const after = leases.take();
    expect(leases.areClosed(first)).toBe(false);
    before[Symbol.dispose]();
    expect(leases.areClosed(first)).toBe(false);
    other[Symbol.dispose]();
    expect(leases.areClosed(first)).toBe(true);
    expect(leases.areClosed(leases.retire())).toBe(false);
    after[Symbol.dispose]();
    expect(leases.areClosed(leases.retire())).toBe(true);
  });

  test("leases have a bound, and a lease that was given back is taken again", () => {
    const leases = new ReaderLeases();
    const taken = Array.from({ length: LEASE_COUNT_MAX }, () => leases.take());
    expect(() => leases.take()).toThrow(`more than ${LEASE_COUNT_MAX} readers`);
    taken[7]?.[Symbol.dispose]();
    leases.take();
  });

  test("no reader in another thread ever reads what was reused while it had a lease", async () => {
    const leases = new ReaderLeases();
    // Word 0 names the file of the manifest, words 1 and 2 are the files: -1 while one is being
    // reused. Word 3 counts reads from -1, before the start.
    const files = new Int32Array(new SharedArrayBuffer(16));
    Atomics.store(files, 3, -1);
    const source = `
      const { workerData, parentPort } = require("node:worker_threads");
      import(workerData.url).then(({ ReaderLeases }) => {
        const leases = new ReaderLeases(workerData.memory);
        const files = workerData.files;
        parentPort.postMessage("ready");
        let isReused = false;
        Atomics.wait(files, 3, -1);
        while (!isReused && Atomics.load(files, 3) < 3000) {
          const lease = leases.take();
          const file = 1 + Atomics.load(files, 0);
          for (let i = 0; i < 500; i++) if (Atomics.load(files, file) === -1) isReused = true;
          lease[Symbol.dispose]();
          Atomics.add(files, 3, isReused ? 3000 : 1);
        }
        parentPort.postMessage(isReused);
      });`;
    const url = new URL("./reader-leases.ts", import.meta.url).href;
    const options = { eval: true, workerData: { url, memory: leases.memory, files } };
    const worker = new Worker(source, { ...options, execArgv: ["--conditions=@zooid/source"] });
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    worker.on("error", reject);
    const ready = Promise.withResolvers<void>();
    worker.on("message", (message) => (message === "ready" ? ready.resolve() : resolve(message as boolean)));
    await ready.promise;
    Atomics.store(files, 3, 0);
    Atomics.notify(files, 3);
    while (Atomics.load(files, 3) < 3_000) {
      const old = Atomics.load(files, 0);
      Atomics.store(files, 0, 1 - old);
      const retired = leases.retire();
      while (!leases.areClosed(retired));
      for (let i = 0; i < 100; i++) Atomics.store(files, 1 + old, -1);
      Atomics.store(files, 1 + old, 0);
    }
    expect(await promise).toBe(false);
    await worker.terminate();
  });
});
