import { type AclEntry, OpCode } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { TestReplica } from "../testing/replica.ts";
import { create, multi, read, versioned } from "../testing/requests.ts";

describe("a multi beyond what one transaction may hold is refused whole", () => {
  const one = [OpCode.CREATE, create("/a/b")] as const;

  test("by its parts, each counted", () => {
    const zk = new TestReplica({ multiOpCountMax: 2 });
    const ref = zk.open();
    zk.ask(ref, OpCode.CREATE, create("/a"));
    const check = [OpCode.CHECK, versioned("/a")] as const;
    expect(zk.ask(ref, OpCode.MULTI, multi(check, one))).toContain("path /a/b");
    expect(zk.ask(ref, OpCode.MULTI, multi(check, check, check))).toBe("MARSHALLING_ERROR");
  });

  test("by the names in its paths", () => {
    const zk = new TestReplica({ multiPathNamesMax: 3 });
    const ref = zk.open();
    zk.ask(ref, OpCode.CREATE, create("/a"));
    expect(zk.ask(ref, OpCode.MULTI, multi(one, [OpCode.CREATE, create("/a/c")]))).toBe("MARSHALLING_ERROR");
    expect(zk.ask(ref, OpCode.MULTI, multi(one, [OpCode.CREATE, create("/c")]))).toContain("path /a/b");
  });

  test("by the entries of its different access lists, those of one list once", () => {
    const zk = new TestReplica({ multiAclCountMax: 4 });
    const ref = zk.open();
    const entries = (count: number, first: number) =>
      Array.from({ length: count }, (_, i) => ({ perms: 1, scheme: "ip", id: `10.0.0.${first + i}` }));
    const part = (path: string, acl: readonly AclEntry[]) => [OpCode.CREATE, create(path, "", 0, acl)] as const;
    const [a, b] = [entries(2, 0), entries(3, 9)];
    expect(zk.ask(ref, OpCode.MULTI, multi(part("/a", a), part("/b", a), part("/c", a)))).toContain("path /c");
    expect(zk.ask(ref, OpCode.MULTI, multi(part("/d", a), part("/e", b)))).toBe("MARSHALLING_ERROR");
    // What they become counts, too.
    for (let i = 0; i < 3; i++) zk.authenticate(ref, `user${i}:x`);
    const everybody = [{ perms: 31, scheme: "auth", id: "" }];
    expect(zk.ask(ref, OpCode.MULTI, multi(part("/d", everybody), part("/e", everybody)))).toContain("path /e");
    expect(zk.ask(ref, OpCode.MULTI, multi(part("/f", everybody), part("/g", a)))).toBe("MARSHALLING_ERROR");
    expect(zk.ask(ref, OpCode.EXISTS, read("/f"))).toBe("NO_NODE");
  });

  test("by the bytes that it becomes, where short access lists stand for many identities", () => {
    const zk = new TestReplica({ txnBytesMax: 4000 });
    const ref = zk.open();
    for (let i = 0; i < 20; i++) zk.authenticate(ref, `user${i}:${"x".repeat(20)}`);
    const everybody = [{ perms: 31, scheme: "auth", id: "" }];
    const parts = Array.from({ length: 10 }, (_, i) => [OpCode.CREATE, create(`/n${i}`, "", 0, everybody)] as const);
    expect(zk.ask(ref, OpCode.MULTI, multi(...parts.slice(0, 3)))).toContain("path /n2");
    expect(zk.ask(ref, OpCode.MULTI, multi(...parts.slice(3)))).toBe("MARSHALLING_ERROR");
    expect(zk.ask(ref, OpCode.EXISTS, read("/n3"))).toBe("NO_NODE");
    // What was taken back is not taken for there.
    expect(zk.ask(ref, OpCode.CREATE, create("/n3"))).toBe("path /n3");
  });
});
