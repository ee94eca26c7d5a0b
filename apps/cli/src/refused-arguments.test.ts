import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { COMMANDS } from "./command-table.ts";
import { Session } from "./testing/session.ts";

let server: ZooidServer;
let session: Session;
beforeAll(async () => {
  server = await startServer({ port: 0 });
  session = await Session.open(server.connectString);
  await session.run("create", "/a", "x");
});
afterAll(async () => {
  await session[Symbol.asyncDispose]();
  await server.stop();
});

test("each command that is an addition to zkCli refuses more operands than it takes", async () => {
  const own = COMMANDS.filter(({ kind }) => kind === "own" || kind === "offline");
  // Those run a program, with any arguments.
  expect(own.filter(({ operandsMax = Infinity }) => operandsMax === Infinity).map(({ name }) => name)).toEqual([
    "elect",
    "lock",
  ]);
  for (const { name, operandsMax = 0 } of own) {
    if (operandsMax === Infinity) continue;
    const words = Array.from({ length: operandsMax + 1 }, (_, i) => `/a${i}`);
    const { ended, stderr } = await session.run(name, ...words);
    expect([await ended, stderr]).toEqual([
      1,
      expect.stringMatching(`^${name} takes at most .* "/a${operandsMax}" is one too many;`),
    ]);
  }
});

test("each argument that a command cannot use is refused in a sentence, and nothing is carried out", async () => {
  const lines = [
    "create -t many /b",
    "create -t -5 /b",
    "create -t 5 -e /b",
    "create -t 5 -c /b",
    "create -s -c /b",
    "create",
    "create b",
    "set -v 1.5 /a y",
    "set -v 2147483648 /a y",
    "set -q /a y",
    "delete -v one /a",
    "deleteall -b many /a",
    "get /a//b",
    "tree -d x /a",
    "tree -d -1 /a",
    "find --owner me /a",
    "find --size big /a",
    "find --mtime 5 /a",
    "find --depth -1 /a",
    "find --limit x /a",
    "du --top 0 /a",
    "du --top 100000000 /a",
    "grep ( /a",
    "diff /a",
    "cp /a /a/b",
    "cp /a /a",
    "setquota /a",
    "setquota -n",
    "setquota -n 5",
    "setquota -n 0 /a",
    "setquota -b -1 /a",
    "setquota -N 1.5 /a",
    "delquota -n -b /a",
    "redo x",
    "redo 5000",
    "completion korn",
    "member keep",
    "server sleep",
    "server undrain --all",
    "leader keep",
    "leader transfer --timeout 5",
    "leader transfer x",
    "upgrade now",
    "upgrade status --wait",
    "upgrade finalize --timeout 5",
    "reconfig -file /none -members server.1=a:1:2;3",
    "reconfig -remove 1 -v version",
    "reconfig -remove 1 -v 0x5",
    "reconfig -remove 1 -v 11112222333344445",
    "4lw ruok 127.0.0.1:1",
    "help nosuch",
    "ls / --json",
    "nonsense",
  ];
  const said: string[] = [];
  for (const line of lines) {
    const { ended, stdout, stderr } = await session.run(...line.split(" "));
    const [first = ""] = stderr.split("\n");
    said.push(`${line} (${await ended})\n  ${first}\n${stdout === "" ? "" : `  printed ${JSON.stringify(stdout)}\n`}`);
  }
  expect(said.join("")).toMatchInlineSnapshot(`
    "create -t many /b (1)
      -t argument must be a long value
    create -t -5 /b (1)
      ttl must be positive and cannot be larger than: 1099511627775
    create -t 5 -e /b (1)
      TTLs cannot be used with Ephemeral znodes
    create -t 5 -c /b (1)
      TTLs cannot be used with Container znodes
    create -s -c /b (1)
      -c cannot be combined with -s or -e. Containers cannot be ephemeral or sequential.
    create (1)
      create [-s] [-e] [-c] [-t ttl] path [data] [acl]
    create b (1)
      Path must start with / character
    set -v 1.5 /a y (1)
      -v takes a whole number of 32 bits, found "1.5"
    set -v 2147483648 /a y (1)
      -v takes a whole number of 32 bits, found "2147483648"
    set -q /a y (1)
      org.apache.commons.cli.UnrecognizedOptionException: Unrecognized option: -q
    delete -v one /a (1)
      -v takes a whole number of 32 bits, found "one"
    deleteall -b many /a (1)
      -b argument must be an int value
    get /a//b (1)
      Invalid path string "/a//b" caused by empty node name specified @3
    tree -d x /a (1)
      -d takes a whole number, found "x"
    tree -d -1 /a (1)
      -d takes a whole number, found "-1"
    find --owner me /a (1)
      --owner takes a session id as 0x and hexadecimal digits, found "me"
    find --size big /a (1)
      --size takes bytes as [+-]N[k|M], found "big"
    find --mtime 5 /a (1)
      --mtime takes an age as [+-]N(s|m|h|d), found "5"
    find --depth -1 /a (1)
      --depth takes a whole number, found "-1"
    find --limit x /a (1)
      --limit takes a whole number, found "x"
    du --top 0 /a (1)
      --top takes 1 to 10000, found 0
    du --top 100000000 /a (1)
      --top takes 1 to 10000, found 100000000
    grep ( /a (1)
      grep takes a regular expression (-F for a text as it is): Invalid regular expression: /(/u: Unterminated group
    diff /a (1)
      diff takes two paths, or one and --file
    cp /a /a/b (1)
      /a/b is /a or lies below it; a copy there would copy itself
    cp /a /a (1)
      /a is /a or lies below it; a copy there would copy itself
    setquota /a (1)
      org.apache.commons.cli.MissingOptionException: Missing required option: [-n num soft quota, -b bytes soft quota, -N num hard quota, -B bytes hard quota]
    setquota -n (1)
      org.apache.commons.cli.MissingArgumentException: Missing argument for option: n
    setquota -n 5 (1)
      setquota -n|-b|-N|-B val path
    setquota -n 0 /a (1)
      the num quota must be greater than zero
    setquota -b -1 /a (1)
      the bytes quota must be greater than or equal to zero
    setquota -N 1.5 /a (1)
      NumberFormatException happens when parsing the option value
    delquota -n -b /a (1)
      org.apache.commons.cli.AlreadySelectedException: The option 'b' was specified but an option from this group has already been selected: 'n'
    redo x (1)
      redo takes the number of a line, found "x"
    redo 5000 (1)
      Command index out of range
    completion korn (1)
      completion takes one of bash, zsh, fish, found korn
    member keep (1)
      member takes list, add, remove, promote, demote or replace, found "keep"
    server sleep (1)
      server takes drain or undrain, found "sleep"
    server undrain --all (1)
      org.apache.commons.cli.UnrecognizedOptionException: Unrecognized option: --all
    leader keep (1)
      leader takes transfer, found "keep"
    leader transfer --timeout 5 (1)
      --timeout is for --wait: a transfer without it does not wait
    leader transfer x (1)
      a server is named by its number, as in server.N, found "x"
    upgrade now (1)
      upgrade takes status or finalize, found "now"
    upgrade status --wait (1)
      --wait is for upgrade finalize
    upgrade finalize --timeout 5 (1)
      --timeout is for --wait: finalize without it does not wait
    reconfig -file /none -members server.1=a:1:2;3 (1)
      Can't use -file and -members together (conflicting non-incremental modes)
    reconfig -remove 1 -v version (1)
      -v must be followed by a long (configuration version)
    reconfig -remove 1 -v 0x5 (1)
      -v must be followed by a long (configuration version)
    reconfig -remove 1 -v 11112222333344445 (1)
      -v must be followed by a long (configuration version)
    4lw ruok 127.0.0.1:1 (1)
      ruok at 127.0.0.1:1: no answer of a ZooKeeper server: connection refused: no process listens on this port (CONNECTION_LOSS)
    help nosuch (1)
      there is no command "nosuch"; help without an argument lists them all
    ls / --json (1)
      org.apache.commons.cli.UnrecognizedOptionException: Unrecognized option: --json; --json stands before the command
    nonsense (127)
      ZooKeeper -server host:port -client-configuration properties-file cmd args
    "
  `);
  expect((await session.run("ls", "-R", "/")).stdout.replaceAll(/\/zookeeper.*\n/g, "")).toBe("/\n/a\n");
  expect((await session.run("get", "/a")).stdout).toBe("x\n");
});
