/**
 * The exit status of each command, without and with `--json`: where it succeeds, is refused, has no
 * connection, and is misused.
 */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { freePort } from "@zooid/wire/testing/free-ports";
import { afterAll, beforeAll, expect, test } from "vitest";
import { COMMANDS } from "./command-table.ts";
import { CliRuns } from "./testing/cli-process.ts";
import { Session } from "./testing/session.ts";

interface Lines {
  /** Missing for what cannot succeed here: without an ensemble, an editor, or a terminal. */
  readonly ok?: string;
  readonly refused?: string;
  /** Missing for a command that takes any words. */
  readonly misused?: string;
}

const LINES: Readonly<Record<string, Lines>> = {
  addWatch: { ok: "addWatch /a", misused: "addWatch -m X /a" },
  addauth: { ok: "addauth digest u:p", refused: "addauth nosuchscheme x", misused: "addauth digest" },
  backup: { refused: "backup status --admin http://127.0.0.1:1", misused: "backup tomorrow" },
  changes: { refused: "changes /a", misused: "changes --after x /a" },
  close: { ok: "close" },
  completion: { ok: "completion bash", misused: "completion korn" },
  config: { ok: "config", misused: "config -q" },
  connect: { ok: "connect", misused: "connect a:b" },
  cp: { ok: "cp /a /copy", refused: "cp /none /x", misused: "cp /a" },
  create: { ok: "create /created", refused: "create /a", misused: "create" },
  delete: { ok: "delete /b/gone", refused: "delete /a", misused: "delete -v x /a" },
  deleteall: { ok: "deleteall /b/tree", refused: "deleteall /none", misused: "deleteall -b x /a" },
  delquota: { ok: "delquota /quota", refused: "delquota /b", misused: "delquota" },
  diagnose: { refused: "diagnose FILE --admin http://127.0.0.1:1", misused: "diagnose" },
  diff: { ok: "diff /a /a", refused: "diff /a /b", misused: "diff /a" },
  discover: { ok: "discover /a", refused: "discover /none", misused: "discover" },
  doctor: { ok: "doctor --admin http://127.0.0.1:1", misused: "doctor --admin x" },
  du: { ok: "du /a", refused: "du /none", misused: "du --top 0 /a" },
  edit: { refused: "edit /none", misused: "edit" },
  elect: { ok: "elect /leaders", misused: "elect" },
  export: { ok: "export /a NEW", refused: "export /none NEW", misused: "export" },
  find: { ok: "find /a", refused: "find /none", misused: "find --size big /a" },
  "4lw": { ok: "4lw ruok", misused: "4lw stats" },
  get: { ok: "get /a", refused: "get /none", misused: "get" },
  getAcl: { ok: "getAcl /a", refused: "getAcl /none", misused: "getAcl" },
  getAllChildrenNumber: {
    ok: "getAllChildrenNumber /a",
    refused: "getAllChildrenNumber /none",
    misused: "getAllChildrenNumber",
  },
  getEphemerals: { ok: "getEphemerals /a", misused: "getEphemerals -q" },
  grep: { ok: "grep one /a", refused: "grep nothing /a", misused: "grep ( /a" },
  help: { ok: "help", misused: "help nosuchcommand" },
  history: { ok: "history" },
  import: { ok: "import FILE /imported", refused: "import FILE /a", misused: "import FILE" },
  listquota: { ok: "listquota /a", refused: "listquota /none", misused: "listquota" },
  lock: { ok: "lock /locks -- true", refused: "lock /locks -- /no/such/program", misused: "lock" },
  loglevel: { refused: "loglevel --admin http://127.0.0.1:1", misused: "loglevel loud" },
  ls: { ok: "ls /a", refused: "ls /none", misused: "ls -q /a" },
  member: { refused: "member list", misused: "member keep" },
  migrate: { refused: "migrate check 127.0.0.1:1 --admin http://127.0.0.1:1", misused: "migrate keep" },
  printwatches: { ok: "printwatches on" },
  "purge-history": {
    refused: "purge-history --through 0x1 --admin http://127.0.0.1:1",
    misused: "purge-history --through soon",
  },
  queue: { ok: "queue put /queue x", refused: "queue peek /a", misused: "queue" },
  quit: { ok: "quit" },
  reconfig: { refused: "reconfig -remove 1", misused: "reconfig" },
  redo: { misused: "redo x" },
  // The watch is that of `addWatch`.
  removewatches: { ok: "removewatches /a", refused: "removewatches /b", misused: "removewatches" },
  reload: { refused: "reload --admin http://127.0.0.1:1", misused: "reload now" },
  restore: { refused: "restore --to 0x1 --admin http://127.0.0.1:1", misused: "restore" },
  set: { ok: "set /a one", refused: "set -v 99 /a x", misused: "set /a" },
  setAcl: { ok: "setAcl /a world:anyone:cdrwa", refused: "setAcl /none world:anyone:r", misused: "setAcl /a" },
  setquota: { ok: "setquota -n 5 /quota", refused: "setquota -n 5 /none", misused: "setquota /a" },
  stat: { ok: "stat /a", refused: "stat /none", misused: "stat" },
  status: { ok: "status", misused: "status --timeout x" },
  leader: { refused: "leader transfer --admin http://127.0.0.1:1", misused: "leader keep" },
  server: { refused: "server drain --admin http://127.0.0.1:1", misused: "server sleep" },
  sync: { ok: "sync /a", misused: "sync" },
  tree: { ok: "tree /a", refused: "tree /none", misused: "tree -d x /a" },
  undo: { refused: "undo --yes /a 0x1", misused: "undo /a now" },
  upgrade: { refused: "upgrade status --admin http://127.0.0.1:1", misused: "upgrade now" },
  version: { ok: "version" },
  watch: { misused: "watch --count x /a" },
  whoami: { ok: "whoami", misused: "whoami -q" },
};

let server: ZooidServer;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "zooid-statuses-"));
  writeFileSync(
    join(folder, "FILE"),
    '{"format":"zooid-subtree","version":1,"path":"/a"}\n{"path":"","data":null,"acl":null}\n',
  );
  server = await startServer({ port: 0, connectionsPerAddressMax: 0, fourLetterWords: "*" });
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

/** Files of this test in the place of their names. */
function wordsOf(line: string): readonly string[] {
  return line.split(" ").map((word) => {
    if (word === "FILE") return join(folder, word);
    // One that does not exist yet.
    return word === "NEW" ? join(folder, randomUUID()) : word;
  });
}

/** Nodes that each run finds the same. */
async function furnish(session: Session): Promise<void> {
  for (const path of ["/created", "/copy", "/quota", "/b", "/queue", "/imported"]) {
    await session.run("deleteall", path);
  }
  for (const path of ["/a", "/a/child", "/quota", "/b", "/b/gone", "/b/tree", "/b/tree/x"])
    await session.run("create", path);
  await session.run("set", "/a", "one");
}

async function statusesOf(format: "text" | "json"): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, readonly string[]>();
  await using session = await Session.open(server.connectString, format);
  await furnish(session);
  const unreachable = new CliRuns(() => `127.0.0.1:${port}`);
  const port = await freePort();
  for (const { name } of COMMANDS) {
    const { ok, refused, misused } = LINES[name] ?? {};
    // What ends the session has its own.
    const run = async (line: string | undefined): Promise<string> => {
      if (line === undefined) return "-";
      const words = wordsOf(line);
      if (/^(addauth nosuch|close|connect|quit)/.test(line)) {
        await using own = await Session.open(server.connectString, format);
        return `${await (await own.run(...words)).ended}`;
      }
      return `${await (await session.run(...words)).ended}`;
    };
    if (name === "delquota") await session.run("setquota", "-n", "5", "/quota");
    const statuses = [await run(ok), await run(refused)];
    if (name === "setquota") await session.run("delquota", "/quota");
    const line = ok ?? refused;
    const options = format === "json" ? ["--json"] : [];
    const away = line === undefined ? "-" : `${(await unreachable.run(...options, ...wordsOf(line))).status}`;
    found.set(name, [...statuses, away, await run(misused)]);
  }
  return found;
}

test("each command has lines here", () => {
  expect(Object.keys(LINES).toSorted()).toEqual(COMMANDS.map(({ name }) => name).toSorted());
});

test("each command ends with the status of its outcome", async () => {
  const [text, json] = [await statusesOf("text"), await statusesOf("json")];
  const rows = COMMANDS.map(({ name }) => {
    const [plain = [], fine = []] = [text.get(name), json.get(name)];
    return [name, ...plain.map((status, at) => (status === fine[at] ? status : `${status} ${fine[at]}`))];
  });
  const head = ["", "done", "refused", "not connected", "misused"];
  const lines = [head, ...rows].map((cells) =>
    cells
      .map((cell, at) => cell.padEnd(at === 0 ? 22 : 15))
      .join("")
      .trimEnd(),
  );
  expect(`\n${lines.join("\n")}\n`).toMatchInlineSnapshot(`
    "
                          done           refused        not connected  misused
    addWatch              0              -              1 3            1 2
    addauth               0              0 4            1 3            1 2
    backup                -              1 3            1 3            1 2
    changes               -              1              1 3            1 2
    close                 0              -              0              -
    completion            0              -              0              1 2
    config                0              -              1 3            1 2
    connect               0              -              0              1 2
    cp                    0              1              1 3            1 2
    create                0              1 5            1 3            1 2
    delete                0              1 5            1 3            1 2
    deleteall             0              1              1 3            1 2
    delquota              0              0              1 3            1 2
    diagnose              -              1 3            1 3            1 2
    doctor                0              -              3              1 2
    diff                  0              1              1 3            1 2
    discover              0              0              1 3            1 2
    du                    0              1              1 3            1 2
    edit                  -              1              1 3            1 2
    elect                 0              -              1 3            1 2
    export                0              1              1 3            1 2
    find                  0              1              1 3            1 2
    4lw                   0              -              1 3            1 2
    get                   0              1              1 3            1 2
    getAcl                0              1              1 3            1 2
    getAllChildrenNumber  0              1              1 3            1 2
    getEphemerals         0              -              1 3            1 2
    grep                  0              1              1 3            1 2
    help                  0              -              0              1 2
    history               0              -              0              -
    import                0              1 5            1 3            1 2
    listquota             0              0              1 3            1 2
    lock                  0              127            1 3            1 2
    loglevel              -              1 3            1 3            1 2
    ls                    0              1              1 3            1 2
    member                -              1              1 3            1 2
    migrate               -              3              3              1 2
    printwatches          0              -              0              -
    purge-history         -              1 3            1 3            1 2
    queue                 0              1              1 3            1 2
    quit                  0              -              0              -
    reconfig              -              1              1 3            1 2
    redo                  -              -              -              1 2
    removewatches         0              1              1              1 2
    reload                -              1 3            1 3            1 2
    restore               -              1 3            1 3            1 2
    set                   0              1 5            1 3            1 2
    setAcl                0              1              1 3            1 2
    setquota              0              1              1 3            1 2
    stat                  0              1              1 3            1 2
    status                0              -              1              1 2
    leader                -              1 3            1 3            1 2
    server                -              1 3            1 3            1 2
    sync                  0              -              1 3            1 2
    tree                  0              1              1 3            1 2
    undo                  -              1              1 3            1 2
    upgrade               -              1 3            1 3            1 2
    version               0              -              0              -
    watch                 -              -              -              1 2
    whoami                0              -              1 3            1 2
    "
  `);
});
