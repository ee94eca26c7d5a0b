import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

/** Runs a program that uses the client, and reports after each step whether RxJS is loaded. */
function run(code: string): unknown {
  const program = `
    import { createRequire } from "node:module";
    import { createClient, isZkError } from "@zooid/client";
    const { cache } = createRequire(import.meta.url);
    const isLoaded = () => Object.keys(cache).some((file) => file.includes("/rxjs/"));
    ${code}
  `;
  const args = ["--conditions=@zooid/source", "--no-warnings", "--input-type=module", "--eval", program];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: import.meta.dirname, encoding: "utf8" });
  return JSON.parse(stdout === "" ? JSON.stringify(stderr) : stdout);
}

test("calls, pages and the end of a client do without RxJS; the first stream loads it", () => {
  const steps = run(
    `
    const seen = { imported: isLoaded() };
    const zk = createClient("127.0.0.1:1", { waitingTimeoutMs: 50 });
    await zk.create("/a").catch((error) => { if (!isZkError(error)) throw error; });
    await zk.connected({ signal: AbortSignal.timeout(10) }).catch(() => {});
    seen.called = isLoaded();
    zk.state$.subscribe(({ kind }) => { seen.kind = kind; });
    seen.streaming = isLoaded();
    await zk.close();
    console.log(JSON.stringify(seen));
  `.replaceAll("\n", " "),
  );
  expect(steps).toEqual({ imported: false, called: false, kind: "closed", streaming: true });
});

test("an import loads it with the program, for bundlers", () => {
  expect(run(`await import("@zooid/client/rxjs"); console.log(JSON.stringify(isLoaded()));`)).toBe(true);
});

test("a Node.js that is too old is named in one sentence", () => {
  const message = run(
    `
    Promise.withResolvers = undefined;
    try { createClient("127.0.0.1:1"); } catch (error) { console.log(JSON.stringify(error.message)); }
  `.replaceAll("\n", " "),
  );
  expect(message).toBe(`@zooid/client needs Node.js 22.15 or newer, and this is ${process.version}`);
});
