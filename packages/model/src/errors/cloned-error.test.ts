import { once } from "node:events";
import { inspect } from "node:util";
import { MessageChannel } from "node:worker_threads";
import { expect, test } from "vitest";
import { errorCode, keepCode } from "./cloned-error.ts";

class SampleError extends Error {
  override readonly name = "SampleError";
  readonly code = "NO_NODE";
  readonly path: string;

  constructor(path: string, options?: ErrorOptions) {
    super(`${path} is missing`, options);
    this.path = path;
    keepCode(this, this.code);
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
])("by %s an error keeps its code, and its cause", async (_, cloned) => {
  const alone = await cloned(new SampleError("/a"));
  expect(alone).not.toHaveProperty("code");
  expect(errorCode(alone)).toBe("NO_NODE");
  const caused = await cloned(new SampleError("/a", { cause: new TypeError("inner") }));
  expect(errorCode(caused)).toBe("NO_NODE");
  expect(caused).toMatchObject({ message: "/a is missing", cause: { message: "inner" } });
  // A clone of a clone, too.
  expect(errorCode(await cloned(await cloned(alone)))).toBe("NO_NODE");
  expect(errorCode(await cloned(caused))).toBe("NO_NODE");
});

test("an error shows its code in the first line of its stack, and no other field than its own", () => {
  const error = new SampleError("/a");
  expect(error.stack).toMatch(/^SampleError \[NO_NODE\]: \/a is missing\n +at /);
  expect(error).not.toHaveProperty("cause");
  expect(JSON.stringify(error)).toBe('{"name":"SampleError","code":"NO_NODE","path":"/a"}');
  expect(inspect(error)).toMatch(
    /^SampleError \[NO_NODE\]: \/a is missing\n.*\{\n {2}code: 'NO_NODE',\n {2}path: '\/a'\n\}$/s,
  );
});

test("the stack of an error with a cause can be replaced", () => {
  const caused = new SampleError("/a", { cause: "x" });
  caused.stack = "none";
  expect(caused.stack).toBe("none");
});

test("other values have no code, whatever their message and cause say", () => {
  const hostile = new Error("SampleError [NO_NODE]: x", { cause: { code: "NO_NODE" } });
  for (const value of [undefined, null, "NO_NODE", { code: "NO_NODE" }, new Error("x"), hostile]) {
    expect(errorCode(value)).toBeUndefined();
  }
  expect(errorCode(Object.assign(new Error("x"), { code: "ECONNRESET" }))).toBe("ECONNRESET");
});
