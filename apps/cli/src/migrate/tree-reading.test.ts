import { connect, digestId, isZkError } from "@zooid/client";
import { startServer } from "@zooid/embedded-server";
import { expect, test } from "vitest";
import { RequestPace } from "./request-pace.ts";
import { READS_IN_FLIGHT, readTree } from "./tree-reading.ts";

const PACE = new RequestPace(1_000_000);
const SIGNAL = new AbortController().signal;

test("each node is read once, a bounded number at a time, and what may not be read is named", async () => {
  await using server = await startServer({ port: 0 });
  await using zk = await connect(server.connectString);
  const expected = ["/"];
  for (let i = 0; i < 20; i++) {
    await zk.create(`/p${i}`, "");
    expected.push(`/p${i}`);
    for (let j = 0; j < 10; j++) expected.push((await zk.create(`/p${i}/c${j}`, "")).path);
  }
  await zk.create("/closed", "", { acl: [{ perms: 31, scheme: "digest", id: digestId("a", "b") }] });
  const [found, unread]: [string[], string[]] = [[], []];
  let inFlight = 0;
  let inFlightMax = 0;
  await readTree({
    client: zk,
    pace: PACE,
    signal: SIGNAL,
    requestsPerRead: 1,
    read: async (path) => {
      inFlightMax = Math.max(inFlightMax, ++inFlight);
      try {
        return await zk.get(path);
      } finally {
        inFlight--;
      }
    },
    node: (path) => found.push(path),
    unread: (path) => unread.push(path),
  });
  expect(found.filter((path) => !path.startsWith("/zookeeper")).sort()).toEqual(expected.sort());
  expect(unread).toEqual(["/closed"]);
  expect(inFlightMax).toBeGreaterThan(1);
  expect(inFlightMax).toBeLessThanOrEqual(READS_IN_FLIGHT);
});

test("a reading ends with the first error, and when it is given up", async () => {
  await using server = await startServer({ port: 0 });
  await using zk = await connect(server.connectString);
  for (let i = 0; i < 100; i++) await zk.create(`/n${i}`, "");
  const givenUp = new AbortController();
  const options = {
    client: zk,
    pace: PACE,
    signal: SIGNAL,
    requestsPerRead: 1,
    read: (path: string) => zk.get(path),
    unread: () => {},
  };
  const failing = readTree({
    ...options,
    node: (path) => {
      if (path === "/n50") throw new Error("no more");
    },
  });
  await expect(failing).rejects.toThrow("no more");
  const abandoned = readTree({
    ...options,
    signal: givenUp.signal,
    node: (path) => {
      if (path === "/n50") givenUp.abort(new Error("given up"));
    },
  });
  await expect(abandoned).rejects.toThrow("given up");
  await zk.close();
  const lost = readTree({ ...options, node: () => {} });
  await expect(lost).rejects.toSatisfy((error) => isZkError(error));
});
