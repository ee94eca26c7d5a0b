/**
 * Backs a server up to an S3 service while both fail, and compares what the backup gives back with
 * what clients were told.
 *
 *     npm run tool -- backup-rounds [--rounds 10] [--moments 5] [--writers 4] [--seed N] [--keep]
 *
 * In each round a few writers set nodes while one thing happens at a random moment: `kill -9` of
 * the service, which stays away for a while, or of the server, or a wrong secret in the file of the
 * key. Then all is well again, and a base is asked for. Afterwards all of the backup must be whole
 * and without a gap; states are restored out of it, at zxids that were answered, and each node must
 * have the value of its last answered write up to there, or of one without an answer behind it.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { listBackup, missingRanges, openTarget, verifyBackup } from "@zooid/backup";
import { Random } from "@zooid/conformance/internal/random";
import { ServerProcess } from "@zooid/conformance/internal/servers/endpoint";
import { S3Gateway } from "@zooid/conformance/internal/servers/s3-gateway";
import { newSeed, toolOptions } from "@zooid/conformance/internal/tool-options";
import { restoreHistory, withStagedBackup } from "@zooid/embedded-server";
import { freePort } from "@zooid/wire/testing/free-ports";
import { AnsweredWrites, connectTo } from "./answered-writes.ts";

const options = toolOptions({ rounds: 10, moments: 5, writers: 4, seed: newSeed(), keep: false });
const PATHS = Array.from({ length: 12 }, (_, i) => `/n${i}`);
const KEY = { accessKeyId: "backup", secretAccessKey: "a-secret-of-a-trial" };
const DONE_MS_MAX = 120_000;
const POLL_MS = 250;

const random = new Random(options.seed);
const folder = mkdtempSync(join(tmpdir(), "backup-rounds-"));
const keyFile = join(folder, "key");
const answered = new AnsweredWrites(random, PATHS);
const faults: string[] = [];
mkdirSync(join(folder, "s3/bucket"), { recursive: true });
const gateway = await S3Gateway.open({ folder: join(folder, "s3"), ...KEY });
const target = { target: "s3://bucket/zk", endpoint: gateway.endpoint };
writeKey(KEY.secretAccessKey);
const adminPort = await freePort();
const settings = [
  "zooid.history.retainMs=86400000",
  "zooid.history.fileMs=200",
  `zooid.backup.target=${target.target}`,
  `zooid.backup.endpoint=${target.endpoint}`,
  `zooid.backup.credentialsFile=${keyFile}`,
  "zooid.backup.baseEveryMs=60000",
  "admin.enableServer=true",
  "admin.serverAddress=127.0.0.1",
  `admin.serverPort=${adminPort}`,
  "DigestAuthenticationProvider.superDigest=super:D/InIHSb7yEEbrWz8b9l71RjZJU=",
];
const server = new ServerProcess({ kind: "zooid", folder: join(folder, "server"), settings });

console.log(`seed ${options.seed}, data in ${server.dataDir}`);
try {
  for (let round = 1; round <= options.rounds && faults.length === 0; round++) await runRound(round);
  await server.stop();
  await checkBackup();
  for (let moment = 1; moment <= options.moments && faults.length === 0; moment++) await checkMoment(moment);
} finally {
  await server.kill();
  await gateway.kill();
}
for (const fault of faults) console.log(fault);
if (options.keep || faults.length > 0) console.log(`data and logs are kept in ${folder}`);
else rmSync(folder, { recursive: true, force: true });
console.log(
  `${options.rounds} rounds, ${answered.count} answered writes, ${options.moments} moments: ${faults.length === 0 ? "passed" : "FAILED"}`,
);
process.exit(faults.length === 0 ? 0 : 1);

async function runRound(round: number): Promise<void> {
  if (round === 1) await server.start();
  const clients = await Promise.all(Array.from({ length: options.writers }, () => connectTo(server.port)));
  if (round === 1) for (const path of PATHS) await clients[0]?.create(path, "");
  let isOver = false;
  const load = Promise.all(clients.map((client) => answered.write(client, () => isOver)));
  const what = random.pick(["service killed", "service away", "server killed", "wrong secret"] as const);
  const asked = random.chance(0.5) ? ask("backup_now", "POST").catch(() => {}) : undefined;
  await delay(random.between(0, 3000));
  switch (what) {
    case "service killed":
    case "service away":
      await gateway.kill();
      await delay(what === "service away" ? random.between(5000, 15_000) : 100);
      await gateway.start();
      break;
    case "server killed":
      await server.kill();
      await server.start();
      break;
    case "wrong secret":
      writeKey("another-secret");
      await delay(random.between(3000, 8000));
      writeKey(KEY.secretAccessKey);
  }
  await delay(random.between(0, 1000));
  isOver = true;
  await load;
  await Promise.all(clients.map((client) => client.close()));
  await asked;
  const tookMs = await untilComplete();
  console.log(`round ${round}: ${what}; ${answered.count} answered writes so far, complete after ${tookMs} ms`);
}

function writeKey(secret: string): void {
  writeFileSync(keyFile, `accessKeyId=${KEY.accessKeyId}\nsecretAccessKey=${secret}\n`, { mode: 0o600 });
}

async function ask(command: string, method: "GET" | "POST"): Promise<Readonly<Record<string, unknown>>> {
  const headers = { authorization: "digest super:test" };
  const response = await fetch(`http://127.0.0.1:${adminPort}/commands/${command}`, { method, headers });
  return (await response.json()) as Readonly<Record<string, unknown>>;
}

/** Asks for a base until one is taken without a fault. */
async function untilComplete(): Promise<number> {
  const startMs = performance.now();
  while (performance.now() - startMs < DONE_MS_MAX) {
    let status = await ask("backup_now", "POST");
    if (status["error"] !== null) throw new Error(String(status["error"]));
    const wanted = Number(status["asked"]);
    while (Number(status["done"]) < wanted) {
      await delay(POLL_MS);
      status = await ask("backup_status", "GET");
    }
    if (status["fault"] === null && status["is_uploading"] === true) return Math.round(performance.now() - startMs);
    await delay(POLL_MS);
  }
  faults.push(
    `the backup is not complete after ${DONE_MS_MAX} ms: ${JSON.stringify(await ask("backup_status", "GET"))}`,
  );
  return DONE_MS_MAX;
}

function opened() {
  const text = `accessKeyId=${KEY.accessKeyId}\nsecretAccessKey=${KEY.secretAccessKey}\n`;
  return openTarget({ ...target, credentials: { file: keyFile, text } });
}

async function checkBackup(): Promise<void> {
  const scratch = join(folder, "scratch");
  mkdirSync(scratch);
  const { baseCount, fileCount, problems } = await verifyBackup(opened(), scratch);
  // A base whose upload a kill has ended is followed by another one.
  faults.push(...problems.filter((problem) => !problem.includes("an upload that has not ended")));
  const { files } = await listBackup(opened());
  console.log(
    `${baseCount} bases, ${fileCount} files, ${missingRanges(files).length} gaps, ${problems.length} problems`,
  );
}

async function checkMoment(moment: number): Promise<void> {
  const found = await answered.check(join(folder, `moment-${moment}`), async (zxid, dataDir) => {
    const options = { command: "restore", directories: { dataDir }, member: undefined, keepsSessions: false };
    const warn = (text: string): unknown => faults.push(text);
    const staged = { target: opened(), moment: { zxid }, directories: { dataDir }, warn };
    await withStagedBackup(staged, (plan) => restoreHistory(plan, { ...options, warn }));
  });
  faults.push(...found);
}
