import { OpCode } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { TestReplica } from "../testing/replica.ts";
import { create, multi, read } from "../testing/requests.ts";

describe("a multiRead beyond its limits is refused", () => {
  test.each([
    ["parts", { multiReadCountMax: 1 }],
    ["names", { multiReadNamesMax: 1 }],
    ["children", { multiReadChildrenMax: 1 }],
  ])("by its %s", (_, config) => {
    const zk = new TestReplica(config);
    const ref = zk.open();
    zk.ask(ref, OpCode.CREATE, create("/a"));
    const part = [OpCode.GET_CHILDREN, read("/")] as const;
    expect(zk.ask(ref, OpCode.MULTI_READ, multi(part, [OpCode.GET_DATA, read("/a")]))).toBe("MARSHALLING_ERROR");
  });
});
