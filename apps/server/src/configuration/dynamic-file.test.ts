import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { composeZxid, type Members, parseMembers } from "@zooid/model";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseConfigFile } from "./config-file.ts";
import { DynamicFile } from "./dynamic-file.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "zooid-dynamic-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

function membersAt(counter: number, ...sids: readonly number[]): Members {
  const lines = sids.map((sid) => `server.${sid}=h${sid}:2888:3888;2181`);
  return { ...parseMembers(lines.join("\n")), version: composeZxid(1, counter) };
}

const read = (file: string): string => readFileSync(file, "utf8");

test("the servers move from zoo.cfg to a file of their own, and all else stays unchanged", () => {
  const file = join(directory, "zoo.cfg");
  const text = "# ours\ntickTime=500\nserver.1=h1:2888:\\\n  3888\ndataDir=d\nserver.2=h2:2888:3888\ngroup.1=1:2\n";
  writeFileSync(file, text);
  new DynamicFile(file, 1).write(membersAt(0, 1, 2));
  const dynamic = `${file}.dynamic.100000000`;
  expect(read(file)).toBe(`# ours\ntickTime=500\ndataDir=d\ndynamicConfigFile=${dynamic}\n`);
  expect(read(dynamic)).toBe(
    "server.1=h1:2888:3888:participant;0.0.0.0:2181\nserver.2=h2:2888:3888:participant;0.0.0.0:2181\n",
  );
  expect(read(`${file}.bak`)).toBe(text);
  const config = parseConfigFile(read(file), read);
  expect([config.membersVersion, [...config.ensemble.servers.keys()]]).toEqual([
    composeZxid(1, 0),
    ["server.1", "server.2"],
  ]);
});

test.each([0o600, 0o640, 0o644])(
  "a file of the mode %o keeps it, and so does its copy: both may have secrets",
  (mode) => {
    const file = join(directory, "zoo.cfg");
    writeFileSync(file, "DigestAuthenticationProvider.superDigest=super:x\nserver.1=h1:2888:3888\n");
    // Of an attempt before that ended half way.
    writeFileSync(`${file}.tmp`, "", { mode: 0o666 });
    chmodSync(file, mode);
    new DynamicFile(file, 1).write(membersAt(0, 1));
    expect([file, `${file}.bak`].map((each) => statSync(each).mode & 0o777)).toEqual([mode, mode]);
  },
);

test("each change has a new file, and the one before goes", () => {
  const file = join(directory, "zoo.cfg");
  const listed = join(directory, "servers");
  writeFileSync(listed, "server.1=h1:2888:3888\n");
  writeFileSync(file, `tickTime=500\ndynamicConfigFile=${listed}\n`);
  const dynamicFile = new DynamicFile(file, 1);
  dynamicFile.write(membersAt(3, 1, 2));
  dynamicFile.write(membersAt(10, 1, 2, 3));
  dynamicFile.write(membersAt(10, 1, 2, 3));
  // The one that an operator wrote stays.
  expect(readdirSync(directory).sort()).toEqual(["servers", "servers.10000000a", "zoo.cfg", "zoo.cfg.bak"]);
  expect(read(file)).toBe(`tickTime=500\ndynamicConfigFile=${listed}.10000000a\n`);
});

test("a file that cannot be written is an error, and nothing is lost", () => {
  const file = join(directory, "zoo.cfg");
  const text = "tickTime=500\nserver.1=h1:2888:3888\n";
  writeFileSync(file, `${text}dynamicConfigFile=${join(directory, "missing", "servers")}\n`);
  expect(() => new DynamicFile(file, 1).write(membersAt(0, 1))).toThrow("ENOENT");
  expect(read(file)).toContain(text);
});

test("what the dynamic file decides leaves zoo.cfg: the role, and the client port where the own line has one", () => {
  const file = join(directory, "zoo.cfg");
  const text = "clientPort=2183\nclientPortAddress=10.0.0.1\npeerType=observer\nsecureClientPort=2281\n";
  writeFileSync(file, text);
  const dynamicFile = new DynamicFile(file, 1);
  const noClients = {
    ...parseMembers("server.1=h1:2888:3888\nserver.2=h2:2888:3888;2181"),
    version: composeZxid(1, 1),
  };
  dynamicFile.write(noClients);
  expect(read(file)).toBe(
    `clientPort=2183\nclientPortAddress=10.0.0.1\nsecureClientPort=2281\ndynamicConfigFile=${file}.dynamic.100000001\n`,
  );
  // A line without an address leaves the one of zoo.cfg in force.
  dynamicFile.write(membersAt(2, 1, 2));
  expect(read(file)).toBe(
    `clientPortAddress=10.0.0.1\nsecureClientPort=2281\ndynamicConfigFile=${file}.dynamic.100000002\n`,
  );
  dynamicFile.write({ ...parseMembers("server.1=h1:2888:3888;10.0.0.2:2181"), version: composeZxid(1, 3) });
  expect(read(file)).toBe(`secureClientPort=2281\ndynamicConfigFile=${file}.dynamic.100000003\n`);
  expect(read(`${file}.bak`)).toBe(text);
});

test("a zoo.cfg whose dynamic file is up to date loses what that decides, too", () => {
  const file = join(directory, "zoo.cfg");
  const dynamicFile = new DynamicFile(file, 1);
  const named = `dynamicConfigFile=${file}.dynamic.100000001`;
  writeFileSync(`${file}.dynamic.100000001`, "server.1=h1:2888:3888;2181\n");
  writeFileSync(file, `zookeeper.clientPort=2183\n${named}\n`);
  dynamicFile.write(membersAt(1, 1));
  expect(read(file)).toBe(`${named}\n`);
});

test("a server that is no member writes nothing", () => {
  const file = join(directory, "zoo.cfg");
  writeFileSync(file, "server.4=h4:2888:3888\n");
  new DynamicFile(file, 4).write(membersAt(1, 1, 2, 3));
  expect(readdirSync(directory)).toEqual(["zoo.cfg"]);
  expect(read(file)).toBe("server.4=h4:2888:3888\n");
});
