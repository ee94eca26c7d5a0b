import { parseMembers, serverId } from "@zooid/model";
import { expect, test } from "vitest";
import { MemberDirectory } from "../peers/member-directory.ts";
import { isTakenFrom, otherPlaces } from "./other-places.ts";

test("the places of others are their ports for servers and for clients, at the host of the line unless it has another", () => {
  const { servers } = parseMembers(
    ["server.1=zk-1:1:2;3", "server.2=zk-2:4:5;6", "server.3=zk-3:7:8;10.0.0.3:9", "server.4=zk-4:10:11"].join("\n"),
  );
  const directory = new MemberDirectory({
    sid: serverId(1),
    servers,
    observerMasterPort: undefined,
    addressOf: undefined,
  });
  expect(otherPlaces(directory, serverId(1)).map(({ sid, host, port }) => `${sid} ${host} ${port}`)).toEqual([
    "2 zk-2 4",
    "2 zk-2 5",
    "2 zk-2 6",
    "3 zk-3 7",
    "3 zk-3 8",
    "3 10.0.0.3 9",
    "4 zk-4 10",
    "4 zk-4 11",
  ]);
});

test.each([
  ["127.0.0.1", "127.0.0.1", true],
  ["127.0.0.1", "::ffff:127.0.0.1", true],
  ["127.0.0.1", "127.0.0.2", false],
  [undefined, "127.0.0.2", true],
  ["0.0.0.0", "::1", true],
  [undefined, "192.0.2.1", false],
])("a port at %s answers for a server at %s: %s", (address, other, isTaken) => {
  expect(isTakenFrom({ address, port: 1 }, other)).toBe(isTaken);
});
