/**
 * Secrets and data of nodes appear in nothing that a server and its commands say while a history is
 * kept, backed up, checked, purged and restored: no log, audit log, error, name, manifest, metric,
 * or bundle for a report.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { S3Service } from "@zooid/backup/testing/s3-service";
import { connect, digestId } from "@zooid/client";
import { fourLetterWord, ROOT, ServerProcess } from "@zooid/conformance/internal/servers/endpoint";
import { formatZxid } from "@zooid/model";
import { freePort } from "@zooid/wire/testing/free-ports";
import { RawClient } from "@zooid/wire/testing/raw-client";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

const SUPER_PASSWORD = "canary-of-the-superuser";
const SUPER_ID = digestId("super", SUPER_PASSWORD);
const USER_PASSWORD = "canary-of-a-user";
const USER_ID = digestId("alice", USER_PASSWORD);
const DATA = "canary-of-the-data-of-a-node";
const KEY = "canary-of-the-key-of-a-bucket";
const TARGET = "s3://bucket/zk";
const WAIT = { timeout: 60_000 };

let folder: string;
let service: S3Service;
let server: ServerProcess;
let adminPort: number;
/** The texts that were found, by their place. */
const said = new Map<string, string>();
const secrets = new Map<string, Buffer>([
  ["the superuser's password", Buffer.from(SUPER_PASSWORD)],
  ["the superuser's hash", Buffer.from(hashOf(SUPER_ID))],
  ["a user's password", Buffer.from(USER_PASSWORD)],
  ["a user's hash", Buffer.from(hashOf(USER_ID))],
  ["data of a node", Buffer.from(DATA)],
  ["the key of the bucket", Buffer.from(KEY)],
]);

function hashOf(id: string): string {
  return id.slice(id.indexOf(":") + 1);
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "zooid-canaries-"));
  service = await S3Service.start();
  adminPort = await freePort();
  writeFileSync(join(folder, "key"), `accessKeyId=k\nsecretAccessKey=${KEY}\n`, { mode: 0o600 });
  server = new ServerProcess({
    kind: "zooid",
    folder,
    settings: [
      "admin.enableServer=true",
      "admin.serverAddress=127.0.0.1",
      `admin.serverPort=${adminPort}`,
      `DigestAuthenticationProvider.superDigest=${SUPER_ID}`,
      "audit.enable=true",
      "zooid.logLevel=debug",
      "zooid.slowRequestMs=1",
      "zooid.history.retainMs=3600000",
      "zooid.history.fileMs=100",
      `zooid.backup.target=${TARGET}`,
      `zooid.backup.endpoint=${service.endpoint}`,
      `zooid.backup.credentialsFile=${join(folder, "key")}`,
    ],
  });
  await server.start();
});
afterAll(async () => {
  await server.kill();
  await service[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

function note(place: string, text: string): void {
  said.set(place, `${said.get(place) ?? ""}${text}\n`);
}

/** Runs a program of the repository, and notes all that it prints. */
async function run(program: "zooid-cli" | "zooid-server", ...argv: readonly string[]): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const env = { ...process.env, ZOOID_ADMIN_AUTH: `digest super:${SUPER_PASSWORD}` };
  execFile(join(ROOT, "node_modules/.bin", program), argv, { env, timeout: 60_000 }, (error, stdout, stderr) => {
    note(`${program} ${argv.join(" ")}`, stdout + stderr);
    resolve(error === null ? 0 : Number(error.code));
  });
  return await promise;
}

const admin = (): readonly string[] => ["--admin", `http://127.0.0.1:${adminPort}`];
const remote = (): readonly string[] => ["--endpoint", service.endpoint, "--credentials", join(folder, "key")];

async function ask(path: string, method = "GET", body?: string): Promise<string> {
  const headers = { authorization: `digest super:${SUPER_PASSWORD}`, "content-type": "application/octet-stream" };
  const given = body === undefined ? {} : { body };
  const text = await (await fetch(`http://127.0.0.1:${adminPort}/${path}`, { method, headers, ...given })).text();
  note(`${method} ${path}`, text);
  return text;
}

/** Requests of clients, and the errors of those that fail. @returns the last zxid */
async function useNodes(): Promise<string> {
  const raw = await RawClient.open(server.port);
  const { password } = await raw.handshake();
  secrets.set("the password of a session", Buffer.from(password.bytes.subarray(password.start, password.end)));
  await raw[Symbol.asyncDispose]();
  const connectString = `127.0.0.1:${server.port}`;
  await using zk = await connect(connectString);
  await zk.addAuth("digest", `alice:${USER_PASSWORD}`);
  await zk.addAuth("digest", `super:${SUPER_PASSWORD}`);
  const mine = [{ perms: 31, scheme: "digest", id: USER_ID }];
  await zk.create("/mine", DATA, { acl: mine });
  await zk.set("/mine", `${DATA} again`);
  await zk.setAcl("/mine", [...mine, { perms: 1, scheme: "world", id: "anyone" }]);
  await zk.transaction().create("/part", DATA).set("/mine", DATA).commit();
  for (let i = 0; i < 50; i++) await zk.create(`/filled-${i}`, DATA.repeat(100));
  await using unknown = await connect(connectString);
  const failures = [
    zk.set("/mine", DATA, { version: 77 }),
    zk.create("/none/below", DATA),
    zk.transaction().set("/mine", DATA).set("/none", DATA).commit(),
    unknown.addAuth("nosuchscheme", `alice:${USER_PASSWORD}`),
  ];
  for (const failure of await Promise.allSettled(failures)) {
    if (failure.status === "rejected")
      note("errors of a client", `${failure.reason} ${JSON.stringify(failure.reason)}`);
  }
  await using other = await connect(connectString);
  await other.addAuth("digest", `alice:wrong-${USER_PASSWORD}`);
  await other.set("/mine", DATA).catch((error: unknown) => note("errors of a client", String(error)));
  return formatZxid((await zk.set("/part", `${DATA} at last`)).mzxid);
}

/** Reads all that the server offers without asking for data. */
async function readAll(): Promise<void> {
  const listed = [...(await ask("commands")).matchAll(/href="\/?commands\/([a-z_]+)"/g)].map(([, name]) => name);
  expect(listed.length).toBeGreaterThan(20);
  // Those that are asked for data, and those that end what runs.
  const others = new Set(["snapshot", "restore"]);
  const own = [
    "audit_tail",
    "backup_status",
    "log_tail",
    "purge_status",
    "session_clients",
    "drain_status",
    "log_level",
  ];
  for (const name of [...listed, ...own]) if (!others.has(name ?? "")) await ask(`commands/${name}`);
  for (const page of ["metrics", "healthz?verbose", "readyz?verbose", "livez", "startupz"]) await ask(page);
  for (const word of ["conf", "cons", "dump", "envi", "mntr", "srvr", "stat", "wchs", "wchc", "wchp", "dirs", "isro"])
    note(`the word ${word}`, await fourLetterWord(server.port, word));
}

/** Names in the data directory, in the bucket, and what lies beside data there. */
function readPlaces(): void {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  note("names of files", names.join("\n"));
  const told = (name: string): boolean => /manifest\.json$|zookeeper_audit\.log$|zooid\.pid$|server\.log$/.test(name);
  for (const name of names.filter(told)) note(`the file ${name}`, readFileSync(join(folder, name), "latin1"));
  note("names of objects", [...service.objects.keys()].join("\n"));
  for (const [name, bytes] of service.objects)
    if (/\.json$/.test(name)) note(`the object ${name}`, bytes.toString("latin1"));
}

/** A secret as it is, and in the forms in which programs print bytes. */
function formsOf(secret: Buffer): readonly string[] {
  const base64 = secret.toString("base64").replace(/=+$/, "").slice(0, -1);
  return [secret.toString("latin1"), secret.toString("hex"), base64, encodeURIComponent(secret.toString("latin1"))];
}

test("no secret and no data of a node is in anything that a server and its commands say", async () => {
  const zxid = await useNodes();
  await vi.waitFor(() => expect([...service.objects.keys()].join()).toContain("manifest.json"), WAIT);
  expect(await run("zooid-cli", "backup", "now", ...admin())).toBe(0);
  expect(await run("zooid-cli", "backup", "status", ...admin())).toBe(0);
  const shell = ["--server", `127.0.0.1:${server.port}`];
  // With --json or --data it has the values, which the asking client may read.
  await run("zooid-cli", ...shell, "changes", "-R", "/");
  expect(await run("zooid-cli", "diagnose", join(folder, "report.json"), ...admin())).toBe(0);
  note("the report of diagnose", readFileSync(join(folder, "report.json"), "utf8"));
  await readAll();
  await ask("commands/restore", "POST", `ZKSN${DATA}`);
  // The target is away, and then refuses the key.
  service.faults.push(
    ...Array.from({ length: 4 }, () => ({ kind: "status", status: 403, code: "InvalidAccessKeyId" }) as const),
  );
  expect(await run("zooid-cli", "backup", "now", ...admin())).not.toBe(0);
  service.faults.length = 0;
  const history = join(server.dataDir, "archive");
  for (const argv of [
    ["inspect", server.dataDir, "--entries"],
    ["inspect", server.dataDir, "--verify"],
  ])
    await run("zooid-server", ...argv);
  await run("zooid-server", "history", server.dataDir, "/", "--recursive");
  await run("zooid-server", "history", server.dataDir, "/mine", "--at", zxid);
  for (const act of ["list", "verify"]) await run("zooid-server", "backup", act, TARGET, ...remote());
  const from = ["--from", TARGET, ...remote()];
  await run("zooid-server", "restore", ...from, "--plan");
  expect(await run("zooid-server", "restore", ...from, "--data", join(folder, "restored"))).toBe(0);
  expect(
    await run("zooid-server", "restore", ...from, "--data", join(folder, "none"), "--to", "0x7700000000"),
  ).not.toBe(0);
  await run("zooid-server", "export", ...from, "--apache", join(folder, "apache"));
  // A damaged file is named, and not printed.
  const [file = ""] = readdirSync(join(history, "log"));
  const bytes = readFileSync(join(history, "log", file));
  writeFileSync(join(folder, "damaged"), bytes.fill(7, bytes.length >> 1, (bytes.length >> 1) + 9));
  await run("zooid-server", "inspect", join(folder, "damaged"), "--entries", "--verify");
  for (const name of [...service.objects.keys()].filter((each) => /\/\d{4}$/.test(each)))
    service.objects.set(name, Buffer.from(DATA));
  await run("zooid-server", "backup", "verify", TARGET, ...remote());
  await run("zooid-server", "restore", ...from, "--data", join(folder, "other"));
  await run("zooid-cli", "purge-history", "--through", zxid, ...admin());
  expect(await run("zooid-cli", "purge-history", "--through", zxid, "--confirm", ...admin())).toBe(0);
  await readAll();
  await server.stop();
  rmSync(join(folder, "damaged"));
  readPlaces();
  note("the log of the server", server.log());
  expect(said.get("the log of the server")).toMatch(/history-purged/);
  expect(existsSync(join(folder, "restored"))).toBe(true);
  expect(said.size).toBeGreaterThan(60);
  const found = [...said].flatMap(([place, text]) =>
    [...secrets].flatMap(([name, secret]) =>
      formsOf(secret).flatMap((form) => (text.includes(form) ? [`${name} is in ${place}`] : [])),
    ),
  );
  expect(found).toEqual([]);
}, 300_000);
