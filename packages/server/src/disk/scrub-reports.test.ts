import { ZXID_NONE } from "@zooid/model";
import type { ScrubDamage, ScrubStatus } from "@zooid/txn-log/sqlite";
import { expect, test } from "vitest";
import { damageFault, scrubMetrics, scrubOptionsOf, startRemedyOf } from "./scrub-reports.ts";

type Kind = Partial<Pick<ScrubDamage, "effect" | "part">>;

function damageOf(file: string, { effect = "needed", part = "segment" }: Kind = {}): ScrubDamage {
  return { part, file, place: "frame 3", found: "another sum", effect, after: ZXID_NONE, end: ZXID_NONE };
}

function statusWith(...damaged: readonly ScrubDamage[]): ScrubStatus {
  return { damaged, roundCount: 1, bytes: 2, lastRoundMs: 3.6, unfinishedCount: 4 };
}

const NEEDED =
  "the state file lacks its entries: the server ends when the state file follows, and the next start finds the damage";

test("the check for people names the first damaged file, and how many others there are", () => {
  const files = ["/a", "/b", "/c"].map((file) => damageOf(file));
  expect([0, 1, 2, 3].map((count) => damageFault(statusWith(...files.slice(0, count))))).toEqual([
    undefined,
    `/a is damaged at frame 3: another sum; ${NEEDED}`,
    `/a is damaged at frame 3: another sum; ${NEEDED}, and 1 more file`,
    `/a is damaged at frame 3: another sum; ${NEEDED}, and 2 more files`,
  ]);
});

const LOOK = "nothing is to be done but to look at the disk";
const COPY = "copy the tree with a client while the server runs, or restore a backup, and look at the disk";
const RESTART = "restart this server with zooid.healDamage=true: it recovers from the others";

test.each([
  ["retired", "segment", true, `the state file has its entries, and the log drops it; ${LOOK}`],
  ["retired", "segment", false, `the state file has its entries, and the log drops it; ${LOOK}`],
  ["rewritten", "state", false, `it is rewritten from memory, and will be checked; ${LOOK}`],
  ["needed", "state", true, `clients are served from memory, and the next start finds the damage; ${COPY}`],
  ["needed", "state", false, `clients are served from memory, and the next start finds the damage; ${RESTART}`],
  ["needed", "segment", true, `${NEEDED}; ${COPY}`],
  ["needed", "segment", false, `${NEEDED}; ${RESTART}`],
] as const)("a line about damage that is %s, of the %s, alone: %j, says what to do", (effect, part, isAlone, says) => {
  const lines: string[] = [];
  const note = (text: string): unknown => lines.push(text);
  const options = scrubOptionsOf({ bytesPerSecond: 5, everyMs: 7 }, isAlone, { error: note, info: note });
  options?.damaged(damageOf("/a", { effect, part }));
  options?.healed("/a");
  expect(lines).toEqual([
    `/a is damaged at frame 3: another sum; ${says}`,
    "/a is damaged no longer, or no longer needed",
  ]);
  expect(options).toMatchObject({ bytesPerSecond: 5, everyMs: 7 });
});

test("no bytes a second are no check", () => {
  const log = { error: () => {}, info: () => {} };
  expect(scrubOptionsOf({ bytesPerSecond: 0, everyMs: 7 }, true, log)).toBeUndefined();
});

test("damage that keeps a server from starting is healed by the others, or moved away with each directory", () => {
  expect(startRemedyOf(false, ["/data"])).toContain("zooid.healDamage=true");
  expect(startRemedyOf(true, ["/data", "/log"])).toContain('"mv /data /data.damaged && mv /log /log.damaged"');
});

test.each([
  [undefined, [0, 0, 0, 0, 0]],
  [statusWith(damageOf("/a")), [1, 2, 0.004, 4, 1]],
])("the metrics of a status, or of none", (status, values) => {
  expect([...scrubMetrics(status)].map((metric) => ("value" in metric ? metric.value : undefined))).toEqual(values);
});
