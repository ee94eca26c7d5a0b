import { expect, test } from "vitest";
import { DISASTER_PAGE, OPERATIONS_PAGE, proceduresIn, readPage, settingsIn } from "./procedures.ts";
import { SITUATIONS } from "./situations.ts";

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

test("each procedure has its situation, and each situation its procedure", () => {
  const procedures = [DISASTER_PAGE, OPERATIONS_PAGE].flatMap((page) => proceduresIn(readPage(page)));
  expect(procedures.map(({ title }) => title)).toEqual(Object.keys(SITUATIONS));
  for (const { title, steps } of procedures)
    for (const { machine } of steps) expect(SITUATIONS[title]?.machines, title).toContain(machine);
});

test("docs/disaster.md shows the settings of its machines", () => {
  expect(settingsIn(readPage(DISASTER_PAGE))).toContain("server.1=zk-1:");
});
