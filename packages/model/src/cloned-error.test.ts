import { once } from "node:events";
import { inspect } from "node:util";
import { MessageChannel } from "node:worker_threads";
import { expect, test } from "vitest";
import { errorCode, errorFields, keepFields, ownCause } from "./cloned-error.ts";

class SampleError extends Error {
  override readonly name = "SampleError";
  readonly code = "NO_NODE";
  readonly path: string;

  constructor(path: string, options?: ErrorOptions) {
    super(`${path} is missing`, options);
    this.path = path;
    keepFields(this, { code: this.code, path });
  }
}

async function posted(value: unknown): Promise<unknown> {
  const { port1, port2 } = new MessageChannel();
  const received = once(port2, "message");
  port1.postMessage(value);
  const [found] = await received;
  port1.close();
  return found;
}

test.each([
  ["structuredClone", (error: unknown) => Promise.resolve(structuredClone(error))],
  ["a message port", posted],
])("by %s an error keeps its fields, and one with a cause keeps its code and the cause", async (_, cloned) => {
  const alone = await cloned(new SampleError("/a"));
  expect(alone).not.toHaveProperty("code");
  expect(errorFields(alone)).toEqual({ code: "NO_NODE", path: "/a" });
  const caused = await cloned(new SampleError("/a", { cause: new TypeError("inner") }));
  expect([errorFields(caused), errorCode(caused)]).toEqual([{ code: "NO_NODE" }, "NO_NODE"]);
  expect(caused).toMatchObject({ message: "/a is missing", cause: { message: "inner" } });
  // A clone of a clone, too.
  expect(errorCode(await cloned(await cloned(alone)))).toBe("NO_NODE");
  expect(errorCode(await cloned(caused))).toBe("NO_NODE");
});

test("an error that was not cloned has its own fields, and its own cause alone", () => {
  const cause = new TypeError("inner");
  const caused = new SampleError("/a", { cause });
  expect(errorFields(caused)).toMatchObject({ code: "NO_NODE", path: "/a" });
  expect([caused.cause, ownCause(caused), ownCause(new SampleError("/a"))]).toEqual([cause, cause, undefined]);
  expect(caused.stack).toMatch(/^SampleError \[NO_NODE\]: \/a is missing\n +at /);
  expect(JSON.stringify(new SampleError("/a"))).not.toContain("cause");
  expect(inspect(new SampleError("/a"))).toContain("[cause]: the fields above, for clones");
});

test("the stack of an error with a cause can be replaced", () => {
  const caused = new SampleError("/a", { cause: "x" });
  caused.stack = "none";
  expect(caused.stack).toBe("none");
});

test("other values have no code, whatever their message and cause say", () => {
  const hostile = new Error("SampleError [NO_NODE]: x", { cause: { isErrorFields: true, fields: { code: 1 } } });
  for (const value of [undefined, null, "NO_NODE", { code: "NO_NODE" }, new Error("x"), hostile]) {
    expect(errorCode(value)).toBeUndefined();
  }
  expect(errorCode(Object.assign(new Error("x"), { code: "ECONNRESET" }))).toBe("ECONNRESET");
});
