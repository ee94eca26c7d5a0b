import { composeZxid, type Member, membersOf, serverId } from "@zooid/model";
import { expect, test } from "vitest";
import { keptMembersNotice } from "./kept-members.ts";

function member(sid: number, host = `host-${sid}`): Member {
  const ports = { quorumPort: 2888, electionPort: 3888, clientAddress: undefined };
  return { sid: serverId(sid), host, ...ports, isObserver: false, group: undefined, weight: 1 };
}

const KEPT = membersOf([member(1), member(2), member(3)], composeZxid(3, 7));

test.each([true, false])("files with the same servers need no notice, isChangeable %s", (isChangeable) => {
  expect(keptMembersNotice(KEPT, KEPT.servers, isChangeable)).toBeUndefined();
});

test("files that list other servers are to come into force where files name the members", () => {
  const notice = keptMembersNotice(KEPT, [member(1), member(2)], false);
  expect(notice).toMatchObject({ level: "info", text: expect.stringContaining("when a quorum of both lists") });
});

test("files that list other servers are not used where clients change the members", () => {
  const notice = keptMembersNotice(KEPT, [member(1), member(2)], true);
  expect(notice).toMatchObject({ level: "warn", text: expect.stringContaining("reconfig changes them") });
});

test("another host of the same servers matters only where clients change the members", () => {
  const files = [member(1), member(2), member(3, "elsewhere")];
  expect(keptMembersNotice(KEPT, files, false)).toBeUndefined();
  expect(keptMembersNotice(KEPT, files, true)).toMatchObject({ level: "warn" });
});
