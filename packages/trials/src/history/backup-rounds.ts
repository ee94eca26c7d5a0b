/**
 * Backs an ensemble up to an S3 service while the servers and the service fail, and compares what
 * the backup gives back with clients' answers.
 *
 *     npm run tool -- backup-rounds [--rounds 10] [--moments 5] [--writers 4] [--away 120] [--seed N]
 *       [--keep]
 *
 * In each round a few writers set nodes while one thing happens at a random moment: `kill -9` of
 * the service, which stays away for a while; of the server that uploads, of another one, or of all;
 * a stop of the one that uploads, after which another one continues at once; or a wrong secret in
 * the file of the key. In each tenth round the server that uploads stays dead until another one has
 * taken over, and once, in the middle, the service is away for `--away` seconds. Then all is well
 * again, and a base is asked for. Afterwards all of the backup must be whole and without a gap;
 * states are restored out of it, at zxids that were answered, and each node must have the value of
 * its last answered write up to there, or of one without an answer behind it.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { listBackup, missingRanges, openTarget, verifyBackup } from "@zooid/backup";
import { type Client, connect } from "@zooid/client";
import { S3Gateway } from "@zooid/conformance/internal/servers/s3-gateway";
import { newSeed, toolOptions } from "@zooid/conformance/internal/tool-options";
import { withStagedBackup } from "@zooid/embedded-server";
import { TrialRun } from "../processes/trial-run.ts";
import { AnsweredWrites } from "./answered-writes.ts";
import { BackedUpEnsemble } from "./backed-up-ensemble.ts";
import { restorePlan } from "./restore-archive.ts";

const options = toolOptions({ rounds: 10, moments: 5, writers: 4, away: 120, seed: newSeed(), keep: false });
const ACTS = [
  "service killed",
  "service away",
  "uploader killed",
  "uploader stopped",
  "another killed",
  "all killed",
  "wrong secret",
] as const;
/** A lease of a server that was killed is free after a minute, and failures are a minute apart. */
const DEADLINE_MS = 180_000;
const SESSION_MS = 40_000;
const PAUSE_MS_MAX = 5;
const PATHS = Array.from({ length: 12 }, (_, i) => `/n${i}`);
const KEY = { accessKeyId: "backup", secretAccessKey: "a-secret-of-a-trial" };

const trial = new TrialRun("backup-rounds", options);
const { random, folder, faults } = trial;
const keyFile = join(folder, "key");
const answered = new AnsweredWrites(random, PATHS);
mkdirSync(join(folder, "s3/bucket"), { recursive: true });
const gateway = await S3Gateway.open({ folder: join(folder, "s3"), ...KEY });
const target = { target: "s3://bucket/zk", endpoint: gateway.endpoint };
writeKey(KEY.secretAccessKey);
const settings = [
  "zooid.history.retainMs=86400000",
  "zooid.history.fileMs=200",
  `zooid.backup.target=${target.target}`,
  `zooid.backup.endpoint=${target.endpoint}`,
  `zooid.backup.credentialsFile=${keyFile}`,
  "zooid.backup.baseEveryMs=60000",
];
const backedUp = await BackedUpEnsemble.create({ folder, serverCount: 3, tickMs: 2000, syncLimit: 5, settings });
const { ensemble } = backedUp;
const hosts = ensemble.servers.map(({ address }) => address).join(",");

await trial.play("in ", async () => {
  await using ends = new AsyncDisposableStack();
  ends.defer(() => gateway.kill());
  ends.use(ensemble);
  await ensemble.start(DEADLINE_MS);
  for (let round = 1; round <= options.rounds && faults.length === 0; round++) await runRound(round);
  await Promise.all(ensemble.servers.map((server) => server.end("SIGTERM")));
  await checkBackup();
  for (let moment = 1; moment <= options.moments && faults.length === 0; moment++) await checkMoment(moment);
});
trial.end(`${options.rounds} rounds, ${answered.count} answered writes, ${options.moments} moments`);

type Act = (typeof ACTS)[number] | "handed over" | "service long away";

async function runRound(round: number): Promise<void> {
  const open = (): Promise<Client> => connect(hosts, { sessionTimeoutMs: SESSION_MS });
  if (round === 1) {
    await using client = await open();
    for (const path of PATHS) await client.create(path, "");
  }
  const load = await answered.load(options.writers, open, () => delay(random.between(0, PAUSE_MS_MAX)));
  const act = actOf(round);
  const asked = random.chance(0.5) ? backedUp.askForBase() : undefined;
  await delay(random.between(0, 3000));
  await play(act);
  await delay(random.between(0, 1000));
  await load.end();
  await asked;
  await ensemble.untilLevel(DEADLINE_MS);
  const tookMs = await backedUp.untilComplete(DEADLINE_MS);
  console.log(`round ${round}: ${act}; ${answered.count} answered writes so far, complete after ${tookMs} ms`);
}

function actOf(round: number): Act {
  if (round === Math.ceil(options.rounds / 2) && options.away > 0) return "service long away";
  return round % 10 === 0 ? "handed over" : random.pick(ACTS);
}

async function play(act: Act): Promise<void> {
  switch (act) {
    case "service killed":
      return await serviceAway(100);
    case "service away":
      return await serviceAway(random.between(5000, 15_000));
    case "service long away":
      return await serviceAway(options.away * 1000);
    case "uploader killed":
    case "uploader stopped": {
      const uploader = await backedUp.uploader(DEADLINE_MS);
      return await uploader.restart(act === "uploader killed" ? "SIGKILL" : "SIGTERM");
    }
    case "another killed": {
      const uploader = await backedUp.uploader(DEADLINE_MS);
      return await random.pick(ensemble.servers.filter((server) => server !== uploader)).restart("SIGKILL");
    }
    case "all killed":
      await Promise.all(ensemble.servers.map((server) => server.restart("SIGKILL")));
      return;
    case "handed over": {
      const uploader = await backedUp.uploader(DEADLINE_MS);
      await uploader.kill();
      await backedUp.uploader(DEADLINE_MS);
      return uploader.launch();
    }
    case "wrong secret":
      writeKey("another-secret");
      await delay(random.between(3000, 8000));
      writeKey(KEY.secretAccessKey);
  }
}

async function serviceAway(ms: number): Promise<void> {
  await gateway.kill();
  await delay(ms);
  await gateway.start();
}

function writeKey(secret: string): void {
  writeFileSync(keyFile, `accessKeyId=${KEY.accessKeyId}\nsecretAccessKey=${secret}\n`, { mode: 0o600 });
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
  const listing = await listBackup(opened());
  console.log(
    `${baseCount} bases, ${fileCount} files, ${missingRanges(listing).length} gaps, ${problems.length} problems`,
  );
}

async function checkMoment(moment: number): Promise<void> {
  const { zxid } = answered.pick();
  const found = await answered.check(join(folder, `moment-${moment}`), zxid, async (dataDir) => {
    const warn = (text: string): unknown => faults.push(text);
    const staged = { target: opened(), moment: { zxid }, directories: { dataDir }, warn };
    await withStagedBackup(staged, (plan) => restorePlan(plan, dataDir, warn));
  });
  faults.push(...found);
}
