import { ConfigError } from "@zooid/embedded-server";
import { expect, test } from "vitest";
import { errorWithOrigins, withOrigins } from "./setting-origins.ts";

const ORIGINS = new Map([
  ["tickTime", "line 3"],
  ["server.1", "line 5 of /etc/zoo.cfg.dynamic"],
  ["admin.needClientAuth", "--set"],
]);

test.each([
  ["tickTime is a number, and tickTime has a unit", "tickTime (line 3) is a number, and tickTime has a unit"],
  ["tickTime (line 3) is a number", "tickTime (line 3) is a number"],
  ["admin.needClientAuth=true needs more", "admin.needClientAuth=true (--set) needs more"],
  ["the quorum port of server.1: 7", "the quorum port of server.1 (line 5 of /etc/zoo.cfg.dynamic): 7"],
  ["it is set by tickTime.", "it is set by tickTime (line 3)."],
  ["server.10 and tickTimes are others", "server.10 and tickTimes are others"],
])("%s", (sentence, placed) => {
  expect(withOrigins(sentence, ORIGINS)).toBe(placed);
});

test("each problem of an error has its file and its lines, and an error of another kind stays", () => {
  const error = new ConfigError(["tickTime is x", "there is no port"]);
  expect(errorWithOrigins(error, { origins: ORIGINS, configFile: "/zoo.cfg" })).toEqual(
    new ConfigError(["/zoo.cfg: tickTime (line 3) is x", "/zoo.cfg: there is no port"]),
  );
  const other = new Error("other");
  expect(errorWithOrigins(other, { origins: ORIGINS })).toBe(other);
});
