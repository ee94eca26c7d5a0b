import { BUDGETS, ErrorCode, OpCode } from "@zooid/model";
import type { JuteWriter } from "@zooid/wire";
import { auth, create, multiBody, RawClient, read, request, setData, versioned } from "@zooid/wire/testing/raw-client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer } from "../testing/server.ts";

// Requests of strangers: each in one test of its own, all on one server, which must serve the
// bystander to the end.
let zk: Awaited<ReturnType<typeof startTestServer>>;
let bystander: RawClient;
beforeAll(async () => {
  zk = await startTestServer({
    connectionsPerAddressMax: 0,
    superDigest: "super:D/InIHSb7yEEbrWz8b9l71RjZJU=",
    auth: { failureDelayMsMax: 0 },
  });
  bystander = await RawClient.withSession(zk.port);
});
afterAll(async () => {
  expect(await bystander.ask(OpCode.EXISTS, read("/"))).toMatchObject({ code: 0 });
  await bystander[Symbol.asyncDispose]();
  await zk.stop();
});

type Body = (writer: JuteWriter) => void;

/**
 * Sends a request on a connection of its own.
 * @returns the error code, and whether the connection stays open
 */
async function attempt(op: number, body?: Body): Promise<{ code: number; zxid: number; goesOn: boolean }> {
  await using client = await RawClient.withSession(zk.port);
  const { code, zxid } = await client.ask(op, body);
  try {
    const next = await client.ask(OpCode.EXISTS, read("/"));
    return { code, zxid, goesOn: next.code === 0 };
  } catch {
    return { code, zxid, goesOn: false };
  }
}

const GOES_ON = { goesOn: true };
const UNREADABLE = { code: ErrorCode.MARSHALLING_ERROR, ...GOES_ON };
const BAD_ARGUMENTS = { code: ErrorCode.BAD_ARGUMENTS, ...GOES_ON };

describe("operations", () => {
  const served = new Set<number>([
    1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 14, 15, 16, 17, 18, 19, 21, 22, 100, 101, 102, 103, 104, 105, 106, 107, -11,
  ]);
  const unserved = [
    ...Array.from({ length: 384 }, (_, i) => i - 128),
    2 ** 31 - 1,
    -(2 ** 31),
    0x7000_0001,
    1 << 16,
  ].filter((op) => !served.has(op));

  let floodMs = 0;

  test("that do not exist, are not served yet or are internal are unimplemented, and end the connection", async () => {
    const beganMs = performance.now();
    for (const op of unserved) {
      expect([op, await attempt(op, create("/executed"))]).toEqual([
        op,
        { code: ErrorCode.UNIMPLEMENTED, zxid: -1, goesOn: false },
      ]);
    }
    floodMs = performance.now() - beganMs;
    expect(await bystander.ask(OpCode.EXISTS, read("/executed"))).toMatchObject({ code: ErrorCode.NO_NODE });
  });

  test("a flood of them is a few lines in the log", () => {
    const { ofKind, everyMs } = BUDGETS.refusalLines;
    const lines = zk.lines.filter((line) => line.includes("an operation that this server does not serve"));
    expect(lines.length).toBeGreaterThanOrEqual(ofKind);
    expect(lines.length).toBeLessThanOrEqual(ofKind * Math.ceil(floodMs / everyMs));
  });

  test("that no multi may hold make all of it unreadable, and nothing is executed", async () => {
    const allowed = new Set([1, 2, 5, 13, 15, 19, 21]);
    const others = [...Array.from({ length: 384 }, (_, i) => i - 128), 2 ** 31 - 1].filter((op) => !allowed.has(op));
    await using client = await RawClient.withSession(zk.port);
    for (const op of others) {
      const answer = await client.ask(OpCode.MULTI, multiBody([1, create("/executed")], [op, create("/executed-2")]));
      expect([op, answer.code, answer.body.rest]).toEqual([op, ErrorCode.MARSHALLING_ERROR, 0]);
    }
    expect(await client.ask(OpCode.EXISTS, read("/executed"))).toMatchObject({ code: ErrorCode.NO_NODE });
  });

  test("a TTL node inside a multi is unimplemented where there are none, and nothing of the multi is done", async () => {
    await using client = await RawClient.withSession(zk.port);
    const ttl = (writer: JuteWriter): void => {
      create("/t", "", 5)(writer);
      writer.zxid(1000);
    };
    const body = multiBody([OpCode.CREATE, create("/with-it")], [OpCode.CREATE_TTL, ttl]);
    const answer = await client.ask(OpCode.MULTI, body);
    expect(answer.code).toBe(0);
    const codes = [readPart(answer.body), readPart(answer.body)];
    expect(codes).toEqual([
      [-1, 0],
      [-1, ErrorCode.UNIMPLEMENTED],
    ]);
    expect(await client.ask(OpCode.EXISTS, read("/with-it"))).toMatchObject({ code: ErrorCode.NO_NODE });
  });

  /** Reads an error part: the type and the code, which comes twice. */
  function readPart(body: { int(): number; bool(): boolean }): [number, number] {
    const type = body.int();
    body.bool();
    const code = body.int();
    expect(body.int()).toBe(code);
    return [type, code];
  }
});

describe("bodies that cannot be read are answered so, and the connection continues", () => {
  const bodies: readonly (readonly [string, number, Body])[] = [
    ["nothing at all", OpCode.CREATE, () => {}],
    ["a path length of -2", OpCode.GET_DATA, (writer) => writer.int(-2)],
    ["a path longer than its frame", OpCode.GET_DATA, (writer) => writer.int(1000)],
    ["a path length of 2^31 - 1", OpCode.GET_DATA, (writer) => writer.int(2 ** 31 - 1)],
    ["no watch flag", OpCode.GET_DATA, (writer) => writer.text("/")],
    ["no mode of a watch", OpCode.ADD_WATCH, (writer) => writer.text("/")],
    ["a mode of a watch that does not exist", OpCode.ADD_WATCH, versioned("/", 2)],
    ["no type of watches to check", OpCode.CHECK_WATCHES, (writer) => writer.text("/")],
    ["a type of watches to remove that does not exist", OpCode.REMOVE_WATCHES, versioned("/", 6)],
    ["no prefix of ephemerals", OpCode.GET_EPHEMERALS, () => {}],
    ["no path to count below", OpCode.GET_ALL_CHILDREN_NUMBER, () => {}],
    [
      "a version cut short",
      OpCode.DELETE,
      (writer) => {
        writer.text("/x");
        writer.bool(true);
      },
    ],
    [
      "data longer than its frame",
      OpCode.SET_DATA,
      (writer) => {
        writer.text("/x");
        writer.int(5000);
      },
    ],
    [
      "an access list of 2^31 - 1 entries",
      OpCode.CREATE,
      (writer) => {
        writer.text("/x");
        writer.null();
        writer.int(2 ** 31 - 1);
        writer.int(0);
      },
    ],
    [
      "setWatches with null lists",
      OpCode.SET_WATCHES,
      (writer) => {
        writer.zxid(0);
        for (let i = 0; i < 3; i++) writer.null();
      },
    ],
    [
      "setWatches with a null path",
      OpCode.SET_WATCHES,
      (writer) => {
        writer.zxid(0);
        writer.int(1);
        writer.null();
        writer.int(0);
        writer.int(0);
      },
    ],
    [
      "setWatches that claims more paths than it has",
      OpCode.SET_WATCHES2,
      (writer) => {
        writer.zxid(0);
        writer.int(500_000);
      },
    ],
    [
      "a multi without its end",
      OpCode.MULTI,
      (writer) => {
        writer.int(OpCode.CHECK);
        writer.bool(false);
        writer.int(-1);
        versioned("/")(writer);
      },
    ],
    ["an empty multi without its end", OpCode.MULTI, () => {}],
    ["a multi of an error record", OpCode.MULTI, multiBody([-1, (writer) => writer.int(0)])],
    ["a multi inside a multi", OpCode.MULTI, multiBody([OpCode.MULTI, multiBody()])],
    ["a multi whose create has flags 7", OpCode.MULTI, multiBody([OpCode.CREATE, create("/x", "", 7)])],
    ["a multiRead with a write", OpCode.MULTI_READ, multiBody([OpCode.CREATE, create("/x")])],
    [
      "a multiRead with a null path",
      OpCode.MULTI_READ,
      multiBody([
        OpCode.GET_DATA,
        (writer) => {
          writer.null();
          writer.bool(false);
        },
      ]),
    ],
    ...[OpCode.EXISTS, OpCode.GET_DATA, OpCode.GET_CHILDREN, OpCode.GET_CHILDREN2, OpCode.GET_ACL, OpCode.SYNC].map(
      (op) =>
        [
          `a null path of operation ${op}`,
          op,
          (writer: JuteWriter) => {
            writer.null();
            writer.bool(false);
          },
        ] as const,
    ),
  ];

  test.each(bodies)("%s", async (_, op, body) => {
    expect(await attempt(op, body)).toMatchObject(UNREADABLE);
  });
});

describe("paths", () => {
  const bytes = (...all: number[]): Uint8Array => Uint8Array.from(all);
  test.each([
    ["empty", ""],
    ["without a slash in front", "a"],
    ["ending in a slash", "/zookeeper/"],
    ["with a null character", "/a\0b"],
    ["with a control character", "/a\u0007"],
    ["with DEL", "/a\u007f"],
    ["with a C1 control character", "/a\u0085"],
    ["with a private character", "/\ue000"],
    ["with a character above U+FFFF", "/\u{1f4a9}"],
    ["with U+FFF0", "/\ufff0"],
    ["that is one dot", "/."],
    ["that is two dots", "/.."],
    ["with malformed UTF-8", bytes(0x2f, 0xff)],
    ["with an overlong slash", bytes(0x2f, 0x61, 0xc0, 0xaf)],
    ["with a surrogate in UTF-8", bytes(0x2f, 0xed, 0xa0, 0x80)],
    ["with UTF-8 cut short", bytes(0x2f, 0xe2, 0x82)],
  ])("a path %s cannot be created or written, and the connection continues", async (_, path) => {
    expect(await attempt(OpCode.CREATE, create(path))).toMatchObject(BAD_ARGUMENTS);
    expect(
      await attempt(OpCode.SET_DATA, (writer) => {
        const raw = typeof path === "string" ? Buffer.from(path) : path;
        writer.range(raw, 0, raw.length);
        writer.null();
        writer.int(-1);
      }),
    ).toMatchObject(BAD_ARGUMENTS);
  });

  test.each(["//", "/a//b", "/a/./b", "/a/../b", "/missing/x/"])("reading %s finds no node", async (path) => {
    expect(await attempt(OpCode.GET_DATA, read(path))).toMatchObject({ code: ErrorCode.NO_NODE, ...GOES_ON });
  });

  test("names that mean something to JavaScript are names like others", async () => {
    await using client = await RawClient.withSession(zk.port);
    const names = ["__proto__", "constructor", "toString", "hasOwnProperty", "prototype", "0", "-0", "1e3", "NaN"];
    for (const name of names) {
      expect(await client.ask(OpCode.GET_DATA, read(`/${name}`))).toMatchObject({ code: ErrorCode.NO_NODE });
      expect(await client.ask(OpCode.CREATE, create(`/${name}`, name))).toMatchObject({ code: 0 });
      expect(await client.ask(OpCode.CREATE, create(`/${name}/${name}`))).toMatchObject({ code: 0 });
      expect((await client.ask(OpCode.GET_DATA, read(`/${name}`))).body.text()).toBe(name);
    }
  });

  test("names that look the same and are other bytes are other nodes", async () => {
    await using client = await RawClient.withSession(zk.port);
    for (const name of ["\u00e9", "e\u0301", "a\u202eb", "\u0430", "a", "A", " ", "\ufeff"]) {
      expect(await client.ask(OpCode.CREATE, create(`/${name}`))).toMatchObject({ code: 0 });
    }
  });

  test("a path of a hundred thousand segments and a name of a million bytes are answered, and not created", async () => {
    await using client = await RawClient.withSession(zk.port);
    const deep = "/a".repeat(100_000);
    expect(await client.ask(OpCode.GET_DATA, read(deep))).toMatchObject({ code: ErrorCode.NO_NODE });
    expect(await client.ask(OpCode.CREATE, create(deep))).toMatchObject({ code: ErrorCode.BAD_ARGUMENTS });
    expect(await client.ask(OpCode.EXISTS, read(deep, true))).toMatchObject({ code: ErrorCode.NO_NODE });
    const long = `/${"n".repeat(1_000_000)}`;
    expect(await client.ask(OpCode.CREATE, create(long))).toMatchObject({ code: ErrorCode.BAD_ARGUMENTS });
    expect(await client.ask(OpCode.DELETE, versioned(long))).toMatchObject({ code: ErrorCode.NO_NODE });
    const longest = `/${"n".repeat(16 * 1024 - 1)}`;
    expect(await client.ask(OpCode.CREATE, create(longest))).toMatchObject({ code: 0 });
    expect(await client.ask(OpCode.DELETE, versioned(longest))).toMatchObject({ code: 0 });
  });
});

describe("creates", () => {
  test.each([
    [-1, ErrorCode.BAD_ARGUMENTS],
    [5, ErrorCode.UNIMPLEMENTED],
    [6, ErrorCode.UNIMPLEMENTED],
    [7, ErrorCode.BAD_ARGUMENTS],
    [255, ErrorCode.BAD_ARGUMENTS],
    [2 ** 31 - 1, ErrorCode.BAD_ARGUMENTS],
  ])("with flags %i are answered with %i", async (flags, code) => {
    expect(await attempt(OpCode.CREATE, create("/flags", "", flags))).toMatchObject({ code, ...GOES_ON });
  });

  const aclOf =
    (count: number, perms: number, scheme: string | null, id: string | null): Body =>
    (writer) => {
      writer.text("/with-acl");
      writer.null();
      writer.int(count);
      for (let i = 0; i < count; i++) {
        writer.int(perms);
        for (const field of [scheme, id]) {
          if (field === null) writer.null();
          else writer.text(field);
        }
      }
      writer.int(0);
    };
  test.each([
    ["null", aclOf(-1, 0, "", "")],
    ["empty", aclOf(0, 0, "", "")],
    ["of a scheme that does not exist", aclOf(1, 31, "nosuch", "x")],
    ["of a null scheme", aclOf(1, 31, null, "anyone")],
    ["of a null id", aclOf(1, 31, "world", null)],
    ["of the world but not anyone", aclOf(1, 31, "world", "someone")],
    ["of super", aclOf(1, 31, "super", "")],
    ["of a digest without a hash", aclOf(1, 31, "digest", "user:")],
    ["of an address that is none", aclOf(1, 31, "ip", "1.2.3.4/33")],
    ["of ten thousand entries", aclOf(10_000, 31, "world", "anyone")],
    ["of an unauthenticated client", aclOf(1, 31, "auth", "")],
  ])("with an access list %s are refused", async (_, body) => {
    expect(await attempt(OpCode.CREATE, body)).toMatchObject({ code: ErrorCode.INVALID_ACL, ...GOES_ON });
  });

  test.each([0, -1, 2 ** 31 - 1])("keep permissions of %i as they are", async (perms) => {
    await using client = await RawClient.withSession(zk.port);
    const body: Body = (writer) => {
      writer.text("/perms-");
      writer.null();
      writer.int(2);
      for (const value of [perms, 1]) {
        writer.int(value);
        writer.text("world");
        writer.text("anyone");
      }
      writer.int(2);
    };
    const path = (await client.ask(OpCode.CREATE, body)).body.text() ?? "";
    const acl = (await client.ask(OpCode.GET_ACL, (writer) => writer.text(path))).body;
    expect([acl.int(), acl.int()]).toEqual([2, perms]);
  });
});

describe("multis", () => {
  test("of nothing are answered with nothing", async () => {
    await using client = await RawClient.withSession(zk.port);
    const refused = multiBody([OpCode.CHECK, versioned("/absent")]);
    for (const before of [refused, multiBody([OpCode.CREATE, create("/empty-multi")]), (): void => {}]) {
      await client.ask(OpCode.MULTI, before);
      const { code, body } = await client.ask(OpCode.MULTI, multiBody());
      expect([code, body.int(), body.bool(), body.int(), body.rest]).toEqual([0, -1, true, -1, 0]);
    }
  });

  test("of twenty thousand parts are done or refused whole, longer ones are refused, and others are served", async () => {
    await using client = await RawClient.withSession(zk.port);
    const checks = Array.from({ length: 19_998 }, () => [OpCode.CHECK, versioned("/")] as const);
    expect(await client.ask(OpCode.MULTI, multiBody(...checks))).toMatchObject({ code: 0 });
    const failing = multiBody([OpCode.CREATE, create("/never")], ...checks, [OpCode.CHECK, versioned("/", 99)]);
    expect(await client.ask(OpCode.MULTI, failing)).toMatchObject({ code: 0 });
    expect(await client.ask(OpCode.EXISTS, read("/never"))).toMatchObject({ code: ErrorCode.NO_NODE });
    const long = multiBody([OpCode.CREATE, create("/never")], ...checks, ...checks.slice(0, 2));
    expect(await client.ask(OpCode.MULTI, long)).toMatchObject({ code: ErrorCode.MARSHALLING_ERROR });
    expect(await client.ask(OpCode.EXISTS, read("/never"))).toMatchObject({ code: ErrorCode.NO_NODE });
    expect(await bystander.ask(OpCode.EXISTS, read("/"))).toMatchObject({ code: 0 });
  });

  test("that read more than an answer may hold are refused", async () => {
    await using client = await RawClient.withSession(zk.port);
    await client.ask(OpCode.CREATE, create("/bulky", new Uint8Array(1_000_000)));
    const reads = (count: number) =>
      multiBody(...Array.from({ length: count }, () => [OpCode.GET_DATA, read("/bulky")] as const));
    expect(await client.ask(OpCode.MULTI_READ, reads(10))).toMatchObject({ code: 0 });
    expect(await client.ask(OpCode.MULTI_READ, reads(20_000))).toMatchObject({ code: ErrorCode.MARSHALLING_ERROR });
  });
});

describe("authentication", () => {
  test.each([
    ["of a scheme that does not exist", auth("nosuch", "x")],
    ["of an empty scheme", auth("", "x")],
    ["of world", auth("world", "anyone")],
    ["of super", auth("super", "test")],
    ["of digest with null", auth("digest", null)],
    ["of a name in Object.prototype", auth("__proto__", "x")],
    ["that cannot be read", (writer: JuteWriter) => writer.int(0)],
    ["of digest with a user of a mebibyte", auth("digest", "x".repeat(1_000_000))],
  ])("%s is refused, and ends the connection", async (_, body) => {
    expect(await attempt(OpCode.AUTH, body)).toEqual({ code: ErrorCode.AUTH_FAILED, zxid: 0, goesOn: false });
  });

  test.each(["", ":", ":x", "x", "x:", "a:b:c", "nul\0:\0", `x:${"y".repeat(1_000_000)}`])(
    "of digest with any bytes is an identity like another",
    async (data) => {
      expect(await attempt(OpCode.AUTH, auth("digest", data))).toMatchObject({ code: 0, ...GOES_ON });
    },
  );

  test("again and again ends at a limit", async () => {
    await using client = await RawClient.withSession(zk.port);
    client.send(...Array.from({ length: 70 }, (_, i) => request(i, OpCode.AUTH, auth("digest", `user${i}:x`))));
    let granted = 0;
    let answer = await client.reply();
    for (; answer.code === 0; answer = await client.reply()) granted++;
    expect([granted, answer.code]).toEqual([63, ErrorCode.AUTH_FAILED]);
    await client.rest();
  });

  test("requests pipelined behind a refused packet are not executed", async () => {
    await using client = await RawClient.withSession(zk.port);
    client.send(
      request(1, OpCode.SET_DATA, setData("/", "x")),
      request(2, OpCode.AUTH, auth("nosuch", "x")),
      request(3, OpCode.CREATE, create("/after-refusal")),
    );
    expect(await client.reply()).toMatchObject({ xid: 1, code: 0 });
    expect(await client.reply()).toMatchObject({ xid: 2, code: ErrorCode.AUTH_FAILED });
    await client.rest();
    const { code } = await bystander.ask(OpCode.EXISTS, read("/after-refusal"));
    expect(code).toBe(ErrorCode.NO_NODE);
  });
});

describe("watches", () => {
  test("beyond the limit of one connection end it", async () => {
    await using small = await startTestServer({ watchCountMax: 100 });
    await using client = await RawClient.withSession(small.port);
    client.send(...Array.from({ length: 101 }, (_, i) => request(i, OpCode.EXISTS, read(`/w${i}`, true))));
    await client.rest();
    expect(small.lines).toEqual([expect.stringContaining("more watches than one connection may")]);
  });

  test("that stay count like the others", async () => {
    await using small = await startTestServer({ watchCountMax: 100 });
    await using client = await RawClient.withSession(small.port);
    // The body is a path and a number, as of a delete; the modes take turns.
    client.send(...Array.from({ length: 101 }, (_, i) => request(i, OpCode.ADD_WATCH, versioned(`/w${i}`, i % 2))));
    await client.rest();
    expect(small.lines).toEqual([expect.stringContaining("more watches than one connection may")]);
  });

  test("restored by the ten thousand are answered at once, and none is lost", async () => {
    await using client = await RawClient.withSession(zk.port);
    const paths = Array.from({ length: 40_000 }, (_, i) => `/restored-${i}`);
    const { zxid } = await bystander.ask(OpCode.PING);
    const answer = await client.ask(OpCode.SET_WATCHES, (writer) => {
      writer.zxid(zxid);
      writer.int(0);
      writer.int(paths.length);
      for (const path of paths) writer.text(path);
      writer.int(0);
    });
    expect(answer).toMatchObject({ code: 0 });
    expect(await bystander.ask(OpCode.CREATE, create(paths.at(-1) ?? ""))).toMatchObject({ code: 0 });
    expect(await client.reply()).toMatchObject({ xid: -1 });
  });

  test("of others cannot be removed", async () => {
    await using client = await RawClient.withSession(zk.port);
    await using other = await RawClient.withSession(zk.port);
    await client.ask(OpCode.ADD_WATCH, versioned("/", 1));
    expect(await other.ask(OpCode.REMOVE_WATCHES, versioned("/", 5))).toMatchObject({ code: ErrorCode.NO_WATCHER });
    expect(await other.ask(OpCode.CREATE, create("/of-others"))).toMatchObject({ code: 0 });
    expect(await client.reply()).toMatchObject({ xid: -1 });
  });

  test("of the same path again and again are one", async () => {
    await using small = await startTestServer({ watchCountMax: 100 });
    await using client = await RawClient.withSession(small.port);
    for (let i = 0; i < 200; i++) await client.ask(OpCode.EXISTS, read("/same", true));
    client.send(request(1, OpCode.CREATE, create("/same")));
    expect([(await client.reply()).xid, (await client.reply()).xid]).toEqual([-1, 1]);
  });
});

describe("many at once", () => {
  test("four-letter words are each answered", async () => {
    await using words = await startTestServer({ connectionsPerAddressMax: 0, fourLetterWords: "*" });
    const answers = await Promise.all(
      Array.from({ length: 300 }, async (_, i) => {
        await using client = await RawClient.open(words.port);
        client.send(Buffer.from(i % 2 === 0 ? "ruok" : "mntr"));
        return (await client.rest()).toString();
      }),
    );
    expect(answers.filter((answer) => answer === "imok")).toHaveLength(150);
    expect(answers.filter((answer) => answer.startsWith("zk_version"))).toHaveLength(150);
  });

  test("connections that send nothing, or a part of a frame, do not delay others", async () => {
    const parts = ["", "\0", "\0\0\0\x2d", "\0\0\0\x2d\0\0\0\0\0\0", "ru"];
    const silent = await Promise.all(
      Array.from({ length: 500 }, async (_, i) => {
        const client = await RawClient.open(zk.port);
        client.send(Buffer.from(parts[i % parts.length] ?? "", "latin1"));
        return client;
      }),
    );
    await using client = await RawClient.withSession(zk.port);
    expect(await client.ask(OpCode.EXISTS, read("/"))).toMatchObject({ code: 0 });
    await Promise.all(silent.map((one) => one[Symbol.asyncDispose]()));
  });

  test("ephemerals of one session go with it, and others are served", async () => {
    const client = await RawClient.withSession(zk.port);
    expect(await client.ask(OpCode.CREATE, create("/many"))).toMatchObject({ code: 0 });
    const parts = Array.from({ length: 20_000 }, (_, i) => [OpCode.CREATE, create(`/many/e${i}`, "", 1)] as const);
    for (let i = 0; i < parts.length; i += 3000) {
      expect(await client.ask(OpCode.MULTI, multiBody(...parts.slice(i, i + 3000)))).toMatchObject({ code: 0 });
    }
    expect(await client.ask(OpCode.CLOSE_SESSION)).toMatchObject({ code: 0 });
    const { body, code } = await bystander.ask(OpCode.GET_CHILDREN, read("/many"));
    expect([code, body.int()]).toEqual([0, 0]);
  });
});
