import { type ConnectionRef, OpCode, SERVER_FEATURES, SERVER_FEATURES_PATH } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { TestReplica } from "../testing/replica.ts";
import { create, onNoPath, pageAfter, read, setAcl, setData, versioned } from "../testing/requests.ts";

const NAME = 0;
const STAT = 1;
const DATA = 2;
const NO_PERMISSIONS = [{ perms: 0, scheme: "world", id: "anyone" }];

/** A node `/a` with children that were created in this order. */
function furnished(...names: readonly string[]): { readonly zk: TestReplica; readonly ref: ConnectionRef } {
  const zk = new TestReplica();
  const ref = zk.open();
  zk.ask(ref, OpCode.CREATE, create("/a"));
  for (const name of names) zk.ask(ref, OpCode.CREATE, create(`/a/${name}`, `of ${name}`));
  return { zk, ref };
}

describe("a page of children", () => {
  test("has the names behind the cursor in order, whether more follow, and the node's Stat", () => {
    const { zk, ref } = furnished("d", "b", "a", "c");
    expect(zk.ask(ref, OpCode.GET_CHILDREN_PAGE, pageAfter("/a", null, 3))).toBe("page a,b,c … 4");
    expect(zk.ask(ref, OpCode.GET_CHILDREN_PAGE, pageAfter("/a", "c", 3))).toBe("page d . 4");
    expect(zk.ask(ref, OpCode.GET_CHILDREN_PAGE, pageAfter("/a", "d", 3))).toBe("page  . 4");
    expect(zk.ask(ref, OpCode.GET_CHILDREN_PAGE, pageAfter("/a", null, 4))).toBe("page a,b,c,d . 4");
  });

  test("begins behind a name that was deleted meanwhile, and shows nothing twice", () => {
    const { zk, ref } = furnished("a", "b", "c", "d");
    expect(zk.ask(ref, OpCode.GET_CHILDREN_PAGE, pageAfter("/a", null, 2))).toBe("page a,b … 4");
    for (const path of ["/a/b", "/a/c"]) zk.ask(ref, OpCode.DELETE, versioned(path));
    for (const path of ["/a/aa", "/a/cc"]) zk.ask(ref, OpCode.CREATE, create(path, "x"));
    expect(zk.ask(ref, OpCode.GET_CHILDREN_PAGE, pageAfter("/a", "b", 2, DATA))).toBe("page cc=x,d=of d . 4");
  });

  test("shows the Stats and data of children that the client may read, of others only the names", () => {
    const { zk, ref } = furnished("a", "b");
    zk.ask(ref, OpCode.SET_ACL, setAcl("/a/b", NO_PERMISSIONS));
    expect(zk.ask(ref, OpCode.GET_CHILDREN_PAGE, pageAfter("/a", null, 9, NAME))).toBe("page a,b . 2");
    expect(zk.ask(ref, OpCode.GET_CHILDREN_PAGE, pageAfter("/a", null, 9, STAT))).toBe("page a 4,b! . 2");
    expect(zk.ask(ref, OpCode.GET_CHILDREN_PAGE, pageAfter("/a", null, 9, DATA))).toBe("page a=of a,b! . 2");
  });

  test("of a node that the client may not read, or that is not there, is refused as getChildren is", () => {
    const { zk, ref } = furnished("a");
    zk.ask(ref, OpCode.SET_ACL, setAcl("/a", NO_PERMISSIONS));
    expect(zk.ask(ref, OpCode.GET_CHILDREN_PAGE, pageAfter("/a", null))).toBe("NO_AUTH");
    expect(zk.ask(ref, OpCode.GET_CHILDREN_PAGE, pageAfter("/none", null))).toBe("NO_NODE");
  });

  test.each([
    [pageAfter("/a", null, 0), "BAD_ARGUMENTS"],
    [pageAfter("/a", null, -1), "BAD_ARGUMENTS"],
    [pageAfter("/a", null, 1, 3), "BAD_ARGUMENTS"],
    [pageAfter("/a", null, 1, -1), "BAD_ARGUMENTS"],
    [onNoPath(), "MARSHALLING_ERROR"],
  ])("with invalid arguments is refused (case %#)", (body, code) => {
    const { zk, ref } = furnished();
    expect(zk.ask(ref, OpCode.GET_CHILDREN_PAGE, body)).toBe(code);
  });

  test("has at most a thousand children, however many are requested", () => {
    const { zk, ref } = furnished(...Array.from({ length: 1_100 }, (_, i) => `n${i}`));
    const answer = zk.ask(ref, OpCode.GET_CHILDREN_PAGE, pageAfter("/a", null, 2 ** 31 - 1));
    expect(answer.split(",")).toHaveLength(1_000);
    expect(answer).toContain("… 1100");
  });

  test("ends early where its data are large, with one child at least", () => {
    const { zk, ref } = furnished("a", "b", "c");
    for (const name of ["a", "b"]) zk.ask(ref, OpCode.SET_DATA, setData(`/a/${name}`, "x".repeat(600_000)));
    const names = (after: string | null): string =>
      zk.ask(ref, OpCode.GET_CHILDREN_PAGE, pageAfter("/a", after, 9, DATA)).replaceAll(/x+/g, "x");
    expect(names(null)).toBe("page a=x … 3");
    expect(names("a")).toBe("page b=x … 3");
    expect(names("b")).toBe("page c=of c . 3");
  });

  test("lists a node whose whole listing is refused", () => {
    const zk = new TestReplica({ childrenBytesMax: 10 });
    const ref = zk.open();
    for (const path of ["/a", "/a/one", "/a/two"]) zk.ask(ref, OpCode.CREATE, create(path));
    expect(zk.ask(ref, OpCode.GET_CHILDREN, read("/a"))).toBe("MARSHALLING_ERROR");
    expect(zk.ask(ref, OpCode.GET_CHILDREN_PAGE, pageAfter("/a", null))).toBe("page one,two . 2");
  });
});

test("a server's features are read from a path that is no node", () => {
  const { zk, ref } = furnished();
  expect(zk.ask(ref, OpCode.GET_DATA, read(SERVER_FEATURES_PATH))).toBe(`data ${SERVER_FEATURES} level-1`);
  expect(zk.ask(ref, OpCode.EXISTS, read(SERVER_FEATURES_PATH))).toBe("NO_NODE");
  expect(zk.ask(ref, OpCode.GET_CHILDREN, read("/zookeeper"))).toBe("children config,quota");
  zk.ask(ref, OpCode.CREATE, create(SERVER_FEATURES_PATH, "a node of a client"));
  expect(zk.ask(ref, OpCode.GET_DATA, read(SERVER_FEATURES_PATH))).toBe("data a node of a client");
});

test("a create beyond the limit of a listing is refused with QUOTA_EXCEEDED, and reported", () => {
  const zk = new TestReplica({ createdListingBytesMax: 30 });
  const ref = zk.open();
  expect(zk.ask(ref, OpCode.CREATE, create("/aaaa"))).toBe("path /aaaa");
  expect(zk.ask(ref, OpCode.CREATE, create("/aaaaaa"))).toBe("QUOTA_EXCEEDED");
  expect(zk.notes).toMatchObject([{ kind: "over-quota", excess: { kind: "children-bytes", path: "/", bytesMax: 30 } }]);
});

test("a listing that comes to exceed stock limits is reported, on the server that applies the create", () => {
  const { zk, ref } = furnished();
  for (let i = 0; i < 70; i++) zk.ask(ref, OpCode.CREATE, create(`/a/${"x".repeat(15_000)}${i}`));
  expect(zk.notes).toMatchObject([{ kind: "large-listing", path: "/a", count: 70 }]);
});
