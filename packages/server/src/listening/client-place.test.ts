import { type Members, membersOf, serverId, ZXID_NONE } from "@zooid/model";
import { expect, test } from "vitest";
import { clientPlaceOf } from "./client-place.ts";

type Place = { readonly host: string | undefined; readonly port: number } | undefined;

const SID = serverId(2);

function membersWith(clientAddress: Place): Members {
  const member = { host: "b", quorumPort: 2888, electionPort: 3888, isObserver: false, group: undefined, weight: 1 };
  return membersOf([{ ...member, sid: SID, clientAddress }], ZXID_NONE);
}

test.each([
  { line: undefined, address: "*", listedHost: undefined, place: undefined },
  { line: { host: "10.0.0.2", port: 2181 }, address: "*", listedHost: undefined, place: "10.0.0.2:2181" },
  { line: { host: "10.0.0.2", port: 2181 }, address: "127.0.0.1", listedHost: undefined, place: "10.0.0.2:2181" },
  { line: { host: undefined, port: 2182 }, address: "*", listedHost: undefined, place: "*:2182" },
  { line: { host: "0.0.0.0", port: 2182 }, address: "*", listedHost: undefined, place: "*:2182" },
  { line: { host: "::", port: 2182 }, address: "127.0.0.1", listedHost: undefined, place: "127.0.0.1:2182" },
  { line: { host: undefined, port: 2182 }, address: "127.0.0.1", listedHost: "127.0.0.1", place: "*:2182" },
] satisfies readonly { line: Place; address: string; listedHost: string | undefined; place: string | undefined }[])(
  "a line with $line puts the client port of a server at $address to $place",
  ({ line, address, listedHost, place }) => {
    const found = clientPlaceOf(membersWith(line), { sid: SID, address, listedHost });
    expect(found && `${found.host ?? "*"}:${found.port}`).toBe(place);
  },
);

test("a configuration without this server leaves its client port where it is", () => {
  const members = membersWith({ host: "10.0.0.2", port: 2181 });
  expect(clientPlaceOf(members, { sid: serverId(3), address: "*", listedHost: undefined })).toBeUndefined();
});
