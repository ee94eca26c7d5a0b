import { expect, test } from "vitest";
import { eachInDirectory, ensemble } from "./testing/ensemble-processes.ts";

// A server as an operator starts it: a process with a zoo.cfg of its own. Ensembles that serve are
// in `ensemble.slow.test.ts`.

eachInDirectory();

test("a shared secret is asked for where another server is not on this machine", async () => {
  const [member] = await ensemble(1, {
    settings: ["server.2=192.0.2.2:2888:3888", "server.3=192.0.2.3:2888:3888"],
  });
  if (member === undefined) throw new Error("there is one");
  member.start();
  expect(await member.ended()).toBe(2);
  expect(member.output).toMatch(/^\{[^\n]*"event":"start-failed"[^\n]*zooid\.peerSecretFile[^\n]*\n$/m);
});
