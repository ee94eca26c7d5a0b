import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

const INDEX = new URL("./index.ts", import.meta.url).href;
/** Prints the address of each module that another one leads to. */
const LIST = `
  const { registerHooks } = await import("node:module");
  registerHooks({ load: (url, context, next) => { console.log(url); return next(url, context); } });
  await import(${JSON.stringify(INDEX)});
`;

test("the modules of the API are not loaded with the console", () => {
  const flags = ["--conditions=@zooid/source", "--no-warnings", "--input-type=module"];
  const loaded = execFileSync(process.execPath, [...flags, "--eval", LIST], { encoding: "utf8" })
    .trim()
    .split("\n");
  expect(loaded).toContain(new URL("./console.ts", import.meta.url).href);
  expect(loaded.filter((url) => url.includes("/zod/") || url.endsWith("/api/routes.ts"))).toEqual([]);
});
