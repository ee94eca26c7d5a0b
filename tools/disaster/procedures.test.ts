import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../pack/public-packages.ts";
import { proceduresIn, settingsIn } from "./procedures.ts";
import { SITUATIONS } from "./situations.ts";

const PAGE = readFileSync(join(ROOT, "docs/disaster.md"), "utf8");

test("blocks are taken by section, in their order, each with its machine", () => {
  const page = "# T\n\n## One\n\n```sh\n# on a\nls\n```\n\ntext\n\n```sh\n# on b\nls\n```\n\n## Two\n\nno commands\n";
  expect(proceduresIn(page)).toEqual([
    {
      title: "One",
      steps: [
        { machine: "a", text: "# on a\nls\n" },
        { machine: "b", text: "# on b\nls\n" },
      ],
    },
  ]);
});

test("a block that names no machine is refused", () => {
  expect(() => proceduresIn("## One\n\n```sh\nls\n```\n")).toThrow("does not begin with");
});

test("each procedure of docs/disaster.md has its situation, and each situation its procedure", () => {
  expect(proceduresIn(PAGE).map(({ title }) => title)).toEqual(Object.keys(SITUATIONS));
  expect(settingsIn(PAGE)).toContain("server.1=zk-1:");
});
