import { expect, test } from "vitest";
import { estateFiles } from "zooid-server/testing/estate-files";
import { listedMembers, movedEstate } from "./moved-estate.ts";

const PLACES = [1, 2].map((sid) => ({
  sid,
  host: `127.1.0.${sid}`,
  quorumPort: 100 + sid,
  electionPort: 200 + sid,
  clientPort: 300 + sid,
}));

const file = (text: string, others: readonly (readonly [string, string])[] = []) => ({
  name: "x",
  text,
  myid: undefined,
  withoutEffect: [],
  others: new Map(others),
});

test.each([
  ["server.1=zk1:2888:3888", "server.1=127.1.0.1:101:201"],
  ["server.2 = zk2:2888:3888:observer", "server.2 = 127.1.0.2:102:202:observer"],
  ["server.1=[2001:db8::1]:2888:3888;[::1]:2181", "server.1=127.1.0.1:101:201;[::1]:301"],
  ["server.1=a:1:2|b:3:4;2181", "server.1=127.1.0.1:101:201|127.1.0.1:101:201;301"],
  ["server.2=a:1:2:participant;127.0.0.1:12181", "server.2=127.1.0.2:102:202:participant;127.0.0.1:302"],
  ["clientPort=2181\r\ngroup.1=1:2", "clientPort=302\r\ngroup.1=1:2"],
  ["server.7=elsewhere:1:2", "server.7=elsewhere:1:2"],
])("%j is moved", (text, moved) => {
  expect(movedEstate(file(text), 2, PLACES)).toMatchObject({ text: moved, myid: "2" });
});

test("members of another file are found and moved, too", () => {
  const estate = file("dynamicConfigFile={dir}/d", [["d", "server.2=b:1:2\nserver.1=a:1:2\n"]]);
  expect(listedMembers(estate)).toEqual([1, 2]);
  expect(movedEstate(estate, 1, PLACES).others.get("d")).toBe(
    "server.2=127.1.0.2:102:202\nserver.1=127.1.0.1:101:201\n",
  );
});

test("no file keeps a host of its own", () => {
  const kept = estateFiles().filter((estate) => {
    const sids = listedMembers(estate);
    const places = sids.map((sid) => ({ sid, host: "127.9.9.9", quorumPort: 1, electionPort: 2, clientPort: 3 }));
    const { text, others } = movedEstate(estate, sids[0] ?? 1, places);
    const lines = [text, ...others.values()].join("\n").match(/^server\.\d+.*$/gm) ?? [];
    return lines.some((line) => !line.includes("127.9.9.9"));
  });
  expect(kept.map(({ name }) => name)).toEqual([]);
});
