import { type Members, parseMembers, serverId } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { MemberDirectory } from "./member-directory.ts";

const [ONE, THREE, FOUR, FIVE] = [1, 3, 4, 5].map(serverId) as [never, never, never, never];

function membersOf(...lines: readonly string[]): Members {
  return parseMembers(lines.map((line) => `server.${line}`).join("\n"));
}

/** The directory of server 1, whose file has servers 1, 2 and 4. */
function directory(isChangeable: boolean): MemberDirectory {
  const { servers } = membersOf("1=new-1:1:2", "2=new-2:1:2", "4=new-4:1:2");
  const known = new MemberDirectory({ sid: ONE, servers, observerMasterPort: undefined, addressOf: undefined });
  known.isChangeable = isChangeable;
  known.update([membersOf("1=old-1:1:2", "2=old-2:1:2:observer", "3=old-3:1:2")]);
  return known;
}

describe("where files name the members", () => {
  test("the file says where a server is, and the list in force whether it votes", () => {
    const { servers } = directory(false);
    expect(servers.map(({ sid, host, isObserver }) => [sid, host, isObserver])).toEqual([
      [1, "new-1", false],
      [2, "new-2", true],
      [3, "old-3", false],
      [4, "new-4", true],
    ]);
  });

  test("a server that only the file has is unlisted, and may connect", () => {
    const known = directory(false);
    expect(known.servers.filter(({ isUnlisted }) => isUnlisted === true).map(({ sid }) => sid)).toEqual([4]);
    expect([known.mayConnect(FOUR), known.mayConnect(THREE), known.mayConnect(FIVE)]).toEqual([true, true, false]);
    known.isOpen = true;
    expect(known.mayConnect(FIVE)).toBe(true);
  });

  test("the file's list is in force if it has the same servers with the same roles, wherever those are", () => {
    const known = directory(false);
    expect(known.isFileInForce).toBe(false);
    const same = membersOf("1=a:1:2", "2=b:1:2", "4=c:1:2");
    known.update([same]);
    expect(known.isFileInForce).toBe(true);
    known.update([same, membersOf("1=a:1:2", "2=b:1:2")]);
    expect(known.isFileInForce).toBe(false);
  });
});

test("where clients change the members, the configuration says where they are", () => {
  const { servers } = directory(true);
  expect(servers.map(({ sid, host }) => [sid, host])).toEqual([
    [1, "old-1"],
    [2, "old-2"],
    [3, "old-3"],
  ]);
});
