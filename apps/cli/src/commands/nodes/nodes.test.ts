import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Session } from "../../testing/session.ts";

let server: ZooidServer;
let session: Session;
let json: Session;

beforeAll(async () => {
  server = await startServer({ port: 0 });
  session = await Session.open(server.connectString);
  json = await Session.open(server.connectString, "json");
});

afterAll(async () => {
  await Promise.all([session[Symbol.asyncDispose](), json[Symbol.asyncDispose]()]);
  await server.stop();
});

/** Numbers of sessions, zxids and times differ from run to run. */
function masked(text: string): string {
  return text
    .replace(/0x[0-9a-f]{6,}/g, "0x#")
    .replace(/\w{3} \w{3} \d\d [\d:]{8} [\w+:-]+ \d{4}/g, "(time)")
    .replace(/"(ctimeMs|mtimeMs|ctime|mtime)":\s*("[^"]*"|\d+)/g, '"$1":#')
    .replace(/"(czxid|mzxid|pzxid|ephemeralOwner)":\s*"[^"]*"/g, '"$1":"#"');
}

/** Each line with what it prints, on both streams, and its status where it fails. */
async function transcript(of: Session, lines: readonly string[]): Promise<string> {
  const said: string[] = [];
  for (const line of lines) {
    const { ended, stdout, stderr } = await of.run(...line.split(" "));
    const status = await ended;
    const output = [stdout, stderr.replace(/^(?=.)/gm, "! ")].map(masked).filter((text) => text !== "");
    said.push(`$ ${line}${status === 0 ? "" : ` (status ${status})`}\n${output.join("")}`);
  }
  return said.join("");
}

test("each command for nodes prints what it did, with each of its flags", async () => {
  const lines = [
    "create /t one",
    "create -s /t/s- two",
    "create -e /t/e three",
    "create -c /t/c",
    "create -t 60000 /t/ttl x",
    "create -c -e /t/no",
    "create -t 0 /t/no",
    "create /t one",
    "create /t/acl x world:anyone:r",
    "getAcl /t/acl",
    "get /t",
    "get -s /t/e",
    "get -b /t",
    "get /t watch",
    "stat /t/s-0000000000",
    "stat /t watch",
    "stat /none",
    "ls /t",
    "ls -R /t",
    "ls /t watch",
    "set /t four",
    "set -s /t five",
    "set -v 1 /t no",
    "getAllChildrenNumber /t",
    "getEphemerals",
    "getEphemerals /t/c",
    "setAcl /t/c world:anyone:ra",
    "setAcl -s /t/c world:anyone:cdrwa",
    "setquota -n 5 /t",
    "setquota -b 500 /t",
    "listquota /t",
    "delquota -n /t",
    "listquota /t",
    "delquota /t",
    "delquota /t",
    "listquota /t",
    "sync /t",
    "delete -v 5 /t/e",
    "delete /t/e 0",
    "delete /t",
    "deleteall --dry-run /t",
    "deleteall /t",
    "ls /",
  ];
  expect(await transcript(session, lines)).toMatchInlineSnapshot(`
    "$ create /t one
    ! Created /t
    $ create -s /t/s- two
    ! Created /t/s-0000000000
    $ create -e /t/e three
    ! Created /t/e
    $ create -c /t/c
    ! Created /t/c
    $ create -t 60000 /t/ttl x (status 1)
    ! KeeperErrorCode = Unimplemented for /t/ttl
    $ create -c -e /t/no (status 1)
    ! -c cannot be combined with -s or -e. Containers cannot be ephemeral or sequential.
    $ create -t 0 /t/no (status 1)
    ! ttl must be positive and cannot be larger than: 1099511627775
    $ create /t one (status 1)
    ! Node already exists: /t
    $ create /t/acl x world:anyone:r
    ! Created /t/acl
    $ getAcl /t/acl
    'world,'anyone
    : r
    $ get /t
    one
    $ get -s /t/e
    three
    cZxid = 0x#
    ctime = (time)
    mZxid = 0x#
    mtime = (time)
    pZxid = 0x#
    cversion = 0
    dataVersion = 0
    aclVersion = 0
    ephemeralOwner = 0x#
    dataLength = 5
    numChildren = 0
    $ get -b /t
    b25l
    $ get /t watch
    one
    ! 'get path [watch]' has been deprecated. Please use 'get [-s] [-w] path' instead.
    $ stat /t/s-0000000000
    cZxid = 0x#
    ctime = (time)
    mZxid = 0x#
    mtime = (time)
    pZxid = 0x#
    cversion = 0
    dataVersion = 0
    aclVersion = 0
    ephemeralOwner = 0x0
    dataLength = 3
    numChildren = 0
    $ stat /t watch
    cZxid = 0x#
    ctime = (time)
    mZxid = 0x#
    mtime = (time)
    pZxid = 0x#
    cversion = 4
    dataVersion = 0
    aclVersion = 0
    ephemeralOwner = 0x0
    dataLength = 3
    numChildren = 4
    ! 'stat path [watch]' has been deprecated. Please use 'stat [-w] path' instead.
    $ stat /none (status 1)
    ! Node does not exist: /none
    $ ls /t
    [acl, c, e, s-0000000000]
    $ ls -R /t
    /t
    /t/acl
    /t/c
    /t/e
    /t/s-0000000000
    $ ls /t watch
    [acl, c, e, s-0000000000]
    ! 'ls path [watch]' has been deprecated. Please use 'ls [-w] path' instead.
    $ set /t four
    $ set -s /t five
    cZxid = 0x#
    ctime = (time)
    mZxid = 0x#
    mtime = (time)
    pZxid = 0x#
    cversion = 4
    dataVersion = 2
    aclVersion = 0
    ephemeralOwner = 0x0
    dataLength = 4
    numChildren = 4
    $ set -v 1 /t no (status 1)
    ! version No is not valid : /t
    $ getAllChildrenNumber /t
    4
    $ getEphemerals
    [/t/e]
    $ getEphemerals /t/c
    []
    $ setAcl /t/c world:anyone:ra
    $ setAcl -s /t/c world:anyone:cdrwa
    cZxid = 0x#
    ctime = (time)
    mZxid = 0x#
    mtime = (time)
    pZxid = 0x#
    cversion = 0
    dataVersion = 0
    aclVersion = 2
    ephemeralOwner = 0x0
    dataLength = 0
    numChildren = 0
    $ setquota -n 5 /t
    $ setquota -b 500 /t
    $ listquota /t
    Output quota for /t count=5,bytes=500=;byteHardLimit=-1;countHardLimit=-1
    Output stat for /t count=5,bytes=13
    ! absolute path is /zookeeper/quota/t/zookeeper_limits
    $ delquota -n /t
    $ listquota /t
    Output quota for /t count=-1,bytes=500=;byteHardLimit=-1;countHardLimit=-1
    Output stat for /t count=5,bytes=13
    ! absolute path is /zookeeper/quota/t/zookeeper_limits
    $ delquota /t
    $ delquota /t
    Quota does not exist for /t
    $ listquota /t
    ! absolute path is /zookeeper/quota/t/zookeeper_limits
    ! quota for /t does not exist.
    $ sync /t
    Sync is OK
    $ delete -v 5 /t/e (status 1)
    ! version No is not valid : /t/e
    $ delete /t/e 0
    ! 'delete path [version]' has been deprecated. Please use 'delete [-v version] path' instead.
    $ delete /t (status 1)
    ! Node not empty: /t
    $ deleteall --dry-run /t
    4 nodes would be deleted
    $ deleteall /t
    $ ls /
    [zookeeper]
    "
  `);
});

test("so it does as JSON", async () => {
  const lines = [
    "create /j one",
    "get /j",
    "get -b /j",
    "stat /j",
    "ls /",
    "getAcl /j",
    "set -v 0 /j two",
    "getEphemerals",
    "setquota -n 5 /j",
    "listquota /j",
    "delquota -n /j",
    "delquota /j",
    "delquota /j",
    "deleteall --dry-run /j",
    "deleteall /j",
    "stat /j",
  ];
  expect(await transcript(json, lines)).toMatchInlineSnapshot(`
    "$ create /j one
    {"command":"create","path":"/j","stat":{"czxid":"#","ctime":#,"mzxid":"#","mtime":#,"pzxid":"#","version":0,"cversion":0,"aversion":0,"ephemeralOwner":"#","dataLength":3,"numChildren":0}}
    $ get /j
    {"command":"get","path":"/j","data":"one","stat":{"czxid":"#","ctime":#,"mzxid":"#","mtime":#,"pzxid":"#","version":0,"cversion":0,"aversion":0,"ephemeralOwner":"#","dataLength":3,"numChildren":0}}
    $ get -b /j
    {"command":"get","path":"/j","data":"one","stat":{"czxid":"#","ctime":#,"mzxid":"#","mtime":#,"pzxid":"#","version":0,"cversion":0,"aversion":0,"ephemeralOwner":"#","dataLength":3,"numChildren":0}}
    $ stat /j
    {"command":"stat","path":"/j","stat":{"czxid":"#","ctime":#,"mzxid":"#","mtime":#,"pzxid":"#","version":0,"cversion":0,"aversion":0,"ephemeralOwner":"#","dataLength":3,"numChildren":0}}
    $ ls /
    {"command":"ls","path":"/","children":["j","zookeeper"],"stat":{"czxid":"#","ctime":#,"mzxid":"#","mtime":#,"pzxid":"#","version":0,"cversion":2,"aversion":0,"ephemeralOwner":"#","dataLength":0,"numChildren":2}}
    $ getAcl /j
    {"command":"getAcl","path":"/j","acl":[{"scheme":"world","id":"anyone","perms":"cdrwa"}],"stat":{"czxid":"#","ctime":#,"mzxid":"#","mtime":#,"pzxid":"#","version":0,"cversion":0,"aversion":0,"ephemeralOwner":"#","dataLength":3,"numChildren":0}}
    $ set -v 0 /j two
    {"command":"set","path":"/j","stat":{"czxid":"#","ctime":#,"mzxid":"#","mtime":#,"pzxid":"#","version":1,"cversion":0,"aversion":0,"ephemeralOwner":"#","dataLength":3,"numChildren":0}}
    $ getEphemerals
    {"command":"getEphemerals","paths":[]}
    $ setquota -n 5 /j
    {"command":"setquota","path":"/j","quota":{"count":5,"bytes":-1,"byteHardLimit":-1,"countHardLimit":-1},"used":{"count":1,"bytes":3},"warnings":[]}
    $ listquota /j
    {"command":"listquota","path":"/j","quota":{"count":5,"bytes":-1,"byteHardLimit":-1,"countHardLimit":-1},"used":{"count":1,"bytes":3}}
    $ delquota -n /j
    {"command":"delquota","path":"/j","quota":{"count":-1,"bytes":-1,"byteHardLimit":-1,"countHardLimit":-1}}
    $ delquota /j
    {"command":"delquota","path":"/j","quota":null}
    $ delquota /j
    {"command":"delquota","path":"/j","quota":null}
    $ deleteall --dry-run /j
    {"command":"deleteall","path":"/j","wouldDelete":1}
    $ deleteall /j
    {"command":"deleteall","path":"/j","deleted":1}
    $ stat /j (status 1)
    {"command":"stat","error":{"code":"NO_NODE","path":"/j","message":"Node does not exist: /j","hint":"list the parent with ls; the path is below the chroot of the connect string"}}
    "
  `);
});

test("a quota that is deleted leaves no node of its own, and those of other quotas", async () => {
  const quotas = async (): Promise<readonly string[]> => {
    const { stdout } = await session.run("ls", "-R", "/zookeeper/quota");
    return stdout
      .split("\n")
      .filter((line) => /^\/zookeeper\/quota\/q\b/.test(line) && !/zookeeper_\w+$/.test(line))
      .sort();
  };
  for (const path of ["/q", "/q/a", "/q/a/b", "/q/a/b/c", "/q/d"]) await session.run("create", path);
  for (const path of ["/q/a/b/c", "/q/d"]) await session.run("setquota", "-n", "9", path);
  const ofD = ["/zookeeper/quota/q", "/zookeeper/quota/q/d"];
  expect(await quotas()).toEqual([...ofD, ...["a", "a/b", "a/b/c"].map((path) => `/zookeeper/quota/q/${path}`)].sort());
  expect(await (await session.run("delquota", "/q/a/b/c")).ended).toBe(0);
  expect(await quotas()).toEqual(ofD);
  expect(await (await session.run("delquota", "/q/d")).ended).toBe(0);
  expect(await quotas()).toEqual([]);
});
