import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

const MODULE = new URL("process-name.ts", import.meta.url).href;

test("the process is zooid-server by its short name, and has its arguments in its long one", () => {
  const script = `
    import { readFileSync } from "node:fs";
    import { nameProcess } from ${JSON.stringify(MODULE)};
    nameProcess(["/etc/zoo.cfg", "--port", "1"]);
    const read = (name) => readFileSync("/proc/self/" + name, "utf8").replace(/[\\0\\n]+$/, "");
    console.log(JSON.stringify([read("comm"), read("cmdline"), process.title]));`;
  const options = ["--no-warnings", "--input-type=module", "-e", script];
  const { stdout } = spawnSync(process.execPath, options, { encoding: "utf8" });
  const title = "zooid-server /etc/zoo.cfg --port 1";
  expect(JSON.parse(stdout)).toEqual(["zooid-server", title, title]);
});
