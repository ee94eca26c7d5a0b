import { OpCode } from "@zooid/model";
import {
  auth,
  connectRequest,
  create,
  multi,
  multiBody,
  RawClient,
  read,
  request,
  setData,
  versioned,
} from "@zooid/wire/testing/raw-client";
import fc from "fast-check";
import { expect, test } from "vitest";
import { startTestServer } from "../testing/server.ts";

/** Frames that a client might send, to be damaged. */
const FRAMES = [
  request(1, OpCode.CREATE, create("/a", "data", 0)),
  request(2, OpCode.CREATE2, create("/a/e-", "data", 3)),
  request(3, OpCode.GET_DATA, read("/a", true)),
  request(4, OpCode.SET_DATA, setData("/a", "more")),
  request(5, OpCode.GET_CHILDREN2, read("/", true)),
  request(6, OpCode.DELETE, versioned("/a")),
  multi(7, [OpCode.CHECK, versioned("/")], [OpCode.CREATE, create("/m", "x", 2)], [OpCode.DELETE, versioned("/a")]),
  request(8, OpCode.MULTI_READ, multiBody([OpCode.GET_DATA, read("/a")], [OpCode.GET_CHILDREN, read("/")])),
  request(9, OpCode.AUTH, auth("digest", "user:password")),
  request(-8, OpCode.SET_WATCHES, (writer) => {
    writer.zxid(1);
    for (const path of ["/a", "/b", "/"]) {
      writer.int(1);
      writer.text(path);
    }
  }),
  request(10, OpCode.SASL, (writer) => writer.text('username="bob",nonce="x",response=00')),
  request(-2, OpCode.PING),
  request(11, OpCode.SYNC, (writer) => writer.text("/")),
  request(12, OpCode.GET_ACL, (writer) => writer.text("/a")),
];

const flips = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 4 });
const damaged = fc.tuple(fc.constantFrom(...FRAMES), flips, fc.boolean()).map(([frame, changes, keepsLength]) => {
  const bytes = Buffer.from(frame);
  // Where the length stays right, the damage reaches the decoders.
  const from = keepsLength ? 4 : 0;
  for (const [place, value] of changes) bytes[from + (place % (bytes.length - from))] = value;
  return bytes;
});
const random = fc.uint8Array({ minLength: 1, maxLength: 300 }).map((body) => {
  const frame = Buffer.alloc(4 + body.length);
  frame.writeInt32BE(body.length);
  frame.set(body, 4);
  return frame;
});
const junk = fc.uint8Array({ minLength: 1, maxLength: 100 }).map((bytes) => Buffer.from(bytes));

test("for any input, the server continues serving others, and keeps their writes", async () => {
  await using zk = await startTestServer({
    connectionsPerAddressMax: 0,
    onFailure: (error) => expect(error).toBe("none"),
  });
  await using bystander = await RawClient.withSession(zk.port);
  await bystander.ask(OpCode.CREATE, create("/kept", "value"));
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof({ weight: 4, arbitrary: damaged }, random, junk), { minLength: 1, maxLength: 12 }),
      fc.boolean(),
      async (frames, hasSession) => {
        await using client = await RawClient.open(zk.port);
        if (hasSession) client.send(connectRequest());
        client.send(...frames);
        expect((await bystander.ask(OpCode.GET_DATA, read("/kept"))).body.text()).toBe("value");
      },
    ),
    { numRuns: 400 },
  );
  expect(await bystander.ask(OpCode.SET_DATA, setData("/kept", "new"))).toMatchObject({ code: 0 });
});

test("a damaged connect request gets a session, a refusal or a closed connection", async () => {
  await using zk = await startTestServer({ connectionsPerAddressMax: 0 });
  await using bystander = await RawClient.withSession(zk.port);
  await fc.assert(
    fc.asyncProperty(flips, fc.nat(60), async (changes, length) => {
      const bytes = Buffer.concat([connectRequest(), Buffer.alloc(20)]).subarray(0, length + 1);
      for (const [place, value] of changes) bytes[place % bytes.length] = value;
      await using client = await RawClient.open(zk.port);
      client.socket.end(bytes);
      await client.rest();
      expect(await bystander.ask(OpCode.EXISTS, read("/"))).toMatchObject({ code: 0 });
    }),
    { numRuns: 300 },
  );
});
