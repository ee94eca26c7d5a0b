/** Calls that are limited to the session in which they were made. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { retry } from "../calls/retry.ts";
import type { Client } from "../client.ts";
import { connect } from "../connect.ts";
import { isZkError } from "../errors.ts";
import { answer, honestAnswer, REFUSED, type ScriptedLine, ScriptedServer } from "../testing/scripted-server.ts";

let server: ScriptedServer;
let zk: Client;
let line: ScriptedLine;

beforeEach(async () => {
  server = await ScriptedServer.start();
  [zk, line] = await Promise.all([connect(server.hosts, { random: () => 0 }), server.session()]);
});

afterEach(async () => {
  await zk.close();
  await server[Symbol.asyncDispose]();
});

const ofSession = { retry: retry.failOnSessionLoss() };

async function outcomeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => "answered",
    (error) => (isZkError(error) ? `${error.code} ${error.outcome}` : String(error)),
  );
}

test("a call limited to one session fails when it is lost, sent or not; others are sent in the next", async () => {
  const asked = [zk.get("/sent", ofSession), zk.get("/other")].map(outcomeOf);
  await line.requests(2);
  line.reset();
  await line.closed;
  await expect.poll(() => zk.state.kind).toBe("suspended");
  asked.push(outcomeOf(zk.set("/waits", "", ofSession)));
  await server.session(REFUSED);
  const next = await server.session();
  next.serve(honestAnswer);
  expect(await Promise.all(asked)).toEqual(["SESSION_EXPIRED unknown", "answered", "SESSION_EXPIRED not-sent"]);
});

test("a call limited to one session that waits for a retry is not sent in the next", async () => {
  const delay = Promise.withResolvers<void>();
  const policy = Object.assign(
    () => {
      delay.resolve();
      return 50;
    },
    { endsWithSession: true },
  );
  const asked = outcomeOf(zk.get("/a", { retry: policy }));
  line.serve((request) => answer(request, { code: -127 }));
  await delay.promise;
  line.reset();
  await server.session(REFUSED);
  const next = await server.session();
  next.serve(honestAnswer);
  expect(await asked).toBe("SESSION_EXPIRED unknown");
});

test("a session that is resumed in time is the same one", async () => {
  const asked = outcomeOf(zk.get("/a", ofSession));
  await line.request();
  line.reset();
  (await server.session()).serve(honestAnswer);
  expect(await asked).toBe("answered");
});
