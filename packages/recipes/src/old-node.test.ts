import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

/** The features of the language that Node.js 20 lacks. */
const LACKING = ["Map.groupBy", "Object.groupBy", "Promise.withResolvers", "Promise.try", "Array.fromAsync"];

test("a Node.js that is too old loads the package, so that the client can say so", () => {
  const script = `
    ${LACKING.map((name) => `${name} = undefined;`).join(" ")}
    const { createClient } = await import("@zooid/client");
    const { Mutex } = await import("@zooid/recipes");
    try { new Mutex(createClient("127.0.0.1:1"), "/lock"); } catch (error) { console.log(error.message); }`;
  const args = ["--conditions=@zooid/source", "--input-type=module", "--eval", script];
  const output = execFileSync(process.execPath, args, { cwd: import.meta.dirname, encoding: "utf8" });
  expect(output).toBe(`@zooid/client needs Node.js 22.15 or newer, and this is ${process.version}\n`);
});
