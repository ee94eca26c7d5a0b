/**
 * Rolls an ensemble between versions of the server, one server at a time, under load. So each
 * version leads the other, and follows it.
 *
 *     npm run tool -- ensemble-upgrade [--next] [--rounds 1] [--commit HEAD~20 | --other FOLDER]
 *         [--own 12] [--kazoo 4] [--seed 1] [--gap-ms 300] [--set reconfigEnabled=true] [--keep]
 *
 * Without `--next` from an earlier version to this one, back, and forth again: `--commit` builds
 * the version of a commit, by default the one of `upgrade/before-commit.txt`; `--other` is a
 * checkout that is built. Servers are asked to stop when they are upgraded and taken back, and are
 * killed the second time.
 *
 * With `--next` from this version to the next one, which is made of these sources with a feature
 * level of its own (`upgrade/next-version.ts`), and back and forth likewise, with an observer. Then
 * the level is raised by the commands of docs/operations.md while a server is killed, and this
 * version is refused.
 *
 * The leader is the first to be restarted in one pass, and the last in another. Printed for each
 * step is the longest time without an answered write, which must not exceed `--gap-ms` where that
 * is given. The check asks that every answered write is there, once; that zxids agree with real
 * time; that no session is lost; and that the servers hold the same.
 */
import { resolve } from "node:path";
import { Random } from "@zooid/conformance/internal/random";
import { ROOT } from "@zooid/conformance/internal/servers/endpoint";
import { text, texts, toolOptions, whole } from "@zooid/conformance/internal/tool-options";
import { type BuiltVersion, builtCommit, builtNext, commitBefore, versionIn } from "../upgrade/built-version.ts";
import { KILLS, NextRound } from "../upgrade/next-round.ts";
import { type Pass, roll } from "../upgrade/rolled-version.ts";
import { UpgradeCommands } from "../upgrade/upgrade-commands.ts";
import { type RollingRound, RollingRounds } from "./rolling-rounds.ts";

const options = toolOptions({
  next: false,
  rounds: 1,
  commit: commitBefore(),
  other: text,
  own: 12,
  kazoo: 4,
  seed: 1,
  gapMs: whole(undefined),
  set: texts,
  keep: false,
});
const VOTERS = 3;
/** Segments of 4 MiB: the log has several of each format within a round, and purges some. */
const SMALL_SEGMENTS = "zooid.log.retainBytes=8388608";

const present = versionIn(ROOT, "this version");
await (options.next ? playNext(await builtNext()) : playBefore(await before()));

async function before(): Promise<BuiltVersion> {
  return options.other === undefined ? await builtCommit(options.commit) : versionIn(resolve(options.other));
}

async function playBefore(other: BuiltVersion): Promise<never> {
  const ensemble = { serverCount: VOTERS, tickMs: 2000, syncLimit: 5, settings: options.set };
  const { own, kazoo, keep } = options;
  const program = other.server;
  const rounds = new RollingRounds({ own, kazoo, keep, name: "ensemble-upgrade", founders: VOTERS, program, ensemble });
  for (let number = 1; number <= options.rounds; number++) {
    const isLeaderFirst = number % 2 === 0;
    const passes: readonly Pass[] = [
      { name: "upgrade", program: present.server, signal: "SIGTERM", isLeaderFirst },
      { name: "back", program, signal: "SIGTERM", isLeaderFirst },
      { name: "upgrade", program: present.server, signal: "SIGKILL", isLeaderFirst: !isLeaderFirst },
    ];
    await rounds.play(`round ${number}`, async (round) => {
      await round.begin();
      for (const pass of passes)
        noteGaps(
          rounds,
          round,
          (await roll(round, pass)).map(({ gapMs }) => gapMs),
        );
      return round.founders;
    });
  }
  return rounds.end();
}

async function playNext(next: BuiltVersion): Promise<never> {
  const serverCount = VOTERS + 1;
  const commands = await UpgradeCommands.atFreePort(next.cli);
  const settings = [...commands.settings, SMALL_SEGMENTS, ...options.set];
  const { own, kazoo, keep } = options;
  const rounds = new RollingRounds({
    name: "ensemble-upgrade",
    founders: serverCount,
    program: present.server,
    own,
    kazoo,
    keep,
    ensemble: { serverCount, observerCount: 1, tickMs: 2000, syncLimit: 5, settings },
  });
  const random = new Random(options.seed);
  for (let number = 1; number <= options.rounds; number++) {
    const kill = KILLS[(number - 1) % KILLS.length] ?? KILLS[0];
    await rounds.play(`round ${number}`, async (round) => {
      commands.configure(round.ensemble);
      await round.begin();
      const played = new NextRound({
        round,
        commands,
        versions: { present, next },
        kill,
        random,
        isLeaderFirst: number % 2 === 0,
      });
      try {
        await played.play();
      } finally {
        noteGaps(rounds, round, played.gapsMs);
      }
      return round.founders;
    });
  }
  return rounds.end();
}

function noteGaps(rounds: RollingRounds, { faults }: RollingRound, gapsMs: readonly number[]): void {
  rounds.gapsMs.push(...gapsMs);
  const { gapMs: gapMsMax = Number.POSITIVE_INFINITY } = options;
  for (const gapMs of gapsMs) if (gapMs > gapMsMax) faults.push(`${gapMs.toFixed(0)} ms without a write in a step`);
}
