import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { S3Service } from "@zooid/backup/testing/s3-service";
import { ArchivedHistory, type Moment } from "@zooid/embedded-server/testing/archived-history";
import { formatZxid, type Zxid } from "@zooid/model";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { exitStatusOf } from "../process/exit-status.ts";
import { exportData } from "./export.ts";
import { parseOfflineCommand } from "./offline-command.ts";
import { restore } from "./restore.ts";

const SECRET = "canary-of-the-secret";
const TARGET = "s3://bucket/one";

let history: ArchivedHistory;
let moments: readonly Moment[];
/** The backup of the history: its objects, by their names. */
let backedUp: ReadonlyMap<string, Buffer>;
let service: S3Service;
let made: string[];
beforeAll(async () => {
  history = await ArchivedHistory.make();
  moments = await history.write(2);
  const names = readdirSync(history.archive, { recursive: true, encoding: "utf8" }).filter((name) =>
    /\/(?:[0-9a-f]{16}-[0-9a-f]{16}|\d{4}|manifest\.json)$/.test(name),
  );
  backedUp = new Map(names.map((name) => [`one/${name}`, readFileSync(join(history.archive, name))]));
  writeFileSync(join(history.folder, "key"), `accessKeyId=k\nsecretAccessKey=${SECRET}\n`);
});
afterAll(() => history[Symbol.asyncDispose]());
beforeEach(async () => {
  service = await S3Service.start();
  for (const [name, bytes] of backedUp) service.objects.set(name, bytes);
  made = readdirSync(history.folder);
});
afterEach(async () => {
  for (const name of readdirSync(history.folder))
    if (!made.includes(name)) rmSync(join(history.folder, name), { recursive: true });
  await service[Symbol.asyncDispose]();
});

const place = (name: string): string => join(history.folder, name);

/** The printed lines of a restore, or the status and the sentence of its failure. */
function run(...options: readonly string[]): Promise<readonly (string | number)[]> {
  return runCommand("restore", options);
}

async function runCommand(
  name: "export" | "restore",
  options: readonly string[],
): Promise<readonly (string | number)[]> {
  const argv = ["--from", TARGET, "--endpoint", service.endpoint, "--credentials", place("key"), ...options];
  const command = parseOfflineCommand([name, ...argv], () => expect.unreachable());
  const lines: string[] = [];
  const output = {
    print: (line: string) => void lines.push(line),
    warn: (line: string) => {
      if (!line.includes("MiB fetched")) lines.push(line);
    },
  };
  try {
    if (command?.kind === "export") await exportData(command, output);
    else if (command?.kind === "restore") await restore(command, output);
    else expect.unreachable("it is one of these");
    return lines;
  } catch (error) {
    expect(JSON.stringify(error)).not.toContain(SECRET);
    return [exitStatusOf(error), error instanceof Error ? error.message : String(error)];
  }
}

const last = (): Moment => moments.at(-1) ?? expect.unreachable("there are moments");

test("a moment is restored out of a bucket, and nothing else is left", async () => {
  const { zxid } = moments[1] ?? last();
  const before = readdirSync(history.folder);
  expect(await run("--plan", "--to", formatZxid(zxid))).toEqual([
    expect.stringMatching(`^the state at ${formatZxid(zxid)} is made from the base at .*, and 1 file behind it$`),
    expect.stringMatching(`^0\\.\\d MiB would be fetched from ${TARGET}$`),
  ]);
  expect(readdirSync(history.folder)).toEqual(before);
  expect(await run("--data", place("new"), "--to", formatZxid(zxid))).toEqual([
    expect.stringMatching(`^${place("new")} has \\d+ znodes up to ${formatZxid(zxid)}; 1 session ended$`),
  ]);
  expect(readdirSync(history.folder).toSorted()).toEqual([...before, "new"].toSorted());
});

test("a time is looked for in the files that have it", async () => {
  const ended = [
    6,
    expect.stringMatching(/^the history ends at 0x[0-9a-f]+, at .*, and so earlier than 9999-01-01T00:00:00.000Z$/),
  ];
  expect(await run("--data", place("new"), "--to", "9999-01-01T00:00:00Z")).toEqual(ended);
  expect(await runCommand("export", ["--apache", place("new"), "--to", "9999-01-01T00:00:00Z"])).toEqual(ended);
  expect(await run("--data", place("old"), "--to", "1990-01-01T00:00:00Z")).toEqual([
    6,
    expect.stringMatching(/^the history begins after 0x[0-9a-f]+, at .*, and so later than 1990-01-01T00:00:00.000Z$/),
  ]);
});

test("behind the end and before the begin, what there is is named", async () => {
  expect(await run("--data", place("new"), "--to", "0x7700000000")).toEqual([
    6,
    expect.stringMatching(
      `^${TARGET} has every transaction from its base at .*not up to 0x7700000000: nothing follows it$`,
    ),
  ]);
  const first = [...service.objects.keys()].find((name) => name.includes("/log/")) ?? "";
  service.objects.delete(first);
  expect(await run("--data", place("new"), "--to", formatZxid(last().zxid))).toEqual([
    6,
    expect.stringMatching(/there is a gap behind it$/),
  ]);
});

test("the newest moment behind a gap is refused, and the one before it is named", async () => {
  const first = [...service.objects.keys()].find((name) => name.includes("/log/")) ?? "";
  service.objects.delete(first);
  const refused = [
    6,
    expect.stringMatching(
      `^${TARGET} has no transactions after .*, at ${formatZxid(newestEnd())}, cannot be restored: --to`,
    ),
  ];
  for (const options of [["--plan"], ["--data", place("new")]]) expect(await run(...options)).toEqual(refused);
  expect(await runCommand("export", ["--apache", place("new")])).toEqual(refused);
});

test("the newest moment is not restored without a damaged file at the end", async () => {
  const name =
    [...service.objects.keys()]
      .filter((each) => each.includes("/log/"))
      .toSorted()
      .at(-1) ?? "";
  service.objects.set(name, flipped(service.objects.get(name) ?? Buffer.alloc(0)));
  const said = await run("--data", place("new"));
  expect(said).toEqual([21, expect.stringContaining(`${TARGET}/${name.slice("one/".length)} is damaged`)]);
});

function newestEnd(): Zxid {
  const names = [...service.objects.keys()].filter((name) => name.includes("/log/"));
  return Math.max(...names.map((name) => Number.parseInt(name.slice(-16), 16))) as Zxid;
}

const DAMAGES: readonly (readonly [what: string, damage: (bytes: Buffer) => Buffer | undefined])[] = [
  ["with a flipped bit", (bytes) => flipped(bytes)],
  ["cut", (bytes) => bytes.subarray(0, bytes.length - 5)],
  ["removed", () => undefined],
];

function flipped(bytes: Buffer): Buffer {
  const changed = Buffer.from(bytes);
  const at = bytes.length >> 1;
  changed[at] = (bytes[at] ?? 0) ^ 4;
  return changed;
}

test.each(DAMAGES)("a file %s is named, or another one stands in; no wrong state is restored", async (_, damage) => {
  const wanted = formatZxid(last().zxid);
  let refusedCount = 0;
  for (const [name, bytes] of backedUp) {
    const damaged = damage(bytes);
    if (damaged === undefined) service.objects.delete(name);
    else service.objects.set(name, damaged);
    const data = `new-${name.replaceAll("/", "-")}`;
    const said = await run("--data", place(data), "--to", wanted);
    service.objects.set(name, bytes);
    if (typeof said[0] === "number") {
      refusedCount++;
      expect([6, 21]).toContain(said[0]);
      if (damaged !== undefined) expect(said[1]).toContain(`${TARGET}/${name.slice("one/".length)}`);
      expect(readdirSync(history.folder)).not.toContain(data);
    } else {
      expect(said.at(-1)).toContain(`up to ${wanted}`);
    }
    expect(readdirSync(history.folder).filter((each) => each.startsWith("."))).toEqual([]);
  }
  expect(refusedCount).toBeGreaterThanOrEqual(2);
});

test("two files of the log that changed places are named", async () => {
  const [one = "", other = ""] = [...service.objects.keys()].filter((name) => name.includes("/log/"));
  const [first = Buffer.alloc(0), second = Buffer.alloc(0)] = [service.objects.get(one), service.objects.get(other)];
  service.objects.set(one, second);
  service.objects.set(other, first);
  expect(await run("--data", place("new"), "--to", formatZxid(last().zxid))).toEqual([
    21,
    expect.stringContaining("is damaged at its name: it has the transactions after"),
  ]);
});

test("a base without its manifest, and an empty bucket, are named", async () => {
  for (const [name, bytes] of service.objects) {
    if (!name.endsWith("manifest.json")) continue;
    service.objects.delete(name);
    expect((await run("--data", place("new")))[1]).toMatch(
      /^s3:\/\/bucket\/one has no backup to restore from: it has no base with a manifest/,
    );
    service.objects.set(name, bytes);
    break;
  }
  service.objects.clear();
  expect(await run("--data", place("new"))).toEqual([6, `${TARGET} has no backup to restore from: it is empty`]);
});

test("a secret that is wrong, and a service that is not there, are named", async () => {
  service.faults.push({ kind: "status", status: 403, code: "SignatureDoesNotMatch" });
  expect(await run("--data", place("new"))).toEqual([
    4,
    expect.stringMatching(`^${TARGET} refuses access: the secret is not that of the access key`),
  ]);
  expect(readdirSync(history.folder)).not.toContain("new");
});

test("a directory that is not empty is refused before anything is asked", async () => {
  mkdirSync(place("full"));
  writeFileSync(place("full/mine"), "x");
  const asked = service.requestCount;
  expect(await run("--data", place("full"))).toEqual([
    6,
    `${place("full")} is not empty: a state is restored to a directory of its own`,
  ]);
  expect(service.requestCount).toBe(asked);
});

test("a signal ends a restore, which leaves nothing", async () => {
  const others = new Set(process.listeners("SIGINT"));
  const before = readdirSync(history.folder);
  service.faults.push({ kind: "silent" });
  const restoring = run("--data", place("new"));
  await expect.poll(() => service.requestCount).toBe(1);
  for (const listener of process.listeners("SIGINT")) if (!others.has(listener)) listener("SIGINT");
  expect(await restoring).toEqual([130, "interrupted: nothing was changed"]);
  expect(readdirSync(history.folder)).toEqual(before);
});

test("a key is for a bucket: it is refused with a directory", () => {
  const argv = ["restore", "--from", "/backup", "--data", "/d", "--credentials", "/k"];
  expect(() => parseOfflineCommand(argv, () => expect.unreachable())).toThrow(
    "--endpoint, --region and --credentials are for",
  );
});

test("a moment out of a bucket is exported for Apache's servers, and a damaged or missing backup is named", async () => {
  const { zxid } = moments[1] ?? last();
  const before = readdirSync(history.folder);
  expect(await runCommand("export", ["--apache", place("apache"), "--to", formatZxid(zxid)])).toEqual([
    expect.stringMatching(
      `^${place("apache")} has \\d+ znodes up to ${formatZxid(zxid)}; 0 ephemeral znodes left out$`,
    ),
  ]);
  expect(readdirSync(history.folder).toSorted()).toEqual([...before, "apache"].toSorted());
  expect(readdirSync(join(place("apache"), "version-2"))).toContain(`snapshot.${zxid.toString(16)}`);
  expect(await runCommand("export", ["--apache", place("apache")])).toEqual([6, expect.stringContaining("not empty")]);
  service.objects.clear();
  expect(await runCommand("export", ["--apache", place("other")])).toEqual([6, expect.stringMatching(/it is empty$/)]);
  service.faults.push({ kind: "status", status: 403, code: "SignatureDoesNotMatch" });
  expect(await runCommand("export", ["--apache", place("other")])).toMatchObject([4, expect.anything()]);
  expect(readdirSync(history.folder).toSorted()).toEqual([...before, "apache"].toSorted());
});
