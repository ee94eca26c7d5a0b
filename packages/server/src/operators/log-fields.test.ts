import { composeZxid, formatSessionId, type SessionId, serverId } from "@zooid/model";
import { expect, test } from "vitest";
import { fieldsOf } from "./log-fields.ts";

const sid = serverId(3);
const SESSION = 0x0100_0000_0000_0007n as SessionId;

test.each([
  [
    { kind: "learner-follows", sid },
    { event: "learner-follows", peer: 3 },
  ],
  [
    { kind: "whole-state-sent", sid, zxid: composeZxid(2, 5) },
    { event: "whole-state-sent", peer: 3, zxid: "0x200000005" },
  ],
  [
    { kind: "epoch-promised-elsewhere", sid, epoch: 4, to: 2 },
    { event: "epoch-promised-elsewhere", peer: 3, epoch: 4 },
  ],
  [
    { kind: "handed-over", to: sid },
    { event: "handed-over", peer: 3 },
  ],
  [
    { kind: "leader-silent", silentMs: 4000 },
    { event: "leader-silent", durationMs: 4000 },
  ],
  [
    { kind: "long-certificate-subject", address: "10.0.0.1", bytesMax: 1024 },
    { event: "long-certificate-subject", address: "10.0.0.1" },
  ],
  [
    { kind: "illegal-message", sid, fault: { kind: "session-exists", session: SESSION } },
    { event: "illegal-message", peer: 3, session: formatSessionId(SESSION) },
  ],
  [{ kind: "quorum-lost" }, { event: "quorum-lost" }],
] as const)("%o has fields", (event, fields) => {
  expect(fieldsOf(event)).toEqual(fields);
});
