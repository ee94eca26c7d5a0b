import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { composeZxid, type Member, memberLines, membersOf, parseMembers, serverId } from "@zooid/model";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseConfigFile } from "./config-file.ts";
import { DynamicFile } from "./dynamic-file.ts";

const OWN = 1;
const SETTINGS = [
  "tickTime=500",
  "# ours",
  "",
  "server.1=old:2888:3888",
  "server.7=old7:2888:3888",
  "peerType=observer",
];

const host = fc.constantFrom("h1", "zk-2.example.com", "10.0.0.1", "::1", "2001:db8::5");
const clientAddress = fc.record({
  host: fc.option(fc.constantFrom("10.0.0.9", "zk", "::2"), { nil: undefined }),
  port: fc.integer({ min: 1, max: 65_535 }),
});
const shape = fc.record({
  host,
  isObserver: fc.boolean(),
  clientAddress: fc.option(clientAddress, { nil: undefined }),
  group: fc.integer({ min: 1, max: 3 }),
  weight: fc.integer({ min: 0, max: 9 }),
});

/** A list of servers, the own one among them, with groups for all voters or for none. */
const servers = fc
  .record({ shapes: fc.array(shape, { minLength: 1, maxLength: 6 }), hasGroups: fc.boolean() })
  .map(({ shapes, hasGroups }) =>
    shapes.map(({ group, isObserver, weight, ...place }, i): Member => {
      const sid = i + OWN;
      const isVoter = sid === OWN || !isObserver;
      const isGrouped = hasGroups && isVoter;
      const ports = { quorumPort: 2000 + 10 * sid, electionPort: 2001 + 10 * sid };
      return {
        sid: serverId(sid),
        ...place,
        ...ports,
        isObserver: !isVoter,
        group: isGrouped ? group : undefined,
        weight: isGrouped ? weight : 1,
      };
    }),
  );

test("whatever servers are written, a start reads those, at their version, and a second write changes nothing", () => {
  fc.assert(
    fc.property(
      fc.array(servers, { minLength: 1, maxLength: 3 }),
      fc.subarray(SETTINGS),
      fc.integer({ min: 0, max: 0xffff }),
      (lists, settings, counter) => {
        const directory = mkdtempSync(join(tmpdir(), "zooid-dynamic-"));
        try {
          const file = join(directory, "zoo.cfg");
          writeFileSync(file, ["dataDir=d", ...settings].join("\n"));
          const dynamicFile = new DynamicFile(file, OWN);
          for (const [i, list] of lists.entries()) {
            const members = membersOf(list, composeZxid(1, counter + i));
            dynamicFile.write(members);
            const files = contentsOf(directory);
            const { membersVersion, membersFile = "" } = parseConfigFile(read(file), read);
            expect(membersVersion).toBe(members.version);
            expect(memberLines(parseMembers(read(membersFile)).servers)).toEqual(memberLines(members.servers));
            dynamicFile.write(members);
            expect(contentsOf(directory)).toEqual(files);
          }
          expect(readdirSync(directory)).toHaveLength(3);
        } finally {
          rmSync(directory, { recursive: true });
        }
      },
    ),
    { numRuns: 10, seed: 1 },
  );
});

function read(file: string): string {
  return readFileSync(file, "utf8");
}

function contentsOf(directory: string): readonly (readonly [name: string, text: string])[] {
  return readdirSync(directory).map((name) => [name, read(join(directory, name))] as const);
}
