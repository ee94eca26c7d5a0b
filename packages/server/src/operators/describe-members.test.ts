import { parseMembers } from "@zooid/model";
import { expect, test } from "vitest";
import { describeMembers } from "./describe-members.ts";

test.each([
  [1, 0, "server 1 votes"],
  [2, 0, "servers 1 and 2 vote"],
  [3, 0, "servers 1, 2 and 3 vote"],
  [1, 1, "server 1 votes, server 2 observes"],
  [3, 1, "servers 1, 2 and 3 vote, server 4 observes"],
  [3, 2, "servers 1, 2 and 3 vote, servers 4 and 5 observe"],
])("%i voters and %i observers", (voterCount, observerCount, sentence) => {
  const lines = Array.from({ length: voterCount + observerCount }, (_, i) => {
    const role = i < voterCount ? "participant" : "observer";
    return `server.${i + 1}=h${i + 1}:2888:3888:${role}`;
  });
  expect(describeMembers(parseMembers(lines.join("\n")))).toBe(sentence);
});
