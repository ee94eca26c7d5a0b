import { expect, test } from "vitest";
import { COMMANDS } from "../command-table.ts";
import { completeLine } from "./completion.ts";

const TREE = new Map([
  ["/", ["zookeeper", "app", "apple"]],
  ["/app", ["b", "a"]],
]);

async function complete(line: string): Promise<readonly string[]> {
  const [candidates] = await completeLine(line, {
    commands: COMMANDS,
    children: async (path) => TREE.get(path) ?? [],
  });
  return candidates;
}

test.each([
  ["the first word is a command", "get", ["get ", "getAcl ", "getAllChildrenNumber ", "getEphemerals "]],
  ["a dash asks for the command's flags", "create -", ["-e ", "-s ", "-c ", "-t "]],
  ["ours have two", "deleteall --", ["--dry-run "]],
  ["a slash asks the server, in order", "ls -s /", ["/app", "/apple", "/zookeeper"]],
  ["what is typed narrows it", "get /app", ["/app", "/apple"]],
  ["below a node", "set /app/", ["/app/a", "/app/b"]],
  ["nothing where there is no such node", "ls /nope/", []],
  ["nothing for an unknown command", "nosuch /", []],
  ["nothing for data", "set /app x", []],
])("%s", async (_, line, expected) => {
  expect(await complete(line)).toEqual(expected);
});
