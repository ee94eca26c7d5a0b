import { expect, test } from "vitest";
import { parseCons } from "./cons-text.ts";

/** As a server writes a session's line. */
const SESSION =
  "/10.0.0.7:40102[1](queued=2,recved=300,sent=301,sid=0x100001,lop=GETD,est=1790000000000,to=30000,lcxid=0x12,lzxid=0x5,lresp=99,llat=1,minlat=0,avglat=4,maxlat=9)";

test("a session's line has each field", () => {
  expect([...parseCons(SESSION)]).toEqual([
    {
      address: "10.0.0.7:40102",
      sessionId: "0x100001",
      timeoutMs: 30_000,
      lastOperation: "GETD",
      received: 300,
      sent: 301,
      outstanding: 2,
      establishedMs: 1_790_000_000_000,
      averageLatencyMs: 4,
    },
  ]);
});

test("a connection without a session has counts alone, and missing counts are 0", () => {
  const [counted, empty] = [...parseCons(" /127.0.0.1:9[0](queued=0,recved=1,sent=0)\n /127.0.0.1:9[0](x)\n")];
  expect(counted).toMatchObject({ address: "127.0.0.1:9", sessionId: undefined, timeoutMs: undefined, received: 1 });
  expect(empty).toMatchObject({ received: 0, sent: 0, outstanding: 0, establishedMs: undefined });
});

test.each([
  ["/[::1]:40102[1](queued=0)", "[::1]:40102"],
  ["/0:0:0:0:0:0:0:1:40102[0](queued=0)", "0:0:0:0:0:0:0:1:40102"],
  ["/[fe80::1%eth0]:1[12](queued=0)", "[fe80::1%eth0]:1"],
])("the address of %s is %s", (line, address) => {
  expect([...parseCons(line)].map((found) => found?.address)).toEqual([address]);
});

test.each([
  "10.0.0.7:1[1](queued=0)",
  "/10.0.0.7:1[1](queued=0",
  "/10.0.0.7:1(queued=0)",
  "/10.0.0.7:1[](queued=0)",
  "/10.0.0.7:1[x](queued=0)",
  "/[1](queued=0)",
  "This ZooKeeper instance is not currently serving requests",
])("%s is no connection's line, and those beside it are read", (line) => {
  const found = [...parseCons(`${SESSION}\n${line}\n${SESSION}`)];
  expect(found.map((each) => each?.sessionId)).toEqual(["0x100001", undefined, "0x100001"]);
});
