import { expect, test } from "vitest";
import { startNullServer } from "./null-server/null-server-thread.ts";
import { measured } from "./testing/measure.ts";
import { eachMeasured, expectPoints, SHORT } from "./testing/measured-server.ts";
import { UsageError } from "./usage-error.ts";

// Workloads against a real server, in the test's own process; the others are in
// `workloads.slow.test.ts`.

const server = eachMeasured();

test("read-ratio measures without an error and leaves nothing behind", async () => {
  await expectPoints(server.hosts, "read-ratio", ["--ratio", "0,90"], ["0 % reads", "90 % reads"]);
});

test.each([
  ["write-at", "needs an ensemble"],
  ["scale", "needs ensembles of different sizes"],
  ["recover", "needs --restart-command"],
])("%s says in one sentence what it would need", async (workload, sentence) => {
  const failing = measured("--hosts", server.hosts, workload);
  await expect(failing).rejects.toBeInstanceOf(UsageError);
  await expect(failing).rejects.toThrow(sentence);
});

test("an event that would come too late is refused", async () => {
  const failing = measured("--hosts", server.hosts, "timeline", ...SHORT, "--event", "9s=true");
  await expect(failing).rejects.toThrow("timeline is over after 0.5 s (--duration)");
});

test("what cannot be pretended cannot be calibrated", async () => {
  await expect(measured("calibrate", "watch-fanout")).rejects.toThrow("cannot be calibrated");
});

test("a server that is not there is named in one sentence", async () => {
  const nowhere = await startNullServer();
  await nowhere[Symbol.asyncDispose]();
  const failing = measured("--hosts", `127.0.0.1:${nowhere.port}`, "list-1k");
  await expect(failing).rejects.toThrow(/^no server of 127\.0\.0\.1:\d+ can be reached: [^\n]+$/);
});

test("another machine is not loaded unless that is said", async () => {
  await expect(measured("--hosts", "192.0.2.1:2181", "read-ratio")).rejects.toThrow("--allow-remote");
});
