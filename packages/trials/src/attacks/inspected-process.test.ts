import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { INSPECTED, inspectorAddress, liveMiB } from "./inspected-process.ts";

const KEPT_MIB = 64;
/** Holds objects until its input says to drop them. */
const HOLDER = `
  let kept = Array.from({ length: ${KEPT_MIB} }, () => new Array(2 ** 17).fill(1.5));
  process.stdin.once("data", () => {
    kept = undefined;
    console.log("dropped");
  });
  console.log("holding");
`;

test("live memory has what a process holds, and not the garbage that it has not collected", async () => {
  const holder = spawn(process.execPath, ["-e", HOLDER], { env: { ...process.env, ...INSPECTED } });
  onTestFinished(() => void holder.kill("SIGKILL"));
  let log = "";
  holder.stderr.setEncoding("utf8").on("data", (text: string) => {
    log += text;
  });
  await once(holder.stdout, "data");
  const address = inspectorAddress(log);

  const holding = await liveMiB(address);
  holder.stdin.write("\n");
  await once(holder.stdout, "data");
  const dropped = await liveMiB(address);

  expect(holding - dropped).toBeGreaterThan(KEPT_MIB - 1);
});

test("the inspector of a server that replaced its launcher is the last one in the log", () => {
  const log = ["Debugger listening on ws://127.0.0.1:1/a", "serving", "Debugger listening on ws://127.0.0.1:2/b", ""];

  expect(inspectorAddress(log.join("\n"))).toBe("ws://127.0.0.1:2/b");
});

test("a process without an inspector is reported with its log", () => {
  expect(() => inspectorAddress("serving\n")).toThrow(/serving/);
});

test("a process that has ended is reported", async () => {
  await expect(liveMiB("ws://127.0.0.1:1/ended")).rejects.toThrow(/ws:\/\/127\.0\.0\.1:1\/ended/);
});
