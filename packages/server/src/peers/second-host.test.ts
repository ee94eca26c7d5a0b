import { expect, test } from "vitest";
import { type ConnectedStart, secondHost } from "./second-host.ts";

const start = (bootCount: number, startId: string): ConnectedStart => ({ bootCount, startId, host: "zk-2" });

test.each([
  ["of the same start", start(3, "a"), start(3, "a"), true],
  ["of a later start", start(3, "a"), start(4, "b"), true],
  ["of a server that does not name its starts", start(3, ""), start(3, "b"), true],
  ["beside a server that does not name its starts", start(3, "a"), start(3, ""), true],
  ["of another start with the same count", start(3, "a"), start(3, "b"), false],
  ["of an earlier start", start(3, "a"), start(2, "b"), false],
  ["of an earlier start that is not named", start(3, ""), start(2, ""), false],
])("a connection %s: %o, %o", (_, old, other, isTaken) => {
  const fault = secondHost(2, old, other);
  expect(fault === undefined).toBe(isTaken);
  if (fault !== undefined) expect(fault.text).toContain(`start ${other.bootCount}`);
});
